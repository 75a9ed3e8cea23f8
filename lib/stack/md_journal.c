/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the write journal holds that the members lack, without writing it to them (drivers/md/raid5-cache.c, r5c_recovery_analyze_meta_block()).
 *
 * Of each row of pages the log tells in order: data that was written; parity, with which all of the row that was logged so far goes to the members; a
 * flush, when it has arrived there. Data without parity waits in the journal alone (write-back), and the row on the members, parity included, is still the old
 * one: such pages lie over the array, not over the members.
 */
#include "format/r5l/r5l.h"
#include "stack/md.h"

#define NO_PAGE UINT64_MAX

enum record_kind { RECORD_DATA, RECORD_PARITY, RECORD_FLUSH };

struct record {
	uint64_t row_bytes;
	size_t order;
	enum record_kind kind;
	uint32_t slot;
	uint64_t array_bytes; /* RECORD_DATA */
	uint64_t log_bytes;
};

/* What is known of one slot's page of the row at hand. */
struct page {
	uint64_t pending_bytes; /* in the log, or NO_PAGE */
	uint64_t settled_bytes; /* goes to the member, or NO_PAGE */
	uint64_t array_bytes;
};

struct replay {
	const struct raid_geometry *g;
	const struct r5l_log *log;
	VEC(struct record) records;
	struct page *pages; /* by slot */
	struct md_replay *ret;
};

/* --- from the log to records --- */

static int outside(const struct r5l_item *item, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN,
				  "the write journal holds a page for byte %llu, beyond the array", (unsigned long long)item->at_bytes);
}

static int add_record(struct replay *p, const struct r5l_item *item, struct blkalign_error *reterr)
{
	struct record record = { .row_bytes = item->at_bytes, .order = p->records.count, .log_bytes = item->log_bytes };
	struct raid_place place;
	struct raid_stripe stripe;

	if (item->kind == R5L_DATA) {
		if (raid_locate(p->g, item->at_bytes, 0, &place) < 0)
			return outside(item, reterr);
		record.row_bytes = place.device_bytes;
		record.slot = place.slot;
		record.array_bytes = item->at_bytes;
		return vec_push(&p->records, record);
	}
	if (item->at_bytes >= p->g->used_bytes)
		return outside(item, reterr);
	record.kind = item->kind == R5L_FLUSH ? RECORD_FLUSH : RECORD_PARITY;
	stripe = raid_stripe_at(p->g, item->at_bytes);
	record.slot = item->kind == R5L_Q ? stripe.q_slot : stripe.p_slot;
	if (record.slot == RAID_SLOT_NONE)
		return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN,
					  "the write journal holds a second parity for a level that has one");
	return vec_push(&p->records, record);
}

static int read_log(struct replay *p, struct blkalign_error *reterr)
{
	_cleanup_free_ struct r5l_block *block = malloc(sizeof(*block));
	struct r5l_cursor cursor = { 0 };
	int r = block ? r5l_next(p->log, &cursor, block, reterr) : -ENOMEM;

	while (r == 0) {
		for (uint32_t i = 0; r == 0 && i < block->count; i++)
			r = add_record(p, &block->items[i], reterr);
		if (r == 0)
			r = r5l_next(p->log, &cursor, block, reterr);
	}
	return r == BLKALIGN_NOT_THIS ? 0 : r;
}

static int by_row(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->row_bytes != y->row_bytes)
		return x->row_bytes < y->row_bytes ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* --- from records to pages --- */

static void settle(struct replay *p, const struct record *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct page *page = &p->pages[row[i].slot];

		if (page->pending_bytes != NO_PAGE)
			page->settled_bytes = page->pending_bytes;
		page->pending_bytes = NO_PAGE;
	}
}

static void forget(struct replay *p, const struct record *row, size_t count)
{
	for (size_t i = 0; i < count; i++)
		p->pages[row[i].slot] = (struct page){ .pending_bytes = NO_PAGE, .settled_bytes = NO_PAGE };
}

