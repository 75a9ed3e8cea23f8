/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As many members as the level can do without are impaired, each in its own way: missing, half rebuilt, with bad ranges, with places that cannot be read, failing sooner
 * or later. Everything that is asked must succeed, and hold what was written. BLKALIGN_SEED=N tries others.
 */
#include "md_bench.h"

#define RANGES 6U

static struct byte_range bad[BENCH_MEMBERS][RANGES];

/* What a member has that it must not be asked for is junk. */
static void spoil(const struct bench *b, uint32_t slot, uint64_t from, uint64_t end)
{
	uint64_t size = b->probes[slot]->dev.size_bytes - BENCH_OFFSET;

	if (end > size)
		end = size;
	if (from < end)
		memset(b->probes[slot]->data + BENCH_OFFSET + from, 0xa7, end - from);
}

static void add_bad_ranges(struct bench *b, uint32_t slot)
{
	uint64_t at = bench_random(b) % 3000, size = b->probes[slot]->dev.size_bytes - BENCH_OFFSET;
	unsigned count = 0;

	while (count < RANGES && at < size) {
		struct byte_range *range = &bad[slot][count++];

		*range = (struct byte_range){ at, 1 + bench_random(b) % 5000 };
		spoil(b, slot, at, at + range->length_bytes);
		at += range->length_bytes + bench_random(b) % 9000 + 1;
	}
	b->members[slot].bad = bad[slot];
	b->members[slot].bad_count = count;
}

static void impair(struct bench *b, uint32_t slot)
{
	struct probe *p = b->probes[slot];
	uint64_t size = p->dev.size_bytes - BENCH_OFFSET;

	switch (bench_random(b) % 7) {
	case 0:
		b->members[slot].dev = NULL;
		spoil(b, slot, 0, size);
		break;
	case 1:
		b->members[slot].valid_bytes = bench_random(b) % size;
		spoil(b, slot, b->members[slot].valid_bytes, size);
		break;
	case 2:
		add_bad_ranges(b, slot);
		break;
	case 3:
		p->bad_from = bench_random(b) % size;
		p->bad_end = p->bad_from + 1 + bench_random(b) % 9000;
		p->stays_bad = bench_random(b) % 2;
		break;
	case 4:
		p->dead = true;
		break;
	case 5:
		p->fail_write = p->writes + 1 + (unsigned)(bench_random(b) % 20);
		break;
	default:
		p->fail_read = p->reads + 1 + (unsigned)(bench_random(b) % 20);
		b->members[slot].write_mostly = bench_random(b) % 2;
		break;
	}
}

static void make_whole(struct bench *b)
{
	bench_members(b);
	for (uint32_t i = 0; i < b->members_count; i++) {
		struct probe *p = b->probes[i];

		p->bad_from = p->bad_end = 0;
		p->stays_bad = p->dead = false;
		p->fail_read = p->fail_write = p->fail_flush = 0;
	}
}

static void use(struct bench *b, uint64_t unit)
{
	for (unsigned i = 0; i < 15; i++) {
		uint64_t offset, length;

		bench_random_range(b, 1, &offset, &length);
		bench_expect_range(b, offset, length);
		bench_random_range(b, unit, &offset, &length);
		assert_int_equal(bench_write(b, offset, length), 0);
		if (bench_random(b) % 4 == 0)
			assert_int_equal(dev_flush(b->md, NULL), 0);
	}
	bench_expect_all(b);
}

static void run_shape(const struct shape *s, uint64_t seed)
{
	struct bench *b = bench_new(s);
	uint32_t redundancy = raid_redundancy(&b->geometry);

	b->seed += seed * 0x632be59bd9b4e019U;
	b->with_log = s->level == RAID_5 && bench_random(b) % 2;
	for (unsigned round = 0; redundancy && round < 12; round++) {
		make_whole(b);
		bench_open(b, s);
		bench_fill(b);
		for (unsigned done = 0, count = 0; count < redundancy;) {
			uint32_t slot = (uint32_t)(bench_random(b) % b->members_count);

			if (done >> slot & 1)
				continue;
			impair(b, slot);
			done |= 1U << slot;
			count++;
		}
		bench_open(b, s);
		use(b, b->md->block_bytes);
	}
	bench_free(b);
}

static void test_impaired(void **state)
{
	const char *text = getenv("BLKALIGN_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		run_shape(&all_shapes[i], seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
