/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layouts against tables drawn from arrays that a kernel filled, and exhaustively against themselves for small arrays. */
#include "unit.h"

#include "raid/raid.h"

#define CHUNK (64 * KIB)

/* --- tables: one word per slot, rows separated by "/"; "3'" is the second copy of chunk 3 --- */

static const struct {
	int32_t level;
	uint32_t layout;
	uint32_t members;
	const char *rows;
} parity_tables[] = {
	{ RAID_5, 0, 4, "0 1 2 P / 3 4 P 5 / 6 P 7 8 / P 9 10 11" },
	{ RAID_5, 1, 4, "P 0 1 2 / 3 P 4 5 / 6 7 P 8 / 9 10 11 P" },
	{ RAID_5, 2, 4, "0 1 2 P / 4 5 P 3 / 8 P 6 7 / P 9 10 11" },
	{ RAID_5, 3, 4, "P 0 1 2 / 5 P 3 4 / 7 8 P 6 / 9 10 11 P" },
	{ RAID_5, 4, 4, "P 0 1 2 / P 3 4 5 / P 6 7 8 / P 9 10 11" },
	{ RAID_5, 5, 4, "0 1 2 P / 3 4 5 P / 6 7 8 P / 9 10 11 P" },
	{ RAID_6, 0, 5, "Q 0 1 2 P / 3 4 5 P Q / 6 7 P Q 8 / 9 P Q 10 11 / P Q 12 13 14" },
	{ RAID_6, 1, 5, "P Q 0 1 2 / 3 P Q 4 5 / 6 7 P Q 8 / 9 10 11 P Q / Q 12 13 14 P" },
	{ RAID_6, 2, 5, "Q 0 1 2 P / 3 4 5 P Q / 7 8 P Q 6 / 11 P Q 9 10 / P Q 12 13 14" },
	{ RAID_6, 3, 5, "P Q 0 1 2 / 5 P Q 3 4 / 7 8 P Q 6 / 9 10 11 P Q / Q 12 13 14 P" },
	{ RAID_6, 4, 5, "P Q 0 1 2 / P Q 3 4 5 / P Q 6 7 8 / P Q 9 10 11 / P Q 12 13 14" },
	{ RAID_6, 5, 5, "0 1 2 P Q / 3 4 5 P Q / 6 7 8 P Q / 9 10 11 P Q / 12 13 14 P Q" },
	{ RAID_6, 8, 5, "P Q 0 1 2 / 3 P Q 4 5 / 6 7 P Q 8 / 9 10 11 P Q / Q 12 13 14 P" },
	{ RAID_6, 9, 5, "0 1 2 P Q / 3 4 P Q 5 / 6 P Q 7 8 / P Q 9 10 11 / Q 12 13 14 P" },
	{ RAID_6, 10, 5, "0 1 2 Q P / 4 5 Q P 3 / 8 Q P 6 7 / Q P 9 10 11 / P 12 13 14 Q" },
	{ RAID_6, 16, 5, "0 1 2 P Q / 3 4 P 5 Q / 6 P 7 8 Q / P 9 10 11 Q / 12 13 14 P Q" },
	{ RAID_6, 17, 5, "P 0 1 2 Q / 3 P 4 5 Q / 6 7 P 8 Q / 9 10 11 P Q / P 12 13 14 Q" },
	{ RAID_6, 18, 5, "0 1 2 P Q / 4 5 P 3 Q / 8 P 6 7 Q / P 9 10 11 Q / 12 13 14 P Q" },
	{ RAID_6, 19, 5, "P 0 1 2 Q / 5 P 3 4 Q / 7 8 P 6 Q / 9 10 11 P Q / P 12 13 14 Q" },
	{ RAID_6, 20, 5, "P 0 1 2 Q / P 3 4 5 Q / P 6 7 8 Q / P 9 10 11 Q / P 12 13 14 Q" },
};

