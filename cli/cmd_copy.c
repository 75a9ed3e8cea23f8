/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "progress.h"

#define MAP_SECONDS 15.0 /* what is lost of the account when the machine stops */

static int check_options(const struct cli_options *o)
{
	if (!o->target_count)
		return cli_usage(o, "copy needs the members: image files or disks");
	if (!o->output)
		return cli_usage(o, "copy needs --output=FILE, or -o - for standard output");
	if (o->resume && !o->map)
		return cli_usage(o, "--resume goes on by a map: it needs --map=FILE");
	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO))
		return cli_usage(o, "-o - writes the contents to standard output, which is a terminal");
	return CLI_ALIGNED;
}

/* --- members with map files --- */

/* MEMBER=MAPFILE, of which both may have '='. The text is cut there. */
static bool split_bad(const struct cli_options *o, char *text, struct blkalign_run_bad *ret)
{
	for (char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
		*at = '\0';
		for (size_t i = 0; i < o->target_count; i++)
			if (!strcmp(text, o->targets[i])) {
				*ret = (struct blkalign_run_bad){ .path = o->targets[i], .map_path = at + 1 };
				return true;
			}
		*at = '=';
	}
	return false;
}

static int open_stack(const struct cli_options *o, struct blkalign_run **ret_run)
{
	struct blkalign_run_options options = { .source = o->source, .force = o->force };
	struct blkalign_run_bad bad[CLI_BAD_MAX];
	char *texts[CLI_BAD_MAX] = { NULL };
	struct blkalign_error err = { 0 };
	int status = CLI_ALIGNED;

	for (size_t i = 0; status == CLI_ALIGNED && i < o->bad_count; i++) {
		texts[i] = strdup(o->bad[i]);
		if (texts[i] && split_bad(o, texts[i], &bad[i]))
			continue;
		cli_say("--bad=%s: expected MEMBER=MAPFILE, with a member as it is among the targets", cli_safe(o->bad[i]));
		status = CLI_FAILED;
	}
	options.bad = bad;
	options.bad_count = o->bad_count;
	if (status == CLI_ALIGNED) {
		err.code = blkalign_run_open(&options, o->targets, o->target_count, ret_run, &err);
		status = err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
	}
	for (size_t i = 0; i < o->bad_count; i++)
		free(texts[i]);
	return status;
}

/* --- what was begun earlier --- */

/* The map of an earlier copy, when there is one and it is wanted. */
static int read_map(const struct cli_options *o, char **ret_text, size_t *ret_length)
{
	int r = o->map ? cli_read_file(o->map, ret_text, ret_length) : 1;

	if (r < 0)
		return CLI_FAILED;
	if (r == 1 && o->resume)
		fprintf(stderr, "note: %s: there is no such map yet: the copy begins anew\n", cli_safe(o->map));
	if (r == 1 || o->resume)
		return CLI_ALIGNED;
	return cli_say("%s: there is a map already: --resume goes on by it; remove it to begin anew", cli_safe(o->map));
}

static int write_map(const struct cli_options *o, struct blkalign_copy *copy)
{
	struct blkalign_error err = { 0 };
	char *text = NULL;
	int r;

	if (!o->map)
		return CLI_ALIGNED;
	err.code = blkalign_copy_map(copy, &text, &err);
	if (err.code < 0)
		return cli_fail(&err);
	r = cli_replace_file(o->map, text);
	free(text);
	return r < 0 ? CLI_FAILED : CLI_ALIGNED;
}

/* --- the copy --- */

/* Pipes and /dev/null are streams as well as standard output. */
static int open_stream(const char *path, int *ret_fd)
{
	struct stat st;

	*ret_fd = -1;
	if (!strcmp(path, "-"))
		*ret_fd = dup(STDOUT_FILENO);
	else if (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		*ret_fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	else
		return CLI_ALIGNED;
	if (*ret_fd >= 0)
		return CLI_ALIGNED;
	return cli_say("%s: cannot be opened: %s", cli_safe(path), strerror(errno));
}

static int tell_bad(const struct cli_options *o, const struct blkalign_node *node, const struct blkalign_copy_progress *p)
{
	char bytes[32];

	return cli_say("%s: %s in %llu %s could not be read, and are zeros in the copy; %s%s", cli_safe(blkalign_node_name(node)),
		       blkalign_format_bytes(bytes, sizeof(bytes), p->bad_bytes, 0), (unsigned long long)p->bad_areas,
		       p->bad_areas == 1 ? "place" : "places", o->map ? "listed in " : "--map=FILE lists them",
		       o->map ? cli_safe(o->map) : "");
}

static void tell_done(double seconds, const struct blkalign_copy_progress *p)
{
	char good[32], zeros[32], rate[32];

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "%s copied, of them %s as holes, in %.1f s", blkalign_format_bytes(good, sizeof(good), p->good_bytes, 1),
		blkalign_format_bytes(zeros, sizeof(zeros), p->zero_bytes, 1), seconds);
	if (seconds > 0.1)
		fprintf(stderr, ", %s/s", blkalign_format_bytes(rate, sizeof(rate), (uint64_t)((double)p->good_bytes / seconds), 1));
	fputc('\n', stderr);
}

