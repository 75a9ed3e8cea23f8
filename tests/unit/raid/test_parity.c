/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parity made, carried along and used to recover, against the bitwise reference. */
#include "raid/rows.h"

#include "raid/field.h"
#include "raid/sums.h"

/* --- the field --- */

static void test_products(void **state)
{
	uint8_t all[256], product[256];
	uint8_t *to = product;

	(void)state;
	for (unsigned i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	for (unsigned a = 0; a < 256; a++) {
		uint8_t weight = (uint8_t)a;

		memset(product, 0, sizeof(product));
		sums_add(all, &weight, &to, 1, sizeof(all));
		for (unsigned b = 0; b < 256; b++) {
			uint8_t truth = reference_times((uint8_t)a, (uint8_t)b);

			assert_int_equal(field_times((uint8_t)a, (uint8_t)b), truth);
			assert_int_equal(product[b], truth);
		}
	}
	for (unsigned a = 1; a < 256; a++) {
		assert_int_equal(reference_times((uint8_t)a, field_inverse((uint8_t)a)), 1);
		assert_int_equal(reference_power(field_log((uint8_t)a)), a);
	}
	for (uint32_t e = 0; e < 1000; e++)
		assert_int_equal(field_power(e), reference_power(e));
}

/* Data slots of 5-member stripes with their powers, as a kernel wrote them. */
static void test_exponents(void **state)
{
	static const struct {
		uint32_t layout;
		uint32_t stripe;
		int exponents[5]; /* -1: P or Q */
	} rows[] = {
		{ 0, 0, { -1, 0, 1, 2, -1 } },	{ 0, 2, { 1, 2, -1, -1, 0 } },	{ 0, 4, { -1, -1, 0, 1, 2 } },
		{ 1, 1, { 2, -1, -1, 0, 1 } },	{ 2, 3, { 2, -1, -1, 0, 1 } },	{ 4, 2, { -1, -1, 0, 1, 2 } },
		{ 5, 3, { 0, 1, 2, -1, -1 } },	{ 8, 0, { -1, -1, 2, 3, 4 } },	{ 8, 4, { -1, 1, 2, 3, -1 } },
		{ 9, 2, { 0, -1, -1, 3, 4 } },	{ 9, 4, { -1, 1, 2, 3, -1 } },	{ 10, 0, { 0, 1, 2, -1, -1 } },
		{ 10, 2, { 0, -1, -1, 3, 4 } }, { 16, 1, { 0, 1, -1, 2, -1 } }, { 18, 1, { 0, 1, -1, 2, -1 } },
		{ 20, 1, { -1, 0, 1, 2, -1 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_6, rows[i].layout, 5);
		struct raid_stripe s = raid_stripe_at(&g, rows[i].stripe * ROWS_CHUNK);

		for (uint32_t slot = 0; slot < 5; slot++) {
			assert_int_equal(raid_role_at(&s, slot) == RAID_ROLE_DATA, rows[i].exponents[slot] >= 0);
			if (rows[i].exponents[slot] >= 0)
				assert_int_equal(raid_exponent(&g, &s, slot), rows[i].exponents[slot]);
		}
	}
}

/* --- every layout, every loss --- */

static void for_every_layout(uint32_t most, void (*run)(const struct raid_geometry *g))
{
	for (uint32_t n = 2; n <= most; n++) {
		_cleanup_raid_geometry_ struct raid_geometry raid4 = rows_geometry(RAID_4, 0, n);

		run(&raid4);
		for (uint32_t layout = 0; layout <= 5; layout++) {
			_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_5, layout, n);

			run(&g);
		}
		for (size_t i = 0; n >= 4 && i < ARRAY_SIZE(raid6_layouts); i++) {
			_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_6, raid6_layouts[i], n);

			run(&g);
		}
	}
}

static void exponents_agree(const struct raid_geometry *g)
{
	for (uint32_t stripe = 0; stripe <= g->members; stripe++) {
		struct raid_stripe s = raid_stripe_at(g, stripe * ROWS_CHUNK);

		for (uint32_t slot = 0; slot < g->members; slot++)
			if (raid_role_at(&s, slot) == RAID_ROLE_DATA)
				assert_int_equal(raid_exponent(g, &s, slot), reference_exponent(g, &s, slot));
	}
}

