/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/run.h"

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

static void set_running(struct blkalign_run *run, const struct blkalign_run_options *options)
{
	struct stack_running running = { 0 };

	if (options)
		running = (struct stack_running){ .writable = options->writable, .cow = options->cow, .force = options->force };
	run->writable = running.writable || running.cow;
	run->cow = running.cow;
	stack_set_running(run->stack, &running);
}

int run_new(const struct blkalign_run_options *options, struct blkalign_run **ret_run)
{
	struct blkalign_run *run = calloc(1, sizeof(*run));
	int r = run ? stack_new(graph_new("images"), options ? &options->source : NULL, &run->stack) : -ENOMEM;

	if (run)
		pthread_mutex_init(&run->events.mutex, NULL);
	if (r >= 0)
		r = gate_init(&run->gate);
	if (r < 0) {
		blkalign_run_close(run, NULL);
		return r;
	}
	set_running(run, options);
	*ret_run = run;
	return 0;
}

/* What a remark tells about the node called `name`, or NULL: remarks begin with whom they are about. */
static const char *told_about(const char *remark, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(remark, name, length) && remark[length] == ':' ? remark + length + 1 : NULL;
}

/* People give a list of files by a pattern, or a disk whose superblock is gone: what takes no part is to be known by name. */
static int remark_unknown(struct blkalign_graph *graph)
{
	size_t told = blkalign_graph_remarks(graph);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		const char *name = blkalign_node_name(node);
		bool known = !run_is_unknown(node);

		for (size_t k = 0; !known && k < told; k++)
			known = told_about(blkalign_graph_remark(graph, k), name);
		if (!known)
			r = graph_remark(
				graph, "%s: takes no part: nothing known lies on it (no superblock, label, partition table or file system)",
				name);
	}
	return r;
}

int run_start(struct blkalign_run *run, struct blkalign_error *reterr)
{
	int r = stack_run(run->stack, reterr);

	if (r >= 0)
		r = remark_unknown(stack_graph(run->stack));
	if (r >= 0)
		r = find_nodes(run);
	return r < 0 ? r : events_init(run);
}

static int add_members(struct blkalign_run *run, const struct blkalign_run_options *options, const char *const *paths, size_t count,
		       struct blkalign_error *reterr)
{
	_cleanup_free_ struct dev_repeated *repeated = NULL;
	int r = stack_find_repeated(run->stack, paths, count, &repeated);

	for (size_t i = 0; r >= 0 && i < count; i++) {
		if (repeated[i].by == i)
			r = run_add_member(run, options, paths[i], reterr);
		else if (run_map_of(options, paths[i]))
			r = blkalign_error_set(reterr, -EINVAL, paths[i], BLKALIGN_UNKNOWN,
					       "has a map file, and is given a second time as %s: give it once", paths[repeated[i].by]);
	}
	return r;
}

int blkalign_run_open(const struct blkalign_run_options *options, const char *const *paths, size_t count, struct blkalign_run **ret_run,
		      struct blkalign_error *reterr)
{
	struct blkalign_run *run = NULL;
	int r = run_new(options, &run);

	if (r >= 0)
		r = run_check_bad(options, paths, count, reterr);
	if (r >= 0)
		r = add_members(run, options, paths, count, reterr);
	if (r >= 0)
		r = run_start(run, reterr);
	if (r < 0) {
		blkalign_run_close(run, NULL);
		return r;
	}
	*ret_run = run;
	return 0;
}

static void free_run(struct blkalign_run *run)
{
	gate_done(&run->gate);
	events_done(run);
	free(run->nodes);
	free(run);
}

int blkalign_run_settle(struct blkalign_run *run, struct blkalign_error *reterr)
{
	if (atomic_load(&run->flush_failed))
		return blkalign_error_set(
			reterr, -EIO, NULL, BLKALIGN_UNKNOWN,
			"a flush failed: what was written may be lost, and arrays are left marked as not stopped cleanly");
	return stack_settle(run->stack, reterr);
}

int blkalign_run_close(struct blkalign_run *run, struct blkalign_error *reterr)
{
	int r;

	if (!run)
		return 0;
	/* After a flush that failed as if the power had gone: nothing is called clean, so that the next start looks at what may be wrong. */
	r = run->stack ? blkalign_run_settle(run, reterr) : 0;
	stack_free(run->stack);
	free_run(run);
	return r;
}

const struct blkalign_graph *blkalign_run_graph(const struct blkalign_run *run) { return stack_graph(run->stack); }

/* What was told about the node while the stack was put together: remarks that begin with its name. */
static void add_reasons(struct strbuf *text, const struct blkalign_graph *graph, const char *name)
{
	static const char already[] = " cannot be read:"; /* the sentence begins so */

	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++) {
		const char *told = told_about(blkalign_graph_remark(graph, i), name);

		if (told && !strncmp(told, already, strlen(already)))
			told += strlen(already);
		if (told)
			strbuf_printf(text, "%s%s", text->length ? ";" : ":", told);
	}
}

static int refuse_reading(const struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf reasons = { 0 };

	add_reasons(&reasons, stack_graph(run->stack), blkalign_node_name(node));
	return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN, "cannot be read%s",
				  reasons.length ? strbuf_text(&reasons) : "; `blkalign show` with the same members says why");
}

int run_dev(const struct blkalign_run *run, const struct blkalign_node *node, struct dev **ret_dev, struct blkalign_error *reterr)
{
	*ret_dev = stack_dev(run->stack, node);
	return *ret_dev ? 0 : refuse_reading(run, node, reterr);
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
