/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members that fail to read, write or flush, each at each of its requests: no false success, nothing lost that redundancy holds. */
#include "md_bench.h"

/* Some random work; true when the fault came. */
static bool work(struct bench *b, uint32_t slot, bool *refused)
{
	uint64_t offset, length;
	struct map_md_events events;

	for (unsigned i = 0; i < 12; i++) {
		bench_random_range(b, 1, &offset, &length);
		b->happened = 0;
		if (bench_write(b, offset, length) < 0) {
			*refused = true;
			return true;
		}
		map_md_events(b->md, &events);
		if (events.failed_members) {
			struct map_failure failure;

			assert_true(bench_told(b, DID_FAIL, slot));
			assert_int_equal(events.failed_members, 1);
			assert_true(map_md_failure(b->md, 0, &failure) && failure.slot == slot);
			assert_string_equal(failure.member, b->probes[slot]->dev.name);
			assert_non_null(strstr(failure.why, "write of "));
			assert_false(map_md_failure(b->md, 1, &failure));
			return true;
		}
	}
	return false;
}

static void test_write_fails(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);

		for (uint32_t slot = 0; slot < s->members; slot++)
			for (unsigned nth = 1; nth < 6; nth++) {
				bool refused = false;

				bench_members(b);
				bench_open(b, s);
				bench_reset_counts(b);
				b->probes[slot]->fail_write = nth;
				b->probes[slot]->fails_on = true;
				if (!work(b, slot, &refused)) {
					b->probes[slot]->fail_write = 0;
					continue;
				}
				b->probes[slot]->fail_write = 0;
				failed++;
				assert_int_equal(refused, !bench_redundant(s));
				if (bench_redundant(s))
					bench_expect_without(b, s, slot);
				bench_members(b);
				bench_open(b, s);
				assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
			}
		bench_free(b);
	}
	assert_true(failed > ARRAY_SIZE(all_shapes) * 4);
}

/* A member without room (a sparse image on a full file system, an overlay) is no faulty one: the write is refused, and the array loses nobody. */
static void refuses(int error)
{
	unsigned refused = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);

		for (unsigned nth = 1; nth < 6; nth++) {
			uint64_t offset, length;
			struct map_md_events events;
			unsigned doubts = b->doubts;
			int r;

			bench_reset_counts(b);
			for (uint32_t slot = 0; slot < s->members; slot++) {
				b->probes[slot]->fail_write = nth;
				b->probes[slot]->error = error;
			}
			b->happened = 0;
			bench_random_range(b, 1, &offset, &length);
			r = bench_write(b, offset, length);
			map_md_events(b->md, &events);
			assert_int_equal(events.failed_members, 0);
			for (uint32_t slot = 0; slot < s->members; slot++) {
				assert_false(bench_told(b, DID_FAIL, slot));
				b->probes[slot]->fail_write = 0;
			}
			if (r < 0) {
				assert_int_equal(r, error);
				assert_true(b->doubts > doubts);
				refused++;
			}
			/* What was refused may be there in part, nothing else has changed; with room it can be written. */
			assert_int_equal(bench_write(b, offset, length), 0);
			bench_expect_all(b);
			bench_expect_consistent(b);
		}
		bench_free(b);
	}
	assert_true(refused >= ARRAY_SIZE(all_shapes));
}

static void test_no_room(void **state)
{
	(void)state;
	refuses(-ENOSPC);
}

