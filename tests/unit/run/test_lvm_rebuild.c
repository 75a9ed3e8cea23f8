/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images of RAID volumes that fell behind, are new or half filled, filled from the others; and what a power cut left marked, resynced. Whatever PV is missing afterwards, the contents are
 * those that the kernel had. */
#include "golden.h"
#include "lvm2_image.h"

#include <blkalign/rebuild.h>
#include <blkalign/scrub.h>
#include <blkalign/undo.h>

#define RMETA (UINT64_C(1) << 20)

static struct blkalign_error err;

struct images {
	struct golden g;
	char paths[8][160];
	const char *names[8];
	unsigned count;
};

static void unpack(struct images *im, const char *name)
{
	golden_open(&im->g, name);
	for (im->count = 0; golden_has(&im->g, im->count); im->count++) {
		snprintf(im->paths[im->count], sizeof(im->paths[0]), "%s/m%u.img", im->g.path, im->count);
		im->names[im->count] = im->paths[im->count];
	}
}

static void expect_content(struct images *im, const char *volume, const char *sha256)
{
	for (unsigned without = 0; without <= im->count; without++) {
		char found[65];

		golden_assemble_as(&im->g, without < im->count ? 1U << without : 0, NULL);
		golden_sha256(stack_dev(im->g.stack, blkalign_graph_find(stack_graph(im->g.stack), volume)), found);
		assert_string_equal(found, sha256);
		golden_disassemble(&im->g);
	}
}

/* Clean, whole, nothing marked: events alike in superblocks and bitmaps. */
static void expect_records(struct images *im)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < im->count; i++) {
		uint8_t raw[4096 + 256 + 4];
		FILE *f = fopen(im->paths[i], "re");

		assert_non_null(f);
		assert_int_equal(fseek(f, (long)RMETA, SEEK_SET), 0);
		assert_int_equal(fread(raw, 1, sizeof(raw), f), sizeof(raw));
		fclose(f);
		events = events ? events : load_le64(raw + 16);
		assert_int_equal(load_le64(raw + 16), events);
		assert_int_equal(load_le64(raw + 4096 + 24), events);
		assert_int_equal(load_le64(raw + 24), 0);	   /* nobody failed */
		assert_int_equal(load_le64(raw + 32), UINT64_MAX); /* filled */
		assert_int_equal(load_le64(raw + 40), UINT64_MAX); /* in sync */
		assert_int_equal(load_le32(raw + 4096 + 256), 0);  /* no bit is set */
	}
}

