/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit.h"

#include "dev/power_cut.h"

#define DISK 16384U

struct fixture {
	struct power_machine *machine;
	struct dev *a, *b;
};

static int set_up(void **state)
{
	static uint8_t zeros[DISK];
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return power_machine_new(&f->machine) || dev_open_power_cut(f->machine, "a", zeros, DISK, &f->a) ||
	       dev_open_power_cut(f->machine, "b", zeros, DISK, &f->b);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	dev_close(f->a);
	dev_close(f->b);
	power_machine_free(f->machine);
	free(f);
	return 0;
}

static int put_buffer(struct dev *dev, uint64_t offset, void *buffer, size_t length)
{
	struct dev_request q = { .dev = dev, .op = DEV_WRITE, .offset_bytes = offset, .length_bytes = length, .buffer = buffer };

	return dev_run(&q, 1, NULL);
}

static int flush(struct dev *dev)
{
	struct dev_request q = { .dev = dev, .op = DEV_FLUSH };

	return dev_run(&q, 1, NULL);
}

static void put(struct dev *dev, uint64_t offset, uint8_t value, size_t length)
{
	uint8_t buffer[DISK];

	memset(buffer, value, sizeof(buffer));
	assert_int_equal(put_buffer(dev, offset, buffer, length), 0);
}

/* The states of a point as a sorted, comma separated set of "values of the sectors of `at`, then those of `bt`". */
static int by_text(const void *x, const void *y) { return strcmp(x, y); }

static const char *states_text(struct fixture *f, size_t point, uint32_t sector, const uint64_t *at, size_t a_count, const uint64_t *bt,
			       size_t b_count)
{
	static char copy[8192];
	_cleanup_strbuf_ struct strbuf text = { 0 };
	static char all[512][16];
	_cleanup_power_states_ struct power_states *states = NULL;
	size_t count = 0;

	assert_int_equal(power_states_open(f->machine, point, sector, 1, &states), 0);
	while (power_states_next(states)) {
		char *one = all[count++];

		assert_in_range(count, 1, 512);
		memset(one, 0, sizeof(all[0]));
		for (size_t i = 0; i < a_count; i++)
			one[i] = (char)('0' + power_states_image(states, 0)[at[i]]);
		for (size_t i = 0; i < b_count; i++)
			one[a_count + i] = (char)('0' + power_states_image(states, 1)[bt[i]]);
	}
	qsort(all, count, sizeof(all[0]), by_text);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(all[i], all[i - 1]))
			strbuf_printf(&text, "%s%s", i ? "," : "", all[i]);
	assert_false(text.failed);
	snprintf(copy, sizeof(copy), "%s", text.text);
	return copy;
}

static void test_subsets(void **state)
{
	struct fixture *f = *state;
	const uint64_t two[] = { 0, 512 }, one[] = { 0 };

	put(f->a, 0, 1, 1024);
	put(f->b, 0, 2, 512);
	assert_int_equal(power_points(f->machine), 1);
	assert_string_equal(states_text(f, 0, 512, two, 2, one, 1), "000,002,010,012,100,102,110,112");
	/* With 4096 the two sectors stand or fall together. */
	assert_string_equal(states_text(f, 0, 4096, two, 2, one, 1), "000,002,110,112");
	/* A flush settles its own device only; before it all was possible. */
	assert_int_equal(flush(f->a), 0);
	assert_int_equal(power_points(f->machine), 2);
	assert_string_equal(states_text(f, 0, 512, two, 2, one, 1), "000,002,010,012,100,102,110,112");
	assert_string_equal(states_text(f, 1, 512, two, 2, one, 1), "110,112");
	assert_int_equal(power_point_moment(f->machine, 0), 2);
	assert_int_equal(power_point_moment(f->machine, 1), 3);
	assert_int_equal(power_machine_now(f->machine), 3);
}

