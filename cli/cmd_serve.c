/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack is opened here first, so that what is wrong with it is said in our words and with our exit status; then nbdkit opens it again. Disks are not opened for
 * writing twice, because udev looks into a disk when a writer closes it, and may start the array.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "serve.h"

static int check_options(const struct cli_options *o)
{
	if (!o->target_count)
		return cli_usage(o, "serve needs the members: image files or disks");
	if (!o->socket == !o->port)
		return cli_usage(o, "serve needs --socket=PATH or --port=N, one of the two");
	if (o->address && !o->port)
		return cli_usage(o, "--address goes with --port");
	if (o->rw && o->cow)
		return cli_usage(o, "--rw writes to the members, --cow writes nothing to them: give one of the two");
	return CLI_ALIGNED;
}

static bool all_files(const struct cli_options *o)
{
	struct stat st;

	for (size_t i = 0; i < o->target_count; i++)
		if (stat(o->targets[i], &st) == 0 && !S_ISREG(st.st_mode))
			return false;
	return true;
}

static int open_stack(const struct cli_options *o, struct blkalign_run **ret_run)
{
	bool exclusive = o->rw && all_files(o);
	const struct blkalign_run_options options = {
		.source = o->source, .writable = exclusive, .cow = o->cow || (o->rw && !exclusive), .force = o->force
	};
	struct blkalign_error err = { 0 };

	err.code = blkalign_run_open(&options, o->targets, o->target_count, ret_run, &err);
	return err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
}

/* Of what clients may ask for by name; also in the examples then. */
static const struct blkalign_node *first_content(const struct blkalign_run *run)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		if (blkalign_run_is_content(run, blkalign_graph_node(graph, i)))
			return blkalign_graph_node(graph, i);
	return NULL;
}

/* The node that clients get without a name; NULL where they must give one. */
static int find_node(const struct cli_options *o, struct blkalign_run *run, const struct blkalign_node **ret_node)
{
	struct blkalign_error err = { 0 };
	const char *why;

	*ret_node = NULL;
	err.code = blkalign_run_node(run, o->node, ret_node, &err);
	if (err.code < 0 && !o->node && first_content(run))
		return CLI_ALIGNED;
	if (err.code < 0)
		return cli_fail_with_notes(o, run, &err);
	if (err.code >= 0 && blkalign_run_size(run, *ret_node) == BLKALIGN_UNKNOWN)
		err.code = blkalign_run_read(run, *ret_node, 0, &(char){ 0 }, 1, &err);
	else if (err.code >= 0 && (o->rw || o->cow) && !blkalign_run_writable(run, *ret_node, &why))
		err.code = blkalign_error_set(&err, -EROFS, blkalign_node_name(*ret_node), BLKALIGN_UNKNOWN,
					      "cannot be served writable: %s", why);
	return err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
}

/* --- what is printed --- */

static void print_node(const struct blkalign_run *run, const struct blkalign_node *node)
{
	char line[512];

	printf("%s\n  ", cli_safe(blkalign_node_name(node)));
	cli_wrap(blkalign_run_describe(run, node, line, sizeof(line)), 2);
}

static void print_contents(const struct cli_options *o, const struct blkalign_run *run, const struct blkalign_node *only)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		if (o->node ? node == only : blkalign_run_is_content(run, node) || node == only)
			print_node(run, node);
	}
	cli_notes(o, stdout, graph, 0);
}

/* As a part of a URI: what is left needs no quotes in a shell either. */
static void print_encoded(const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~/", *text))
			putchar(*text);
		else
			printf("%%%02X", (unsigned)(unsigned char)*text);
	}
}

static void print_uri(const struct serve_socket *s, const struct blkalign_node *name)
{
	const char *brackets = strchr(s->reach, ':') ? "[]" : "";

	putchar('\'');
	if (s->path)
		printf("nbd+unix:///");
	else
		printf("nbd://%.1s%s%s:%u/", brackets, s->reach, *brackets ? brackets + 1 : "", s->port);
	if (name)
		print_encoded(blkalign_node_name(name));
	if (s->path) {
		printf("?socket=");
		print_encoded(s->path);
	}
	putchar('\'');
}