static const struct {
	uint32_t members;
	uint32_t layout;
	uint32_t chunks_per_member;
	uint32_t array_chunks;
	const char *rows;
} raid10_tables[] = {
	{ 3, 0x102, 4, 6, "0 0' 1 / 1' 2 2' / 3 3' 4 / 4' 5 5'" },
	{ 5, 0x102, 4, 10, "0 0' 1 1' 2 / 2' 3 3' 4 4' / 5 5' 6 6' 7 / 7' 8 8' 9 9'" },
	{ 4, 0x103, 4, 5, "0 0' 0'' 1 / 1' 1'' 2 2' / 2'' 3 3' 3''" },
	{ 3, 0x201, 6, 9, "0 1 2 / 3 4 5 / 6 7 8 / 2' 0' 1' / 5' 3' 4' / 8' 6' 7'" },
	{ 4, 0x201, 4, 8, "0 1 2 3 / 4 5 6 7 / 3' 0' 1' 2' / 7' 4' 5' 6'" },
	{ 3, 0x10201, 4, 6, "0 1 2 / 2' 0' 1' / 3 4 5 / 5' 3' 4'" },
	{ 4, 0x10201, 4, 8, "0 1 2 3 / 3' 0' 1' 2' / 4 5 6 7 / 7' 4' 5' 6'" },
	{ 4, 0x40201, 4, 8, "0 1 2 3 / 4 5 6 7 / 1' 0' 3' 2' / 5' 4' 7' 6'" },
	{ 5, 0x40201, 4, 10, "0 1 2 3 4 / 5 6 7 8 9 / 1' 0' 4' 2' 3' / 6' 5' 9' 7' 8'" },
	{ 5, 0x50201, 4, 10, "0 1 2 3 4 / 1' 0' 4' 2' 3' / 5 6 7 8 9 / 6' 5' 9' 7' 8'" },
	{ 4, 0x202, 4, 4, "0 0'' 1 1'' / 2 2'' 3 3'' / 1' 1''' 0' 0''' / 3' 3''' 2' 2'''" },
};

static struct raid_geometry geometry(int32_t level, uint32_t layout, uint32_t members, uint64_t component_chunks)
{
	uint64_t lengths[16];
	struct raid_geometry g;
	struct blkalign_error err = { 0 };

	for (uint32_t i = 0; i < members; i++)
		lengths[i] = component_chunks * CHUNK;
	if (raid_geometry_init(&g, &(struct raid_shape){ level, layout, CHUNK, members, lengths }, &err) < 0)
		fail_msg("level %d layout 0x%x members %u: %s", level, layout, members, err.message);
	return g;
}

static void parity_word(const struct raid_geometry *g, const char *word, uint32_t slot, uint64_t row)
{
	struct raid_stripe s = raid_stripe_at(g, row * CHUNK + 5);
	struct raid_place place;

	assert_int_equal(s.number, row);
	if (!strcmp(word, "P")) {
		assert_int_equal(s.p_slot, slot);
	} else if (!strcmp(word, "Q")) {
		assert_int_equal(s.q_slot, slot);
	} else {
		uint64_t chunk = strtoull(word, NULL, 10);

		assert_int_equal(raid_locate(g, chunk * CHUNK + 100, 0, &place), 0);
		assert_int_equal(place.slot, slot);
		assert_int_equal(place.device_bytes, row * CHUNK + 100);
		assert_int_equal(place.run_bytes, CHUNK - 100);
		assert_int_equal(raid_data_slot(g, &s, (uint32_t)(chunk % raid_data_members(g))), slot);
	}
}

static void raid10_word(const struct raid_geometry *g, const char *word, uint32_t slot, uint64_t row)
{
	char *marks;
	uint64_t chunk = strtoull(word, &marks, 10);
	struct raid_place place;

	assert_int_equal(raid_locate(g, chunk * CHUNK, (uint32_t)strlen(marks), &place), 0);
	assert_int_equal(place.slot, slot);
	assert_int_equal(place.device_bytes, row * CHUNK);
}

static void walk(const struct raid_geometry *g, const char *rows,
		 void (*check)(const struct raid_geometry *g, const char *word, uint32_t slot, uint64_t row))
{
	_cleanup_free_ char *copy = strdup(rows);
	uint32_t slot = 0;
	uint64_t row = 0;

	for (char *save, *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strcmp(word, "/")) {
			assert_int_equal(slot, g->members);
			slot = 0;
			row++;
		} else {
			check(g, word, slot++, row);
		}
	}
}

static void test_parity_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parity_tables); i++) {
		_cleanup_raid_geometry_ struct raid_geometry g =
			geometry(parity_tables[i].level, parity_tables[i].layout, parity_tables[i].members, 8);

		walk(&g, parity_tables[i].rows, parity_word);
	}
}

static void test_raid10_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(raid10_tables); i++) {
		_cleanup_raid_geometry_ struct raid_geometry g =
			geometry(RAID_10, raid10_tables[i].layout, raid10_tables[i].members, raid10_tables[i].chunks_per_member);

		assert_int_equal(raid_array_bytes(&g), raid10_tables[i].array_chunks * CHUNK);
		walk(&g, raid10_tables[i].rows, raid10_word);
	}
}

