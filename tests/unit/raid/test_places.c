/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way from members back to the array against the way there, byte range by byte range; what survives and what overlaps against brute force. */
#include "unit.h"

#include "raid/raid.h"

#define CHUNK (4 * KIB)

/* --- a map of all places, filled by raid_locate() --- */

struct place_of {
	uint64_t array_bytes; /* UINT64_MAX: free */
	uint32_t copy;
	bool contested;
};

struct places {
	const struct raid_geometry *g;
	uint64_t units; /* per member */
	uint64_t unit_bytes;
	struct place_of *of;
	bool unrecorded;
};

static struct place_of *place_at(const struct places *p, uint32_t slot, uint64_t device_bytes)
{
	assert_true(device_bytes / p->unit_bytes < p->units && slot < p->g->members);
	return &p->of[slot * p->units + device_bytes / p->unit_bytes];
}

static void places_fill(struct places *p, const struct raid_geometry *g, uint64_t device_bytes, uint64_t unit_bytes)
{
	*p = (struct places){ g, device_bytes / unit_bytes + 1, unit_bytes, NULL, false };
	p->of = malloc(p->units * g->members * sizeof(*p->of));
	assert_non_null(p->of);
	for (uint64_t i = 0; i < p->units * g->members; i++)
		p->of[i] = (struct place_of){ .array_bytes = UINT64_MAX };
	for (uint32_t copy = 0; copy < raid_copies(g); copy++)
		for (uint64_t at = 0; at < raid_array_bytes(g); at += unit_bytes) {
			struct raid_place place;
			struct place_of *of;
			int r = raid_locate(g, at, copy, &place);

			p->unrecorded |= r == -ENODATA;
			if (r == -ENODATA)
				continue;
			assert_int_equal(r, 0);
			of = place_at(p, place.slot, place.device_bytes);
			of->contested |= of->array_bytes != UINT64_MAX && of->array_bytes != at;
			if (of->array_bytes == UINT64_MAX)
				*of = (struct place_of){ at, copy, of->contested };
		}
}

static void expect_parity(const struct raid_geometry *g, uint32_t slot, uint64_t at, const struct raid_origin *o)
{
	struct raid_stripe s = raid_stripe_at(g, at);

	assert_int_equal(o->role, slot == s.p_slot ? RAID_ROLE_P : RAID_ROLE_Q);
	assert_true(slot == s.p_slot || slot == s.q_slot);
	assert_int_equal(o->array_bytes, s.number * raid_data_members(g) * g->chunk_bytes);
	assert_int_equal(o->run_bytes, g->chunk_bytes - at % g->chunk_bytes);
}

static void expect_run(const struct raid_geometry *g, uint32_t slot, uint64_t at, const struct raid_origin *o)
{
	struct raid_origin last;

	assert_true(o->run_bytes > 0);
	assert_int_equal(raid_origin(g, slot, at + o->run_bytes - 1, &last), 0);
	assert_int_equal(last.role, o->role);
	assert_int_equal(last.copy, o->copy);
	if (o->role == RAID_ROLE_DATA)
		assert_int_equal(last.array_bytes, o->array_bytes + o->run_bytes - 1);
}

static void back_and_forth(const struct raid_geometry *g, uint64_t device_bytes, uint64_t unit_bytes)
{
	bool parity = g->level == RAID_4 || g->level == RAID_5 || g->level == RAID_6;
	struct places p;

	places_fill(&p, g, device_bytes, unit_bytes);
	for (uint32_t slot = 0; slot < g->members; slot++)
		for (uint64_t at = 0; at < p.units * unit_bytes; at += unit_bytes) {
			const struct place_of *of = place_at(&p, slot, at);
			struct raid_origin o = { 0 };
			int r = raid_origin(g, slot, at, &o);

			if (of->array_bytes == UINT64_MAX && parity && at < g->used_bytes) {
				assert_int_equal(r, 0);
				expect_parity(g, slot, at, &o);
			} else if (of->array_bytes == UINT64_MAX) {
				assert_int_equal(r, -ENODATA);
			} else {
				if (r || o.role != RAID_ROLE_DATA || o.array_bytes != of->array_bytes || o.copy != of->copy)
					fail_msg("level %d layout 0x%x members %u: slot %u byte %lu is %lu copy %u, not %lu copy %u (%d)",
						 g->level, g->layout, g->members, slot, at, of->array_bytes, of->copy, o.array_bytes,
						 o.copy, r);
				expect_run(g, slot, at, &o);
			}
		}
	assert_int_equal(raid_origin(g, g->members, 0, &(struct raid_origin){ 0 }), -ENODATA);
	free(p.of);
}

/* --- which members are needed, the slow way --- */