/* Of an array below, say: no fault of the member either, whatever is asked of it. */
static void test_no_memory(void **state)
{
	(void)state;
	refuses(-ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		for (uint32_t slot = 0; slot < all_shapes[i].members; slot++) {
			struct bench *b = bench_start(&all_shapes[i]);
			struct map_md_events events;

			b->probes[slot]->error = -ENOMEM;
			b->probes[slot]->fail_read = b->probes[slot]->reads + 1;
			b->probes[slot]->fail_flush = 1;
			b->happened = 0;
			assert_int_equal(dev_flush(b->md, NULL), -ENOMEM);
			assert_false(bench_told(b, DID_FLUSHED, 0));
			assert_int_equal(dev_flush(b->md, NULL), 0);
			assert_true(bench_told(b, DID_FLUSHED, 0));
			if (dev_read(b->md, 0, b->model, b->size_bytes, NULL) < 0)
				assert_int_equal(dev_read(b->md, 0, b->model, b->size_bytes, NULL), 0);
			map_md_events(b->md, &events);
			assert_int_equal(events.failed_members + events.read_errors, 0);
			assert_null(events.first_error);
			assert_int_equal(b->doubts, 0);
			bench_free(b);
		}
}

static void test_read_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);

		for (uint32_t slot = 0; bench_redundant(s) && slot < s->members; slot++)
			for (unsigned nth = 1; nth < 6; nth++) {
				struct map_md_events events;

				bench_open(b, s);
				bench_reset_counts(b);
				b->probes[slot]->fail_read = nth;
				for (unsigned k = 0; k < 12; k++) {
					uint64_t offset, length;

					bench_random_range(b, 1, &offset, &length);
					b->happened = 0;
					assert_int_equal(bench_write(b, offset, length), 0);
					bench_random_range(b, 1, &offset, &length);
					bench_expect_range(b, offset, length);
				}
				map_md_events(b->md, &events);
				assert_int_equal(events.failed_members, 0);
				assert_int_equal(events.read_errors, b->probes[slot]->reads >= nth);
				b->probes[slot]->fail_read = 0;
			}
		bench_expect_all(b);
		bench_expect_consistent(b);
		bench_free(b);
	}
}

/* Of an array without redundancy the error is the caller's, and says where. */
static void test_read_fails_for_good(void **state)
{
	struct blkalign_error err = { 0 };
	struct bench *b = bench_start(&all_shapes[1]);
	uint8_t byte;

	(void)state;
	b->probes[1]->bad_from = 100;
	b->probes[1]->bad_end = 200;
	assert_int_equal(dev_read(b->md, 4 * K + 150, &byte, 1, &err), -EIO);
	assert_non_null(strstr(err.message, "slot 1 (member1) could not be read"));
	bench_expect_range(b, 4 * K + 200, 1000);
	bench_free(b);
}

/* A bad place is found by reading, or by a write that needs it; it is written to, and good again. */
static void test_bad_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);

		for (uint32_t slot = 0; bench_redundant(s) && slot < s->members; slot++)
			for (unsigned writing = 0; writing < 2; writing++) {
				struct probe *p = b->probes[slot];
				struct map_md_events events;

				bench_open(b, s);
				p->bad_from = 5000;
				p->bad_end = 9100;
				for (unsigned k = 0; writing && k < 10; k++) {
					uint64_t offset, length;

					bench_random_range(b, 1, &offset, &length);
					b->happened = 0;
					assert_int_equal(bench_write(b, offset, length), 0);
				}
				bench_expect_all(b);
				map_md_events(b->md, &events);
				assert_int_equal(events.failed_members, 0);
				/* Parity and second copies are read only when they are needed. */
				if (!writing && s->level == RAID_1 && slot == 0)
					assert_true(!p->bad_end && events.rewritten_bytes == 8192);
				p->bad_from = p->bad_end = 0;
			}
		if (b->geometry.parity)
			bench_expect_consistent(b);
		bench_free(b);
	}
}

static void test_mended(void **state)
{
	const struct shape s = { RAID_6, 2, 5, 64 * K, 128 * K, 0 };
	struct bench *b = bench_start(&s);
	struct raid_stripe stripe = raid_stripe_at(&b->geometry, 0);
	uint32_t slot = raid_data_slot(&b->geometry, &stripe, 1), other = raid_data_slot(&b->geometry, &stripe, 2);
	struct map_md_events events;

	(void)state;
	/* Two members at one place, and what is bad lies inside a long read: only that is written. */
	b->probes[slot]->bad_from = b->probes[other]->bad_from = 10000;
	b->probes[slot]->bad_end = b->probes[other]->bad_end = 10100;
	bench_expect_range(b, 0, 192 * K);
	map_md_events(b->md, &events);
	assert_int_equal(events.read_errors, 2);
	assert_int_equal(events.rewritten_bytes, 2 * 4096);
	assert_int_equal(events.computed_bytes, 2 * 64 * K);
	assert_int_equal(b->probes[slot]->bad_end + b->probes[other]->bad_end, 0);
	bench_expect_consistent(b);
	/* A third: not all of the rows can be had. */
	b->probes[slot]->bad_from = b->probes[other]->bad_from = b->probes[stripe.p_slot]->bad_from = 10000;
	b->probes[slot]->bad_end = b->probes[other]->bad_end = b->probes[stripe.p_slot]->bad_end = 10100;
	assert_int_equal(dev_read(b->md, 64 * K + 10050, &(uint8_t){ 0 }, 1, NULL), -EIO);
	bench_expect_range(b, 64 * K + 20000, 1000);
	bench_free(b);
}

