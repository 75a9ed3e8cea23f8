/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "apply/apply.h"

static int find_dev(struct stack *stack, const char *name, struct dev **ret, struct blkalign_error *reterr)
{
	const struct blkalign_node *node = blkalign_graph_find(stack_graph(stack), name);

	*ret = node ? stack_dev(stack, node) : NULL;
	return *ret ? 0 : blkalign_error_set(reterr, -ESTALE, name, BLKALIGN_UNKNOWN, "is no longer there: make the plan anew");
}

static int compare(struct dev *dev, const struct plan_write *w, const uint8_t *expected, int code, const char *message,
		   struct blkalign_error *reterr)
{
	_cleanup_free_ uint8_t *found = malloc(w->length_bytes);
	int r = found ? dev_read(dev, w->offset_bytes, found, w->length_bytes, reterr) : -ENOMEM;
	size_t at = 0;

	if (r < 0 || !memcmp(found, expected, w->length_bytes))
		return r;
	while (found[at] == expected[at])
		at++;
	return blkalign_error_set(reterr, code, w->node, w->offset_bytes + at, "byte %" PRIu64 " holds 0x%02x, expected was 0x%02x: %s",
				  w->offset_bytes + at, found[at], expected[at], message);
}

/* Writes of one step: [first, end). */
struct step {
	const struct plan *plan;
	struct dev **devs; /* by write */
	size_t first, end;
};

static int check_step(const struct step *s, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = s->first; r >= 0 && i < s->end; i++)
		r = compare(s->devs[i], &s->plan->writes.data[i], s->plan->writes.data[i].before, -ESTALE,
			    "it has changed since the plan was made, which stops here", reterr);
	return r;
}

static int flush_step(const struct step *s, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = s->first; r >= 0 && i < s->end; i++) {
		bool done = false;

		for (size_t k = s->first; k < i; k++)
			done = done || s->devs[k] == s->devs[i];
		if (!done)
			r = dev_flush(s->devs[i], reterr);
	}
	return r;
}

static int write_step(const struct step *s, struct blkalign_error *reterr)
{
	size_t count = s->end - s->first;
	_cleanup_free_ struct dev_request *requests = calloc(count, sizeof(*requests));
	int r;

	if (!requests)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct plan_write *w = &s->plan->writes.data[s->first + i];

		requests[i] = (struct dev_request){ .dev = s->devs[s->first + i],
						    .op = DEV_WRITE,
						    .offset_bytes = w->offset_bytes,
						    .length_bytes = w->length_bytes,
						    .buffer = (void *)(uintptr_t)w->data };
	}
	r = dev_run(requests, count, reterr);
	return r < 0 ? r : flush_step(s, reterr);
}

static int find_devs(const struct plan *plan, struct stack *stack, struct dev ***ret, struct blkalign_error *reterr)
{
	struct dev **devs = calloc(plan->writes.count + 1, sizeof(struct dev *));
	int r = devs ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < plan->writes.count; i++)
		r = find_dev(stack, plan->writes.data[i].node, &devs[i], reterr);
	*ret = devs;
	return r;
}

int apply_plan(const struct plan *plan, struct stack *stack, size_t *ret_done, struct blkalign_error *reterr)
{
	_cleanup_free_ struct dev **devs = NULL;
	struct step s = { .plan = plan };
	int r = find_devs(plan, stack, &devs, reterr);

	s.devs = devs;
	*ret_done = 0;
	while (r >= 0 && s.first < plan->writes.count) {
		while (s.end < plan->writes.count && plan->writes.data[s.end].step == plan->writes.data[s.first].step)
			s.end++;
		r = check_step(&s, reterr);
		if (r >= 0)
			r = write_step(&s, reterr);
		if (r >= 0)
			*ret_done = s.end;
		s.first = s.end;
	}
	return r;
}

int apply_verify(const struct plan *plan, struct stack *stack, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->writes.count; i++) {
		const struct plan_write *w = &plan->writes.data[i];
		_cleanup_free_ uint8_t *left = malloc(w->length_bytes);
		struct dev *dev;

		if (!left)
			return -ENOMEM;
		memcpy(left, w->data, w->length_bytes);
		plan_overlay(plan, i + 1, plan->writes.count, w, left);
		r = find_dev(stack, w->node, &dev, reterr);
		if (r >= 0)
			r = compare(dev, w, left, -EIO, "it was written otherwise: the device loses writes", reterr);
	}
	return r;
}