static void show(struct cli_progress *progress, const struct blkalign_copy_progress *p)
{
	char bytes[32];

	if (p->bad_bytes)
		snprintf(progress->note, sizeof(progress->note), "%s %s", blkalign_format_bytes(bytes, sizeof(bytes), p->bad_bytes, 1),
			 p->trying_again ? "tried again" : "unreadable");
	cli_progress_step(progress, p->done_bytes, p->total_bytes, UINT64_MAX);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Up to the end, a failure or Ctrl-C; the account is written meanwhile. Returns what the last step did. */
static int run_steps(const struct cli_options *o, struct blkalign_copy *copy, struct blkalign_copy_progress *p, struct blkalign_error *err)
{
	struct cli_progress progress;
	double saved = seconds();

	blkalign_copy_progress(copy, p);
	cli_progress_begin(&progress, o, "copy", p->done_bytes);
	do {
		err->code = blkalign_copy_step(copy, p, err);
		show(&progress, p);
		if (err->code != 0 || seconds() - saved < MAP_SECONDS)
			continue;
		if (write_map(o, copy) != CLI_ALIGNED)
			break;
		saved = seconds();
	} while (err->code == 0 && !cli_interrupted());
	cli_progress_end(&progress);
	return err->code;
}

static int run(const struct cli_options *o, const struct blkalign_node *node, struct blkalign_copy *copy)
{
	struct blkalign_copy_progress p;
	struct blkalign_error err = { 0 };
	double began = seconds();
	int r = run_steps(o, copy, &p, &err);
	int status = CLI_ALIGNED;

	if (!strcmp(err.where, "output")) /* a stream has no name in the library */
		blkalign_escape(err.where, sizeof(err.where), strcmp(o->output, "-") != 0 ? o->output : "standard output");
	if (r < 0 && !(r == -EINTR && cli_interrupted()))
		status = cli_fail(&err);

	/* Also after a failure: what is on the disk is accounted for, unless the output itself failed. */
	if (write_map(o, copy) != CLI_ALIGNED || status != CLI_ALIGNED)
		return CLI_FAILED;
	if (r != BLKALIGN_COPY_DONE) {
		cli_say("stopped before the end%s", o->map ? "; --resume goes on" : "");
		return cli_interrupted() ? CLI_INTERRUPTED : CLI_FAILED;
	}
	tell_done(seconds() - began, &p);
	return p.bad_bytes ? tell_bad(o, node, &p) : CLI_ALIGNED;
}

static int copy_node(const struct cli_options *o, struct blkalign_run *stack)
{
	struct blkalign_copy_options options = { .overwrite = o->overwrite,
						 .offset_bytes = o->offset_bytes,
						 .length_bytes = o->length_bytes };
	const struct blkalign_node *node;
	struct blkalign_copy *copy = NULL;
	struct blkalign_error err = { 0 };
	char *map = NULL;
	int status;

	err.code = blkalign_run_node(stack, o->node, &node, &err);
	if (err.code < 0)
		return cli_fail_with_notes(o, stack, &err);
	status = read_map(o, &map, &options.map_bytes);
	if (status == CLI_ALIGNED)
		status = open_stream(o->output, &options.output_fd);
	if (status != CLI_ALIGNED) {
		free(map);
		return status;
	}
	options.output = options.output_fd < 0 ? o->output : NULL;
	options.map = map;
	err.code = blkalign_copy_open(stack, node, &options, &copy, &err);
	if (err.code >= 0)
		cli_notes(o, stderr, blkalign_run_graph(stack), 0);
	status = err.code < 0 ? cli_fail(&err) : run(o, node, copy);
	blkalign_copy_close(copy);
	free(map);
	if (options.output_fd >= 0 && close(options.output_fd) < 0)
		status = CLI_FAILED;
	return status;
}

int cmd_copy(const struct cli_options *o)
{
	struct blkalign_run *stack = NULL;
	struct blkalign_error err = { 0 };
	int status = check_options(o);

	if (status == CLI_ALIGNED)
		status = open_stack(o, &stack);
	if (status != CLI_ALIGNED)
		return status;
	cli_catch_signals();
	status = copy_node(o, stack);
	cli_tell_events(stack);
	err.code = blkalign_run_close(stack, &err);
	return err.code < 0 ? cli_fail(&err) : status;
}