/* The sector cannot be written either: the member fails. */
static void test_not_mended(void **state)
{
	const struct shape *shapes[] = { &all_shapes[6], &all_shapes[10], &all_shapes[19], &all_shapes[34] };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = bench_start(shapes[i]);

		b->probes[0]->bad_from = 4096;
		b->probes[0]->bad_end = 8192;
		b->probes[0]->stays_bad = true;
		bench_expect_all(b);
		assert_true(bench_told(b, DID_FAIL, 0));
		bench_expect_without(b, shapes[i], 0);
		bench_free(b);
	}
}

/* Nothing may be written to an array that was opened for reading: neither what a member could not read. */
static void test_read_only(void **state)
{
	struct bench *b = bench_start(&all_shapes[10]);
	struct map_md_events events;

	(void)state;
	b->read_only = true;
	bench_open(b, &all_shapes[10]);
	bench_reset_counts(b);
	b->probes[0]->dead = true;
	bench_expect_all(b);
	map_md_events(b->md, &events);
	assert_true(events.read_errors > 0);
	assert_int_equal(bench_writes(b), 0);
	assert_int_equal(events.rewritten_bytes + events.failed_members, 0);
	bench_free(b);
}

static void test_dead(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];

		for (uint32_t slot = 0; bench_redundant(s) && slot < s->members; slot++) {
			struct bench *b = bench_start(s);

			b->probes[slot]->dead = true;
			for (unsigned k = 0; k < 10; k++) {
				uint64_t offset, length;

				b->happened = 0;
				bench_random_range(b, 1, &offset, &length);
				bench_expect_range(b, offset, length);
				bench_random_range(b, 1, &offset, &length);
				assert_int_equal(bench_write(b, offset, length), 0);
			}
			assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
			bench_expect_without(b, s, slot);
			bench_free(b);
		}
	}
}

/* More members than the level can do without: the write is not acknowledged, none is dropped, and what lies elsewhere is as it was. */
static void test_too_many(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);
		const struct map_md_member *now;
		struct map_md_events events;
		uint64_t from = b->size_bytes / 2 + 10;
		uint8_t *before = malloc(b->size_bytes);

		assert_non_null(before);
		memcpy(before, b->model, b->size_bytes);
		for (uint32_t slot = 0; slot < s->members; slot++)
			b->probes[slot]->fail_write = b->probes[slot]->writes + 1;
		assert_int_equal(bench_write(b, from, 3000), -EIO);
		map_md_events(b->md, &events);
		assert_int_equal(events.failed_members, 0);
		now = map_md_members(b->md, NULL);
		for (uint32_t slot = 0; slot < s->members; slot++)
			assert_non_null(now[slot].dev);
		/* The records hear of it: redundancy need not fit there. */
		assert_true(b->doubts);
		memcpy(b->model, before, b->size_bytes);
		bench_expect_range(b, 0, from);
		bench_expect_range(b, from + 3000, b->size_bytes - from - 3000);
		/* It is written again, and all is well: the places are not trusted, so parity is made from data. */
		b->happened = 0;
		assert_int_equal(bench_write(b, from, 3000), 0);
		bench_expect_all(b);
		bench_expect_consistent(b);
		free(before);
		bench_free(b);
	}
}

/* Two at once, of a level that can do without both. */
static void test_two_fail(void **state)
{
	const struct shape *s = &all_shapes[19];

	(void)state;
	for (uint32_t first = 0; first < s->members; first++)
		for (uint32_t second = 0; second < first; second++) {
			struct bench *b = bench_start(s);
			struct map_md_events events;

			b->probes[first]->fail_write = b->probes[first]->writes + 1;
			b->probes[second]->fail_write = b->probes[second]->writes + 2;
			b->probes[first]->fails_on = b->probes[second]->fails_on = true;
			assert_int_equal(bench_write(b, 100, b->size_bytes - 300), 0);
			map_md_events(b->md, &events);
			assert_int_equal(events.failed_members, 2);
			assert_true(bench_told(b, DID_FAIL, first) && bench_told(b, DID_FAIL, second));
			bench_expect_all(b);
			bench_members(b);
			b->members[first].dev = b->members[second].dev = NULL;
			bench_open(b, s);
			bench_expect_all(b);
			bench_free(b);
		}
}

