/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is wrong in a row: every single culprit is found, nobody is blamed for what two did, and mirrors and raid5 never say. */
#include "scratch.h"
#include "raid/rows.h"

#include <unistd.h>

#include "raid/field.h"

#define ROW 256U

/* Change `count` bytes of a block, at places of a window of `window` bytes. Every one really changes. */
static void corrupt(uint8_t *block, size_t start, size_t window, uint32_t count)
{
	bool taken[ROW] = { false };

	while (count) {
		size_t i = rows_below((uint32_t)window);

		if (taken[i])
			continue;
		taken[i] = true;
		block[start + i] ^= (uint8_t)(1 + rows_below(255));
		count--;
	}
}

static struct raid_judgement judge(const struct rows_row *r)
{
	struct raid_judgement j;

	raid_judge(&r->row, &j);
	assert_int_equal(raid_consistent(&r->row), j.verdict == RAID_CONSISTENT);
	return j;
}

/* A repair by the verdict must bring back the truth. */
static bool repairs(const struct rows_row *r, const struct raid_judgement *j, const uint8_t *truth)
{
	assert_int_equal(raid_recover(&r->row, &j->slot, 1), 0);
	return !memcmp(truth, r->memory, r->row.geometry->members * r->stride);
}

static void restore(const struct rows_row *r, const uint8_t *truth) { memcpy(r->memory, truth, r->row.geometry->members * r->stride); }

static void for_some_rows(unsigned rounds, void (*run)(struct rows_row *r, const uint8_t *truth, unsigned round))
{
	for (unsigned i = 0; i < rounds; i++) {
		uint32_t layout = raid6_layouts[rows_below(ARRAY_SIZE(raid6_layouts))], n = 4 + rows_below(i % 16 ? 9 : 60);
		_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_6, layout, n);
		struct rows_row r;
		_cleanup_free_ uint8_t *truth = NULL;

		rows_new(&r, &g, rows_below(2 * n), ROW, i % 4 ? 0 : 63);
		raid_generate(&r.row);
		truth = rows_keep(&r);
		assert_int_equal(judge(&r).verdict, RAID_CONSISTENT);
		run(&r, truth, i);
		rows_done(&r);
	}
}

/* --- one member --- */

static void one_wrong(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	for (unsigned i = 0; i < 100; i++) {
		uint32_t slot = rows_below(r->row.geometry->members),
			 count = RAID_BLAME_BYTES + rows_below(i % 2 ? 4 : ROW - RAID_BLAME_BYTES);
		struct raid_judgement j;

		corrupt(r->blocks[slot], 0, ROW, count);
		j = judge(r);
		assert_int_equal(j.verdict, RAID_ONE_WRONG);
		assert_int_equal(j.slot, slot);
		assert_int_equal(j.differing_bytes, count);
		assert_true(repairs(r, &j, truth));
	}
	(void)round;
}

static void test_one_wrong(void **state)
{
	(void)state;
	for_some_rows(1000, one_wrong);
}

static void too_little(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	uint32_t slot = rows_below(r->row.geometry->members), count = 1 + rows_below(RAID_BLAME_BYTES - 1);
	struct raid_judgement j;

	corrupt(r->blocks[slot], round % 2 ? ROW - 8 : 0, 8, count);
	j = judge(r);
	assert_int_equal(j.verdict, RAID_CANNOT_SAY);
	assert_int_equal(j.slot, RAID_SLOT_NONE);
	assert_int_equal(j.differing_bytes, count);
	(void)truth;
}

static void test_too_little(void **state)
{
	(void)state;
	for_some_rows(1000, too_little);
}

/* --- two members --- */

static unsigned long pairs_tried, blamed_wrongly;

static void two_wrong(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	uint32_t n = r->row.geometry->members;

	for (unsigned i = 0; i < 250; i++) {
		uint32_t a = rows_below(n), b = (a + 1 + rows_below(n - 1)) % n, most = i % 3 ? 8 : 64;
		size_t window = i % 2 ? most : ROW;
		uint32_t count = RAID_BLAME_BYTES + rows_below(most - RAID_BLAME_BYTES + 1);
		struct raid_judgement j;

		corrupt(r->blocks[a], 0, window, count); /* in a narrow window all bytes of both meet */
		corrupt(r->blocks[b], 0, window, i % 5 ? count : 1 + rows_below(count));
		j = judge(r);
		assert_int_not_equal(j.verdict, RAID_CONSISTENT);
		if (j.verdict == RAID_ONE_WRONG)
			blamed_wrongly += !repairs(r, &j, truth);
		pairs_tried++;
		restore(r, truth);
	}
	(void)round;
}

