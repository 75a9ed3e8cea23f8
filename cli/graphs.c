/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From targets to graphs: a fleet's snapshots are read one after the other, so that memory stays that of one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef int each_fn(const struct cli_options *, const char *, struct blkalign_graph *, void *);

/* Failing to look ranks above "aligned" and below what was found to be wrong elsewhere. */
static int worse(int a, int b) { return a > b ? a : b; }

static int run_one(const struct cli_options *o, const char *label, struct blkalign_graph *graph, each_fn *each, void *data)
{
	int status = each(o, label, graph, data);

	blkalign_graph_free(graph);
	return status;
}

static int run_snapshot(const struct cli_options *o, const char *path, each_fn *each, void *data)
{
	struct blkalign_graph *graph = NULL;
	struct blkalign_error err = { 0 };

	err.code = blkalign_read_snapshot(&o->source, path, &graph, &err);
	return err.code < 0 ? cli_fail(&err) : run_one(o, path, graph, each, data);
}

/* The target that `err` is about goes; false when it is about none, or about how targets go together. */
static bool drop_target(const struct blkalign_error *err, const char **targets, size_t *count)
{
	char escaped[sizeof(err->where)];

	for (size_t i = 0; err->code != -EINVAL && i < *count; i++) {
		if (strcmp(blkalign_escape(escaped, sizeof(escaped), targets[i]), err->where) != 0)
			continue;
		memmove(&targets[i], &targets[i + 1], (--*count - i) * sizeof(*targets));
		return true;
	}
	return false;
}

/* One graph of all targets. One that cannot be read is told and costs the exit status; the others are looked at. */
static int run_joined(const struct cli_options *o, const char **targets, size_t count, each_fn *each, void *data)
{
	struct blkalign_graph *graph = NULL;
	int status = CLI_ALIGNED;

	do {
		struct blkalign_error err = { 0 };

		err.code = blkalign_read_targets(&o->source, targets, count, &graph, &err);
		if (err.code >= 0)
			return worse(status, run_one(o, NULL, graph, each, data));
		status = cli_fail(&err);
		if (!drop_target(&err, targets, &count))
			return status;
	} while (count);
	return status;
}

int cli_each_graph(const struct cli_options *o, each_fn *each, void *data)
{
	const char **joined = calloc(o->target_count + 1, sizeof(*joined));
	size_t joined_count = 0;
	int status = CLI_ALIGNED;

	if (!joined)
		return cli_fail(&(struct blkalign_error){ .message = "out of memory" });
	for (size_t i = 0; i < o->target_count; i++) {
		if (blkalign_is_snapshot(o->targets[i]))
			status = worse(status, run_snapshot(o, o->targets[i], each, data));
		else
			joined[joined_count++] = o->targets[i];
	}
	if (joined_count || !o->target_count)
		status = worse(status, run_joined(o, joined, joined_count, each, data));
	free(joined);
	return status;
}