static struct map_patch patch(const struct replay *p, uint64_t at_bytes, uint64_t log_bytes)
{
	return (struct map_patch){ .range = { at_bytes, R5L_BLOCK_BYTES },
				   .dev = p->log->dev,
				   .dev_offset_bytes = p->log->offset_bytes + log_bytes };
}

/* Each page once, whatever the number of its records. */
static int give_out(struct replay *p, const struct record *row, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct page *page = &p->pages[row[i].slot];

		if (page->settled_bytes != NO_PAGE)
			r = vec_push(&p->ret->members[row[i].slot], patch(p, row[i].row_bytes, page->settled_bytes));
		if (r == 0 && page->pending_bytes != NO_PAGE)
			r = vec_push(&p->ret->array, patch(p, page->array_bytes, page->pending_bytes));
		page->settled_bytes = page->pending_bytes = NO_PAGE;
	}
	return r;
}

/* The records of one row, in order. */
static int replay_row(struct replay *p, const struct record *row, size_t count)
{
	bool parity = false;

	forget(p, row, count);
	for (size_t i = 0; i < count; i++) {
		struct page *page = &p->pages[row[i].slot];

		if (row[i].kind == RECORD_FLUSH) {
			forget(p, row, count);
			parity = false;
			continue;
		}
		if (row[i].kind == RECORD_DATA && parity) {
			settle(p, row, count);
			parity = false;
		}
		parity = parity || row[i].kind == RECORD_PARITY;
		page->pending_bytes = row[i].log_bytes;
		page->array_bytes = row[i].array_bytes;
	}
	if (parity)
		settle(p, row, count);
	return give_out(p, row, count);
}

static int by_place(const void *a, const void *b)
{
	const struct map_patch *x = a, *y = b;

	return (x->range.offset_bytes > y->range.offset_bytes) - (x->range.offset_bytes < y->range.offset_bytes);
}

static int replay_rows(struct replay *p)
{
	struct record *records = p->records.data;
	int r = 0;

	if (p->records.count)
		qsort(records, p->records.count, sizeof(*records), by_row);
	for (size_t i = 0, end; r == 0 && i < p->records.count; i = end) {
		for (end = i + 1; end < p->records.count && records[end].row_bytes == records[i].row_bytes;)
			end++;
		r = replay_row(p, &records[i], end - i);
	}
	if (r == 0 && p->ret->array.count)
		qsort(p->ret->array.data, p->ret->array.count, sizeof(*p->ret->array.data), by_place);
	return r;
}

static int replay(struct replay *p, struct blkalign_error *reterr)
{
	int r = read_log(p, reterr);

	if (r < 0)
		return r;
	p->pages = calloc(p->g->members, sizeof(*p->pages));
	p->ret->members = calloc(p->g->members, sizeof(*p->ret->members));
	p->ret->slots = p->g->members;
	return p->pages && p->ret->members ? replay_rows(p) : -ENOMEM;
}

int md_replay_journal(const struct md_array *a, const struct raid_geometry *g, struct md_replay *ret, struct blkalign_error *reterr)
{
	const struct md_member *j = a->journal;
	struct r5l_log log;
	struct replay p = { .g = g, .log = &log, .ret = ret };
	int r;

	*ret = (struct md_replay){ 0 };
	if (!j || j->journal_tail_bytes == UINT64_MAX || !g->parity)
		return blkalign_error_set(reterr, -ENOENT, NULL, BLKALIGN_UNKNOWN, "there is no current write journal");
	log = (struct r5l_log){ .dev = j->dev,
				.offset_bytes = j->data_offset_bytes,
				.ring_bytes = round_down_u64(j->data_bytes, R5L_BLOCK_BYTES),
				.tail_bytes = j->journal_tail_bytes };
	memcpy(log.array_uuid, j->array_uuid, sizeof(log.array_uuid));
	r = replay(&p, reterr);
	vec_done(&p.records);
	free(p.pages);
	if (r < 0)
		md_replay_done(ret);
	return r;
}