static void test_versions(void **state)
{
	struct fixture *f = *state;
	const uint64_t at[] = { 0, 512 };

	put(f->a, 0, 1, 512);
	assert_int_equal(flush(f->a), 0);
	put(f->a, 0, 2, 512);
	put(f->a, 0, 3, 1024);
	/* Any version of the sector since the flush, or that of the flush. */
	assert_string_equal(states_text(f, 1, 512, at, 2, NULL, 0), "10,13,20,23,30,33");
	/* Writes smaller than the sector keep their order within it. */
	assert_string_equal(states_text(f, 1, 4096, at, 2, NULL, 0), "10,20,33");
}

static void test_failed_flush(void **state)
{
	struct fixture *f = *state;
	const uint64_t at[] = { 0, 512 };

	put(f->a, 0, 1, 512);
	power_machine_fail(f->machine, 1U << DEV_FLUSH, 1, POWER_FAIL_ONCE, -EIO);
	assert_int_equal(flush(f->a), -EIO);
	put(f->a, 512, 2, 512);
	assert_int_equal(flush(f->a), 0);
	/* What the failed flush should have covered stays unknown; what came later is durable. */
	assert_string_equal(states_text(f, power_points(f->machine) - 1, 512, at, 2, NULL, 0), "02,12");
	/* Durable after all once it is written and flushed again. */
	put(f->a, 0, 3, 512);
	assert_int_equal(flush(f->a), 0);
	assert_string_equal(states_text(f, power_points(f->machine) - 1, 512, at, 2, NULL, 0), "32");
}

static void test_lying(void **state)
{
	struct fixture *f = *state;
	const uint64_t at[] = { 0 };

	power_machine_lie(f->machine);
	put(f->a, 0, 1, 512);
	assert_int_equal(flush(f->a), 0);
	assert_string_equal(states_text(f, power_points(f->machine) - 1, 512, at, 1, NULL, 0), "0,1");
}

static void test_flush_in_a_batch(void **state)
{
	struct fixture *f = *state;
	const uint64_t at[] = { 0 };
	uint8_t ones[512];
	struct dev_request q[] = { { .dev = f->a, .op = DEV_WRITE, .length_bytes = 512, .buffer = ones },
				   { .dev = f->a, .op = DEV_FLUSH } };

	memset(ones, 1, sizeof(ones));
	assert_int_equal(dev_run(q, 2, NULL), 0);
	assert_string_equal(states_text(f, power_points(f->machine) - 1, 512, at, 1, NULL, 0), "0,1");
}

static void test_failures(void **state)
{
	struct fixture *f = *state;
	uint8_t buffer[1024];
	size_t arrived[3];

	power_machine_fail(f->machine, 1U << DEV_READ, 2, POWER_FAIL_ONCE, -EIO);
	assert_int_equal(dev_read(f->a, 0, buffer, 512, NULL), 0);
	assert_int_equal(dev_read(f->b, 0, buffer, 512, NULL), -EIO);
	assert_int_equal(dev_read(f->b, 0, buffer, 512, NULL), 0);
	assert_int_equal(power_machine_counted(f->machine), 3);
	power_machine_fail(f->machine, 1U << DEV_READ | 1U << DEV_WRITE, 2, POWER_FAIL_DEVICE, -ENXIO);
	put(f->a, 0, 1, 512);
	assert_int_equal(dev_read(f->a, 0, buffer, 512, NULL), -ENXIO);
	assert_int_equal(put_buffer(f->a, 0, buffer, 512), -ENXIO);
	assert_int_equal(flush(f->a), 0);
	put(f->b, 0, 1, 512);
	power_machine_fail(f->machine, 1U << DEV_FLUSH, 1, POWER_FAIL_ALL, -EIO);
	assert_int_equal(flush(f->a), -EIO);
	assert_int_equal(flush(f->b), -EIO);
	/* Nothing, a part, and all of a failed write arrives in turn. */
	for (size_t i = 0; i < 3; i++) {
		power_machine_fail(f->machine, 1U << DEV_WRITE, i + 1, POWER_FAIL_ONCE, -EIO);
		for (size_t n = 0; n <= i; n++) {
			memset(buffer, (int)(10 + i), sizeof(buffer));
			assert_int_equal(put_buffer(f->a, 1024 * (n + 1), buffer, 1024), n == i ? -EIO : 0);
		}
		arrived[i] = 0;
		for (size_t n = 0; n < 1024; n++)
			arrived[i] += power_machine_contents(f->machine, 0)[1024 * (i + 1) + n] == 10 + i;
	}
	assert_int_equal(arrived[0], 0);
	assert_int_equal(arrived[1], 1024);
	assert_int_equal(arrived[2], 512);
	power_machine_fail(f->machine, 0, 0, POWER_FAIL_ONCE, 0);
	put(f->a, 0, 1, 512);
}

