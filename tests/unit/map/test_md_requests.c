/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an md device asks of its members and of its guard, and in which order. */
#include "md_bench.h"

static const struct shape raid5_of_7 = { RAID_5, 2, 7, 8 * K, 64 * K, 0 };
static const struct shape raid6_of_7 = { RAID_6, 2, 7, 8 * K, 64 * K, 0 };
static const struct shape raid5_of_3 = { RAID_5, 2, 3, 8 * K, 64 * K, 0 };

static struct bench *start(const struct shape *s, bool with_log)
{
	struct bench *b = bench_new(s);

	b->with_log = with_log;
	bench_open(b, s);
	bench_fill(b);
	bench_reset_counts(b);
	b->keep_journal = true;
	return b;
}

static void expect_write(struct bench *b, uint64_t offset, uint64_t length, unsigned reads, unsigned writes)
{
	bench_reset_counts(b);
	assert_int_equal(bench_write(b, offset, length), 0);
	if (bench_reads(b) != reads || bench_writes(b) != writes)
		fail_msg("write of %" PRIu64 " at %" PRIu64 ": %u reads, %u writes, not %u and %u", length, offset, bench_reads(b),
			 bench_writes(b), reads, writes);
}

static void test_full_stripes(void **state)
{
	struct bench *b = start(&raid6_of_7, false);
	struct raid_stripe stripe = raid_stripe_at(&b->geometry, 0);

	(void)state;
	expect_write(b, 0, b->size_bytes, 0, 7 * 8);
	expect_write(b, 40 * K, 80 * K, 0, 7 * 2);
	/* Nor do rows that are: the last 1000 of stripe 0. The rows above lack one block. */
	expect_write(b, 8 * K - 1000, 32 * K + 1000, 1, 7);
	assert_int_equal(b->probes[raid_data_slot(&b->geometry, &stripe, 0)]->reads, 1);
	bench_expect_consistent(b);
	bench_free(b);
	b = start(&raid5_of_7, false);
	expect_write(b, 0, b->size_bytes, 0, 7 * 8);
	bench_free(b);
}

static void test_cheaper_way(void **state)
{
	struct bench *b = start(&raid5_of_7, false);

	(void)state;
	/* Six data blocks. One: old data and P. Two: 3 or 4 reads. Three: the three others, not 4. */
	expect_write(b, 0, 4096, 2, 2);
	expect_write(b, 0, 1, 2, 2);
	expect_write(b, 8 * K, 16 * K, 3, 3);
	expect_write(b, 0, 24 * K, 3, 4);
	expect_write(b, 0, 40 * K, 1, 6);
	/* The end of one chunk and the beginning of the next: two places, each by itself. */
	expect_write(b, 8 * K - 512, 1024, 4, 4);
	bench_expect_consistent(b);
	bench_free(b);
	b = start(&raid6_of_7, false);
	/* Five data blocks. One: 3 or 4. Two: 4 or 3. */
	expect_write(b, 0, 4096, 3, 3);
	expect_write(b, 0, 16 * K, 3, 4);
	expect_write(b, 0, 32 * K, 1, 6);
	bench_expect_consistent(b);
	bench_free(b);
	b = start(&raid5_of_3, false);
	expect_write(b, 0, 4096, 1, 2);
	bench_free(b);
}

/* Old parity is not believed where it may not fit: it is computed from the data, and fits afterwards. */
static void test_doubtful(void **state)
{
	static const struct byte_range doubtful = { 0, 8 * K };
	struct bench *b = start(&raid5_of_7, false);
	struct raid_stripe stripe = raid_stripe_at(&b->geometry, 0);

	(void)state;
	memset(b->probes[stripe.p_slot]->data + BENCH_OFFSET, 0x31, 8 * K);
	b->doubtful = &doubtful;
	b->doubtful_count = 1;
	bench_open(b, &raid5_of_7);
	expect_write(b, 0, 8 * K, 5, 2);
	bench_expect_consistent(b);
	expect_write(b, 48 * K, 8 * K, 2, 2);
	assert_int_equal(map_md_set_trusted(b->md, &doubtful), 0);
	expect_write(b, 0, 4096, 2, 2);
	bench_expect_consistent(b);
	/* With a member missing whose data parity would have to replace: refused, or on request as parity has it. */
	bench_members(b);
	b->members[raid_data_slot(&b->geometry, &stripe, 3)].dev = NULL;
	bench_open(b, &raid5_of_7);
	assert_int_equal(dev_write(b->md, 0, b->model, 4096, NULL), -EIO);
	b->use_doubtful = true;
	bench_open(b, &raid5_of_7);
	expect_write(b, 0, 4096, 6, 2);
	bench_expect_all(b);
	bench_free(b);
}

