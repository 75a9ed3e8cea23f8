/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata that somebody made to hurt, all checksums right: each row is loaded or refused as it says, in one sentence, within two seconds and 64 MiB.
 */
#include <sys/resource.h>
#include <time.h>

#include "lvm2_image.h"

#if defined(__SANITIZE_ADDRESS__)
#define MEASURED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEASURED 0
#endif
#endif
#ifndef MEASURED
#define MEASURED 1
#endif

static const char pv_id[] = "abcdefghijklmnopqrstuvwxyzABCD!#";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check_cost(const char *what, double start)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (MEASURED && (now() - start > 2 || usage.ru_maxrss > 65536))
		fail_msg("%s: %.1f s, %ld KiB", what, now() - start, usage.ru_maxrss);
}

/* `expected` NULL: must load; else a part of the sentence that refuses. */
static void check_outcome(const char *what, int r, const struct blkalign_error *err, const char *expected)
{
	if (!expected && r < 0)
		fail_msg("%s: refused: %s", what, err->message);
	if (expected && r >= 0)
		fail_msg("%s: accepted, expected: %s", what, expected);
	if (!expected)
		return;
	if (!strstr(err->message, expected))
		fail_msg("%s: \"%s\" says nothing of \"%s\"", what, err->message, expected);
	assert_null(strchr(err->message, '\n'));
}

/* --- label and area --- */

struct field {
	size_t at;
	unsigned bytes;
	uint64_t value;
};