static void test_fail_is_not_recorded(void **state)
{
	struct blkalign_error err = { 0 };
	struct bench *b = bench_start(&all_shapes[10]);

	(void)state;
	b->fail_result = -EIO;
	b->probes[2]->fail_write = b->probes[2]->writes + 1;
	b->probes[2]->fails_on = true;
	assert_int_equal(bench_write(b, 0, b->size_bytes), -EIO);
	/* Others may not know that the member lacks something: nothing more is acknowledged. */
	assert_int_equal(dev_write(b->md, 0, b->model, 4096, &err), -EIO);
	assert_non_null(strstr(err.message, "could not be recorded"));
	assert_int_equal(dev_flush(b->md, NULL), -EIO);
	bench_free(b);
}

static void test_flush_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		for (uint32_t slot = 0; slot < all_shapes[i].members; slot++) {
			const struct shape *s = &all_shapes[i];
			struct bench *b = bench_start(s);

			b->probes[slot]->fail_flush = 1;
			assert_int_equal(dev_flush(b->md, NULL), bench_redundant(s) ? 0 : -EIO);
			if (bench_redundant(s)) {
				assert_true(bench_told(b, DID_FAIL, slot));
				assert_int_equal(b->journal[b->happened - 1].what, DID_FLUSHED);
				assert_int_equal(dev_flush(b->md, NULL), 0);
				bench_expect_without(b, s, slot);
			} else {
				/* The next one would succeed. */
				assert_int_equal(b->doubts, 1);
				assert_int_equal(b->doubt.length_bytes, UINT64_MAX);
				assert_int_equal(dev_flush(b->md, NULL), -EIO);
				assert_int_equal(bench_write(b, 0, 1), -EIO);
			}
			bench_free(b);
		}
}

/* A flush of the guard's own failed, which may have cost the data that this one was to make durable. */
static void test_flush_of_the_guard_failed(void **state)
{
	struct bench *b = bench_start(&all_shapes[10]);

	(void)state;
	b->flushed_result = -EIO;
	assert_int_equal(dev_flush(b->md, NULL), -EIO);
	b->flushed_result = 0;
	assert_int_equal(dev_flush(b->md, NULL), -EIO);
	assert_int_equal(bench_write(b, 0, 1), -EIO);
	assert_int_equal(b->doubts, 1);
	bench_free(b);
}

/* The one good copy of a half rebuilt mirror fails: what the other one lacks would be lost. */
static void test_only_copy_fails(void **state)
{
	const struct shape s = { RAID_1, 0, 2, 0, 64 * K, 0 };
	static const struct byte_range bad = { 8 * K, 4 * K };
	struct bench *b = bench_start(&s);
	struct map_md_events events;

	(void)state;
	b->members[1].valid_bytes = 32 * K;
	bench_open(b, &s);
	b->probes[0]->fail_write = b->probes[0]->writes + 1;
	b->probes[0]->fails_on = true;
	assert_int_equal(bench_write(b, 0, 1000), -EIO);
	map_md_events(b->md, &events);
	assert_int_equal(events.failed_members, 0);
	b->probes[0]->fails_on = false;
	b->probes[1]->fail_write = b->probes[1]->writes + 1;
	b->probes[1]->fails_on = true;
	assert_int_equal(bench_write(b, 0, 1000), 0);
	assert_true(bench_told(b, DID_FAIL, 1));
	/* The other one has a bad range just there. */
	b->probes[1]->fails_on = false;
	bench_members(b);
	bench_open(b, &s);
	assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
	b->members[1].bad = &bad;
	b->members[1].bad_count = 1;
	bench_open(b, &s);
	b->probes[0]->fail_write = b->probes[0]->writes + 1;
	assert_int_equal(bench_write(b, 9 * K, 100), -EIO);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_fails),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_read_fails),
		cmocka_unit_test(test_read_fails_for_good),
		cmocka_unit_test(test_bad_place),
		cmocka_unit_test(test_mended),
		cmocka_unit_test(test_not_mended),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_two_fail),
		cmocka_unit_test(test_fail_is_not_recorded),
		cmocka_unit_test(test_flush_fails),
		cmocka_unit_test(test_flush_of_the_guard_failed),
		cmocka_unit_test(test_only_copy_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
