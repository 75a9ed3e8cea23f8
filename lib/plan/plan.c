/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of writes. What a place holds before a write is what is on the device, changed by the writes that come earlier. */
#include <stdio.h>

#include "plan/plan.h"

#define SECTOR 512U

int plan_new(struct plan **ret_plan)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		plan->arena = arena_new();
	if (!plan || !plan->arena) {
		free(plan);
		return -ENOMEM;
	}
	*ret_plan = plan;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	vec_done(&plan->writes);
	vec_done(&plan->words);
	arena_free(plan->arena);
	free(plan);
}

void plan_overlay(const struct plan *plan, size_t first, size_t end, const struct plan_write *w, uint8_t *bytes)
{
	uint64_t to = w->offset_bytes + w->length_bytes;

	for (size_t i = first; i < end; i++) {
		const struct plan_write *o = &plan->writes.data[i];
		uint64_t begin = o->offset_bytes > w->offset_bytes ? o->offset_bytes : w->offset_bytes,
			 stop = o->offset_bytes + o->length_bytes;

		stop = stop < to ? stop : to;
		if (begin < stop && !strcmp(o->node, w->node))
			memcpy(bytes + (begin - w->offset_bytes), o->data + (begin - o->offset_bytes), stop - begin);
	}
}

/* Requests of one step have no order: two that touch the same bytes are two steps. */
static bool overlaps_step(const struct plan *plan, const struct plan_write *w)
{
	for (size_t i = plan->writes.count; i-- > 0 && plan->writes.data[i].step == plan->step;) {
		const struct plan_write *o = &plan->writes.data[i];

		if (!strcmp(o->node, w->node) && o->offset_bytes < w->offset_bytes + w->length_bytes &&
		    w->offset_bytes < o->offset_bytes + o->length_bytes)
			return true;
	}
	return false;
}

static int take(struct plan *plan, const struct plan_place *place, struct plan_write *w, uint8_t *before, const char *reason,
		struct blkalign_error *reterr)
{
	int r = dev_read(place->dev, w->offset_bytes, before, w->length_bytes, reterr);
	size_t first = 0, last = w->length_bytes;

	if (r < 0)
		return r;
	plan_overlay(plan, 0, plan->writes.count, w, before);
	while (last - first >= SECTOR && !memcmp(before + first, w->data + first, SECTOR))
		first += SECTOR;
	while (last - first >= SECTOR && last % SECTOR == 0 && !memcmp(before + last - SECTOR, w->data + last - SECTOR, SECTOR))
		last -= SECTOR;
	if (first == last || !memcmp(before + first, w->data + first, last - first))
		return 0;
	w->offset_bytes += first;
	w->length_bytes = last - first;
	w->data += first;
	w->before = before + first;
	w->reason = arena_strdup(plan->arena, reason);
	if (overlaps_step(plan, w))
		plan_flush(plan);
	w->step = plan->step;
	return w->reason ? vec_push(&plan->writes, *w) : -ENOMEM;
}

int plan_write(struct plan *plan, const struct plan_place *place, uint64_t offset_bytes, const void *data, size_t length_bytes,
	       const char *reason, struct blkalign_error *reterr)
{
	struct plan_write w = { .node = arena_strdup(plan->arena, blkalign_node_name(place->node)),
				.offset_bytes = offset_bytes,
				.length_bytes = length_bytes };
	uint8_t *copy, *before;

	if (length_bytes > PLAN_WRITE_MAX)
		return blkalign_error_set(reterr, -E2BIG, place->dev->name, offset_bytes, "a write of %zu bytes is no metadata",
					  length_bytes);
	if (!range_inside(offset_bytes, length_bytes, place->dev->size_bytes))
		return blkalign_error_set(reterr, -ERANGE, place->dev->name, offset_bytes, "there is no room for %zu bytes", length_bytes);
	copy = arena_alloc(plan->arena, length_bytes + 1);
	before = arena_alloc(plan->arena, length_bytes + 1);
	if (!w.node || !copy || !before)
		return -ENOMEM;
	if (data)
		memcpy(copy, data, length_bytes);
	w.data = copy;
	return take(plan, place, &w, before, reason, reterr);
}

/* A step in which nothing is written needs no flush. */
void plan_flush(struct plan *plan)
{
	if (plan->writes.count && plan->writes.data[plan->writes.count - 1].step == plan->step)
		plan->step++;
}

__attribute__((format(printf, 3, 0))) static int add_word(struct plan *plan, bool detail, const char *format, va_list args)
{
	char text[600];
	const char *copy;

	vsnprintf(text, sizeof(text), format, args);
	copy = arena_strdup(plan->arena, text);
	return copy ? vec_push(&plan->words, ((struct plan_word){ copy, detail })) : -ENOMEM;
}

int plan_say(struct plan *plan, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = add_word(plan, false, format, args);
	va_end(args);
	return r;
}

int plan_explain(struct plan *plan, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = add_word(plan, true, format, args);
	va_end(args);
	return r;
}