static void test_two_wrong(void **state)
{
	const char *rounds = getenv("BLKALIGN_JUDGE_ROUNDS");

	(void)state;
	for_some_rows(rounds ? (unsigned)atoi(rounds) : 4000, two_wrong);
	if (blamed_wrongly)
		fail_msg("%lu of %lu", blamed_wrongly, pairs_tried);
}

/* Members in each other's place look like one wrong member; like none, where they hold the same. */
static void exchanged(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	uint32_t n = r->row.geometry->members;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++) {
			uint8_t *block = r->blocks[a];

			r->blocks[a] = r->blocks[b];
			r->blocks[b] = block;
			if (judge(r).verdict != RAID_CANNOT_SAY)
				fail_msg("slots %u and %u of %u, layout %u", a, b, n, r->row.geometry->layout);
			r->blocks[b] = r->blocks[a];
			r->blocks[a] = block;
		}
	(void)truth;
	(void)round;
}

static void test_exchanged(void **state)
{
	(void)state;
	for_some_rows(300, exchanged);
}

/* A power of g that no data slot has: P or Q of a DDF row, or beyond the last data slot. */
static void nobodys_power(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	const struct raid_geometry *g = r->row.geometry;
	bool used[FIELD_POWERS] = { false };

	for (uint32_t slot = 0; slot < g->members; slot++)
		if (raid_role_at(&r->row.stripe, slot) == RAID_ROLE_DATA)
			used[raid_exponent(g, &r->row.stripe, slot)] = true;
	for (uint32_t e = 0; e < FIELD_POWERS; e++) {
		if (used[e])
			continue;
		for (size_t i = 0; i < 40; i++) {
			uint8_t d = (uint8_t)(1 + rows_below(255));

			r->blocks[r->row.stripe.p_slot][i] ^= d;
			r->blocks[r->row.stripe.q_slot][i] ^= field_times(d, field_power(e));
		}
		assert_int_equal(judge(r).verdict, RAID_CANNOT_SAY);
		restore(r, truth);
	}
	(void)round;
}

static void test_nobodys_power(void **state)
{
	(void)state;
	for_some_rows(50, nobodys_power);
}

/* One byte of another member among many of one: they no longer agree. */
static void one_byte_disagrees(struct rows_row *r, const uint8_t *truth, unsigned round)
{
	uint32_t n = r->row.geometry->members, a = rows_below(n), b = (a + 1) % n;

	corrupt(r->blocks[a], 0, ROW - 8, 100);
	corrupt(r->blocks[b], ROW - 8, 8, 1);
	assert_int_equal(judge(r).verdict, RAID_CANNOT_SAY);
	assert_int_equal(judge(r).differing_bytes, 101);
	(void)truth;
	(void)round;
}

static void test_one_byte_disagrees(void **state)
{
	(void)state;
	for_some_rows(300, one_byte_disagrees);
}

/* --- levels that cannot say, and long rows --- */

static void test_one_parity(void **state)
{
	(void)state;
	for (uint32_t layout = 0; layout <= 6; layout++)
		for (uint32_t n = 2; n <= 9; n++) {
			_cleanup_raid_geometry_ struct raid_geometry g =
				rows_geometry(layout == 6 ? RAID_4 : RAID_5, layout == 6 ? 0 : layout, n);
			struct rows_row r;
			struct raid_judgement j;

			rows_new(&r, &g, layout, 5000, n % 2 ? 63 : 0);
			raid_generate(&r.row);
			assert_int_equal(judge(&r).verdict, RAID_CONSISTENT);
			corrupt(r.blocks[n - 1], 4800, 100, 9);
			j = judge(&r);
			assert_int_equal(j.verdict, RAID_CANNOT_SAY);
			assert_int_equal(j.differing_bytes, 9);
			rows_done(&r);
		}
}

/* A single wrong bit anywhere in a long row is seen. */
static void test_consistent(void **state)
{
	(void)state;
	for (uint32_t misalign = 0; misalign < 64; misalign += 63)
		for (unsigned i = 0; i < 400; i++) {
			_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(i % 4 ? RAID_6 : RAID_5, 2, 4 + i % 5);
			struct rows_row r;
			uint32_t slot = rows_below(g.members), at;

			rows_new(&r, &g, i, i % 3 ? 65536 - 32 * (i % 7) : 20001, misalign);
			raid_generate(&r.row);
			assert_true(raid_consistent(&r.row));
			at = i % 2 ? rows_below((uint32_t)r.row.length_bytes) : (uint32_t)r.row.length_bytes - 1;
			r.blocks[slot][at] ^= (uint8_t)(1U << (i & 7));
			assert_false(raid_consistent(&r.row));
			rows_done(&r);
		}
}

