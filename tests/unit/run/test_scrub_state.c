/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scrub leaves behind: the array's records while it repairs, and its own state to go on from. */
#include "run/scrub_bench.h"

struct guard {
	struct map_md_guard guard;
	const struct array *array;
	struct byte_range open;
	struct byte_range doubt;
	unsigned begun, flushes;
	bool fails;
};

static int guard_begin(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, struct blkalign_error *reterr)
{
	struct guard *g = (struct guard *)guard;

	(void)reterr;
	assert_int_equal(count, 1);
	assert_int_equal(g->open.length_bytes, 0);
	/* Nothing of it is written yet. */
	assert_false(array_is_true(g->array, 3));
	g->open = ranges[0];
	g->begun++;
	return 0;
}

static void guard_end(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, bool complete)
{
	struct guard *g = (struct guard *)guard;

	assert_int_equal(count, 1);
	assert_int_equal(complete, !g->fails);
	assert_int_equal(g->doubt.length_bytes, g->fails ? g->open.length_bytes : 0);
	assert_int_equal(ranges[0].offset_bytes, g->open.offset_bytes);
	g->open.length_bytes = 0;
}

static uint64_t guard_flushing(struct map_md_guard *guard) { return ((struct guard *)guard)->begun; }

static int guard_flushed(struct map_md_guard *guard, uint64_t mark)
{
	struct guard *g = (struct guard *)guard;

	assert_int_equal(mark, g->begun);
	g->flushes++;
	return 0;
}

static void guard_doubt(struct map_md_guard *guard, const struct byte_range *ranges, size_t count)
{
	struct guard *g = (struct guard *)guard;

	assert_int_equal(count, 1);
	g->doubt = ranges[0];
}

static const struct map_md_guard_ops ops = {
	.begin = guard_begin, .end = guard_end, .doubt = guard_doubt, .flushing = guard_flushing, .flushed = guard_flushed
};

static void test_records(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct guard guard = { .guard = { &ops }, .array = &a };

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	array_spoil(&a, 3, 65536, 8192);
	s = start(&a, 2);
	run(s);
	assert_int_equal(scrub_repair_begin(s, &(struct blkalign_scrub_repair_options){ .parity = false }, &err), 0);
	s->repair->guard = &guard.guard;
	run(s);
	assert_int_equal(guard.begun, 1);
	assert_int_equal(guard.flushes, 1);
	assert_true(array_is_true(&a, 3));
	blkalign_scrub_close(s);
	array_close(&a);
}

/* A write that fails: the records are told where. */
static void test_records_of_a_failure(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct guard guard = { .guard = { &ops }, .array = &a, .fails = true };
	struct dev *failing;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	array_spoil(&a, 3, 65536, 8192);
	failing = array_failing(a.devs[3], ARRAY_OFFSET + 65536 + 5000, false);
	a.members[3].dev = failing;
	s = start(&a, 1);
	run(s);
	assert_int_equal(scrub_repair_begin(s, &(struct blkalign_scrub_repair_options){ .parity = false }, &err), 0);
	s->repair->guard = &guard.guard;
	assert_int_equal(blkalign_scrub_step(s, NULL, &err), -EIO);
	assert_int_equal(guard.doubt.offset_bytes, 65536);
	assert_int_equal(guard.doubt.length_bytes, 8192);
	blkalign_scrub_close(s);
	dev_close(failing);
	array_close(&a);
}

static const struct scrub_identity identity = { .uuid = "0123", .events = 17, .level = "raid6" };

static void same_findings(const struct blkalign_scrub *a, const struct blkalign_scrub *b)
{
	assert_int_equal(blkalign_scrub_findings(a, NULL), blkalign_scrub_findings(b, NULL));
	for (size_t i = 0; i < blkalign_scrub_findings(a, NULL); i++) {
		const struct blkalign_scrub_finding *f = blkalign_scrub_finding(b, i);

		expect(a, i, f->kind, f->verdict, f->slot, f->member_bytes, f->length_bytes);
		assert_int_equal(blkalign_scrub_finding(a, i)->array_first_bytes, f->array_first_bytes);
		assert_int_equal(blkalign_scrub_finding(a, i)->array_last_bytes, f->array_last_bytes);
	}
	assert_int_equal(a->mismatch_sectors512, b->mismatch_sectors512);
	assert_int_equal(a->read_bytes, b->read_bytes);
}

/* Interrupted after every step and gone on with from text: the same end. */
static void test_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct array a;
		struct blkalign_scrub *whole, *s;
		char *text;
		unsigned steps = 0;

		open_shape(&a, &shapes[i]);
		for (uint64_t at = 0; at < COMPONENT; at += 50000)
			array_spoil(&a, (uint32_t)(at % shapes[i].members), at, 700);
		whole = start(&a, 1);
		run(whole);
		assert_true(blkalign_scrub_findings(whole, NULL) > 10);
		s = start(&a, 1);
		s->walk.rate_bytes = 1 << 20; /* a tenth of that each step */
		while (blkalign_scrub_step(s, NULL, &err) == 0) {
			assert_int_equal(scrub_state_write(s, &identity, &text), 0);
			blkalign_scrub_close(s);
			s = start(&a, 1);
			s->walk.rate_bytes = 1 << 20;
			assert_int_equal(scrub_state_read(s, &identity, text, &err), 0);
			free(text);
			steps++;
			if (steps > 3)
				s->walk.rate_bytes = 0;
		}
		assert_true(steps > 3);
		same_findings(s, whole);
		blkalign_scrub_close(s);
		blkalign_scrub_close(whole);
		array_close(&a);
	}
}

static int read_state(const struct array *a, const struct scrub_identity *of, const char *text)
{
	struct blkalign_scrub *s = start(a, 1);
	int r = scrub_state_read(s, of, text, &err);

	blkalign_scrub_close(s);
	return r;
}

/* Every byte of a state changed in turn, cut short at every length, and states of others: refused, or harmless. */
static void test_hostile_state(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	char *text, *copy;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	array_spoil(&a, 3, 65536, 8192);
	array_spoil(&a, 2, 262144, 4096);
	s = start(&a, 1);
	run(s);
	assert_int_equal(scrub_state_write(s, &identity, &text), 0);
	blkalign_scrub_close(s);
	assert_int_equal(read_state(&a, &identity, text), 0);
	copy = malloc(strlen(text) + 1);
	for (size_t i = 0; i < strlen(text); i++) {
		static const char others[] = { '0', '9', '-', '"', '{', ']', '\n', 'x', '\x80' };

		for (size_t k = 0; k < sizeof(others); k++) {
			memcpy(copy, text, strlen(text) + 1);
			copy[i] = others[k];
			read_state(&a, &identity, copy);
		}
		memcpy(copy, text, i);
		copy[i] = '\0';
		assert_int_equal(read_state(&a, &identity, copy), -EBADMSG);
	}
	assert_int_equal(read_state(&a, &(struct scrub_identity){ "0124", 17, "raid6" }, text), -ESTALE);
	assert_int_equal(read_state(&a, &(struct scrub_identity){ "0123", 18, "raid6" }, text), -ESTALE);
	assert_int_equal(read_state(&a, &(struct scrub_identity){ "0123", 17, "raid5" }, text), -ESTALE);
	assert_int_equal(read_state(&a, &(struct scrub_identity){ NULL, 17, "raid6" }, text), -ESTALE);
	free(copy);
	free(text);
	array_close(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_records_of_a_failure),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_hostile_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
