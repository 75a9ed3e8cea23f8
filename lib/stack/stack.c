/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stdio.h>

#include "stack/stack_priv.h"

int stack_new(struct blkalign_graph *graph, const struct blkalign_source_options *options, struct stack **ret_stack)
{
	struct stack *s = calloc(1, sizeof(*s));

	if (s)
		s->states = calloc(stack_layers_count + 1, sizeof(*s->states));
	if (!graph || !s || !s->states) {
		blkalign_graph_free(graph);
		free(s);
		return -ENOMEM;
	}
	s->graph = graph;
	s->hole.fd = -1;
	if (options)
		s->options = *options;
	*ret_stack = s;
	return 0;
}

void stack_free(struct stack *s)
{
	if (!s)
		return;
	stack_forget_running(s);
	for (size_t i = 0; i < stack_layers_count; i++)
		if (s->states[i] && stack_layers[i]->done)
			stack_layers[i]->done(s->states[i]);
	/* Newest first: devices made of devices go before those below them. */
	for (size_t i = s->owned.count; i-- > 0;)
		dev_close(s->owned.data[i]);
	vec_done(&s->owned);
	vec_done(&s->devs);
	vec_done(&s->work);
	free(s->states);
	blkalign_graph_free(s->graph);
	free(s);
}

struct blkalign_graph *stack_graph(const struct stack *stack) { return stack->graph; }
const struct blkalign_source_options *stack_options(const struct stack *stack) { return &stack->options; }

struct blkalign_graph *stack_take_graph(struct stack *stack)
{
	struct blkalign_graph *graph = stack->graph;

	stack->graph = NULL;
	return graph;
}

void **stack_state(struct stack *stack, const struct layer *layer)
{
	size_t i = 0;

	while (i < stack_layers_count && stack_layers[i] != layer)
		i++;
	return &stack->states[i];
}

struct dev *stack_dev(const struct stack *stack, const struct blkalign_node *node)
{
	size_t index = blkalign_node_index(node);

	return index < stack->devs.count ? stack->devs.data[index] : NULL;
}

int stack_own(struct stack *stack, struct dev *dev)
{
	int r = vec_push(&stack->owned, dev);

	if (r < 0)
		dev_close(dev);
	return r;
}

int stack_set_dev(struct stack *stack, struct blkalign_node *node, struct dev *dev)
{
	size_t index = blkalign_node_index(node);

	if (stack_dev(stack, node)) {
		dev_close(dev);
		return 0;
	}
	if (dev && stack_own(stack, dev) < 0)
		return -ENOMEM;
	while (stack->devs.count <= index)
		if (vec_push(&stack->devs, NULL) < 0)
			return -ENOMEM;
	stack->devs.data[index] = dev;
	return vec_push(&stack->work, node);
}

int stack_add(struct stack *stack, enum blkalign_kind kind, const char *name, struct dev *dev, struct blkalign_node **ret_node)
{
	struct blkalign_node *node;
	int r = graph_add(stack->graph, kind, name, &node);

	if (r < 0) {
		dev_close(dev);
		return r;
	}
	if (dev) {
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, dev->size_bytes, BLKALIGN_ORIGIN_ONDISK);
		if (r < 0) {
			dev_close(dev);
			return r;
		}
	}
	r = stack_set_dev(stack, node, dev);
	if (r < 0)
		return r;
	*ret_node = node;
	return 0;
}

int stack_add_content(struct stack *stack, enum blkalign_kind kind, const char *what, struct blkalign_node *host,
		      struct blkalign_node **ret_node)
{
	_cleanup_strbuf_ struct strbuf name = { 0 };
	struct blkalign_node *node;
	uint64_t size = blkalign_node_u64(host, BLKALIGN_ATTR_SIZE);
	int r;

	strbuf_printf(&name, "%s:%s", what, blkalign_node_name(host));
	r = graph_add(stack->graph, kind, strbuf_text(&name), &node);
	if (r < 0)
		return r;
	r = graph_set_str(node, BLKALIGN_ATTR_CONTENT, what, BLKALIGN_ORIGIN_ONDISK);
	if (r < 0)
		return r;
	*ret_node = node;
	return graph_connect_linear(stack->graph, node, host, 0, size);
}

void stack_partition_name(char *ret, size_t size, const char *disk, unsigned number)
{
	size_t length = strlen(disk);
	bool digit = length && isdigit((unsigned char)disk[length - 1]);

	snprintf(ret, size, "%s%s%u", disk, digit ? "p" : "", number);
}

/* A layer met the limits of the graph. What is known up to there stays, and the other devices are still judged. */
static int bear_limit(struct stack *stack, const char *where, int error)
{
	if (error != -ELOOP && error != -E2BIG)
		return error;
	return graph_remark(stack->graph, "%s: what lies on it is left out: %s", where,
			    error == -ELOOP ? "devices lie on each other in a circle or deeper than 64 layers"
					    : "it is more than is read of one host");
}

static int probe(struct stack *stack, struct blkalign_node *node)
{
	struct dev *dev = stack_dev(stack, node);
	size_t waiting = stack->work.count;

	/* A VG may hold thousands of volumes that nobody wrote to yet. */
	if (dev && dev_is_hole(dev, &stack->hole))
		return 0;
	for (size_t i = 0; dev && dev->size_bytes && i < stack_layers_count; i++) {
		int r = stack_layers[i]->probe(stack, node, dev);

		if (r == 0)
			return 0;
		if (r < 0) {
			/* Nodes that have no place are not looked into either: hostile nesting ends here. */
			stack->work.count = waiting;
			return bear_limit(stack, blkalign_node_name(node), r);
		}
	}
	return 0;
}

static int assemble(struct stack *stack, bool *ret_progress)
{
	*ret_progress = false;
	for (size_t i = 0; i < stack_layers_count; i++) {
		bool progress = false;
		int r = stack_layers[i]->assemble ? stack_layers[i]->assemble(stack, &progress) : 0;

		if (r < 0) {
			progress = false;
			r = bear_limit(stack, stack_layers[i]->name, r);
		}
		if (r < 0)
			return r;
		*ret_progress = *ret_progress || progress;
	}
	return 0;
}

int stack_run(struct stack *stack, struct blkalign_error *reterr)
{
	bool progress = true;
	int r = 0;

	while (progress && r >= 0) {
		while (r >= 0 && stack->work_done < stack->work.count)
			r = probe(stack, stack->work.data[stack->work_done++]);
		if (r >= 0)
			r = assemble(stack, &progress);
	}
	if (r >= 0)
		r = stack_note_read_only(stack);
	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "cannot put the stack together: %s", strerror(-r));
	return 0;
}
