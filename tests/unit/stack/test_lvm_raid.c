/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RAID volumes that a real kernel filled: read whole, and without each set of PVs that they survive, they have the contents that the kernel read. Which images are believed, and what is
 * told about the others.
 */
#include "golden.h"

#include <inttypes.h>

#define RMETA (UINT64_C(1) << 20) /* of the first volume of each case, on every PV */

static const char *const cases[] = { "lvm-raid1", "lvm-raid1-crash", "lvm-raid1-missing",  "lvm-raid10",
				     "lvm-raid5", "lvm-raid5-stale", "lvm-raid5-reshaped", "lvm-raid6" };

static unsigned equal, refused;

static const struct blkalign_node *volume(const struct golden *g, const char *name)
{
	char full[128];
	const struct blkalign_node *n;

	snprintf(full, sizeof(full), "vg/%s", name);
	n = blkalign_graph_find(stack_graph(g->stack), full);
	if (n)
		return n;
	fail_msg("%s: no node %s", g->path, full);
	abort();
}

static bool remarked(const struct golden *g, const char *text)
{
	const struct blkalign_graph *graph = stack_graph(g->stack);

	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		if (strstr(blkalign_graph_remark(graph, i), text))
			return true;
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		print_message("%s\n", blkalign_graph_remark(graph, i));
	return false;
}

static void expect_content(const struct golden *g, const char *name, const char *sha256, unsigned without)
{
	struct dev *dev = stack_dev(g->stack, volume(g, name));
	char found[65];

	if (!dev)
		fail_msg("%s: %s cannot be read without %#x", g->path, name, without);
	golden_sha256(dev, found);
	if (strcmp(found, sha256) != 0)
		fail_msg("%s: %s reads as %s without %#x, the kernel read %s", g->path, name, found, without, sha256);
	equal++;
}

/* --- without PVs --- */

/* Images that are missing, by the edges that are left. */
static unsigned lost_legs(const struct golden *g, const struct blkalign_node *n)
{
	unsigned lost = (unsigned)blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS);

	(void)g;
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		lost -= e->slot != BLKALIGN_SLOT_NONE && e->state && !strcmp(e->state, "in_sync");
	}
	return lost;
}

static bool survives(const struct blkalign_node *n, unsigned lost, unsigned without)
{
	const char *level = blkalign_node_str(n, BLKALIGN_ATTR_MD_LEVEL);

	if (!strcmp(level, "raid1"))
		return lost < blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS);
	if (!strcmp(level, "raid10")) /* two copies, of neighbours */
		return (without & 3) != 3 && (without & 12) != 12;
	return lost <= (strcmp(level, "raid6") == 0 ? 2U : 1U);
}

static void check_volume(const struct golden *g, const char *line, unsigned without)
{
	char name[64], sha256[65];
	const struct blkalign_node *n;
	uint64_t bytes;

	assert_int_equal(sscanf(line, "%63s %" SCNu64 " %64s", name, &bytes, sha256), 3);
	n = volume(g, name);
	if (!blkalign_node_str(n, BLKALIGN_ATTR_MD_LEVEL))
		return;
	if (survives(n, lost_legs(g, n), without)) {
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_MD_DEGRADED), lost_legs(g, n));
		expect_content(g, name, sha256, without);
		return;
	}
	/* Nothing is made up: what is lost is an error. */
	if (stack_dev(g->stack, n)) {
		uint8_t *buffer = malloc(bytes);

		assert_non_null(buffer);
		assert_int_equal(dev_read(stack_dev(g->stack, n), 0, buffer, bytes, NULL), -EIO);
		free(buffer);
	}
	refused++;
}

static void check_without(struct golden *g, unsigned without)
{
	char *copy = strdup(g->text), *state, *line;

	golden_assemble_as(g, without, NULL);
	for (line = strtok_r(copy, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		if (!strncmp(line, "lv: ", 4))
			check_volume(g, line + 4, without);
	free(copy);
	golden_disassemble(g);
}

static void test_missing_pvs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct golden g;
		unsigned pvs = 0;

		golden_open(&g, cases[i]);
		while (golden_has(&g, pvs))
			pvs++;
		for (unsigned without = 0; without < (1U << pvs) - 1; without++)
			if (__builtin_popcount(without) <= 2)
				check_without(&g, without);
		golden_close(&g);
	}
	print_message("%u contents equal, %u refused\n", equal, refused);
	assert_int_equal(equal, 212);
	assert_int_equal(refused, 60);
}

/* --- what the records say --- */

