/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happened on arrays while a verb used them, for people. */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

static void tell_failures(struct blkalign_run *run)
{
	struct blkalign_run_failure f;

	for (size_t i = 0; blkalign_run_failure(run, i, &f); i++) {
		fprintf(stderr, "blkalign: %s: member ", cli_safe(blkalign_node_name(f.array)));
		fprintf(stderr, "%s failed, and is recorded as faulty on the others: %s\n", cli_safe(f.member), f.why);
	}
}

void cli_tell_events(struct blkalign_run *run)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	tell_failures(run);
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		struct blkalign_run_events e;
		char computed[32];

		if (blkalign_run_events(run, node, &e) < 0 || !e.read_errors)
			continue;
		fprintf(stderr,
			"blkalign: %s: %" PRIu64
			" read error%s of members %s hidden by its redundancy, %s computed from other members%s%s\n",
			cli_safe(blkalign_node_name(node)), e.read_errors, e.read_errors == 1 ? "" : "s",
			e.read_errors == 1 ? "was" : "were", blkalign_format_bytes(computed, sizeof(computed), e.computed_bytes, 0),
			e.first_error ? "; the first: " : "", e.first_error ? e.first_error : "");
	}
}