/* --- exhaustive: every copy of every chunk has a place of its own, inside the used length --- */

static void distinct(const struct raid_geometry *g, uint64_t rows)
{
	_cleanup_free_ bool *taken = calloc(rows * g->members, sizeof(*taken));

	for (uint64_t at = 0; at < raid_array_bytes(g); at += CHUNK)
		for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
			struct raid_place p;

			assert_int_equal(raid_locate(g, at, copy, &p), 0);
			assert_true(p.slot < g->members);
			assert_int_equal(p.device_bytes % CHUNK, 0);
			assert_true(p.device_bytes + CHUNK <= g->used_bytes);
			if (taken[p.device_bytes / CHUNK * g->members + p.slot])
				fail_msg("level %d layout 0x%x members %u: byte %lu copy %u collides", g->level, g->layout, g->members, at,
					 copy);
			taken[p.device_bytes / CHUNK * g->members + p.slot] = true;
		}
}

static void parity_is_apart(const struct raid_geometry *g, uint64_t rows)
{
	for (uint64_t row = 0; row < rows; row++) {
		struct raid_stripe s = raid_stripe_at(g, row * CHUNK);

		assert_true(s.p_slot < g->members && s.p_slot != s.q_slot);
		assert_int_equal(s.q_slot != RAID_SLOT_NONE, g->level == RAID_6);
		for (uint32_t i = 0; i < raid_data_members(g); i++) {
			uint32_t slot = raid_data_slot(g, &s, i);

			assert_true(slot < g->members && slot != s.p_slot && slot != s.q_slot);
		}
	}
}

static void test_parity_exhaustive(void **state)
{
	static const uint32_t raid6[] = { 0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 18, 19, 20 };

	(void)state;
	for (uint32_t n = 2; n <= 9; n++)
		for (uint32_t layout = 0; layout <= 5; layout++) {
			_cleanup_raid_geometry_ struct raid_geometry g = geometry(layout ? RAID_5 : RAID_4, layout, n, 20);

			distinct(&g, 20);
			parity_is_apart(&g, 20);
		}
	for (uint32_t n = 4; n <= 9; n++)
		for (size_t i = 0; i < ARRAY_SIZE(raid6); i++) {
			_cleanup_raid_geometry_ struct raid_geometry g = geometry(RAID_6, raid6[i], n, 20);

			distinct(&g, 20);
			parity_is_apart(&g, 20);
		}
}

/* Three families overlap themselves in the kernel as well: see README.md. */
static bool overlaps_itself(uint32_t n, uint32_t near, uint32_t far, bool offset, uint32_t sets)
{
	if (near == 1 || far == 1)
		return false;
	return (offset && n % near) || (sets == 1 && n % far) || (sets == 2 && near == 2 && far == 2 && n == 9);
}

static void test_raid10_exhaustive(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (uint32_t n = 2; n <= 9; n++)
		for (uint32_t near = 1; near <= n; near++)
			for (uint32_t far = near == 1 ? 2 : 1; near * far <= n; far++)
				for (uint32_t flags = 0; flags < 6; flags++) {
					uint32_t layout = near | far << 8 | flags << 16;

					if (overlaps_itself(n, near, far, flags & 1, flags >> 1))
						continue;
					for (uint64_t chunks = 12; chunks < 15; chunks++) {
						_cleanup_raid_geometry_ struct raid_geometry g = geometry(RAID_10, layout, n, chunks);

						distinct(&g, chunks);
						tried++;
					}
				}
	assert_true(tried > 500);
}

/* --- raid0 and linear --- */

/* Where a chunk lies by the zone rule, worked out the slow way: deal chunks to the members that still have room, row by row. */
static void deal(const uint64_t *rows_of, uint32_t n, bool original, uint32_t *ret_slot, uint64_t *ret_row, size_t *ret_count)
{
	uint64_t chunk = 0, zone_start = 0;
	uint32_t before = n;

	*ret_count = 0;
	for (uint64_t row = 0;; row++) {
		uint32_t live[16], m = 0, shift = 0;

		for (uint32_t k = 0; k < n; k++)
			if (rows_of[k] > row)
				live[m++] = k;
		if (!m)
			return;
		if (m != before)
			zone_start = chunk;
		before = m;
		if (original)
			shift = (uint32_t)(zone_start % m);
		for (uint32_t i = 0; i < m; i++, chunk++) {
			ret_slot[chunk] = live[(i + shift) % m];
			ret_row[chunk] = row;
			(*ret_count)++;
		}
	}
}