static const char *state_of(const struct golden *g, const char *name, uint32_t slot)
{
	const struct blkalign_node *n = volume(g, name);

	for (size_t i = 0; i < blkalign_node_edges(n); i++)
		if (blkalign_node_edge(n, i)->slot == slot)
			return blkalign_node_edge(n, i)->state ? blkalign_node_edge(n, i)->state : "-";
	return "none";
}

static void expect_u64(const struct golden *g, const char *name, enum blkalign_attr attr, uint64_t expected)
{
	assert_int_equal(blkalign_node_u64(volume(g, name), attr), expected);
}

static void test_crash(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1-crash");
	golden_assemble(&g);
	assert_string_equal(blkalign_node_str(volume(&g, "r1"), BLKALIGN_ATTR_MD_STATE), "dirty");
	expect_u64(&g, "r1", BLKALIGN_ATTR_MD_EVENTS, 17);
	/* Bits 15 and 16 of 64 KiB: sectors 2000 to 2099 were being written. */
	expect_u64(&g, "r1", BLKALIGN_ATTR_MD_DOUBTFUL, 131072);
	expect_u64(&g, "r1", BLKALIGN_ATTR_MD_BITMAP_DIRTY, 131072);
	assert_true(remarked(&g, "vg/r1: was not stopped cleanly: 131072 bytes of each member wait for a resync"));
	golden_close(&g);
}

static void test_stale(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid5-stale");
	golden_assemble(&g);
	assert_string_equal(blkalign_node_str(volume(&g, "r5"), BLKALIGN_ATTR_MD_STATE), "clean,degraded");
	assert_string_equal(state_of(&g, "r5", 2), "faulty");
	assert_string_equal(state_of(&g, "r5", 3), "in_sync");
	expect_u64(&g, "r5", BLKALIGN_ATTR_MD_STALE, 1);
	expect_u64(&g, "r5", BLKALIGN_ATTR_MD_MEMBERS_PRESENT, 3);
	/* Its bits are what the third image lacks: nothing is in doubt. */
	expect_u64(&g, "r5", BLKALIGN_ATTR_MD_DOUBTFUL, 0);
	expect_u64(&g, "r5", BLKALIGN_ATTR_MD_BITMAP_DIRTY, 524288);
	assert_true(remarked(&g, "vg/r5_rimage_2: member of vg/r5 is recorded as faulty by vg/r5_rimage_0 and not used"));
	golden_close(&g);
}

/* Parity that was cut short, and a PV that is lost then: what would be computed there is not given out. */
static void test_dirty_and_degraded(void **state)
{
	static const uint8_t bit = 1 << 3; /* 192 to 256 KiB of each image */
	uint8_t buffer[512];
	struct golden g;
	struct dev *dev;
	struct blkalign_error err = { 0 };

	(void)state;
	golden_open(&g, "lvm-raid5-stale");
	for (unsigned image = 0; image < 4; image++) {
		static const uint8_t none[8];

		golden_patch(&g, image, RMETA + 24, none, sizeof(none)); /* nobody failed */
		golden_patch(&g, image, RMETA + 16, "\x15", 1);
		golden_patch(&g, image, RMETA + 4096 + 24, "\x15", 1);
		golden_patch(&g, image, RMETA + 4096 + 256, none, 4);
		golden_patch(&g, image, RMETA + 4096 + 256, &bit, image == 1);
	}
	golden_assemble_as(&g, 1 << 2, NULL);
	assert_string_equal(blkalign_node_str(volume(&g, "r5"), BLKALIGN_ATTR_MD_STATE), "dirty,degraded");
	expect_u64(&g, "r5", BLKALIGN_ATTR_MD_DOUBTFUL, 65536);
	dev = stack_dev(g.stack, volume(&g, "r5"));
	/* left-symmetric, stripe 3: parity on image 0, data on 1, 2, 3 */
	assert_int_equal(dev_read(dev, 3 * 196608, buffer, sizeof(buffer), &err), 0);
	assert_int_equal(dev_read(dev, 3 * 196608 + 65536, buffer, sizeof(buffer), &err), -EIO);
	assert_non_null(strstr(err.message, "parity may not fit the data here"));
	assert_int_equal(dev_read(dev, 4 * 196608 + 65536, buffer, sizeof(buffer), &err), 0);
	golden_disassemble(&g);
	golden_assemble_as(&g, 1 << 2, &(struct stack_running){ .force = true });
	assert_int_equal(dev_read(stack_dev(g.stack, volume(&g, "r5")), 3 * 196608 + 65536, buffer, sizeof(buffer), &err), 0);
	golden_close(&g);
}

/* --- superblocks that are not believed --- */

static const char *const r1_sha256 = "0daedbe512268e271118bfd20e73994b1df1213d17395b938c7cde5cdebf2918";

