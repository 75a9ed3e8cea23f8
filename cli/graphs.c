/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From targets to graphs: a fleet's snapshots are read one after the other, so that memory stays that of one. */
#include <stdlib.h>

#include "cli.h"

typedef int each_fn(const struct cli_options *, const char *, struct blkalign_graph *, void *);

/* Failing to look ranks above "aligned" and below what was found to be wrong elsewhere. */
static int worse(int a, int b) { return a > b ? a : b; }

static int run_one(const struct cli_options *o, const char *label, const char *const *targets, size_t count, each_fn *each, void *data)
{
	struct blkalign_graph *graph = NULL;
	struct blkalign_error err = { 0 };
	int r, status;

	if (label)
		r = blkalign_read_snapshot(&o->source, label, &graph, &err);
	else
		r = blkalign_read_targets(&o->source, targets, count, &graph, &err);
	if (r < 0) {
		err.code = r;
		return cli_fail(&err);
	}
	status = each(o, label, graph, data);
	blkalign_graph_free(graph);
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
			status = worse(status, run_one(o, o->targets[i], NULL, 0, each, data));
		else
			joined[joined_count++] = o->targets[i];
	}
	if (joined_count || !o->target_count)
		status = worse(status, run_one(o, NULL, joined, joined_count, each, data));
	free(joined);
	return status;
}