static void raid0_case(const uint64_t *rows_of, uint32_t n, uint32_t layout)
{
	uint64_t lengths[16], row[256];
	uint32_t slot[256], other[256];
	size_t count;
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	struct raid_place p;

	for (uint32_t k = 0; k < n; k++)
		lengths[k] = rows_of[k] * CHUNK + k * 512; /* the rest of a chunk is not used */
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_0, layout, CHUNK, n, lengths }, NULL), 0);
	deal(rows_of, n, layout == RAID0_ALTERNATE, other, row, &count);
	deal(rows_of, n, layout != RAID0_ALTERNATE, slot, row, &count);
	assert_int_equal(raid_array_bytes(&g), count * CHUNK);
	for (size_t q = 0; q < count; q++) {
		bool told = layout != RAID0_UNRECORDED || slot[q] == other[q];

		assert_int_equal(raid_locate(&g, q * CHUNK + 7, 0, &p), told ? 0 : -ENODATA);
		if (!told)
			continue;
		assert_int_equal(p.slot, slot[q]);
		assert_int_equal(p.device_bytes, row[q] * CHUNK + 7);
		assert_int_equal(p.run_bytes, CHUNK - 7);
	}
	assert_int_equal(raid_locate(&g, count * CHUNK, 0, &p), -ERANGE);
}

static void test_raid0_zones(void **state)
{
	static const uint64_t shapes[][4] = {
		{ 7, 4, 5, 9 }, { 3, 3, 3, 3 }, { 1, 2, 3, 4 }, { 5, 5, 8, 8 }, { 2, 9, 9, 9 }, { 4, 6, 6, 1 }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (uint32_t n = 1; n <= 4; n++)
			for (uint32_t layout = RAID0_UNRECORDED; layout <= RAID0_ALTERNATE; layout++)
				raid0_case(shapes[i], n, layout);
}

/* 3 members of 14336 sectors with 96 KiB chunks: 42240 sectors on a kernel, not 42624. */
static void test_raid0_odd_chunk(void **state)
{
	const uint64_t lengths[3] = { 14336 * 512, 14336 * 512, 14336 * 512 };
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };

	(void)state;
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_0, 1, 96 * KIB, 3, lengths }, NULL), 0);
	assert_int_equal(raid_array_bytes(&g), 42240 * 512);
}

static void test_linear(void **state)
{
	const uint64_t lengths[3] = { 1000, 2000, 3000 };
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 }, rounded = { 0 };
	struct raid_place p;

	(void)state;
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_LINEAR, 0, 0, 3, lengths }, NULL), 0);
	assert_int_equal(raid_array_bytes(&g), 6000);
	assert_int_equal(raid_locate(&g, 2999, 0, &p), 0);
	assert_int_equal(p.slot, 1);
	assert_int_equal(p.device_bytes, 1999);
	assert_int_equal(p.run_bytes, 1);
	assert_int_equal(raid_geometry_init(&rounded, &(struct raid_shape){ RAID_LINEAR, 0, 512, 3, lengths }, NULL), 0);
	assert_int_equal(raid_array_bytes(&rounded), 512 + 1536 + 2560);
}

/* --- refusals and names --- */