static bool survives_slowly(const struct raid_geometry *g, const bool *present)
{
	bool parity = g->level == RAID_4 || g->level == RAID_5 || g->level == RAID_6;
	uint64_t step = g->level == RAID_1 || g->level == RAID_LINEAR ? 512 : g->chunk_bytes;

	for (uint64_t at = 0; at < raid_array_bytes(g); at += step) {
		bool any = false;

		for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
			struct raid_place place;

			if (raid_locate(g, at, copy, &place))
				any = true; /* no member is known to hold it */
			else if (present[place.slot])
				any = true;
			else if (parity) {
				uint32_t lost = 0; /* so many unknowns in the stripe, against so many equations */

				for (uint32_t slot = 0; slot < g->members; slot++)
					lost += !present[slot];
				any |= lost <= (g->level == RAID_6 ? 2U : 1U);
			}
		}
		if (!any)
			return false;
	}
	return true;
}

static void every_loss(const struct raid_geometry *g)
{
	bool present[16];

	for (uint32_t set = 0; set < 1U << g->members; set++) {
		for (uint32_t slot = 0; slot < g->members; slot++)
			present[slot] = set >> slot & 1;
		if (raid_survives(g, present) != survives_slowly(g, present))
			fail_msg("level %d layout 0x%x members %u: members 0x%x", g->level, g->layout, g->members, set);
	}
}

/* --- the shapes --- */

static struct raid_geometry geometry_of(int32_t level, uint32_t layout, uint64_t chunk, uint32_t members, const uint64_t *lengths)
{
	struct raid_geometry g;
	struct blkalign_error err = { 0 };

	if (raid_geometry_init(&g, &(struct raid_shape){ level, layout, chunk, members, lengths }, &err) < 0)
		fail_msg("level %d layout 0x%x members %u: %s", level, layout, members, err.message);
	return g;
}

static struct raid_geometry geometry(int32_t level, uint32_t layout, uint32_t members, uint64_t component_bytes)
{
	uint64_t lengths[16];

	for (uint32_t i = 0; i < members; i++)
		lengths[i] = component_bytes;
	return geometry_of(level, layout, CHUNK, members, lengths);
}

static void test_mirrors_and_parity(void **state)
{
	static const uint32_t raid6[] = { 0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 18, 19, 20 };

	(void)state;
	for (uint32_t n = 2; n <= 9; n++) {
		_cleanup_raid_geometry_ struct raid_geometry raid1 = geometry(RAID_1, 0, n, 5 * CHUNK + 512);

		back_and_forth(&raid1, 6 * CHUNK, 512);
		every_loss(&raid1);
		assert_false(raid_overlaps_itself(&raid1));
		for (uint32_t layout = 0; layout <= 6; layout++) {
			_cleanup_raid_geometry_ struct raid_geometry g =
				geometry(layout == 6 ? RAID_4 : RAID_5, layout == 6 ? 0 : layout, n, 2 * n * CHUNK);

			back_and_forth(&g, g.used_bytes + CHUNK, 1024);
			every_loss(&g);
		}
		for (size_t i = 0; n >= 4 && i < ARRAY_SIZE(raid6); i++) {
			_cleanup_raid_geometry_ struct raid_geometry g = geometry(RAID_6, raid6[i], n, 2 * n * CHUNK);

			back_and_forth(&g, g.used_bytes + CHUNK, 1024);
			every_loss(&g);
			assert_false(raid_overlaps_itself(&g));
		}
	}
}