static void generated(struct rows_row *r, const uint8_t *truth, bool no_p, bool no_q)
{
	const struct raid_stripe *s = &r->row.stripe;
	uint8_t *p = r->blocks[s->p_slot], *q = s->q_slot == RAID_SLOT_NONE ? NULL : r->blocks[s->q_slot];

	if (!no_p)
		rows_fill(p, r->row.length_bytes);
	else
		r->blocks[s->p_slot] = NULL;
	if (q && !no_q)
		rows_fill(q, r->row.length_bytes);
	else if (q)
		r->blocks[s->q_slot] = NULL;
	raid_generate(&r->row);
	r->blocks[s->p_slot] = p;
	if (q)
		r->blocks[s->q_slot] = q;
	rows_expect(r, truth, "generate");
}

static void generate_agrees(const struct raid_geometry *g)
{
	for (uint32_t i = 0; i < 6; i++) {
		struct rows_row r;
		_cleanup_free_ uint8_t *truth = NULL;

		rows_new(&r, g, rows_below(2 * g->members), i < 3 ? 1 + rows_below(300) : 32 * rows_below(9), i % 2 ? 63 : 0);
		reference_generate(&r.row);
		truth = rows_keep(&r);
		for (unsigned without = 0; without < 4; without++)
			generated(&r, truth, without & 1, without & 2);
		rows_done(&r);
	}
}

static void test_generate(void **state)
{
	(void)state;
	for_every_layout(16, exponents_agree);
	for_every_layout(16, generate_agrees);
}

/* The lost blocks are overwritten; those that are wanted must come back, and nothing else may change. */
static void recovered(struct rows_row *r, const uint8_t *truth, const uint32_t *lost, uint32_t count, unsigned unwanted)
{
	uint8_t *blocks[2];

	for (uint32_t i = 0; i < count; i++) {
		blocks[i] = r->blocks[lost[i]];
		if (unwanted >> i & 1)
			r->blocks[lost[i]] = NULL;
		else
			memset(blocks[i], 0xee, r->row.length_bytes);
	}
	assert_int_equal(raid_recover(&r->row, lost, count), 0);
	for (uint32_t i = 0; i < count; i++)
		r->blocks[lost[i]] = blocks[i];
	rows_expect(r, truth, "recover");
}

static void recover_every_loss(const struct raid_geometry *g)
{
	for (uint32_t stripe = 0; stripe <= g->members; stripe++) {
		struct rows_row r;
		_cleanup_free_ uint8_t *truth = NULL;

		rows_new(&r, g, stripe, stripe % 3 ? 1 + rows_below(200) : 128, stripe % 2 ? 63 : 0);
		reference_generate(&r.row);
		truth = rows_keep(&r);
		for (uint32_t a = 0; a < g->members; a++) {
			recovered(&r, truth, (uint32_t[]){ a }, 1, stripe % 2);
			for (uint32_t b = a + 1; g->level == RAID_6 && b < g->members; b++)
				recovered(&r, truth, (uint32_t[]){ a, b }, 2, rows_below(4));
		}
		rows_done(&r);
	}
}

static void test_recover(void **state)
{
	(void)state;
	for_every_layout(16, recover_every_loss);
	for (uint32_t n = 17; n <= 32; n++) {
		_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_6, 2, n);

		recover_every_loss(&g);
	}
}

static void sample(int32_t level, uint32_t layout, uint32_t n, unsigned losses)
{
	_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(level, layout, n);
	struct rows_row r;
	_cleanup_free_ uint8_t *truth = NULL;

	exponents_agree(&g);
	generate_agrees(&g);
	rows_new(&r, &g, rows_below(n), 100, losses % 2 ? 63 : 0);
	reference_generate(&r.row);
	truth = rows_keep(&r);
	for (unsigned i = 0; i < losses; i++) {
		uint32_t a = rows_below(n - 1), b = a + 1 + rows_below(n - 1 - a);

		recovered(&r, truth, (uint32_t[]){ a, b }, level == RAID_6 ? 2 : 1, 0);
	}
	rows_done(&r);
}