/* --- arrays that a kernel filled, with members changed behind its back --- */

struct spoilt {
	uint32_t member;
	uint64_t device_bytes;
	uint64_t length_bytes;
};

static uint8_t *read_whole(const char *path, size_t length)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = aligned_alloc(64, length);

	assert_true(f && data);
	assert_int_equal(fread(data, 1, length, f), length);
	fclose(f);
	return data;
}

/* Rows of 4 KiB: those with one spoilt member are blamed on it and repair to what all members agree on, the others are fine or cannot say. */
static void golden_row(const struct raid_geometry *g, uint8_t *const *members, uint64_t at, const struct spoilt *spoilt,
		       size_t spoilt_count)
{
	uint8_t *blocks[5];
	struct raid_row row = { g, raid_stripe_at(g, at), blocks, 4096 };
	struct raid_judgement j;
	uint32_t wrong = 0, who = 0;

	for (uint32_t slot = 0; slot < 5; slot++)
		blocks[slot] = members[slot] + at;
	for (size_t i = 0; i < spoilt_count; i++)
		if (spoilt[i].device_bytes < at + 4096 && at < spoilt[i].device_bytes + spoilt[i].length_bytes) {
			wrong++;
			who = spoilt[i].member;
		}
	raid_judge(&row, &j);
	assert_int_equal(j.verdict, wrong == 0 ? RAID_CONSISTENT : wrong == 1 ? RAID_ONE_WRONG : RAID_CANNOT_SAY);
	if (wrong != 1)
		return;
	assert_int_equal(j.slot, who);
	for (size_t i = 0; i < spoilt_count; i++)
		for (uint64_t b = spoilt[i].device_bytes; b < spoilt[i].device_bytes + spoilt[i].length_bytes; b++)
			if (b >= at && b < at + 4096)
				members[spoilt[i].member][b] ^= 0x5a;
	assert_true(raid_consistent(&row));
}

static void golden_case(const char *name, uint32_t layout, const struct spoilt *spoilt, size_t spoilt_count)
{
	const uint64_t used = 7 * MIB, lengths[5] = { used, used, used, used, used };
	char archive[64], folder[64], unpacked[128], path[192];
	uint8_t *members[5], *images[5];
	struct raid_geometry g;

	snprintf(archive, sizeof(archive), "md/%s", name);
	scratch_unpack(archive, folder, unpacked);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t data_offset;

		snprintf(path, sizeof(path), "%s/m%u.img", unpacked, i);
		images[i] = read_whole(path, 8 * MIB);
		data_offset = load_le64(images[i] + 4096 + 128) * 512;
		assert_true(data_offset + used <= 8 * MIB && load_le32(images[i] + 4096 + 76) == layout);
		members[load_le16(images[i] + 4096 + 256 + 2 * load_le32(images[i] + 4096 + 160))] = images[i] + data_offset;
	}
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_6, layout, 64 * KIB, 5, lengths }, NULL), 0);
	for (uint64_t at = 0; at < used; at += 4096)
		golden_row(&g, members, at, spoilt, spoilt_count);
	raid_geometry_done(&g);
	for (uint32_t i = 0; i < 5; i++)
		free(images[i]);
	scratch_remove(folder);
}

static void test_golden(void **state)
{
	static const struct spoilt spoilt[] = {
		{ 0, 131072, 512 }, { 4, 0, 4096 }, { 0, 65536, 4096 }, { 2, 1048576, 65536 }, { 1, 2097152, 512 }, { 3, 2097152, 512 },
	};

	(void)state;
	golden_case("raid6-mismatch", 2, spoilt, 6);
	golden_case("raid6-mismatch-ddf", 10, spoilt, 4);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_one_wrong),  cmocka_unit_test(test_too_little),	 cmocka_unit_test(test_two_wrong),
		cmocka_unit_test(test_exchanged),  cmocka_unit_test(test_nobodys_power), cmocka_unit_test(test_one_byte_disagrees),
		cmocka_unit_test(test_one_parity), cmocka_unit_test(test_consistent),	 cmocka_unit_test(test_golden),
	};
	const struct CMUnitTest many[] = { cmocka_unit_test(test_two_wrong) };

	if (getenv("BLKALIGN_JUDGE_ROUNDS"))
		return cmocka_run_group_tests(many, NULL, NULL);
	return cmocka_run_group_tests(all, NULL, NULL);
}
