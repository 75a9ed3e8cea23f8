/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a group of pieces needs while it runs: scratch rows, and the requests to members. */
#include "map/md_priv.h"

#define SMALL_BYTES (256 * KIB)
#define POOL_BYTES  (8 * MD_SCRATCH_BYTES)
#define POOL_COUNT  8U

struct md_scratch {
	size_t room;
	_Alignas(MD_ALIGN) uint8_t data[];
};

/* A small scratch is kept for each thread; an array on arrays takes more, these are not kept. */
static pthread_key_t kept_key;
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;
static bool can_keep;

/* Large ones are kept for all threads together: a server has many, few of which are at work on large requests at a time. */
static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct md_scratch *pool[POOL_COUNT];
static size_t pool_bytes;

static void make_key(void) { can_keep = pthread_key_create(&kept_key, free) == 0; }

/* The smallest that is large enough. */
static struct md_scratch *pool_take(size_t size)
{
	struct md_scratch *found = NULL;
	unsigned best = 0;

	pthread_mutex_lock(&pool_mutex);
	for (unsigned i = 0; i < POOL_COUNT; i++) {
		if (!pool[i] || pool[i]->room < size || (found && pool[i]->room >= found->room))
			continue;
		found = pool[i];
		best = i;
	}
	if (found) {
		pool[best] = NULL;
		pool_bytes -= found->room;
	}
	pthread_mutex_unlock(&pool_mutex);
	return found;
}

/* In a free place, or in that of the smallest: what is asked for next may be as large as this. */
static void pool_give(struct md_scratch *scratch)
{
	unsigned place = 0;
	size_t old;

	pthread_mutex_lock(&pool_mutex);
	for (unsigned i = 1; i < POOL_COUNT && pool[place]; i++)
		if (!pool[i] || pool[i]->room < pool[place]->room)
			place = i;
	old = pool[place] ? pool[place]->room : 0;
	if (old < scratch->room && pool_bytes - old + scratch->room <= POOL_BYTES) {
		struct md_scratch *smaller = pool[place];

		pool_bytes += scratch->room - old;
		pool[place] = scratch;
		scratch = smaller;
	}
	pthread_mutex_unlock(&pool_mutex);
	free(scratch);
}

static struct md_scratch *take_small(size_t size)
{
	struct md_scratch *scratch;

	pthread_once(&kept_once, make_key);
	scratch = can_keep ? pthread_getspecific(kept_key) : NULL;
	if (!scratch)
		return NULL;
	pthread_setspecific(kept_key, NULL);
	if (scratch->room >= size)
		return scratch;
	free(scratch);
	return NULL;
}

static struct md_scratch *scratch_take(size_t size)
{
	struct md_scratch *scratch = size > SMALL_BYTES ? pool_take(size) : take_small(size);

	if (scratch)
		return scratch;
	size = round_up_u64(sizeof(*scratch) + size, 4096);
	scratch = aligned_alloc(4096, size);
	if (scratch)
		scratch->room = size - sizeof(*scratch);
	return scratch;
}

static void scratch_give(struct md_scratch *scratch)
{
	if (!scratch)
		return;
	if (scratch->room > SMALL_BYTES + 4096)
		pool_give(scratch);
	else if (!can_keep || pthread_getspecific(kept_key) || pthread_setspecific(kept_key, scratch) != 0)
		free(scratch);
}

void md_plan_reset(struct md_batch *b)
{
	b->bands.count = b->requests.count = b->leaves.count = 0;
	b->piece_leaves = b->band_leaves = 0;
	b->lanes = NULL;
	b->scratch_used = 0;
	for (size_t i = 0; i < b->extra.count; i++)
		free(b->extra.data[i]);
	b->extra.count = 0;
}

void md_batch_next(struct md_batch *b)
{
	md_plan_reset(b);
	b->pieces.count = 0;
	b->group_bytes = b->scratch_bytes = b->group_end = b->partial_bytes = 0;
}

void md_batch_done(struct md_batch *b)
{
	md_batch_next(b);
	scratch_give(b->scratch);
	vec_done(&b->pieces);
	vec_done(&b->ranges);
	vec_done(&b->bands);
	vec_done(&b->requests);
	vec_done(&b->leaves);
	vec_done(&b->exclusions);
	vec_done(&b->extra);
}