static void test_degraded_writes(void **state)
{
	struct bench *b = start(&raid5_of_7, false);
	struct raid_stripe stripe = raid_stripe_at(&b->geometry, 0);

	(void)state;
	/* The member that is written is missing: parity takes it. */
	b->members[raid_data_slot(&b->geometry, &stripe, 0)].dev = NULL;
	bench_open(b, &raid5_of_7);
	expect_write(b, 0, 4096, 5, 1);
	bench_expect_all(b);
	bench_free(b);
	b = start(&raid5_of_7, false);
	/* Another one is missing: only old data and old parity can be used, however many. */
	b->members[raid_data_slot(&b->geometry, &stripe, 5)].dev = NULL;
	bench_open(b, &raid5_of_7);
	expect_write(b, 0, 40 * K, 6, 6);
	expect_write(b, 0, 4096, 2, 2);
	bench_expect_all(b);
	bench_free(b);
	b = start(&raid5_of_7, false);
	/* Parity is missing: nothing but the data. */
	b->members[stripe.p_slot].dev = NULL;
	bench_open(b, &raid5_of_7);
	expect_write(b, 0, 4096, 0, 1);
	bench_expect_all(b);
	bench_free(b);
}

static void expect_read(struct bench *b, uint64_t offset, uint64_t length, unsigned reads)
{
	bench_reset_counts(b);
	bench_expect_range(b, offset, length);
	if (bench_reads(b) != reads)
		fail_msg("read of %" PRIu64 " at %" PRIu64 ": %u reads, not %u", length, offset, bench_reads(b), reads);
}

static void test_reads(void **state)
{
	struct bench *b = start(&raid6_of_7, false);
	struct raid_stripe stripe = raid_stripe_at(&b->geometry, 0);

	(void)state;
	expect_read(b, 100, 4096, 1);
	expect_read(b, 0, 40 * K, 5);
	b->members[raid_data_slot(&b->geometry, &stripe, 1)].dev = NULL;
	bench_open(b, &raid6_of_7);
	/* The lost block from the four others and P; what is asked for anyway is not read twice. */
	expect_read(b, 8 * K, 100, 5);
	expect_read(b, 0, 40 * K, 5);
	expect_read(b, 0, 4096, 1);
	b->members[raid_data_slot(&b->geometry, &stripe, 2)].dev = NULL;
	bench_open(b, &raid6_of_7);
	expect_read(b, 16 * K, 100, 5);
	expect_read(b, 0, 40 * K, 5);
	bench_free(b);
}

/* A batch reaches the members at once: in one dev_run() the journal shows reads only, whatever must be computed. */
static void test_mirror_requests(void **state)
{
	const struct shape raid1 = { RAID_1, 0, 3, 0, 64 * K, 0 }, raid10 = { RAID_10, 0x102, 4, 4 * K, 16 * K, 0 };
	struct bench *b = start(&raid1, false);

	(void)state;
	expect_write(b, 100, 40000, 0, 3);
	expect_read(b, 0, 64 * K, 1);
	b->members[0].write_mostly = true;
	bench_open(b, &raid1);
	expect_read(b, 0, 64 * K, 1);
	assert_int_equal(b->probes[1]->reads, 1);
	expect_write(b, 0, 10, 0, 3);
	bench_free(b);
	b = start(&raid10, false);
	expect_write(b, 0, 4096, 0, 2);
	expect_write(b, 1000, 4096, 0, 4);
	b->members[0].dev = NULL;
	bench_open(b, &raid10);
	expect_write(b, 0, 4096, 0, 1);
	expect_read(b, 0, 4096, 1);
	bench_free(b);
}

