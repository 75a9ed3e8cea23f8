/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that a kernel made, written through the map with their records kept, and the power goes at every so manieth write or flush of a member. Whatever was
 * reached: outside of what the keep then calls doubtful, redundancy fits; after a resync of that it fits everywhere; and what was acknowledged is there.
 */
#include "keep/bench.h"

#define WRITES		24U
#define RANGE_MAX_BYTES (96U * 1024)

static uint8_t *model;
static struct {
	uint64_t offset_bytes;
	size_t length_bytes;
	uint8_t old[RANGE_MAX_BYTES], new[RANGE_MAX_BYTES];
} torn; /* what was being written */

static unsigned seed;
static unsigned next(unsigned below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 10) % below;
}

static struct dev *open_map(bool writable)
{
	struct map_md_member members[IMAGES_MAX] = { 0 };
	struct raid_geometry geometry;
	struct map_md md = {
		.geometry = &geometry, .members = members, .use_doubtful = true, .guard = writable ? keep_guard(bench.keep) : NULL
	};
	struct dev *dev;

	bench_geometry(bench.image_of[bench.freshest], &geometry);
	for (size_t i = 0; i < bench.count; i++) {
		struct bench_facts f;

		bench_facts(bench.image_of[i], &f);
		members[f.slot] = (struct map_md_member){ .dev = bench.members[i].dev,
							  .data_offset_bytes = f.data_offset_bytes,
							  .valid_bytes = UINT64_MAX };
	}
	md.doubtful = keep_doubtful(bench.keep, &md.doubtful_count);
	assert_int_equal(map_open_md("md0", &md, &dev), 0);
	return dev;
}

/* --- redundancy, by the images alone --- */

static uint8_t *block(uint32_t slot, uint64_t device_bytes)
{
	static uint64_t offsets[IMAGES_MAX];
	static uint8_t *data[IMAGES_MAX];

	if (slot == UINT32_MAX) {
		for (size_t i = 0; i < bench.count; i++) {
			struct bench_facts f;

			bench_facts(bench.image_of[i], &f);
			offsets[f.slot] = f.data_offset_bytes;
			data[f.slot] = bench.images.data[bench.image_of[i]];
		}
		return NULL;
	}
	return data[slot] + offsets[slot] + device_bytes;
}

static bool doubtful(uint64_t offset_bytes, uint64_t length_bytes)
{
	size_t count;
	const struct byte_range *r = keep_doubtful(bench.keep, &count);

	for (size_t i = 0; i < count; i++)
		if (r[i].offset_bytes < offset_bytes + length_bytes && offset_bytes < r[i].offset_bytes + r[i].length_bytes)
			return true;
	return false;
}

/* One row, or one block of a mirror; `mend` makes it fit. */
static bool row_fits(uint64_t at, bool mend)
{
	const struct raid_geometry *g = &bench.geometry;
	uint8_t *blocks[IMAGES_MAX];
	struct raid_row row = { .geometry = g, .blocks = blocks, .length_bytes = 4096 };
	uint32_t copies = raid_copies(g);

	if (g->level >= 4 && g->level <= 6) {
		row.stripe = raid_stripe_at(g, at);
		for (uint32_t slot = 0; slot < g->members; slot++)
			blocks[slot] = block(slot, at);
		if (mend)
			raid_generate(&row);
		return raid_consistent(&row);
	}
	for (uint32_t copy = 0; copy < copies; copy++) {
		struct raid_place place;

		assert_int_equal(raid_locate(g, at, copy, &place), 0);
		blocks[copy] = block(place.slot, place.device_bytes);
		if (mend && copy)
			memcpy(blocks[copy], blocks[0], 4096);
		if (memcmp(blocks[copy], blocks[0], 4096) != 0)
			return false;
	}
	return true;
}

static uint64_t unit_bytes(void) { return bench.geometry.level == 10 ? bench.geometry.array_bytes : bench.geometry.used_bytes; }

/* --- one run --- */

static int write_once(struct dev *dev)
{
	size_t length = next(4) ? (1 + next(16)) * 512 : 512 + next(RANGE_MAX_BYTES / 512) * 512;
	uint64_t at = next((unsigned)((dev->size_bytes - length) / 512)) * UINT64_C(512);
	int r;

	torn.offset_bytes = at;
	torn.length_bytes = length;
	memcpy(torn.old, model + at, length);
	for (size_t i = 0; i < length; i++)
		torn.new[i] = (uint8_t)next(256);
	r = dev_write(dev, at, torn.new, length, NULL);
	if (r == 0) {
		memcpy(model + at, torn.new, length);
		torn.length_bytes = 0;
	}
	if (r == 0 && next(4) == 0)
		r = dev_flush(dev, NULL);
	return r;
}