/* In single quotes, as a shell takes it. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		printf("%.*s%s", *text != '\'', text, *text == '\'' ? "'\\''" : "");
	putchar('\'');
}

static void print_nbd_client(const struct serve_socket *s, const struct blkalign_node *name)
{
	printf("nbd-client ");
	if (s->path) {
		printf("-unix ");
		print_quoted(s->path);
	} else
		printf("%s %u", s->reach, s->port);
	printf(" /dev/nbd0");
	if (name) {
		printf(" -name ");
		print_quoted(cli_safe(blkalign_node_name(name)));
	}
}

struct example {
	const struct serve_socket *socket;
	const struct blkalign_node *node;
	bool by_name; /* clients must give it */
	bool writable;
	uint64_t minimum_bytes;
};

static void print_line(const char *what, const char *before, const struct example *e, const char *after)
{
	printf("  %-24s %s", what, before);
	print_uri(e->socket, e->by_name ? e->node : NULL);
	printf("%s\n", after);
}

static void print_use(const struct example *e)
{
	char whole_blocks[64];

	print_line("look", "nbdinfo ", e, "");
	print_line("copy", "nbdcopy ", e, " FILE");
	/* Programs write files by the byte, fsck does; the array takes whole blocks. */
	snprintf(whole_blocks, sizeof(whole_blocks), " minblock=%llu ]", (unsigned long long)e->minimum_bytes);
	if (e->writable)
		print_line("as a file, without root", "nbdfuse DIR/FILE [ nbdkit --filter=blocksize nbd ", e, whole_blocks);
	else
		print_line("as a file, without root", "nbdfuse DIR/FILE ", e, "");
	print_line("as a disk, as root",
		   e->writable ? "qemu-nbd --connect=/dev/nbd0 --format=raw " : "qemu-nbd --connect=/dev/nbd0 --format=raw --read-only ", e,
		   "");
	printf("  %-24s ", "or");
	print_nbd_client(e->socket, e->by_name ? e->node : NULL);
	printf("%s\n", e->writable ? "" : " -readonly");
}

static void print_example(const struct blkalign_run *run, const struct blkalign_node *node, const struct serve_socket *s)
{
	struct example e = { .socket = s, .node = node ? node : first_content(run), .by_name = !node };
	struct blkalign_run_blocks blocks;

	if (!e.node)
		return;
	blkalign_run_blocks(run, e.node, &blocks);
	e.minimum_bytes = blocks.minimum_bytes;
	e.writable = blkalign_run_writable(run, e.node, NULL);
	print_use(&e);
}

static void print_all(const struct cli_options *o, const struct blkalign_run *run, const struct blkalign_node *node,
		      const struct serve_socket *s)
{
	print_contents(o, run, node);
	if (s->path)
		printf("listening on %s", cli_safe(s->path));
	else
		printf("listening on port %u of %s%s", s->port, s->host, s->is_local ? "" : ": whoever reaches it has access, unencrypted");
	printf("; Ctrl-C ends it\n");
	print_example(run, node, s);
}

int cmd_serve(const struct cli_options *o)
{
	struct blkalign_run *run = NULL;
	const struct blkalign_node *node;
	struct serve_nbdkit nbdkit;
	struct serve_socket s = { .fd = -1 };
	int status = check_options(o);

	if (status == CLI_ALIGNED)
		status = serve_find_nbdkit(&nbdkit);
	if (status == CLI_ALIGNED)
		status = open_stack(o, &run);
	if (status == CLI_ALIGNED)
		status = find_node(o, run, &node);
	if (status == CLI_ALIGNED)
		status = serve_listen(o, &s);
	if (status == CLI_ALIGNED)
		print_all(o, run, node, &s);
	blkalign_run_close(run, NULL);
	free(s.path);
	if (status != CLI_ALIGNED)
		return status;
	if (fflush(stdout) || ferror(stdout))
		return CLI_FAILED; /* told by main() */
	return serve_become_nbdkit(o, &nbdkit, s.fd);
}