static void test_refusals(void **state)
{
	static const struct {
		int32_t level;
		uint32_t layout;
		uint64_t chunk;
		uint32_t members;
		const char *message;
	} bad[] = {
		{ RAID_5, 6, CHUNK, 4, "layout" },
		{ RAID_6, 7, CHUNK, 5, "layout" },
		{ RAID_6, 21, CHUNK, 5, "layout" },
		{ RAID_5, 2, 0, 4, "chunk" },
		{ RAID_5, 2, 1024, 4, "chunk" },
		{ RAID_5, 2, 3 * CHUNK, 4, "chunk" },
		{ RAID_5, 2, 2 * GIB, 4, "chunk" },
		{ RAID_0, 1, 0, 4, "chunk" },
		{ RAID_0, 1, 700, 4, "chunk" },
		{ RAID_0, 3, CHUNK, 4, "layout" },
		{ RAID_5, 2, CHUNK, 1, "members" },
		{ RAID_6, 2, CHUNK, 3, "members" },
		{ RAID_1, 0, 0, 0, "members" },
		{ RAID_1, 0, 0, 1921, "members" },
		{ 77, 0, CHUNK, 4, "level" },
		{ -4, 0, CHUNK, 4, "level" },
		{ RAID_10, 0x101, CHUNK, 4, "copies" },
		{ RAID_10, 0x305, CHUNK, 4, "copies" },
		{ RAID_10, 0x80102, CHUNK, 4, "unknown" },
		{ RAID_10, 0, CHUNK, 4, "copies" },
		{ RAID_10, 0x102, 3 * CHUNK, 4, "chunk" },
	};
	_cleanup_free_ uint64_t *lengths = calloc(1921, sizeof(*lengths));
	struct raid_geometry g;

	(void)state;
	for (size_t k = 0; k < 1921; k++)
		lengths[k] = 10 * CHUNK;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct blkalign_error err = { 0 };
		struct raid_shape s = { bad[i].level, bad[i].layout, bad[i].chunk, bad[i].members, lengths };

		assert_int_equal(raid_geometry_init(&g, &s, &err), -EINVAL);
		if (!strstr(err.message, bad[i].message))
			fail_msg("case %zu says: %s", i, err.message);
	}
	for (size_t k = 0; k < 1920; k++)
		lengths[k] = UINT64_MAX - 511;
	for (int32_t level = -1; level <= 10; level++)
		if (raid_level_name(level) && level != RAID_1) {
			struct raid_shape s = { level, level == RAID_10 ? 0x102 : 1, CHUNK, 1920, lengths };

			assert_int_equal(raid_geometry_init(&g, &s, NULL), -EINVAL);
		}
	lengths[0] = CHUNK - 1;
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_5, 2, CHUNK, 3, lengths }, NULL), -EINVAL);
}

static void test_names(void **state)
{
	static const struct {
		int32_t level;
		uint32_t layout;
		const char *name;
	} names[] = {
		{ RAID_5, 2, "left-symmetric" },
		{ RAID_6, 18, "left-symmetric-6" },
		{ RAID_6, 10, "ddf-N-continue" },
		{ RAID_10, 0x102, "near=2" },
		{ RAID_10, 0x201, "far=2" },
		{ RAID_10, 0x10201, "offset=2" },
		{ RAID_10, 0x202, "near=2, far=2" },
		{ RAID_10, 0x10202, "near=2, offset=2" },
		{ RAID_10, 0x40201, "far=2, sets=2" },
		{ RAID_0, 1, "original" },
		{ RAID_0, 2, "alternate" },
		{ RAID_0, 0, "unrecorded" },
		{ RAID_0, 9, "unknown" },
		{ RAID_5, 99, "unknown" },
		{ RAID_4, 5, "" },
		{ RAID_1, 0, "" },
		{ RAID_LINEAR, 0, "" },
	};
	char name[48];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		raid_layout_name(names[i].level, names[i].layout, name);
		assert_string_equal(name, names[i].name);
	}
}

static void test_raid1_and_counts(void **state)
{
	_cleanup_raid_geometry_ struct raid_geometry g = geometry(RAID_1, 0, 3, 10), f2 = geometry(RAID_10, 0x201, 5, 10),
						     n2 = geometry(RAID_10, 0x102, 4, 10), r6 = geometry(RAID_6, 2, 9, 10);
	struct raid_place p;

	(void)state;
	assert_int_equal(raid_copies(&g), 3);
	assert_int_equal(raid_locate(&g, 1000, 2, &p), 0);
	assert_int_equal(p.slot, 2);
	assert_int_equal(p.device_bytes, 1000);
	assert_int_equal(p.run_bytes, 10 * CHUNK - 1000);
	assert_int_equal(raid_locate(&g, 1000, 3, &p), -ERANGE);
	assert_int_equal(raid_data_members(&g), 1);
	assert_int_equal(raid_data_members(&f2), 5);
	assert_int_equal(raid_data_members(&n2), 2);
	assert_int_equal(raid_data_members(&r6), 7);
	assert_int_equal(raid_redundancy(&r6), 2);
	assert_int_equal(raid_redundancy(&g), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parity_tables),
		cmocka_unit_test(test_raid10_tables),
		cmocka_unit_test(test_parity_exhaustive),
		cmocka_unit_test(test_raid10_exhaustive),
		cmocka_unit_test(test_raid0_zones),
		cmocka_unit_test(test_raid0_odd_chunk),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_raid1_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