/* The sector writes 0 ... 14 of a point as the set of those that arrived, for every state. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	_cleanup_power_states_ struct power_states *states = NULL;
	bool seen_prefix[16] = { false }, seen_drop[15] = { false }, seen_keep[15] = { false };
	bool seen_pair[15][15] = { { false } }, seen_device[4] = { false };
	size_t count = 0, pairs = 0;

	for (uint64_t i = 0; i < 15; i++)
		put(i % 2 ? f->b : f->a, 512 * i, 1, 512);
	assert_int_equal(power_states_open(f->machine, 0, 512, 7, &states), 0);
	assert_int_equal(power_states_writes(states), 15);
	while (power_states_next(states)) {
		const bool *kept = power_states_kept(states);
		size_t total = 0, prefix = 0, lost[15], losts = 0, last_kept = 0;
		bool all[2] = { true, true }, none[2] = { true, true };

		count++;
		for (size_t i = 0; i < 15; i++) {
			assert_int_equal(power_states_image(states, i % 2)[512 * i], kept[i]);
			prefix += kept[i] && total == i;
			total += kept[i];
			if (!kept[i])
				lost[losts++] = i;
			else
				last_kept = i;
			all[i % 2] &= kept[i];
			none[i % 2] &= !kept[i];
		}
		if (prefix == total)
			seen_prefix[total] = true;
		if (total == 14)
			seen_drop[lost[0]] = true;
		if (total == 13)
			seen_pair[lost[0]][lost[1]] = true;
		if (total == 1)
			seen_keep[last_kept] = true;
		if ((all[0] || none[0]) && (all[1] || none[1]))
			seen_device[all[0] + 2 * all[1]] = true;
	}
	assert_int_equal(count, 16 + 15 + 15 + 15 * 14 / 2 + 4 + POWER_RANDOM_SUBSETS);
	for (size_t i = 0; i < 15; i++) {
		assert_true(seen_prefix[i] && seen_drop[i] && seen_keep[i]);
		for (size_t j = i + 1; j < 15; j++)
			pairs += seen_pair[i][j];
	}
	assert_int_equal(pairs, 15 * 14 / 2);
	assert_true(seen_prefix[15] && seen_device[0] && seen_device[1] && seen_device[2] && seen_device[3]);
}

/* Equal contents, equal hash: whatever the way to them. */
static void test_hash(void **state)
{
	struct fixture *f = *state;
	struct power_states *small = NULL, *large = NULL;
	const bool both[] = { true, true }, first[] = { true, false }, whole[] = { true };
	uint64_t hash;

	put(f->a, 0, 1, 1024);
	assert_int_equal(flush(f->b), 0);
	assert_int_equal(power_states_open(f->machine, 0, 512, 1, &small), 0);
	assert_int_equal(power_states_open(f->machine, 1, 4096, 1, &large), 0);
	assert_int_equal(power_states_write(small, 1).offset_bytes, 512);
	assert_int_equal(power_states_write(small, 1).length_bytes, 512);
	assert_int_equal(power_states_write(large, 0).length_bytes, 1024);
	power_states_set(large, whole);
	hash = power_states_hash(large);
	power_states_set(small, first);
	assert_int_not_equal(power_states_hash(small), hash);
	power_states_set(small, both);
	assert_int_equal(power_states_hash(small), hash);
	assert_memory_equal(power_states_image(small, 0), power_states_image(large, 0), DISK);
	power_states_close(small);
	power_states_close(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_subsets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_versions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failed_flush, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lying, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_flush_in_a_batch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hash, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
