/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stack that is written to: who keeps the records of its arrays, what is not to be written and why, and the order in which it is closed. */
#include "keep/keep.h"
#include "stack/stack_priv.h"

void stack_set_running(struct stack *stack, const struct stack_running *running)
{
	stack->running = *running;
	stack->runs = true;
}

const struct stack_running *stack_running(const struct stack *stack) { return stack->runs ? &stack->running : NULL; }
bool stack_is_writable(const struct stack *stack) { return stack->running.writable || stack->running.cow; }

/* --- records --- */

static struct stack_record *find_record(const struct stack *stack, const struct blkalign_node *node)
{
	for (size_t i = 0; i < stack->records.count; i++)
		if (stack->records.data[i].node == node)
			return &stack->records.data[i];
	return NULL;
}

struct keep *stack_keep(const struct stack *stack, const struct blkalign_node *node)
{
	const struct stack_record *record = find_record(stack, node);

	return record ? record->keep : NULL;
}

static void free_geometry(struct raid_geometry *geometry)
{
	raid_geometry_done(geometry);
	free(geometry);
}

int stack_set_keep(struct stack *stack, const struct blkalign_node *node, struct keep *keep, struct raid_geometry *geometry)
{
	int r = vec_push(&stack->records, ((struct stack_record){ node, keep, geometry }));

	if (r < 0) {
		keep_abandon(keep);
		free_geometry(geometry);
	}
	return r;
}

void stack_forget_running(struct stack *stack)
{
	for (size_t i = stack->records.count; i-- > 0;) {
		keep_abandon(stack->records.data[i].keep);
		free_geometry(stack->records.data[i].geometry);
	}
	for (size_t i = 0; i < stack->reasons.count; i++)
		free(stack->reasons.data[i]);
	for (size_t i = 0; i < stack->legs.count; i++)
		free(stack->legs.data[i].legs);
	vec_done(&stack->legs);
	vec_done(&stack->records);
	vec_done(&stack->reasons);
}

int stack_set_legs(struct stack *stack, const struct blkalign_node *node, const struct stack_leg *legs, size_t count)
{
	struct stack_legs copy = { node, calloc(count ? count : 1, sizeof(*legs)), count };
	int r = copy.legs ? vec_push(&stack->legs, copy) : -ENOMEM;

	if (r < 0)
		free(copy.legs);
	else if (count)
		memcpy(copy.legs, legs, count * sizeof(*legs));
	return r;
}

struct stack_leg stack_leg(const struct stack *stack, const struct blkalign_node *node, uint32_t slot)
{
	for (size_t i = 0; i < stack->legs.count; i++)
		if (stack->legs.data[i].node == node && slot < stack->legs.data[i].count)
			return stack->legs.data[i].legs[slot];
	return (struct stack_leg){ 0 };
}

/* --- reasons --- */

const char *stack_read_only_because(const struct stack *stack, const struct blkalign_node *node)
{
	size_t index = blkalign_node_index(node);

	return index < stack->reasons.count ? stack->reasons.data[index] : NULL;
}

int stack_set_read_only(struct stack *stack, const struct blkalign_node *node, const char *why)
{
	size_t index = blkalign_node_index(node);
	struct dev *dev = stack_dev(stack, node);

	if (dev)
		dev->writable = false;
	if (stack_read_only_because(stack, node))
		return 0;
	while (stack->reasons.count <= index)
		if (vec_push(&stack->reasons, NULL) < 0)
			return -ENOMEM;
	stack->reasons.data[index] = strdup(why);
	return stack->reasons.data[index] ? 0 : -ENOMEM;
}

/* An array with records of its own is written through it alone, whatever its members are and lie on. */
static const struct blkalign_node *array_above(const struct stack *stack, const struct blkalign_node *node)
{
	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);
		const struct blkalign_node *found = find_record(stack, upper) ? upper : array_above(stack, upper);

		if (found)
			return found;
	}
	return NULL;
}

/* Lower devices come first, so their reasons are there. */
static int reason_from_below(struct stack *stack, const struct blkalign_node *node)
{
	char text[512];

	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(node, i)->lower;
		const char *why = stack_read_only_because(stack, lower);

		if (!why)
			continue;
		text_join(text, sizeof(text), blkalign_node_name(lower), " is read-only: ", why);
		return stack_set_read_only(stack, node, text);
	}
	return stack_set_read_only(stack, node, "what it lies on cannot be written");
}

/* The device stays writable: the array's own writes go through it. */
static int protect_member(struct stack *stack, const struct blkalign_node *node, const struct blkalign_node *array)
{
	struct dev *dev = stack_dev(stack, node);
	char text[512];
	int r;

	text_join(text, sizeof(text), "it belongs to ", blkalign_node_name(array), ", which is written through that");
	r = stack_set_read_only(stack, node, text);
	dev->writable = true;
	return r;
}

int stack_note_read_only(struct stack *stack)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && stack_is_writable(stack) && i < blkalign_graph_size(stack->graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(stack->graph, i), *array = array_above(stack, node);
		const struct dev *dev = stack_dev(stack, node);

		if (dev && dev->writable && array)
			r = protect_member(stack, node, array);
		else if (dev && !dev->writable)
			r = reason_from_below(stack, node);
	}
	return r;
}

/* --- closing --- */

static void keep_first(int *first, int error, struct blkalign_error *to, const struct blkalign_error *from)
{
	if (error >= 0 || *first < 0)
		return;
	*first = error;
	if (to)
		*to = *from;
}

static int settle_node(struct stack *stack, const struct blkalign_node *node, struct blkalign_error *reterr)
{
	struct stack_record *record = find_record(stack, node);
	struct dev *dev = stack_dev(stack, node);
	struct blkalign_error err = { 0 };
	int r = 0, first = 0;

	/* What is written through an array is flushed by that, which knows which members it has lost. */
	if (dev && dev->writable && !stack_read_only_because(stack, node))
		r = dev_flush(dev, &err);
	keep_first(&first, r, reterr, &err);
	/* An array whose last flush failed is not called clean. */
	if (record && r >= 0)
		keep_first(&first, keep_settle(record->keep, &err), reterr, &err);
	return first;
}

/* Lower devices come first in a graph, so that backwards is from the top down. */
int stack_settle(struct stack *stack, struct blkalign_error *reterr)
{
	int first = 0;

	for (size_t i = blkalign_graph_size(stack->graph); i-- > 0;) {
		struct blkalign_error err = { 0 };

		keep_first(&first, settle_node(stack, blkalign_graph_node(stack->graph, i), &err), reterr, &err);
	}
	return first;
}

int stack_close(struct stack *stack, struct blkalign_error *reterr)
{
	int r = stack ? stack_settle(stack, reterr) : 0;

	stack_free(stack);
	return r;
}