static void test_zones(void **state)
{
	static const uint64_t shapes[][5] = {
		{ 7, 4, 5, 9, 1 }, { 3, 3, 3, 3, 3 }, { 1, 2, 3, 4, 5 }, { 5, 5, 8, 8, 0 },
		{ 2, 9, 9, 9, 0 }, { 4, 6, 6, 1, 6 }, { 0, 1, 1, 1, 1 },
	};
	static const uint64_t chunks[] = { 512, 1024, 1536, 2560, 3 * 4096 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (uint32_t n = 2; n <= 5; n++)
			for (uint32_t layout = 0; layout <= 3; layout++)
				for (size_t c = 0; c < ARRAY_SIZE(chunks); c++) {
					uint64_t lengths[5], longest = 0;
					_cleanup_raid_geometry_ struct raid_geometry g = { 0 };

					for (uint32_t k = 0; k < n; k++) {
						lengths[k] = shapes[i][k] * chunks[c] + k * 256;
						longest = lengths[k] > longest ? lengths[k] : longest;
					}
					if (layout == 3)
						g = geometry_of(RAID_LINEAR, 0, c % 2 ? 0 : chunks[c], n, lengths);
					else
						g = geometry_of(RAID_0, layout, chunks[c], n, lengths);
					back_and_forth(&g, longest + 4096, layout == 3 && c % 2 ? 1 : 512);
					every_loss(&g);
				}
}

static bool overlaps_slowly(const struct raid_geometry *g)
{
	struct places p;
	bool contested = false;

	places_fill(&p, g, g->used_bytes + 4 * CHUNK, CHUNK);
	for (uint64_t i = 0; i < p.units * g->members; i++)
		contested |= p.of[i].contested;
	free(p.of);
	return contested;
}

static void for_every_raid10(uint32_t most, void (*run)(const struct raid_geometry *g))
{
	for (uint32_t n = 2; n <= most; n++)
		for (uint32_t near = 1; near <= n; near++)
			for (uint32_t far = near == 1 ? 2 : 1; near * far <= n; far++)
				for (uint32_t flags = 0; flags < 6; flags++)
					for (uint64_t chunks = far; chunks < far + 30; chunks += chunks < far + 4 ? 1 : 13) {
						_cleanup_raid_geometry_ struct raid_geometry g =
							geometry(RAID_10, near | far << 8 | flags << 16, n, chunks * CHUNK);

						run(&g);
					}
}

static unsigned overlapping, apart;

static void overlap_agrees(const struct raid_geometry *g)
{
	bool truth = overlaps_slowly(g);

	if (raid_overlaps_itself(g) != truth)
		fail_msg("layout 0x%x members %u, %lu chunks: %s", g->layout, g->members, raid_array_bytes(g) / CHUNK,
			 truth ? "overlaps" : "does not overlap");
	overlapping += truth;
	apart += !truth;
}

static void raid10_both_ways(const struct raid_geometry *g)
{
	if (!raid_overlaps_itself(g))
		back_and_forth(g, g->used_bytes + 2 * CHUNK, 2048);
}

/* Where chunks meet the one that copy 0 of is there speaks, as the kernel reads copy 0. */
static void first_copy_speaks(const struct raid_geometry *g)
{
	for (uint64_t at = 0; at < raid_array_bytes(g); at += CHUNK) {
		struct raid_place place;
		struct raid_origin o;

		assert_int_equal(raid_locate(g, at, 0, &place), 0);
		assert_int_equal(raid_origin(g, place.slot, place.device_bytes, &o), 0);
		assert_int_equal(o.copy, 0);
		assert_int_equal(o.array_bytes, at);
	}
}

/* Chunk by chunk, against the places as they are claimed one after the other. */
static void shared_places_agree(const struct raid_geometry *g)
{
	struct places p;

	places_fill(&p, g, g->used_bytes + 4 * CHUNK, CHUNK);
	for (uint64_t at = 0; at < raid_array_bytes(g); at += CHUNK)
		for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
			struct raid_place place;

			assert_int_equal(raid_locate(g, at, copy, &place), 0);
			if (raid_shares_place(g, at + 700, copy) != place_at(&p, place.slot, place.device_bytes)->contested)
				fail_msg("layout 0x%x members %u: copy %u of chunk %lu", g->layout, g->members, copy, at / CHUNK);
		}
	free(p.of);
}

static void test_raid10(void **state)
{
	(void)state;
	for_every_raid10(9, overlap_agrees);
	assert_true(overlapping > 100 && apart > 1000);
	for_every_raid10(9, raid10_both_ways);
	for_every_raid10(9, shared_places_agree);
	for_every_raid10(7, first_copy_speaks);
	for_every_raid10(9, every_loss);
}

/* What a superblock may claim at most takes no time that anybody would notice. */
static void test_raid10_extremes(void **state)
{
	static const uint32_t layouts[] = { 0xff07, 0x1ff07, 0x2ff07, 0x4ff07, 0x5ff07, 0x1ff, 0x110ff02, 0x2ff };
	uint64_t lengths[RAID_MEMBERS_MAX];
	bool present[RAID_MEMBERS_MAX];

	(void)state;
	for (uint32_t i = 0; i < RAID_MEMBERS_MAX; i++) {
		lengths[i] = 4096 * CHUNK;
		present[i] = i % 200 != 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct raid_geometry g;
		struct raid_place place;
		struct raid_origin o;

		if (raid_geometry_init(&g, &(struct raid_shape){ RAID_10, layouts[i], CHUNK, RAID_MEMBERS_MAX, lengths }, NULL) < 0)
			continue;
		raid_overlaps_itself(&g);
		assert_true(raid_survives(&g, present));
		assert_int_equal(raid_locate(&g, 1234 * CHUNK, 0, &place), 0);
		assert_int_equal(raid_origin(&g, place.slot, place.device_bytes, &o), 0);
		assert_int_equal(o.array_bytes, 1234 * CHUNK);
		raid_geometry_done(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mirrors_and_parity),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_raid10),
		cmocka_unit_test(test_raid10_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
