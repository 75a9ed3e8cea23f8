/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/run.h"

static int refuse_writing(struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -ENOTSUP, NULL, BLKALIGN_UNKNOWN, "stacks are run read-only by this version");
}

static int find_nodes(struct blkalign_run *run)
{
	const struct blkalign_graph *graph = stack_graph(run->stack);

	run->nodes = calloc(blkalign_graph_size(graph) + 1, sizeof(*run->nodes));
	if (!run->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		run->nodes[i] = (struct run_node){ .why_not = run_why_not(run, node), .blocks = run_blocks(run, node) };
	}
	return 0;
}

int blkalign_run_open(const struct blkalign_run_options *options, const char *const *paths, size_t count, struct blkalign_run **ret_run,
		      struct blkalign_error *reterr)
{
	struct blkalign_run *run = calloc(1, sizeof(*run));
	int r = run ? stack_new(graph_new("images"), options ? &options->source : NULL, &run->stack) : -ENOMEM;

	if (r >= 0)
		r = gate_init(&run->gate);
	if (r >= 0 && options && (options->writable || options->cow))
		r = refuse_writing(reterr);
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = stack_add_image(run->stack, paths[i], reterr);
	if (r >= 0)
		r = stack_run(run->stack, reterr);
	if (r >= 0)
		r = find_nodes(run);
	if (r < 0) {
		blkalign_run_close(run, NULL);
		return r;
	}
	*ret_run = run;
	return 0;
}

int blkalign_run_close(struct blkalign_run *run, struct blkalign_error *reterr)
{
	(void)reterr;
	if (!run)
		return 0;
	stack_free(run->stack);
	gate_done(&run->gate);
	free(run->nodes);
	free(run);
	return 0;
}

const struct blkalign_graph *blkalign_run_graph(const struct blkalign_run *run) { return stack_graph(run->stack); }

int run_dev(const struct blkalign_run *run, const struct blkalign_node *node, struct dev **ret_dev, struct blkalign_error *reterr)
{
	*ret_dev = stack_dev(run->stack, node);
	if (*ret_dev)
		return 0;
	return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN,
				  "cannot be read; `blkalign show` with the same members says why");
}

uint64_t blkalign_run_size(const struct blkalign_run *run, const struct blkalign_node *node)
{
	struct dev *dev = stack_dev(run->stack, node);

	return dev ? dev->size_bytes : BLKALIGN_UNKNOWN;
}

int blkalign_run_read(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, void *buffer, size_t length_bytes,
		      struct blkalign_error *reterr)
{
	struct dev *dev;
	int r = run_dev(run, node, &dev, reterr);

	if (r < 0)
		return r;
	gate_enter(&run->gate, length_bytes);
	r = dev_read(dev, offset_bytes, buffer, length_bytes, reterr);
	gate_leave(&run->gate, length_bytes);
	return r;
}