static size_t count_of(const struct bench *b, enum what what)
{
	size_t count = 0;

	for (size_t i = 0; i < b->happened; i++)
		count += b->journal[i].what == what;
	return count;
}

/* Between the first begin and the last end of its group lies all that members are asked for: reads, then the log, then writes. */
static void expect_order(const struct bench *b, bool with_log)
{
	bool open = false, logged = false, written = false;

	for (size_t i = 0; i < b->happened; i++) {
		switch (b->journal[i].what) {
		case DID_BEGIN:
			assert_false(written);
			open = true;
			break;
		case DID_LOG:
			assert_true(open && !written);
			logged = true;
			break;
		case DID_WRITE:
			assert_true(open && (logged || !with_log));
			written = true;
			break;
		case DID_END:
			assert_true(written);
			/* several ranges, then the next group */
			if (i + 1 < b->happened && b->journal[i + 1].what != DID_END)
				open = logged = written = false;
			break;
		case DID_READ:
			assert_true(open && !logged && !written);
			break;
		case DID_FLUSH:
		case DID_FAIL:
		case DID_FLUSHING:
		case DID_FLUSHED:
			break;
		}
	}
	assert_int_equal(count_of(b, DID_BEGIN), count_of(b, DID_END));
}

/* Partial parity and the data that is written, as the log would be replayed, give the parity that is written. */
static void check_partials(struct bench *b, const struct map_md_partial *partials, size_t count)
{
	const struct raid_geometry *g = &b->geometry;
	uint32_t data = raid_data_members(g);

	for (size_t i = 0; i < count; i++) {
		const struct map_md_partial *p = &partials[i];
		uint64_t chunk = p->array_bytes / g->chunk_bytes, row = p->array_bytes % g->chunk_bytes;
		struct raid_stripe stripe = raid_stripe_at(g, chunk / data * g->chunk_bytes);
		uint32_t first = (uint32_t)(chunk % data), written = (uint32_t)(p->length_bytes / p->row_bytes);

		assert_int_equal(p->p_slot, stripe.p_slot);
		assert_int_equal(p->length_bytes % p->row_bytes, 0);
		assert_int_equal(p->array_bytes % 512 + p->row_bytes % 512, 0);
		assert_true(first + written <= data && row + p->row_bytes <= g->chunk_bytes);
		assert_int_equal(p->parity == NULL, written == data);
		for (uint64_t k = 0; p->parity && k < p->row_bytes; k++) {
			uint8_t others = 0;

			for (uint32_t d = 0; d < data; d++)
				if (d < first || d >= first + written)
					others ^= b->model[(chunk / data * data + d) * g->chunk_bytes + row + k];
			assert_int_equal(p->parity[k], others);
		}
	}
}

static void test_order(void **state)
{
	const struct shape *shapes[] = { &raid5_of_7, &raid5_of_7, &raid6_of_7 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct bench *b = start(shapes[i], i == 0);

		b->on_log = check_partials;
		for (unsigned round = 0; round < 300; round++) {
			uint64_t offset, length;

			if (round == 150) {
				b->members[2].dev = NULL;
				bench_open(b, shapes[i]);
			}
			bench_random_range(b, i == 0 ? 512 : 1, &offset, &length);
			b->happened = 0;
			assert_int_equal(bench_write(b, offset, length), 0);
			expect_order(b, false);
			assert_true(count_of(b, DID_BEGIN) > 0);
			if (i == 0 && round < 150) {
				assert_true(count_of(b, DID_LOG) > 0);
				expect_order(b, true);
			}
			for (size_t k = 0; k < b->happened; k++)
				if (b->journal[k].what == DID_END)
					assert_int_equal(b->journal[k].complete, round < 150);
		}
		bench_expect_all(b);
		bench_free(b);
	}
}

