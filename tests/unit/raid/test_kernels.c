/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every kernel that this processor has, against parity made bit by bit: what fits is accepted, every byte that does not is found, and what is made is the same. */
#include "unit.h"

#include "raid/kernels.h"
#include "raid/reference.h"

#define LENGTH 512U
#define MOST   20U

static uint8_t memory[(MOST + 2) * (LENGTH + 64)];

static uint32_t random_next(void)
{
	static uint64_t seed = 7;

	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33);
}

/* Sources, then P and Q, each at an alignment of its own; every fifth but the last is left out when `gaps`. */
static void fill(uint32_t count, bool gaps, uint8_t **blocks)
{
	for (uint32_t i = 0; i < count + 2; i++) {
		blocks[i] = memory + i * (LENGTH + 64) + random_next() % 64;
		for (unsigned b = 0; b < LENGTH; b++)
			blocks[i][b] = (uint8_t)random_next();
		if (gaps && i % 5 == 1 && i + 1 < count)
			blocks[i] = NULL;
	}
	for (unsigned b = 0; b < LENGTH; b++) {
		uint8_t p = 0, q = 0;

		for (uint32_t i = count; i-- > 0;) {
			q = reference_times(q, 2);
			p ^= blocks[i] ? blocks[i][b] : 0;
			q ^= blocks[i] ? blocks[i][b] : 0;
		}
		blocks[count][b] = p;
		blocks[count + 1][b] = q;
	}
}

static void one_set(const struct raid_kernel *k, uint32_t count, bool gaps)
{
	uint8_t *blocks[MOST + 2], made[2][LENGTH + 2];

	fill(count, gaps, blocks);
	memset(made, 0xa5, sizeof(made));
	k->make(blocks, count, made[0] + 1, made[1] + 1, LENGTH);
	for (unsigned i = 0; i < 2; i++) {
		assert_memory_equal(made[i] + 1, blocks[count + i], LENGTH);
		assert_true(made[i][0] == 0xa5 && made[i][LENGTH + 1] == 0xa5);
	}
	assert_true(k->fits(blocks, count, blocks[count], blocks[count + 1], LENGTH));
	assert_true(k->fits(blocks, count, blocks[count], NULL, LENGTH));
	for (uint32_t i = 0; i < count + 2; i++)
		for (unsigned b = 0; blocks[i] && b < LENGTH; b += 1 + random_next() % 7) {
			uint8_t flip = (uint8_t)(1U << random_next() % 8);

			blocks[i][b] ^= flip;
			assert_false(k->fits(blocks, count, blocks[count], blocks[count + 1], LENGTH));
			assert_int_equal(k->fits(blocks, count, blocks[count], NULL, LENGTH), i == count + 1);
			blocks[i][b] ^= flip;
		}
}

static void test_kernels(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (const struct raid_kernel *k = raid_kernels; k->name; k++) {
		if (!k->supported()) {
			print_message("%s: not on this processor\n", k->name);
			continue;
		}
		for (uint32_t count = 1; count <= MOST; count++) {
			one_set(k, count, false);
			one_set(k, count, true);
		}
		tried++;
	}
	assert_true(!tried == !raid_kernel_best()->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kernels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