static void test_wide(void **state)
{
	struct raid_geometry g;
	uint64_t lengths[260];
	struct blkalign_error err = { 0 };

	(void)state;
	sample(RAID_6, 2, 257, 3001);
	sample(RAID_6, 0, 257, 100);
	sample(RAID_6, 16, 257, 101);
	sample(RAID_6, 8, 255, 300);
	sample(RAID_6, 10, 255, 301);
	sample(RAID_5, 2, RAID_MEMBERS_MAX, 20);
	sample(RAID_5, 0, RAID_MEMBERS_MAX, 21);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		lengths[i] = MIB;
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_6, 2, ROWS_CHUNK, 258, lengths }, &err), -EINVAL);
	assert_non_null(strstr(err.message, "258"));
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_6, 9, ROWS_CHUNK, 256, lengths }, &err), -EINVAL);
}

static void test_too_many_lost(void **state)
{
	_cleanup_raid_geometry_ struct raid_geometry g4 = rows_geometry(RAID_4, 0, 5), g5 = rows_geometry(RAID_5, 2, 5),
						     g6 = rows_geometry(RAID_6, 2, 5);
	const struct raid_geometry *all[] = { &g4, &g5, &g6 };
	const uint32_t lost[] = { 0, 1, 3 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct rows_row r;
		_cleanup_free_ uint8_t *truth = NULL;

		rows_new(&r, all[i], 3, 77, 0);
		truth = rows_keep(&r);
		assert_int_equal(raid_recover(&r.row, lost, raid_redundancy(all[i]) + 1), -EIO);
		assert_int_equal(raid_recover(&r.row, lost, 0), 0);
		rows_expect(&r, truth, "refused");
		rows_done(&r);
	}
}

/* Pieces that cross what is computed at once, in lengths that a chunk may have. */
static void test_long_rows(void **state)
{
	static const size_t lengths[] = { 16384, 65536, 4096, 16384 + 32, 40000, 65536 - 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		for (unsigned layout = 2; layout <= 10; layout += 8)
			for (uint32_t misalign = 0; misalign < 64; misalign += 63) {
				_cleanup_raid_geometry_ struct raid_geometry g = rows_geometry(RAID_6, layout, 9);
				struct rows_row r;
				_cleanup_free_ uint8_t *truth = NULL;

				rows_new(&r, &g, i, lengths[i], misalign);
				reference_generate(&r.row);
				truth = rows_keep(&r);
				generated(&r, truth, false, false);
				recovered(&r, truth, (uint32_t[]){ 1, 7 }, 2, 0);
				rows_done(&r);
			}
}

/* --- small changes --- */

static void update_agrees(const struct raid_geometry *g)
{
	for (unsigned i = 0; i < 8; i++) {
		struct rows_row r;
		_cleanup_free_ uint8_t *truth = NULL, *old = NULL;
		size_t length = i < 6 ? 1 + rows_below(200) : 4096 + 64 * rows_below(80);
		uint32_t slot = rows_below(g->members);
		uint8_t *q;

		rows_new(&r, g, rows_below(g->members), length, i % 2 ? 63 : 0);
		while (raid_role_at(&r.row.stripe, slot) != RAID_ROLE_DATA)
			slot = (slot + 1) % g->members;
		q = g->level == RAID_6 ? r.blocks[r.row.stripe.q_slot] : NULL;
		reference_generate(&r.row);
		old = malloc(length);
		memcpy(old, r.blocks[slot], length);
		rows_fill(r.blocks[slot], length);
		if (i % 4 == 2) { /* in two calls, each for one */
			raid_update(g, &r.row.stripe, slot, old, r.blocks[slot], NULL, q, length);
			raid_update(g, &r.row.stripe, slot, old, r.blocks[slot], r.blocks[r.row.stripe.p_slot], NULL, length);
		} else {
			raid_update(g, &r.row.stripe, slot, old, r.blocks[slot], r.blocks[r.row.stripe.p_slot], q, length);
		}
		truth = rows_keep(&r);
		reference_generate(&r.row);
		rows_expect(&r, truth, "update");
		rows_done(&r);
	}
}

static void test_update(void **state)
{
	(void)state;
	for_every_layout(16, update_agrees);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products),  cmocka_unit_test(test_exponents), cmocka_unit_test(test_generate),
		cmocka_unit_test(test_recover),	  cmocka_unit_test(test_wide),	    cmocka_unit_test(test_too_many_lost),
		cmocka_unit_test(test_long_rows), cmocka_unit_test(test_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
