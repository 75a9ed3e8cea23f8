/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images and raw disks given on the command line: each becomes a disk whose topology is assumed, and says so. */
#include <libgen.h>
#include <stdio.h>

#include "stack/stack.h"

static int set_assumed(struct blkalign_node *node, const struct blkalign_source_options *o)
{
	uint64_t logical = o->assume_logical_bytes ? o->assume_logical_bytes : 512;
	uint64_t physical = o->assume_physical_bytes ? o->assume_physical_bytes : 4096;
	int r = graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, logical, BLKALIGN_ORIGIN_ASSUMED);

	if (physical < logical)
		physical = logical;
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_PHYSICAL_BLOCK, physical, BLKALIGN_ORIGIN_ASSUMED);
	return r;
}

static int open_file(struct stack *stack, const char *path, struct dev **ret_dev, struct blkalign_error *reterr)
{
	const struct stack_running *running = stack_running(stack);

	/* For writing, nobody else may have it; under an overlay it is only read. */
	if (running && running->writable && !running->cow)
		return dev_open_file_exclusive(path, ret_dev, reterr);
	return dev_open_file(path, ret_dev, reterr);
}

/* The overlay comes last: what was written over a part that cannot be read can be. */
static int open_image(struct stack *stack, const char *path, const struct byte_range *bad, size_t bad_count, struct dev **ret_dev,
		      struct blkalign_error *reterr)
{
	const struct stack_running *running = stack_running(stack);
	struct dev *below;
	int r = open_file(stack, path, ret_dev, reterr);

	if (r == 0 && bad_count) {
		below = *ret_dev;
		r = stack_own(stack, below);
		if (r == 0)
			r = dev_open_bad_ranges(below, bad, bad_count, ret_dev);
	}
	if (r == 0 && running && running->undo) {
		below = *ret_dev;
		r = stack_own(stack, below);
		if (r == 0)
			r = dev_open_undo(below, running->undo, ret_dev, reterr);
	}
	if (r == 0 && running && running->cow) {
		below = *ret_dev;
		r = stack_own(stack, below);
		if (r == 0)
			r = dev_open_cow(below, ret_dev, reterr);
	}
	return r;
}

int stack_add_image(struct stack *stack, const char *path, struct blkalign_error *reterr)
{
	return stack_add_rescued(stack, path, NULL, 0, reterr);
}

int stack_add_rescued(struct stack *stack, const char *path, const struct byte_range *bad, size_t bad_count, struct blkalign_error *reterr)
{
	_cleanup_free_ char *copy = strdup(path);
	struct dev *dev;
	struct blkalign_node *node;
	int r;

	if (!copy)
		return -ENOMEM;
	r = open_image(stack, path, bad, bad_count, &dev, reterr);
	if (r < 0)
		return r;
	r = stack_add(stack, BLKALIGN_KIND_DISK, basename(copy), dev, &node);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, dev->size_bytes, BLKALIGN_ORIGIN_FILE);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_DEVPATH, path, BLKALIGN_ORIGIN_FILE);
	if (r >= 0)
		r = set_assumed(node, stack_options(stack));
	return r < 0 ? r : stack_remark_image_format(stack, node, dev);
}

static int say_repeated(struct stack *stack, const char *path, const char *by, bool partition)
{
	if (partition)
		return graph_remark(stack_graph(stack), "%s: is a partition of %s, which is given as well: it is read as a part of that",
				    path, by);
	if (!strcmp(path, by))
		return graph_remark(stack_graph(stack), "%s: is given twice, and used once", path);
	return graph_remark(stack_graph(stack), "%s: is %s by another name, given twice, and used once", path, by);
}

int stack_find_repeated(struct stack *stack, const char *const *paths, size_t count, struct dev_repeated **ret)
{
	int r = dev_find_repeated(paths, count, ret);

	for (size_t i = 0; r >= 0 && i < count; i++)
		if ((*ret)[i].by != i)
			r = say_repeated(stack, paths[i], paths[(*ret)[i].by], (*ret)[i].partition);
	return r;
}

int stack_add_images(struct stack *stack, const char *const *paths, size_t count, struct blkalign_error *reterr)
{
	_cleanup_free_ struct dev_repeated *repeated = NULL;
	int r = stack_find_repeated(stack, paths, count, &repeated);

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (repeated[i].by == i)
			r = stack_add_image(stack, paths[i], reterr);
	return r;
}

int blkalign_read_images(const struct blkalign_source_options *options, const char *const *paths, size_t count,
			 struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	_cleanup_stack_ struct stack *stack = NULL;
	int r = stack_new(graph_new("images"), options, &stack);

	if (r >= 0)
		r = stack_add_images(stack, paths, count, reterr);
	if (r >= 0)
		r = stack_run(stack, reterr);
	if (r >= 0)
		r = graph_sort(stack_graph(stack));
	if (r < 0)
		return r;
	*ret_graph = stack_take_graph(stack);
	return 0;
}