/* What is begun covers what is written, in the unit of the bitmap. */
static void test_ranges(void **state)
{
	const struct shape raid10 = { RAID_10, 0x201, 4, 4 * K, 16 * K, 0 };
	struct bench *b = start(&raid5_of_7, false);

	(void)state;
	assert_int_equal(bench_write(b, 48 * K + 100, 50), 0); /* stripe 1, its first data block */
	assert_int_equal(count_of(b, DID_BEGIN), 1);
	for (size_t i = 0; i < b->happened; i++)
		if (b->journal[i].what == DID_WRITE) {
			assert_int_equal(b->journal[i].offset_bytes, 8 * K + 100);
			assert_int_equal(b->journal[i].length_bytes, 50);
		} else if (b->journal[i].what == DID_BEGIN || b->journal[i].what == DID_END) {
			/* Whole pages, which may have to be written. */
			assert_int_equal(b->journal[i].offset_bytes, 8 * K);
			assert_int_equal(b->journal[i].length_bytes, 4 * K);
		}
	bench_free(b);
	b = start(&raid10, false);
	assert_int_equal(bench_write(b, 20 * K, 100), 0);
	assert_int_equal(b->journal[0].what, DID_BEGIN);
	assert_int_equal(b->journal[0].offset_bytes, 20 * K);
	bench_free(b);
}

static void test_guard_refuses(void **state)
{
	struct bench *b = start(&raid5_of_7, true);
	uint8_t byte[512] = { 0 };

	(void)state;
	b->begin_result = -ENOSPC;
	assert_int_equal(dev_write(b->md, 0, byte, 512, NULL), -ENOSPC);
	assert_int_equal(bench_writes(b), 0);
	assert_int_equal(count_of(b, DID_END), 0);
	b->begin_result = 0;
	b->log_result = -EIO;
	assert_int_equal(dev_write(b->md, 0, byte, 512, NULL), -EIO);
	assert_int_equal(bench_writes(b), 0);
	assert_int_equal(count_of(b, DID_END), 1);
	b->log_result = 0;
	assert_int_equal(bench_write(b, 0, 512), 0);
	bench_expect_all(b);
	bench_free(b);
}

static void test_flush(void **state)
{
	struct bench *b = start(&raid5_of_7, false);

	(void)state;
	assert_int_equal(dev_flush(b->md, NULL), 0);
	assert_int_equal(b->happened, 9);
	assert_int_equal(b->journal[0].what, DID_FLUSHING);
	for (unsigned i = 1; i < 8; i++)
		assert_int_equal(b->journal[i].what, DID_FLUSH);
	assert_int_equal(b->journal[8].what, DID_FLUSHED);
	bench_free(b);
}

/* Written beyond what is rebuilt, read only below; bad ranges are written and stay bad. */
static void test_half_there(void **state)
{
	static const struct byte_range bad = { 3 * 8 * K + 1000, 3000 };

	(void)state;
	for (unsigned level6 = 0; level6 < 2; level6++) {
		const struct shape *s = level6 ? &raid6_of_7 : &raid5_of_7;
		struct bench *b = start(s, false);

		for (uint32_t slot = 0; slot < 7; slot++) {
			bench_members(b);
			b->members[slot].valid_bytes = 20 * K + 123;
			memset(b->probes[slot]->data + BENCH_OFFSET + 20 * K + 123, 0x42, 64 * K - (20 * K + 123));
			if (level6) {
				b->members[(slot + 1) % 7].bad = &bad;
				b->members[(slot + 1) % 7].bad_count = 1;
				memset(b->probes[(slot + 1) % 7]->data + BENCH_OFFSET + bad.offset_bytes, 0x43, bad.length_bytes);
			}
			bench_open(b, s);
			bench_expect_all(b);
			for (unsigned i = 0; i < 60; i++) {
				uint64_t offset, length;

				b->happened = 0;
				bench_random_range(b, 1, &offset, &length);
				assert_int_equal(bench_write(b, offset, length), 0);
			}
			bench_expect_all(b);
			/* A write of everything reaches it wholly. */
			assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
			bench_expect_consistent(b);
		}
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_stripes),	cmocka_unit_test(test_cheaper_way), cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_degraded_writes), cmocka_unit_test(test_reads),	    cmocka_unit_test(test_mirror_requests),
		cmocka_unit_test(test_order),		cmocka_unit_test(test_ranges),	    cmocka_unit_test(test_guard_refuses),
		cmocka_unit_test(test_flush),		cmocka_unit_test(test_half_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
