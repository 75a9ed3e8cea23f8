/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"

struct capture {
	FILE *file;
	size_t graphs;
};

static int write_graph(const struct cli_options *o, const char *label, struct blkalign_graph *graph, void *data)
{
	struct capture *c = data;
	struct blkalign_error err = { 0 };
	int r;

	(void)label;
	if (c->graphs++)
		return cli_fail(&(struct blkalign_error){ .message = "one snapshot holds one host: give one snapshot or dump at a time" });
	r = blkalign_write_snapshot(graph, o->keep_names, c->file, &err);
	if (r < 0) {
		err.code = r;
		return cli_fail(&err);
	}
	if (o->json && o->output) {
		struct json_object *document = json_document();

		json_add(document, "file", json_text(o->output));
		json_add(document, "source", json_object_new_string(blkalign_graph_source(graph)));
		json_add(document, "nodes", json_object_new_uint64(blkalign_graph_size(graph)));
		json_print(document, false);
	} else if (o->output) {
		printf("%s: %zu devices%s\n", cli_safe(o->output), blkalign_graph_size(graph),
		       o->keep_names ? "" : "; names, serials and identifiers replaced");
	}
	return CLI_ALIGNED;
}

static int fail_file(const char *path, const char *what) { return cli_say("%s: %s: %s", cli_safe(path), what, strerror(errno)); }

/* Created, never overwritten: a mistyped name must not cost a file, let alone a disk. Mode 0600: a snapshot tells much of a host. */
static FILE *create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

int cmd_capture(const struct cli_options *o)
{
	struct capture c = { .file = stdout };
	int status;

	if (!o->output && isatty(STDOUT_FILENO)) {
		return cli_say("the snapshot is compressed and standard output is a terminal: give -o FILE or redirect");
	}
	if (o->output) {
		c.file = create(o->output);
		if (!c.file)
			return fail_file(o->output, "cannot create");
	}
	status = cli_each_graph(o, write_graph, &c);
	if (o->output && (ferror(c.file) | fclose(c.file)))
		status = fail_file(o->output, "cannot write");
	if (o->output && status != CLI_ALIGNED)
		unlink(o->output);
	return status;
}