static const struct {
	const char *what;
	struct field fields[4];
	const char *label; /* part of the sentence, NULL: loads */
	const char *area;
} binary[] = {
	{ "as made", { { 0 } }, NULL, NULL },
	{ "1: header offset 0", { { IMAGE_LABEL_OFFSET, 4, 0 } }, "outside of its sector", NULL },
	{ "1: header offset 31", { { IMAGE_LABEL_OFFSET, 4, 31 } }, "outside of its sector", NULL },
	{ "1: header offset 473", { { IMAGE_LABEL_OFFSET, 4, 473 } }, "outside of its sector", NULL },
	{ "1: header offset 472", { { IMAGE_LABEL_OFFSET, 4, 472 } }, "characters that no id has", NULL },
	{ "1: header offset 0x2000", { { IMAGE_LABEL_OFFSET, 4, 0x2000 } }, "outside of its sector", NULL },
	{ "1: header offset 2^32-1", { { IMAGE_LABEL_OFFSET, 4, UINT32_MAX } }, "outside of its sector", NULL },
	{ "4: label sector number lies", { { IMAGE_LABEL_NUMBER, 8, 2 } }, "says that it is in sector 2", NULL },
	{ "4: label sector number huge", { { IMAGE_LABEL_NUMBER, 8, UINT64_MAX } }, "says that it is in sector", NULL },
	{ "5: area size 0", { { IMAGE_MDA_SIZE, 8, 0 } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area size 1", { { IMAGE_MDA_SIZE, 8, 1 } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area size 511", { { IMAGE_MDA_SIZE, 8, 511 } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area size 512", { { IMAGE_MDA_SIZE, 8, 512 } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area size 4095", { { IMAGE_MDA_SIZE, 8, 4095 } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area size 4096", { { IMAGE_MDA_SIZE, 8, 4096 }, { IMAGE_TEXT_SIZE, 8, 3584 } }, NULL, NULL },
	{ "5: area size beyond the device", { { IMAGE_MDA_SIZE, 8, 2 << 20 } }, NULL, "lie on the device" },
	{ "5: area size 2^64-1", { { IMAGE_MDA_SIZE, 8, UINT64_MAX } }, NULL, "expected 4 KiB to 1 GiB" },
	{ "5: area start lies", { { IMAGE_MDA_START, 8, 8192 } }, NULL, "says that it begins at byte 8192" },
	{ "5: area version 2", { { IMAGE_AREA_AT + 20, 4, 2 } }, NULL, "has version 2" },
	{ "5: area magic", { { IMAGE_AREA_AT + 4, 1, 0 } }, NULL, "no metadata area begins" },
	{ "6: text at the end of the area", { { IMAGE_TEXT_OFFSET, 8, IMAGE_AREA_BYTES } }, NULL, "does not lie in the ring" },
	{ "6: text behind the area", { { IMAGE_TEXT_OFFSET, 8, IMAGE_AREA_BYTES + 512 } }, NULL, "does not lie in the ring" },
	{ "6: text in the header", { { IMAGE_TEXT_OFFSET, 8, 511 } }, NULL, "does not lie in the ring" },
	{ "6: text of 2^32 bytes", { { IMAGE_TEXT_SIZE, 8, UINT64_C(1) << 32 } }, NULL, "does not lie in the ring" },
	{ "6: text larger than the ring", { { IMAGE_TEXT_SIZE, 8, IMAGE_AREA_BYTES - 511 } }, NULL, "does not lie in the ring" },
	{ "6: offset and size wrap 2^64",
	  { { IMAGE_TEXT_OFFSET, 8, UINT64_MAX - 511 }, { IMAGE_TEXT_SIZE, 8, 1024 } },
	  NULL,
	  "does not lie in the ring" },
	{ "6: size 2^64-1", { { IMAGE_TEXT_SIZE, 8, UINT64_MAX } }, NULL, "does not lie in the ring" },
	{ "6: size 0", { { IMAGE_TEXT_SIZE, 8, 0 } }, NULL, "does not lie in the ring" },
	{ "6: precommitted location is rubbish",
	  { { IMAGE_TEXT_OFFSET + 24, 8, 7 }, { IMAGE_TEXT_SIZE + 24, 8, UINT64_MAX } },
	  NULL,
	  NULL },
	{ "11: id with a byte above 0x7f", { { IMAGE_PV_ID + 5, 1, 0xc3 } }, "characters that no id has", NULL },
	{ "11: id with a blank", { { IMAGE_PV_ID + 31, 1, ' ' } }, "characters that no id has", NULL },
	{ "11: id with a NUL", { { IMAGE_PV_ID, 1, 0 } }, "characters that no id has", NULL },
};

static void test_binary(void **state)
{
	char *text = image_all_types();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(binary); i++) {
		struct image im = image_new(2 << 20, pv_id, text);
		_cleanup_dev_ struct dev *dev = NULL;
		struct blkalign_error err = { 0 };
		struct lvm2_label label;
		struct lvm2_mda mda;
		double start = now();

		for (unsigned f = 0; f < 4 && binary[i].fields[f].bytes; f++)
			image_put(&im, binary[i].fields[f].at, binary[i].fields[f].value, binary[i].fields[f].bytes);
		image_seal(&im);
		assert_int_equal(
			dev_open_memory("hostile", im.data, im.size - (1 << 20) + 4096 + IMAGE_AREA_BYTES - (1 << 20), false, &dev), 0);
		check_outcome(binary[i].what, lvm2_label_read(dev, &label, &err), &err, binary[i].label);
		check_outcome(binary[i].what, lvm2_mda_read(dev, 4096, &mda, &err), &err, binary[i].area);
		check_cost(binary[i].what, start);
		image_free(&im);
	}
	free(text);
}

/* 2: lists that run to the end of the sector, and lists of one too many */
static void test_lists(void **state)
{
	struct image im = image_new(2 << 20, pv_id, "");
	struct blkalign_error err = { 0 };
	struct lvm2_label label;

	(void)state;
	for (unsigned count = 1; count <= 28; count++) {
		int r;

		memset(im.data + IMAGE_DATA_AREAS, 0, 1024 - IMAGE_DATA_AREAS);
		for (unsigned i = 0; i < count && IMAGE_DATA_AREAS + 16 * i < 1024; i++)
			image_put(&im, IMAGE_DATA_AREAS + 16 * i, 1 << 20, 8);
		image_seal(&im);
		r = lvm2_label_decode(im.data + 512, 1, &label, &err);
		check_outcome("2: data areas", r, &err, count > LVM2_AREAS_MAX ? "more than 16 data areas" : NULL);
		if (r == 0)
			assert_int_equal(label.data.count, count);
	}
	memset(im.data + IMAGE_DATA_AREAS, 0, 1024 - IMAGE_DATA_AREAS);
	image_put(&im, IMAGE_LABEL_OFFSET, 472, 4);
	memset(im.data + IMAGE_LABEL + 472, 'a', 32);
	image_seal(&im);
	check_outcome("2: no room for a list", lvm2_label_decode(im.data + 512, 1, &label, &err), &err,
		      "does not end within the label sector");
	image_put(&im, IMAGE_LABEL_OFFSET, 400, 4);
	memset(im.data + IMAGE_LABEL + 400, 'a', 112);
	image_seal(&im);
	check_outcome("2: no terminator", lvm2_label_decode(im.data + 512, 1, &label, &err), &err, "does not end within the label sector");
	image_free(&im);
}

/* 3 and 4 */
static void test_two_labels(void **state)
{
	struct image im = image_new(2 << 20, pv_id, "");
	_cleanup_dev_ struct dev *dev = NULL;
	struct lvm2_label label;

	(void)state;
	assert_int_equal(dev_open_memory("two", im.data, im.size, false, &dev), 0);
	memcpy(im.data + 1536, im.data + 512, 512);
	image_put(&im, 1536 + 8, 3, 8);
	assert_int_equal(lvm2_label_read(dev, &label, NULL), 0);
	assert_false(label.another);
	im.data[1536 + 32] = 'Z';
	image_put(&im, 1536 + 16, crc32_raw(IMAGE_CRC_SEED, im.data + 1536 + 20, 492), 4);
	assert_int_equal(lvm2_label_read(dev, &label, NULL), 0);
	assert_true(label.another);
	assert_string_equal(label.pv_id, pv_id);
	/* The first one damaged: the second counts. */
	im.data[600] ^= 1;
	assert_int_equal(lvm2_label_read(dev, &label, NULL), 0);
	assert_int_equal(label.sector, 3);
	assert_int_equal(label.pv_id[0], 'Z');
	image_free(&im);
}

/* 7: the text ends with the ring, one byte before, one byte beyond, and fills it whole */
static void test_ring(void **state)
{
	char *text = image_all_types();
	size_t length = strlen(text) + 1;
	struct image im = image_new(2 << 20, pv_id, text);
	_cleanup_dev_ struct dev *dev = NULL;
	const size_t area = 65536;

	(void)state;
	assert_int_equal(dev_open_memory("ring", im.data, im.size, false, &dev), 0);
	for (unsigned i = 0; i < 4; i++) {
		const size_t offsets[] = { area - length - 1, area - length, area - length + 1, area - 1 };
		struct lvm2_mda mda;
		char *found = NULL;
		size_t found_length;

		image_text_at(&im, text, offsets[i], area);
		assert_int_equal(lvm2_mda_read(dev, 4096, &mda, NULL), 0);
		assert_int_equal(lvm2_text_read(dev, &mda, &found, &found_length, NULL), 0);
		assert_int_equal(found_length, length - 1);
		assert_memory_equal(found, text, found_length);
		free(found);
	}
	/* As large as the ring, beginning in its middle. */
	length = area - 512;
	text = realloc(text, length);
	memset(text, ' ', length - 1);
	text[length - 1] = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct lvm2_mda mda;
		char *found = NULL;
		size_t found_length;

		image_text_at(&im, text, 30000, area);
		assert_int_equal(lvm2_mda_read(dev, 4096, &mda, NULL), 0);
		assert_int_equal(lvm2_text_read(dev, &mda, &found, &found_length, NULL), 0);
		assert_int_equal(found_length, length - 1);
		free(found);
	}
	image_free(&im);
	free(text);
}

/* --- text: an edit of the group that has every type --- */

static const struct {
	const char *what;
	const char *after; /* where to begin looking; NULL: at the start */
	const char *find;
	const char *replace;
	const char *refused; /* part of the sentence; NULL: loads */
} edits[] = {
	{ "as it is", NULL, "vg", "vg", NULL },
	{ "8: cut in a string", "\"/dev/sdb", "\"/dev/sdb\"", "\"/dev/sdb", NULL },
	{ "13: seqno 2^64", NULL, "seqno = 7", "seqno = 18446744073709551616", "not a number from 0" },
	{ "13: seqno -1", NULL, "seqno = 7", "seqno = -1", "not a number from 0" },
	{ "13: seqno 2^32", NULL, "seqno = 7", "seqno = 4294967296", "not a number from 0" },
	{ "13: seqno 2^32-1", NULL, "seqno = 7", "seqno = 4294967295", NULL },
	{ "13: seqno with leading zeros", NULL, "seqno = 7", "seqno = 007", "leading zero" },
	{ "13: seqno a float", NULL, "seqno = 7", "seqno = 7.0", "not a number from 0" },
	{ "13: seqno a string", NULL, "seqno = 7", "seqno = \"7\"", "not a number from 0" },
	{ "13: seqno an array", NULL, "seqno = 7", "seqno = [7]", "not a number from 0" },
	{ "13: seqno a section", NULL, "seqno = 7", "seqno { }", "not a number from 0" },
	{ "13: hexadecimal", NULL, "seqno = 7", "seqno = 0x7", "expected a number" },
	{ "13: sign only", NULL, "seqno = 7", "seqno = -", "expected a number" },
	{ "13: two points", NULL, "max_lv = 0", "max_lv = 1.2.3", "expected a number" },
	{ "13: a number nobody needs is huge", NULL, "max_lv = 0", "max_lv = 99999999999999999999999", NULL },
	{ "14: key twice", NULL, "seqno = 7", "seqno = 7 seqno = 8", "\"seqno\" comes twice" },
	{ "14: volume twice", "\nlin {", "\nstr {", "\nlin {", "\"lin\" comes twice" },
	{ "14: PV twice", NULL, "\npv1 {", "\npv0 {", "\"pv0\" comes twice" },
	{ "14: segment twice", "\nlin {", "segment2 {", "segment1 {", "\"segment1\" comes twice" },
	{ "14: two groups", "}\n}\n", "\n# Generated", "vg2 { }\n# Generated", "a second volume group" },
	{ "15: name with ESC", NULL, "\nlin {", "\n\"l\033[2Jin\" {", "a name that lvm2 does not allow" },
	{ "15: name with a line feed", NULL, "\nlin {", "\n\"l\nin\" {", "a name that lvm2 does not allow" },
	{ "15: name with /", NULL, "\nlin {", "\nl/in {", "a name that lvm2 does not allow" },
	{ "15: name ..", NULL, "\nlin {", "\n.. {", "a name that lvm2 does not allow" },
	{ "15: name .", NULL, "\nlin {", "\n. {", "a name that lvm2 does not allow" },
	{ "15: name -", NULL, "\nlin {", "\n- {", "a name that lvm2 does not allow" },
	{ "15: name --help", NULL, "\nlin {", "\n--help {", "a name that lvm2 does not allow" },
	{ "15: empty name", NULL, "\nlin {", "\n\"\" {", "expected the name of an entry" },
	{ "15: name of dots", NULL, "\nlin {", "\n... {", NULL },
	{ "15: group name with ESC", NULL, "vg {", "\"v\033g\" {", "a name that lvm2 does not allow" },
	{ "16: extent size 0", NULL, "extent_size = 512", "extent_size = 0", "extent size of this volume group is 0" },
	{ "16: extent size 1", NULL, "extent_size = 512", "extent_size = 1", "do not make whole rows" },
	{ "16: extent size 3", NULL, "extent_size = 512", "extent_size = 3", "do not make whole rows" },
	{ "16: extent size 384", NULL, "extent_size = 512", "extent_size = 384", NULL },
	{ "16: extent size 2^32-1", NULL, "extent_size = 512", "extent_size = 4294967295", "do not make whole rows" },
	{ "16: extent size 2^32", NULL, "extent_size = 512", "extent_size = 4294967296", "not a number from 0" },
	{ "17: PV reaches beyond 2^64", NULL, "pe_start = 2048", "pe_start = 36028797018963967", "beyond 2^64 bytes" },
	{ "17: pe_start beyond 2^64", NULL, "pe_start = 2048", "pe_start = 36028797018963968", "not a number from 0" },
	{ "17: pe_count 2^32-1", NULL, "pe_count = 100", "pe_count = 4294967295", NULL },
	{ "17: segment of 2^32-1 extents", "\nlin {", "extent_count = 4", "extent_count = 4294967295",
	  "begins at extent 4, expected 4294967295" },
	{ "17: segment longer than the PV", "\nzer {", "extent_count = 1\n\ntype = \"zero\"",
	  "extent_count = 101\ntype = \"striped\" stripe_count = 1 stripes = [ \"pv0\", 0 ]", "takes 101 extents from extent 0 of pv0" },
	{ "18: start and count wrap", "\nzer {", "start_extent = 0\nextent_count = 1", "start_extent = 0\nextent_count = 4294967296",
	  "not a number from 0" },
	{ "18: a gap", "\nlin {", "start_extent = 4", "start_extent = 5", "begins at extent 5, expected 4" },
	{ "18: an overlap", "\nlin {", "start_extent = 4", "start_extent = 3", "begins at extent 3, expected 4" },
	{ "18: not from 0", "\nerr {", "start_extent = 0", "start_extent = 1", "begins at extent 1, expected 0" },
	{ "18: no extents", "\nerr {", "extent_count = 1", "extent_count = 0", "a segment of 0 extents" },
	{ "18: area wraps 2^32", "\nerr {", "type = \"error\"", "type = \"striped\" stripe_count = 1 stripes = [ \"pv0\", 4294967295 ]",
	  "takes 1 extents from extent 4294967295" },
	{ "18: area beyond 2^32", "\nerr {", "type = \"error\"", "type = \"striped\" stripe_count = 1 stripes = [ \"pv0\", 4294967296 ]",
	  "expected an extent number" },
	{ "18: area negative", "\nerr {", "type = \"error\"", "type = \"striped\" stripe_count = 1 stripes = [ \"pv0\", -1 ]",
	  "expected an extent number" },
	{ "18: segment count lies", "\nlin {", "segment_count = 2", "segment_count = 3", "says that it has 3 segments, and has 2" },
	{ "18: segment count 2^31", "\nlin {", "segment_count = 2", "segment_count = 2147483648", "not a number from 0" },
	{ "19: no stripes", "\nstr {", "stripe_count = 2", "stripe_count = 0", "with 0 areas" },
	{ "19: 2^32-1 stripes", "\nstr {", "stripe_count = 2", "stripe_count = 4294967295", "with 4294967295 areas" },
	{ "19: 129 stripes", "\nstr {", "stripe_count = 2", "stripe_count = 129", "with 129 areas" },
	{ "19: 128 stripes that are not listed", "\nstr {", "stripe_count = 2", "stripe_count = 128", "does not have the 128 areas" },
	{ "19: fewer stripes than listed", "\nstr {", "stripe_count = 2", "stripe_count = 1", "does not have the 1 areas" },
	{ "19: stripe size 0", "\nstr {", "stripe_size = 128", "stripe_size = 0", "stripe size is 0" },
	{ "19: stripe size missing", "\nstr {", "stripe_size = 128", "", "stripe size is 0" },
	{ "19: stripe size 2^62", "\nstr {", "stripe_size = 128", "stripe_size = 4611686018427387904", "not a number from 0" },
	{ "19: stripe size that leaves a rest", "\nstr {", "stripe_size = 128", "stripe_size = 1000", "do not make whole rows" },
	{ "20: raid6 of 1", "\nr6 {", "device_count = 5", "device_count = 1", "does not have the 1 images" },
	{ "20: raid5 whose stripes wrap 2^64", "\nr5 {", "stripe_size = 128", "stripe_size = 18014398509481984", "not a number from 0" },
	{ "20: raid5 of 2^32-1", "\nr5 {", "device_count = 3", "device_count = 4294967295", "with 4294967295 areas" },
	{ "20: raid1 of 0", "\nr1 {", "device_count = 2", "device_count = 0", "with 0 areas" },
	{ "20: raid6 of 2, both parity", "\nr6 {", "device_count = 5\nregion_size = 128\nstripe_size = 128\n\nraids = [",
	  "device_count = 2\nstripe_size = 128\nraids = [ \"r6_rimage_0\", \"r6_rimage_1\" ]\nx = [", "too few to hold data" },
	{ "20: more copies than images", "\nr10 {", "data_copies = 2", "data_copies = 5", "too few to hold data" },
	{ "20: image shorter than needed", "\nr5 {", "extent_count = 4", "extent_count = 5",
	  "takes 3 extents from extent 0 of r5_rimage_0" },
	{ "20: only metadata", "\nr1 {", "\"r1_rmeta_1\", \"r1_rimage_1\"", "\"r1_rmeta_1\"", "metadata volume without its image" },
	{ "20: metadata twice", "\nr1 {", "\"r1_rmeta_1\", \"r1_rimage_1\"", "\"r1_rmeta_1\", \"r1_rmeta_0\"",
	  "metadata volume without its image" },
	{ "20: all room for a reshape", "\nr5 {", "extent_count = 4", "extent_count = 4 reshape_count = 2", "no extents besides" },
	{ "20: reshape count wraps", "\nr5 {", "extent_count = 4", "extent_count = 4 reshape_count = 4294967295", "no extents besides" },
	{ "21: on itself", "\nerr {", "type = \"error\"", "type = \"striped\" stripe_count = 1 stripes = [ \"err\", 0 ]",
	  "lies on itself" },
	{ "21: a ring of two", "\npool_tdata {", "type = \"striped\"", "type = \"thin\" thin_pool = \"pool\"", "lies on itself" },
	{ "21: thin volume is its own pool", "\nthin1 {", "thin_pool = \"pool\"", "thin_pool = \"thin1\"", "lies on itself" },
	{ "21: thin clones of each other lie nowhere", "\nthin1 {", "device_id = 1", "device_id = 1 origin = \"thin2\"", NULL },
	{ "22: two volumes on one extent", "\nlin {", "\"pv0\", 0", "\"pv0\", 4", "both claim extent 4 of pv0" },
	{ "22: a volume on an extent of another's image", "\nerr {", "type = \"error\"",
	  "type = \"striped\" stripe_count = 1 stripes = [ \"r1_rimage_0\", 3 ]", "both claim extent 3 of r1_rimage_0" },
	{ "22: a volume on the metadata of a pool", "\nerr {", "type = \"error\"",
	  "type = \"striped\" stripe_count = 1 stripes = [ \"pool_tmeta\", 0 ]", "both claim extent 0 of pool_tmeta" },
	{ "22: one metadata volume for two images", "\nr1 {", "\"r1_rmeta_1\"", "\"r1_rmeta_0\"", "both claim extent 0 of r1_rmeta_0" },
	{ "22: one store for two snapshots", "\nerr {", "type = \"error\"", "type = \"snapshot\" origin = \"lin\" cow_store = \"snap\"",
	  "both claim extent 0 of snap" },
	{ "22: a snapshot whose store is its origin", "\nsnapshot0 {", "cow_store = \"snap\"", "cow_store = \"org\"",
	  "whose store is its origin" },
	{ "23: unknown PV", "\nlin {", "\"pv0\"", "\"pv9\"", "no volume is named \"pv9\"" },
	{ "23: PV id of another alphabet", "\npv1 {", "id = \"", "id = \"@\" x = \"", "is not an id" },
	{ "23: PV without an id", "\npv1 {", "id = ", "idd = ", "has no \"id\"" },
	{ "23: short id", NULL, "id = \"", "id = \"short\" x = \"", "is not an id" },
	{ "24: hidden volume made visible", "\nr1_rimage_0 {", "\"WRITE\"]", "\"WRITE\", \"VISIBLE\"]", NULL },
	{ "25: mirror log nowhere", "\nmir {", "\"mir_mlog\"", "\"gone\"", "no volume is named \"gone\"" },
	{ "25: mirror log is the mirror", "\nmir {", "\"mir_mlog\"", "\"mir\"", "lies on itself" },
	{ "25: cache pool is a plain volume", "\ncached {", "\"cp_cpool\"", "\"lin\"", NULL },
	{ "25: cache over itself", "\ncached {", "\"cached_corig\"", "\"cached\"", "lies on itself" },
	{ "25: pool data nowhere", "\npool {", "\"pool_tdata\"", "\"\"", "no volume is named \"\"" },
	{ "25: pool data is a PV", "\npool {", "\"pool_tdata\"", "\"pv0\"", "no volume is named \"pv0\"" },
	{ "25: pool data a number", "\npool {", "\"pool_tdata\"", "7", "expected the name of a volume" },
	{ "25: thin without a pool", "\nthin1 {", "thin_pool", "thick_pool", "without \"thin_pool\"" },
	{ "25: snapshot without a store", "\nsnapshot0 {", "cow_store", "cow_shop", "needs one of" },
	{ "25: snapshot with two stores", "\nsnapshot0 {", "cow_store = \"snap\"", "cow_store = \"snap\" merging_store = \"snap\"",
	  "needs one of" },
	{ "25: snapshot of its store", "\nsnapshot0 {", "origin = \"org\"", "origin = \"snapshot0\"", "lies on itself" },
	{ "status: unknown word", "\nlin {", "\"WRITE\"", "\"WRITHE\"", "status \"WRITHE\" is unknown" },
	{ "status: a number", "\nlin {", "\"WRITE\"", "1", "a flag that is not a string" },
	{ "status: none", "\nlin {", "status", "stature", "has no \"status\"" },
	{ "flags: unknown word", "\nlin {", "flags = []", "flags = [\"FROM_THE_FUTURE\"]", NULL },
	{ "type: unknown flag", "\nlin {", "type = \"striped\"", "type = \"striped+FUTURE\"", NULL },
	{ "type: missing", "\nlin {", "type = ", "tripe = ", "without a type" },
	{ "contents: something else", NULL, "Text Format Volume Group", "Text Format Pie", "does not say that its contents are" },
	{ "version: 2", "\ncontents", "version = 1", "version = 2", "not a number from 0 to 1" },
	{ "version: 0", "\ncontents", "version = 1", "version = 0", "known is 1" },
	{ "grammar: no group", NULL, "vg {", "vg = [] #", "\"}\" without a section" },
	{ "grammar: array in array", NULL, "flags = []", "flags = [[]]", "expected a number or a string" },
	{ "grammar: bare word", NULL, "flags = []", "flags = bare", "expected a number or a string" },
	{ "grammar: comma at the end", NULL, "flags = []", "flags = [1,]", "expected a number or a string" },
	{ "grammar: no comma", NULL, "flags = []", "flags = [1 2]", "expected \",\" or \"]\"" },
	{ "grammar: no value", NULL, "seqno = 7", "seqno", "expected \"=\" or \"{\"" },
	{ "grammar: control character", NULL, "seqno = 7", "seqno = 7 \001", "expected the name of an entry" },
};

static void check_text(const char *what, const char *text, size_t length, const char *refused)
{
	struct blkalign_error err = { 0 };
	struct lvm2_vg *vg = NULL;
	double start = now();

	check_outcome(what, lvm2_vg_decode(text, length, &vg, &err), &err, refused);
	check_cost(what, start);
	lvm2_vg_free(vg);
}

static void test_edits(void **state)
{
	char *text = image_all_types();

	(void)state;
	for (size_t i = 1; i < ARRAY_SIZE(edits); i++) {
		char *edited;

		/* Cuts have a test of their own. */
		if (!strncmp(edits[i].what, "8:", 2))
			continue;
		edited = image_edit(text, edits[i].after, edits[i].find, edits[i].replace);
		check_text(edits[i].what, edited, strlen(edited), edits[i].refused);
		free(edited);
	}
	check_text(edits[0].what, text, strlen(text), NULL);
	free(text);
}

/* 8: cut anywhere, inside strings, comments and numbers: refused, but for the blanks and comments at the end */
static void test_cuts(void **state)
{
	char *text = image_all_types();
	size_t length = strlen(text), needed = (size_t)(strstr(text, "version = 1") - text) + strlen("version = 1");

	(void)state;
	for (size_t cut = 0; cut < length; cut += cut < length - 400 ? 13 : 1) {
		struct blkalign_error err = { 0 };
		struct lvm2_vg *vg = NULL;
		char *exact = malloc(cut ? cut : 1);
		int r;

		memcpy(exact, text, cut);
		r = lvm2_vg_decode(exact, cut, &vg, &err);
		if (cut < needed)
			assert_true(r < 0);
		if (r < 0)
			assert_int_not_equal(err.message[0], 0);
		lvm2_vg_free(vg);
		free(exact);
	}
	free(text);
}

/* 12, 13, 15: much of the same */
static void test_repeated(void **state)
{
	static const struct {
		const char *what;
		const char *before, *repeat;
		size_t times;
		const char *after;
		const char *refused;
	} rows[] = {
		{ "12: 100,000 sections deep", "", "a{", 100000, "", "nested deeper than 16" },
		{ "12: 16 sections deep", "", "a{", 16, "}}}}}}}}}}}}}}}}", "does not say that its contents are" },
		{ "12: 17 sections deep", "", "a{", 17, "}}}}}}}}}}}}}}}}}", "nested deeper than 16" },
		{ "12: 100,000 arrays deep", "a=", "[", 100000, "", "expected a number or a string" },
		{ "12: 100,000 opening and closing", "", "}", 100000, "", "\"}\" without a section" },
		{ "13: a number of 10,000 digits", "contents=\"Text Format Volume Group\" version=", "1", 10000, "",
		  "not a number from 0 to 1" },
		{ "13: 10,000 minus signs", "a=", "-", 10000, "", "expected a number" },
		{ "14: a group named as what stands beside it", "contents=\"Text Format Volume Group\" version=1 ", "creation_host{}", 1,
		  "", "bears the name of what stands beside it" },
		{ "15: a key of 4 KiB", "contents=\"Text Format Volume Group\" version=1 ", "n", 4096, "{}",
		  "is longer than 511 characters" },
		{ "15: a key of 511", "contents=\"Text Format Volume Group\" version=1 ", "n", 511, "{}",
		  "a name that lvm2 does not allow" },
		{ "15: a key of 512", "contents=\"Text Format Volume Group\" version=1 ", "n", 512, "{}", "is longer than 511 characters" },
		{ "14: the same key 200,000 times", "", "a=1 ", 200000, "", "\"a\" comes twice" },
		{ "15: a string of 1 MB that does not end", "a=\"", "x", 1000000, "", "does not end" },
		{ "15: 500,000 escapes", "a=\"", "\\\\", 500000, "\"", "does not say that its contents are" },
		{ "an array of 500,000 numbers", "a=[0", ",1", 500000, "]", "does not say that its contents are" },
		{ "as many entries as are held", "a=[0", ",1", 1110000, "]", "does not say that its contents are" },
		{ "more entries than are held", "a=[0", ",1", 1111000, "]", "more than 1110" },
		{ "a comment of 1 MB", "", "#", 1000000, "", "does not say that its contents are" },
		{ "500,000 comments", "", "#\n", 500000, "", "does not say that its contents are" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf text = { 0 };

		strbuf_add(&text, rows[i].before);
		for (size_t n = 0; n < rows[i].times; n++)
			strbuf_add(&text, rows[i].repeat);
		strbuf_add(&text, rows[i].after);
		check_text(rows[i].what, strbuf_text(&text), text.length, rows[i].refused);
		strbuf_done(&text);
	}
}

static void begin_group(struct strbuf *text, uint64_t pe_count)
{
	strbuf_printf(text,
		      "contents = \"Text Format Volume Group\" version = 1\nvg { id = \"vg000000000000000000000000000001\" seqno = 1 "
		      "status = [] extent_size = 8192\nphysical_volumes { pv0 { id = \"pv000000000000000000000000000001\" status = [] "
		      "pe_start = 2048 pe_count = %llu } }\nlogical_volumes {\n",
		      (unsigned long long)pe_count);
}

static void add_lv(struct strbuf *text, unsigned number, const char *area, unsigned extent)
{
	strbuf_printf(text,
		      "v%u { id = \"lv%030u\" status = [\"VISIBLE\"] segment_count = 1 segment1 { start_extent = 0 extent_count = 1 type = "
		      "\"striped\" stripe_count = 1 stripes = [ \"%s\", %u ] } }\n",
		      number, number, area, extent);
}

/* 21: chains of volumes and rings; `end` is what the last one lies on */
static void check_chain(unsigned count, const char *end, const char *refused)
{
	struct strbuf text = { 0 };

	begin_group(&text, 10);
	for (unsigned i = 0; i < count; i++) {
		char next[16];

		snprintf(next, sizeof(next), "v%u", i + 1);
		add_lv(&text, i, i + 1 < count ? next : end, 0);
	}
	strbuf_add(&text, "} }\n");
	check_text("21: chain", strbuf_text(&text), text.length, refused);
	strbuf_done(&text);
}

static void test_chains(void **state)
{
	(void)state;
	check_chain(1, "v0", "lies on itself");
	check_chain(2, "v0", "lies on itself");
	check_chain(1000, "v0", "lies on itself");
	check_chain(LVM2_VOLUME_DEPTH + 1, "pv0", NULL);
	check_chain(LVM2_VOLUME_DEPTH + 2, "pv0", "more than 16 deep");
	check_chain(1000, "pv0", "more than 16 deep");
}

/* Caps, on both sides; and that many volumes cost little. The caps themselves are 12 MB of text, and more than 64 MiB with the tree. */
static void check_many(unsigned count, bool measured, const char *refused)
{
	struct strbuf text = { 0 };
	struct blkalign_error err = { 0 };
	struct lvm2_vg *vg = NULL;
	double start = now();

	begin_group(&text, count);
	for (unsigned i = 0; i < count; i++)
		add_lv(&text, i, "pv0", i);
	strbuf_add(&text, "} }\n");
	check_outcome("many volumes", lvm2_vg_decode(strbuf_text(&text), text.length, &vg, &err), &err, refused);
	if (measured)
		check_cost("many volumes", start);
	lvm2_vg_free(vg);
	strbuf_done(&text);
}

static void test_many(void **state)
{
	(void)state;
	check_many(10000, true, NULL);
	check_many(LVM2_LVS_MAX, false, NULL);
	check_many(LVM2_LVS_MAX + 1, false, "more than 32768 volumes");
}

/* 23: one id under two names */
static void test_pv_twice(void **state)
{
	char *text = image_all_types(), *edited, id[64];

	(void)state;
	snprintf(id, sizeof(id), "%.45s x = \"", strstr(strstr(text, "\npv0 {"), "id = "));
	edited = image_edit(text, "\npv1 {", "id = \"", id);
	check_text("23: PV listed twice", edited, strlen(edited), "is listed twice");
	free(edited);
	free(text);
}

static void test_names(void **state)
{
	char name[160];

	(void)state;
	for (unsigned length = LVM2_NAME_MAX; length <= LVM2_NAME_MAX + 1; length++) {
		char *text = image_all_types(), *edited;

		snprintf(name, sizeof(name), "\n%0*d {", (int)length, 1);
		edited = image_edit(text, NULL, "\nlin {", name);
		check_text("15: longest name", edited, strlen(edited), length > LVM2_NAME_MAX ? "a name that lvm2 does not allow" : NULL);
		free(edited);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binary),	 cmocka_unit_test(test_lists),	cmocka_unit_test(test_two_labels),
		cmocka_unit_test(test_ring),	 cmocka_unit_test(test_edits),	cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_repeated), cmocka_unit_test(test_chains), cmocka_unit_test(test_names),
		cmocka_unit_test(test_pv_twice), cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