struct edit {
	uint64_t at;
	const char *bytes;
	size_t length;
	const char *remark;
};

/* Image 1 of lvm-raid1's r1 is made wrong; image 0 has the contents. */
static void expect_left_out(const struct edit *e)
{
	static uint8_t junk[65536];
	struct golden g;

	golden_open(&g, "lvm-raid1");
	golden_patch(&g, 1, RMETA + e->at, e->bytes, e->length);
	memset(junk, 0xaa, sizeof(junk));
	golden_patch(&g, 1, 2560 * 512, junk, sizeof(junk)); /* whoever reads it is found out */
	golden_assemble(&g);
	assert_true(remarked(&g, e->remark));
	assert_true(strcmp(state_of(&g, "r1", 1), "in_sync") != 0);
	assert_string_equal(state_of(&g, "r1", 0), "in_sync");
	expect_content(&g, "r1", r1_sha256, 0);
	golden_close(&g);
}

static void test_hostile(void **state)
{
	static const char ones[8] = "\xff\xff\xff\xff\xff\xff\xff\xff";
	static const struct edit edits[] = {
		{ 0, "XXXX", 4, "r1_rimage_1: its raid metadata holds something else: not used" },
		{ 0, "\0\0\0\0", 4, "r1_rimage_1: its raid metadata holds something else: not used" },
		{ 4, ones, 4, "features of a newer dm-raid" },
		{ 144, "\1", 1, "features of a newer dm-raid" },
		{ 8, "\0", 1, "a number of images that is not possible (0)" },
		{ 8, ones, 4, "a number of images that is not possible" },
		{ 12, "\2", 1, "this image has a position beyond the last one (2)" },
		{ 12, "\0", 1, "tells of another position than the volume group does" },
		{ 24, "\4", 1, "an image that does not exist is recorded as failed (2)" },
		{ 127, "\x80", 1, "an image that does not exist is recorded as failed (127)" },
		{ 48, "\5", 1, "tells of another level than" },
		{ 48, "\2", 1, "unknown level (2)" },
		{ 56, "\3", 1, "the chunk is no power of two" },
		{ 72, "\5", 1, "tells of another shape to come than" },
		{ 96, "\1", 1, "tells of another end of its data than" },
		{ 96, ones, 8, "does not fit 64 bits" },
		{ 112, ones, 8, "does not fit 64 bits" },
		{ 40, "\xfe", 1, "does not fit 64 bits" },
		{ 16, "\x0e", 1, "stale and not used: its event count 14 is 2 behind" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		expect_left_out(&edits[i]);
}

/* One event less is a power cut between two superblocks. */
static void test_one_behind(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1");
	golden_patch(&g, 1, RMETA + 16, "\x0f", 1);
	golden_assemble(&g);
	assert_string_equal(state_of(&g, "r1", 1), "in_sync");
	assert_string_equal(blkalign_node_str(volume(&g, "r1"), BLKALIGN_ATTR_MD_STATE), "clean");
	golden_close(&g);
}

/* Each half was activated without the other. */
static void test_split(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1");
	golden_patch(&g, 0, RMETA + 24, "\2", 1);
	golden_patch(&g, 1, RMETA + 24, "\1", 1);
	golden_assemble(&g);
	assert_null(stack_dev(g.stack, volume(&g, "r1")));
	assert_non_null(strstr(blkalign_node_str(volume(&g, "r1"), BLKALIGN_ATTR_MD_STATE), "split"));
	golden_disassemble(&g);
	golden_assemble_as(&g, 1, NULL);
	expect_content(&g, "r1", r1_sha256, 1);
	golden_close(&g);
}

/* Filled so far: below it is read, above it is not. */
static void test_recovering(void **state)
{
	static const uint8_t half[8] = { 0, 12 }; /* 3072 sectors */
	static uint8_t junk[65536];
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1");
	memset(junk, 0xaa, sizeof(junk));
	golden_patch(&g, 0, RMETA + 32, half, sizeof(half));
	golden_patch(&g, 0, (2560 + 3072) * 512, junk, sizeof(junk));
	golden_assemble(&g);
	assert_string_equal(state_of(&g, "r1", 0), "rebuilding");
	assert_string_equal(blkalign_node_str(volume(&g, "r1"), BLKALIGN_ATTR_MD_STATE), "clean,degraded,recovering");
	expect_content(&g, "r1", r1_sha256, 0);
	golden_close(&g);
}

/* A reshape without its place: the others, which know of none, do. */
static void test_reshaping(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid5-reshaped");
	golden_patch(&g, 2, RMETA + 60, "\1", 1);
	golden_assemble(&g);
	assert_true(remarked(&g, "a reshape is under way, and where it stands is not recorded"));
	assert_true(strcmp(state_of(&g, "r5", 2), "in_sync") != 0);
	check_volume(&g, strstr(g.text, "lv: ") + 4, 0);
	golden_close(&g);
}

/* None has records that fit: in which shape the images are is not guessed, unless told so. */
static void test_undecided(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid5-reshaped");
	for (unsigned image = 0; image < 4; image++)
		golden_patch(&g, image, RMETA + 60, "\1", 1);
	golden_assemble(&g);
	assert_null(stack_dev(g.stack, volume(&g, "r5")));
	assert_true(remarked(&g, "so that nobody knows in which shape they are; with --force they are read as the volume group has it"));
	golden_disassemble(&g);
	golden_assemble_as(&g, 0, &(struct stack_running){ .force = true });
	assert_non_null(stack_dev(g.stack, volume(&g, "r5")));
	golden_close(&g);
}

/* The pattern that the kernel wrote: 64 times the number of each sector. */
static void expect_pattern(const struct golden *g, const char *name, uint64_t bytes, unsigned without)
{
	struct dev *dev = stack_dev(g->stack, volume(g, name));
	static uint8_t buffer[65536];

	assert_non_null(dev);
	assert_true(dev->size_bytes >= bytes);
	for (uint64_t at = 0; at < bytes; at += sizeof(buffer)) {
		struct blkalign_error err = { 0 };

		if (dev_read(dev, at, buffer, sizeof(buffer), &err) < 0)
			fail_msg("%s without PV %u: %s", name, without, err.message);
		for (size_t i = 0; i < sizeof(buffer); i += 8)
			if (load_le64(buffer + i) != (at + i) / 512)
				fail_msg("%s without PV %u: byte %" PRIu64, name, without, at + i);
	}
}

/* The kernel was reshaping them when the power was cut; one had ended. Whole, and without each PV, with the size of the moment. */
static void test_power_cut_in_reshape(void **state)
{
	static const struct {
		const char *name;
		uint64_t bytes, size;
	} volumes[] = {
		{ "grow", 4194304, 6291456 },	{ "chunk", 6291456, 6291456 }, { "layout", 6291456, 6291456 },
		{ "shrink", 4194304, 4194304 }, { "ten", 4194304, 4194304 },
	};
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-reshaping");
	for (unsigned without = 0; without <= 6; without++) {
		golden_assemble_as(&g, without < 6 ? 1U << without : 0, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
			const char *words = blkalign_node_str(volume(&g, volumes[i].name), BLKALIGN_ATTR_MD_STATE);

			expect_u64(&g, volumes[i].name, BLKALIGN_ATTR_SIZE, volumes[i].size);
			assert_int_equal(strstr(words, "reshaping") != NULL, i > 0);
			expect_pattern(&g, volumes[i].name, volumes[i].bytes, without);
		}
		golden_disassemble(&g);
	}
	golden_close(&g);
}

/* All records zero: as created and never started. All spoilt: still read, and said. */
static void test_no_records(void **state)
{
	static const uint8_t none[8192];
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1");
	for (unsigned image = 0; image < 2; image++)
		golden_patch(&g, image, RMETA, none, sizeof(none));
	golden_assemble(&g);
	expect_content(&g, "r1", r1_sha256, 0);
	assert_true(remarked(&g, "vg/r1: was never started"));
	expect_u64(&g, "r1", BLKALIGN_ATTR_MD_DOUBTFUL, 3145728);
	golden_disassemble(&g);
	golden_patch(&g, 0, RMETA, "spoilt", 6);
	golden_assemble(&g);
	expect_content(&g, "r1", r1_sha256, 0);
	assert_true(remarked(&g, "vg/r1: no image has raid metadata that can be used"));
	golden_close(&g);
}

/* The second image was added, and its records say nothing yet. */
static void test_new_image(void **state)
{
	static const uint8_t none[8192];
	static uint8_t junk[65536];
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-raid1");
	memset(junk, 0xaa, sizeof(junk));
	golden_patch(&g, 0, RMETA, none, sizeof(none));
	golden_patch(&g, 0, 2560 * 512, junk, sizeof(junk));
	golden_assemble(&g);
	expect_content(&g, "r1", r1_sha256, 0);
	assert_true(remarked(&g, "vg/r1_rimage_0: was added to its volume and never filled: not used"));
	golden_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_pvs),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_dirty_and_degraded),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_one_behind),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_recovering),
		cmocka_unit_test(test_reshaping),
		cmocka_unit_test(test_undecided),
		cmocka_unit_test(test_power_cut_in_reshape),
		cmocka_unit_test(test_no_records),
		cmocka_unit_test(test_new_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