void *md_scratch_get(struct md_batch *b, size_t size)
{
	uint8_t *more;

	size = round_up_u64(size, MD_ALIGN);
	if (!b->scratch)
		b->scratch = scratch_take(b->scratch_bytes > size ? b->scratch_bytes : size);
	if (b->scratch && size <= b->scratch->room - b->scratch_used) {
		b->scratch_used += size;
		return b->scratch->data + (b->scratch_used - size);
	}
	more = aligned_alloc(MD_ALIGN, size);
	if (!more || vec_push(&b->extra, (void *)more) < 0) {
		free(more);
		return NULL;
	}
	return more;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = ((const struct byte_range *)a)->offset_bytes, y = ((const struct byte_range *)b)->offset_bytes;

	return (x > y) - (x < y);
}

int md_ranges(struct md_batch *b, bool pages)
{
	size_t kept = 0;

	b->ranges.count = 0;
	for (size_t i = 0; i < b->pieces.count; i++) {
		const struct byte_range *range = &b->pieces.data[i].range;

		if (!b->pieces.data[i].dead && vec_push(&b->ranges, pages ? md_whole_pages(b->md, range) : *range) < 0)
			return -ENOMEM;
	}
	if (b->ranges.count < 2)
		return 0;
	qsort(b->ranges.data, b->ranges.count, sizeof(struct byte_range), by_offset);
	for (size_t i = 1; i < b->ranges.count; i++) {
		struct byte_range *last = &b->ranges.data[kept], *next = &b->ranges.data[i];
		uint64_t end = last->offset_bytes + last->length_bytes, next_end = next->offset_bytes + next->length_bytes;

		if (next->offset_bytes > end)
			b->ranges.data[++kept] = *next;
		else if (next_end > end)
			last->length_bytes = next_end - last->offset_bytes;
	}
	b->ranges.count = kept + 1;
	return 0;
}

/* Rows of one member that follow each other are planned band by band, and lie in one lane. */
static bool join(struct md_batch *b, const struct dev_request *q, uint32_t slot)
{
	for (size_t i = b->piece_leaves; i < b->band_leaves; i++) {
		struct dev_request *before = &b->requests.data[i];

		if (b->leaves.data[i].slot == slot && before->op == q->op &&
		    before->offset_bytes + before->length_bytes == q->offset_bytes &&
		    (uint8_t *)before->buffer + before->length_bytes == q->buffer) {
			before->length_bytes += q->length_bytes;
			return true;
		}
	}
	return false;
}

int md_add_leaf(struct md_batch *b, uint32_t piece, uint32_t slot, enum dev_op op, uint64_t device_bytes, void *buffer, size_t length)
{
	const struct map_md_member *m = &b->state->members[slot];
	struct dev_request q = { .dev = m->dev, .op = op, .length_bytes = length, .buffer = buffer };

	if (!u64_add(m->data_offset_bytes, device_bytes, &q.offset_bytes))
		return -ERANGE;
	if (join(b, &q, slot))
		return 0;
	if (vec_push(&b->requests, q) < 0 || vec_push(&b->leaves, ((struct md_leaf){ piece, slot })) < 0)
		return -ENOMEM;
	return 0;
}

/* As for the whole range: true when `at` lies in it. */
static bool inside(const struct byte_range *range, uint64_t at, uint64_t *run_bytes)
{
	if (range->offset_bytes > at) {
		md_cut(run_bytes, range->offset_bytes - at);
		return false;
	}
	if (at - range->offset_bytes >= range->length_bytes)
		return false;
	md_cut(run_bytes, range->length_bytes - (at - range->offset_bytes));
	return true;
}

bool md_readable(const struct md_batch *b, uint32_t slot, uint64_t at, uint64_t *run_bytes)
{
	const struct map_md_member *m = &b->state->members[slot];
	uint64_t valid = md_valid_bytes(m);
	size_t bad;

	if (!m->dev || at >= valid)
		return false;
	md_cut(run_bytes, valid - at);
	for (size_t i = 0; i < b->exclusions.count; i++)
		if (b->exclusions.data[i].slot == slot && inside(&b->exclusions.data[i].range, at, run_bytes))
			return false;
	bad = ranges_behind(m->bad, m->bad_count, at);
	return bad == m->bad_count || !inside(&m->bad[bad], at, run_bytes);
}

void md_request_fail(struct dev_request *request, int error, const char *reason)
{
	if (request->result)
		return;
	request->result = error;
	request->reason = reason;
}

void md_batch_fail(struct md_batch *b, int error, const char *reason)
{
	for (size_t i = 0; i < b->pieces.count; i++) {
		md_request_fail(b->pieces.data[i].request, error, reason);
		b->pieces.data[i].dead = true;
	}
}
