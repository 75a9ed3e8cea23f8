/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Scrubs of arrays in memory, run to their end. */
#ifndef UNIT_RUN_SCRUB_BENCH_H
#define UNIT_RUN_SCRUB_BENCH_H

#include "run/array.h"
#include "run/scrub.h"

#define COMPONENT (1 * MIB)

static struct blkalign_error err;

static inline struct blkalign_scrub *start(const struct array *a, unsigned threads)
{
	struct blkalign_scrub_options options = { .threads = threads };
	struct blkalign_scrub *s;

	if (scrub_start(&a->view, &options, &s, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static inline struct blkalign_scrub_progress run(struct blkalign_scrub *s)
{
	struct blkalign_scrub_progress progress;
	int r;

	do
		r = blkalign_scrub_step(s, &progress, &err);
	while (r == 0);
	if (r != BLKALIGN_SCRUB_DONE)
		fail_msg("%s: %s", err.where, err.message);
	assert_int_equal(progress.position_bytes, progress.total_bytes);
	return progress;
}

static inline struct blkalign_scrub_progress repair_with(struct blkalign_scrub *s, const struct blkalign_scrub_repair_options *options)
{
	assert_int_equal(scrub_repair_begin(s, options, &err), 0);
	return run(s);
}

static inline struct blkalign_scrub_progress repair(struct blkalign_scrub *s, bool parity)
{
	return repair_with(s, &(struct blkalign_scrub_repair_options){ .parity = parity });
}

static inline void expect(const struct blkalign_scrub *s, size_t index, enum blkalign_scrub_kind kind, enum blkalign_scrub_verdict verdict,
			  uint32_t slot, uint64_t at, uint64_t length)
{
	const struct blkalign_scrub_finding *f;

	assert_true(index < blkalign_scrub_findings(s, NULL));
	f = blkalign_scrub_finding(s, index);
	if (f->kind != kind || f->verdict != verdict || f->slot != slot || f->member_bytes != at || f->length_bytes != length)
		fail_msg("finding %zu: kind %d, %s, slot %u, %llu+%llu", index, (int)f->kind, blkalign_scrub_verdict_name(f->verdict),
			 f->slot, (unsigned long long)f->member_bytes, (unsigned long long)f->length_bytes);
}

static const struct shape {
	int32_t level;
	uint32_t layout, chunk, members;
} shapes[] = {
	{ RAID_1, 0, 0, 2 },	      { RAID_1, 0, 0, 3 },	     { RAID_4, 0, 65536, 4 },	   { RAID_5, 2, 4096, 3 },
	{ RAID_5, 0, 65536, 5 },      { RAID_6, 2, 65536, 6 },	     { RAID_6, 10, 16384, 5 },	   { RAID_6, 2, 524288, 8 },
	{ RAID_10, 0x102, 65536, 4 }, { RAID_10, 0x102, 131072, 2 }, { RAID_10, 0x201, 16384, 3 }, { RAID_10, 0x10201, 4096, 4 },
	{ RAID_10, 0x103, 65536, 4 }, { RAID_10, 0x102, 16384, 5 },
};

static inline void open_shape(struct array *a, const struct shape *s)
{
	array_open(a, s->level, s->layout, s->chunk, s->members, COMPONENT);
}

#endif