static const struct blkalign_rebuild_target *start(struct images *im, const char *volume, unsigned target, struct blkalign_rebuild **ret)
{
	const struct blkalign_rebuild_options options = { .node = volume, .checkpoint_bytes = 65536 };

	if (blkalign_rebuild_open(&options, im->names, im->count, &im->names[target], 1, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_int_equal(blkalign_rebuild_target(*ret, 0)->slot, target);
	return blkalign_rebuild_target(*ret, 0);
}

static void finish(struct blkalign_rebuild *b)
{
	int r;

	while ((r = blkalign_rebuild_step(b, NULL, &err)) == 0)
		;
	if (r < 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
}

static const char *const stale_sha256 = "2eb8a13fe004c5ceabfb1671d9329892848b44131374a40cb818fb11cefe7b64";

static void test_stale(void **state)
{
	struct blkalign_rebuild *b;
	struct images im;

	(void)state;
	unpack(&im, "lvm-raid5-stale");
	assert_int_equal(start(&im, "vg/r5", 2, &b)->how, BLKALIGN_REBUILD_READD);
	/* Eight bits of 64 KiB. */
	assert_int_equal(blkalign_rebuild_target(b, 0)->rebuild_bytes, 524288);
	finish(b);
	expect_content(&im, "vg/r5", stale_sha256);
	expect_records(&im);
	golden_close(&im.g);
}

/* Its bitmap is gone: nothing says what it lacks. */
static void test_everything(void **state)
{
	struct blkalign_rebuild *b;
	struct images im;

	(void)state;
	unpack(&im, "lvm-raid5-stale");
	golden_patch(&im.g, 2, RMETA + 4096, "gone", 4);
	assert_int_equal(start(&im, "vg/r5", 2, &b)->how, BLKALIGN_REBUILD_NEW);
	assert_int_equal(blkalign_rebuild_target(b, 0)->rebuild_bytes, 2097152);
	finish(b);
	expect_content(&im, "vg/r5", stale_sha256);
	expect_records(&im);
	golden_close(&im.g);
}

/* Records that say nothing, and contents that are not the volume's. */
static void test_new_image(void **state)
{
	static const uint8_t none[8192];
	static uint8_t junk[2 * 1024 * 1024];
	struct blkalign_rebuild *b;
	struct images im;

	(void)state;
	unpack(&im, "lvm-raid6");
	memset(junk, 0xa5, sizeof(junk));
	golden_patch(&im.g, 3, RMETA, none, sizeof(none));
	golden_patch(&im.g, 3, RMETA + 262144, junk, sizeof(junk));
	assert_int_equal(start(&im, "vg/raid6", 3, &b)->how, BLKALIGN_REBUILD_NEW);
	finish(b);
	expect_content(&im, "vg/raid6", "a47e913926979c51a76d4bdbee7d74fe74a3f22a34b86848c93065398f96e02c");
	expect_records(&im);
	golden_close(&im.g);
}

/* Begun, left, and gone on with from what the image's own records say. */
static void test_interrupted(void **state)
{
	static const uint8_t quarter[8] = { 0, 4 }; /* 1024 sectors of 4096 */
	static uint8_t junk[1536 * 1024];
	const struct blkalign_rebuild_target *t;
	struct blkalign_rebuild *b;
	struct images im;

	(void)state;
	unpack(&im, "lvm-raid10");
	memset(junk, 0xa5, sizeof(junk));
	golden_patch(&im.g, 1, RMETA + 32, quarter, sizeof(quarter));
	golden_patch(&im.g, 1, RMETA + 262144 + 524288, junk, sizeof(junk));
	t = start(&im, "vg/r10", 1, &b);
	assert_int_equal(t->how, BLKALIGN_REBUILD_GO_ON);
	assert_int_equal(t->start_bytes, 524288);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	t = start(&im, "vg/r10", 1, &b);
	assert_int_equal(t->how, BLKALIGN_REBUILD_GO_ON);
	finish(b);
	expect_content(&im, "vg/r10", "a47e913926979c51a76d4bdbee7d74fe74a3f22a34b86848c93065398f96e02c");
	expect_records(&im);
	golden_close(&im.g);
}

static void refused(struct images *im, const char *volume, const char *target, int code, const char *why)
{
	const struct blkalign_rebuild_options options = { .node = volume };
	struct blkalign_rebuild *b = NULL;

	assert_int_equal(blkalign_rebuild_open(&options, im->names, im->count, &target, 1, &b, &err), code);
	if (!strstr(err.message, why))
		fail_msg("%s", err.message);
	assert_null(b);
}

static void test_refused(void **state)
{
	struct images im;
	char path[160];

	(void)state;
	unpack(&im, "lvm-raid5-stale");
	snprintf(path, sizeof(path), "%s/new.img", im.g.path);
	fclose(fopen(path, "we"));
	assert_int_equal(truncate(path, 12 * 1024 * 1024), 0);
	refused(&im, "vg/r5", path, -ENOTSUP, "no image of vg/r5 lies on it: to put one there is a change of the volume group");
	refused(&im, "vg/r5", im.names[1], -EINVAL, "vg/r5_rimage_1 lies on it, and is in sync already");
	golden_patch(&im.g, 3, RMETA + 16, "\1", 1); /* a second one fell behind: too few are left */
	refused(&im, "vg/r5", im.names[2], -EINVAL, "cannot be read");
	golden_close(&im.g);
	unpack(&im, "lvm-raid1");
	refused(&im, "vg/r1", im.names[1], -EINVAL, "vg/r1_rimage_1 lies on it, and is in sync already");
	golden_close(&im.g);
}

/* --- what a power cut left --- */

static void repair(struct images *im, const char *volume)
{
	const struct blkalign_run_options writable = { .writable = true };
	char undo[200];
	const struct blkalign_scrub_repair_options options = { .parity = true, .undo_path = undo };
	const struct blkalign_node *node;
	struct blkalign_scrub *s;
	struct blkalign_run *run;
	int r;

	snprintf(undo, sizeof(undo), "%s/undo", im->g.path);
	assert_int_equal(blkalign_run_open(&writable, im->names, im->count, &run, &err), 0);
	assert_int_equal(blkalign_run_node(run, volume, &node, &err), 0);
	assert_int_equal(blkalign_scrub_open(run, node, NULL, &s, &err), 0);
	while ((r = blkalign_scrub_step(s, NULL, &err)) == 0)
		;
	assert_int_equal(r, BLKALIGN_SCRUB_DONE);
	assert_int_equal(blkalign_scrub_findings(s, NULL), 1);
	assert_int_equal(blkalign_scrub_finding(s, 0)->verdict, BLKALIGN_SCRUB_DOUBTFUL);
	if (blkalign_scrub_repair(s, &options, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	while ((r = blkalign_scrub_step(s, NULL, &err)) == 0)
		;
	if (r < 0)
		fail_msg("%s: %s", err.where, err.message);
	blkalign_scrub_close(s);
	if (blkalign_run_close(run, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
}

/* The kernel would clear the bits, and the images differ for ever. */
static void test_crash(void **state)
{
	static uint8_t junk[4096];
	struct images im;

	(void)state;
	unpack(&im, "lvm-raid1-crash");
	memset(junk, 0x5a, sizeof(junk));
	golden_patch(&im.g, 1, 2560 * 512 + 15 * 65536 + 8192, junk, sizeof(junk)); /* bit 15 is set */
	repair(&im, "vg/r1");
	expect_content(&im, "vg/r1", "49fd44b4eeed412289fa7ecafbf5e9606890fb847231cc26cbf41fce626c7ff9");
	expect_records(&im);
	golden_close(&im.g);
}

#define EXTENT	 (UINT64_C(512) * 512)
#define PE_START (UINT64_C(1) << 20)
#define MOVED	 9U  /* the last extents of the image on the second PV */
#define MOVED_TO 20U /* on that PV */
#define KEPT	 "extent_count = 12\n\ntype = \"striped\"\nstripe_count = 1\n\nstripes = [\n\"pv1\", 1\n]\n}\n"
#define IN_PIECES                                                                                                                          \
	"extent_count = 3\n\ntype = \"striped\"\nstripe_count = 1\n\nstripes = [\n\"pv1\", 1\n]\n}\n"                                      \
	"segment2 {\nstart_extent = 3\nextent_count = 9\n\ntype = \"striped\"\nstripe_count = 1\n\nstripes = [\n\"pv1\", 20\n]\n}\n"

/* As pvmove of a part of it would have done. */
static void cut_in_pieces(const struct images *im, unsigned pv)
{
	struct image image = { malloc(PE_START), PE_START };
	FILE *f = fopen(im->paths[pv], "r+e");
	uint8_t *moved = calloc(MOVED, EXTENT);
	const char *text;
	char *edited, *whole;

	assert_non_null(f);
	assert_int_equal(fread(image.data, 1, PE_START, f), PE_START);
	text = (const char *)image.data + IMAGE_AREA_AT + load_le64(image.data + IMAGE_TEXT_OFFSET);
	edited = image_edit(text, "r1_rimage_1 {", "segment_count = 1", "segment_count = 2");
	whole = image_edit(edited, "r1_rimage_1 {", KEPT, IN_PIECES);
	image_text_at(&image, whole, 512, load_le64(image.data + IMAGE_MDA_SIZE));
	assert_int_equal(fseek(f, 0, SEEK_SET), 0);
	assert_int_equal(fwrite(image.data, 1, PE_START, f), PE_START);
	if (pv == 1) {
		assert_int_equal(fseek(f, (long)(PE_START + 4 * EXTENT), SEEK_SET), 0);
		assert_int_equal(fread(moved, EXTENT, MOVED, f), MOVED);
		assert_int_equal(fseek(f, (long)(PE_START + MOVED_TO * EXTENT), SEEK_SET), 0);
		assert_int_equal(fwrite(moved, EXTENT, MOVED, f), MOVED);
		memset(moved, 0xee, MOVED * EXTENT);
		assert_int_equal(fseek(f, (long)(PE_START + 4 * EXTENT), SEEK_SET), 0);
		assert_int_equal(fwrite(moved, EXTENT, MOVED, f), MOVED);
	}
	assert_int_equal(fclose(f), 0);
	free(moved);
	free(edited);
	free(whole);
	free(image.data);
}

static void expect_bytes(const char *path, uint64_t at, const uint8_t *bytes, size_t length)
{
	uint8_t *found = malloc(length);
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
	assert_int_equal(fread(found, 1, length, f), length);
	assert_memory_equal(found, bytes, length);
	fclose(f);
	free(found);
}

/* An image in pieces is repaired in its place, and the log puts back what was there. */
static void test_crash_in_pieces(void **state)
{
	static const uint64_t at = PE_START + MOVED_TO * EXTENT + 15 * 65536 + 8192 - 3 * EXTENT;
	static uint8_t junk[4096];
	struct images im;
	char undo[200];
	enum blkalign_undo_use uses[2];
	uint64_t bytes;

	(void)state;
	unpack(&im, "lvm-raid1-crash");
	cut_in_pieces(&im, 0);
	cut_in_pieces(&im, 1);
	memset(junk, 0x5a, sizeof(junk));
	golden_patch(&im.g, 1, at, junk, sizeof(junk));
	repair(&im, "vg/r1");
	expect_content(&im, "vg/r1", "49fd44b4eeed412289fa7ecafbf5e9606890fb847231cc26cbf41fce626c7ff9");
	expect_records(&im);
	snprintf(undo, sizeof(undo), "%s/undo", im.g.path);
	assert_int_equal(blkalign_undo_apply(undo, im.names, im.count, &bytes, uses, &err), 0);
	assert_true(bytes >= sizeof(junk));
	expect_bytes(im.names[1], at, junk, sizeof(junk));
	golden_close(&im.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale),		cmocka_unit_test(test_everything), cmocka_unit_test(test_new_image),
		cmocka_unit_test(test_interrupted),	cmocka_unit_test(test_refused),	   cmocka_unit_test(test_crash),
		cmocka_unit_test(test_crash_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