static void write_until_cut(unsigned cut_at)
{
	struct dev *dev = open_map(true);
	int r = dev_read(dev, 0, model, dev->size_bytes, &err);

	assert_int_equal(r, 0);
	torn.length_bytes = 0;
	trace.counted = 0;
	trace.off_at = cut_at;
	for (unsigned i = 0; i < WRITES && r == 0; i++)
		r = write_once(dev);
	dev_close(dev);
	keep_abandon(bench.keep);
}

/* In the range that was being written, each sector is old or new; unless it had to be computed from parity that was being written as well. */
static void content_is_the_models(bool computed)
{
	struct dev *dev = open_map(false);
	uint8_t *content = malloc(dev->size_bytes);

	assert_non_null(content);
	assert_int_equal(dev_read(dev, 0, content, dev->size_bytes, &err), 0);
	for (size_t i = 0; i < torn.length_bytes; i += 512) {
		uint8_t *sector = content + torn.offset_bytes + i;

		assert_true(computed || memcmp(sector, torn.old + i, 512) == 0 || memcmp(sector, torn.new + i, 512) == 0);
		memcpy(sector, model + torn.offset_bytes + i, 512);
	}
	assert_memory_equal(content, model, dev->size_bytes);
	free(content);
	dev_close(dev);
}

static void whole_array_fits(void)
{
	block(UINT32_MAX, 0);
	for (uint64_t at = 0; at < unit_bytes(); at += 4096)
		if (!row_fits(at, false))
			assert_true(doubtful(at, 4096));
	for (uint64_t at = 0; at < unit_bytes(); at += 4096)
		if (doubtful(at, 4096))
			assert_true(row_fits(at, true));
}

static void resync_and_close(unsigned without)
{
	assert_int_equal(keep_resynced(bench.keep, UINT64_MAX, &err), 0);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_reopen(without);
	assert_false(keep_was_dirty(bench.keep));
}

static bool cut(unsigned cut_at, unsigned without)
{
	bool reached;

	bench_rewind(without);
	assert_int_equal(bench_open(), 0);
	write_until_cut(cut_at);
	reached = trace.has_failed;
	bench_reopen(without);
	assert_int_equal(keep_replay(bench.keep, &err), 0);
	if (!without) {
		whole_array_fits();
		content_is_the_models(false);
		resync_and_close(without);
	}
	content_is_the_models(without);
	keep_abandon(bench.keep);
	return reached;
}

static void cut_each(const char *name, unsigned without)
{
	bool reached = true;

	bench_load(name, 'm', without);
	model = malloc(bench.geometry.array_bytes);
	assert_non_null(model);
	seed = 7;
	/* Every operation of the first writes, and then in strides. */
	for (unsigned at = 1; reached; at += 1 + (at > 10) * (9 + next(20)))
		reached = cut(at, without);
	free(model);
	bench_done();
}

static void test_bitmap(void **state)
{
	(void)state;
	cut_each("raid1-12-3-bitmap", 0);
	cut_each("raid5-12-4-bitmap", 0);
	cut_each("raid10-12-4-n2-bitmap", 0);
}

static void test_neither(void **state)
{
	(void)state;
	cut_each("raid5-090-3", 0);
	cut_each("raid6-12-4", 0);
}

static void test_parity_log(void **state)
{
	(void)state;
	cut_each("raid5-12-4-ppl", 0);
}

/* No write hole: with a member missing all the time, nothing is lost that was not being written. */
static void test_parity_log_degraded(void **state)
{
	(void)state;
	cut_each("raid5-12-4-ppl", 1 << 2);
}

/* --- closed properly --- */

static void test_closed(void **state)
{
	static const char *const cases[] = { "raid1-12-3-bitmap", "raid5-12-4-bitmap", "raid5-12-4-ppl", "raid10-12-4-n2", "raid6-12-4" };

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		struct dev *dev;
		size_t count;

		bench_load(cases[c], 'm', 0);
		model = malloc(bench.geometry.array_bytes);
		assert_non_null(model);
		seed = (unsigned)c;
		assert_int_equal(bench_open(), 0);
		dev = open_map(true);
		assert_int_equal(dev_read(dev, 0, model, dev->size_bytes, &err), 0);
		for (unsigned i = 0; i < 60; i++)
			assert_int_equal(write_once(dev), 0);
		dev_close(dev);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		bench_reopen(0);
		assert_false(keep_was_dirty(bench.keep));
		keep_doubtful(bench.keep, &count);
		assert_int_equal(count, 0);
		whole_array_fits();
		content_is_the_models(false);
		for (unsigned i = 0; i < bench.images.count; i++)
			bench_mdadm_says("-E", i, "State : clean\n");
		keep_abandon(bench.keep);
		free(model);
		bench_done();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bitmap),	   cmocka_unit_test(test_neither),
		cmocka_unit_test(test_parity_log), cmocka_unit_test(test_parity_log_degraded),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
