/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happened on arrays while they ran. The devices and the records know, each its own part; here it is put together, with one number for each member that failed. */
#include "keep/keep.h"
#include "map/map.h"
#include "run/run.h"

/* The md devices that give the node's contents, without those of nodes below. An array in the middle of a reshape has two. */
struct halves {
	struct dev *md[2];
	size_t count;
};

static void add_half(struct halves *h, struct dev *dev)
{
	if (dev && map_md_members(dev, NULL) && (!h->count || h->md[0] != dev))
		h->md[h->count++] = dev;
}

static struct halves halves_of(const struct blkalign_run *run, const struct blkalign_node *node)
{
	struct dev *dev = stack_dev(run->stack, node), *below;
	struct halves h = { 0 };
	uint64_t run_bytes = UINT64_MAX;
	bool patched;

	if (!dev)
		return h;
	below = map_patched_below(dev, 0, &run_bytes, &patched);
	dev = below ? below : dev;
	if (!map_reshaping_half(dev, 0, &run_bytes)) {
		add_half(&h, dev);
		return h;
	}
	add_half(&h, map_reshaping_half(dev, 0, &run_bytes));
	add_half(&h, map_reshaping_half(dev, UINT64_MAX, &run_bytes));
	return h;
}

int events_init(struct blkalign_run *run)
{
	const struct blkalign_graph *graph = stack_graph(run->stack);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		struct halves h = halves_of(run, node);
		struct run_array array = { .node = node, .md = h.count ? h.md[0] : NULL, .keep = stack_keep(run->stack, node) };

		/* A reshaping array is never written: nobody fails there. */
		if (array.md && vec_push(&run->events.arrays, array) < 0)
			return -ENOMEM;
	}
	return 0;
}

void events_done(struct blkalign_run *run)
{
	for (size_t i = 0; i < run->events.failures.count; i++) {
		free((void *)(uintptr_t)run->events.failures.data[i].member);
		free((void *)(uintptr_t)run->events.failures.data[i].why);
	}
	vec_done(&run->events.failures);
	vec_done(&run->events.arrays);
	pthread_mutex_destroy(&run->events.mutex);
}

/* The records and the data of one member may both fail, one after the other. */
static bool is_known(const struct blkalign_run *run, const struct run_array *a, const struct map_failure *f)
{
	for (size_t i = 0; i < run->events.failures.count; i++) {
		const struct blkalign_run_failure *known = &run->events.failures.data[i];

		if (known->array == a->node && known->slot == f->slot && !strcmp(known->member, f->member))
			return true;
	}
	return false;
}

static int note(struct blkalign_run *run, const struct run_array *a, const struct map_failure *f)
{
	struct blkalign_run_failure failure = { a->node, f->slot, NULL, NULL };

	if (is_known(run, a, f))
		return 0;
	failure.member = strdup(f->member);
	failure.why = strdup(f->why);
	if (failure.member && failure.why && vec_push(&run->events.failures, failure) >= 0)
		return 0;
	free((void *)(uintptr_t)failure.member);
	free((void *)(uintptr_t)failure.why);
	return -ENOMEM;
}

/* Without memory the next call tries again. */
static void look(struct blkalign_run *run, struct run_array *a)
{
	struct map_failure f;

	while (map_md_failure(a->md, a->seen_data, &f) && note(run, a, &f) >= 0)
		atomic_fetch_add(&a->seen_data, 1);
	while (a->keep && keep_failure(a->keep, a->seen_records, &f) && note(run, a, &f) >= 0)
		atomic_fetch_add(&a->seen_records, 1);
	atomic_store(&run->events.failures_count, run->events.failures.count);
}

/* Asked after each request of a server, nearly always with the answer no: no lock is taken for that. */
static bool is_news(struct run_array *a)
{
	struct map_failure f;

	return map_md_failure(a->md, atomic_load(&a->seen_data), &f) ||
	       (a->keep && keep_failure(a->keep, atomic_load(&a->seen_records), &f));
}

static void look_at_all(struct blkalign_run *run)
{
	for (size_t i = 0; i < run->events.arrays.count; i++) {
		struct run_array *a = &run->events.arrays.data[i];

		if (!is_news(a))
			continue;
		pthread_mutex_lock(&run->events.mutex);
		look(run, a);
		pthread_mutex_unlock(&run->events.mutex);
	}
}

bool blkalign_run_failure(struct blkalign_run *run, size_t index, struct blkalign_run_failure *ret)
{
	if (index >= atomic_load(&run->events.failures_count))
		look_at_all(run);
	if (index >= atomic_load(&run->events.failures_count))
		return false;
	pthread_mutex_lock(&run->events.mutex);
	*ret = run->events.failures.data[index];
	pthread_mutex_unlock(&run->events.mutex);
	return true;
}

int blkalign_run_events(struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_run_events *ret)
{
	struct halves h = halves_of(run, node);

	*ret = (struct blkalign_run_events){ 0 };
	for (size_t i = 0; i < h.count; i++) {
		struct map_md_events events;

		map_md_events(h.md[i], &events);
		ret->computed_bytes += events.computed_bytes;
		ret->read_errors += events.read_errors;
		ret->rewritten_bytes += events.rewritten_bytes;
		if (!ret->first_error)
			ret->first_error = events.first_error;
	}
	look_at_all(run);
	pthread_mutex_lock(&run->events.mutex);
	for (size_t i = 0; i < run->events.failures.count; i++)
		ret->failed_members += run->events.failures.data[i].array == node;
	pthread_mutex_unlock(&run->events.mutex);
	return h.count ? 0 : -EINVAL;
}
