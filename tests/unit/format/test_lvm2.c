/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Label, areas and text: what good ones say, and what EIO and short files do. */
#include "lvm2_image.h"

static const char pv_id[] = "abcdefghijklmnopqrstuvwxyzABCD!#";
static const char tiny[] = "vg {\nid = \"000000-0000-0000-0000-0000-0000-000001\"\nseqno = 3\nstatus = [\"READ\"]\nextent_size = 8\n}\n"
			   "contents = \"Text Format Volume Group\"\nversion = 1\n";

static struct lvm2_vg *decode(const char *text)
{
	struct blkalign_error err = { 0 };
	struct lvm2_vg *vg = NULL;

	if (lvm2_vg_decode(text, strlen(text), &vg, &err) < 0)
		fail_msg("%s", err.message);
	return vg;
}

static void read_label(const char *name, struct lvm2_label *label)
{
	char path[512];
	_cleanup_dev_ struct dev *dev = NULL;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/lvm2_label/%s", getenv("BLKALIGN_TESTS"), name);
	assert_int_equal(dev_open_file(path, &dev, NULL), 0);
	assert_int_equal(lvm2_label_read(dev, label, NULL), 0);
}

/* Made by pvcreate with the options that the names tell, on devices of 12 and 9 MiB. */
static void test_labels(void **state)
{
	struct lvm2_label label;

	(void)state;
	read_label("plain", &label);
	assert_int_equal(label.sector, 1);
	assert_int_equal(label.device_size_bytes, 9 << 20);
	assert_int_equal(label.data.count, 1);
	assert_int_equal(label.data.area[0].offset_bytes, 1 << 20);
	assert_int_equal(label.metadata.count, 1);
	assert_int_equal(label.metadata.area[0].offset_bytes, 4096);
	assert_int_equal(label.metadata.area[0].size_bytes, 1044480);
	assert_int_equal(label.extension_version, 2);
	assert_int_equal(label.extension_flags, 1);
	assert_int_equal(label.bootloader.count, 0);
	assert_false(label.another);
	read_label("two-areas", &label);
	assert_int_equal(label.metadata.count, 2);
	assert_int_equal(label.metadata.area[1].offset_bytes + label.metadata.area[1].size_bytes, 12 << 20);
	read_label("no-area", &label);
	assert_int_equal(label.metadata.count, 0);
	read_label("sector3-bootloader", &label);
	assert_int_equal(label.sector, 3);
	assert_int_equal(label.bootloader.count, 1);
	assert_int_equal(label.bootloader.area[0].offset_bytes, 1 << 20);
	assert_int_equal(label.bootloader.area[0].size_bytes, 1 << 20); /* 256 KiB were asked for: pvcreate fills up to the data */
	assert_int_equal(label.data.area[0].offset_bytes, 2 << 20);
}

static void test_id(void **state)
{
	char text[LVM2_ID_TEXT];

	(void)state;
	lvm2_id_format(text, pv_id);
	assert_string_equal(text, "abcdef-ghij-klmn-opqr-stuv-wxyz-ABCD!#");
	assert_true(lvm2_id_valid(pv_id));
	assert_false(lvm2_id_valid("abcdefghijklmnopqrstuvwxyzABCD! "));
}

/* Every length of device, and an error on every sector that is read: a code, never a crash or a wrong success. */
static void test_short_and_unreadable(void **state)
{
	struct image im = image_new(2 << 20, pv_id, tiny);
	struct lvm2_label label;
	struct lvm2_mda mda;
	char *text = NULL;
	size_t length = 0;

	(void)state;
	for (size_t size = 0; size < 8192; size += 256) {
		_cleanup_dev_ struct dev *dev = NULL;
		struct blkalign_error err = { 0 };

		assert_int_equal(dev_open_memory("short", im.data, size, false, &dev), 0);
		assert_int_equal(lvm2_label_read(dev, &label, &err), size < 1024 ? BLKALIGN_NOT_THIS : 0);
		assert_int_equal(lvm2_mda_read(dev, 4096, &mda, &err), size < 4608 ? -ERANGE : -EPROTO);
		assert_int_not_equal(err.message[0], 0);
	}
	for (unsigned bad = 0; bad < 3; bad++) {
		static const uint64_t places[] = { 1000, 4096, 4096 + 512 };
		_cleanup_dev_ struct dev *dev = NULL, *fault = NULL;

		assert_int_equal(dev_open_memory("bad", im.data, im.size, false, &dev), 0);
		assert_int_equal(dev_open_fault(dev, places[bad], 512, -EIO, &fault), 0);
		assert_int_equal(lvm2_label_read(fault, &label, NULL), bad == 0 ? -EIO : 0);
		assert_int_equal(lvm2_mda_read(fault, 4096, &mda, NULL), bad == 1 ? -EIO : 0);
		if (bad != 1)
			assert_int_equal(lvm2_text_read(fault, &mda, &text, &length, NULL), bad == 2 ? -EIO : 0);
		if (bad == 0)
			assert_int_equal(length, strlen(tiny));
		free(text);
		text = NULL;
	}
	image_free(&im);
}

static void test_checksums(void **state)
{
	static const size_t places[] = { IMAGE_PV_ID + 40, IMAGE_MDA_SIZE + 100, IMAGE_AREA_AT + 520 };
	struct image im = image_new(2 << 20, pv_id, tiny);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		_cleanup_dev_ struct dev *dev = NULL;
		struct lvm2_label label;
		struct lvm2_mda mda;
		char *text = NULL;
		size_t length;

		im.data[places[i]] ^= 1;
		assert_int_equal(dev_open_memory("flipped", im.data, im.size, false, &dev), 0);
		assert_int_equal(lvm2_label_read(dev, &label, NULL), i == 0 ? -EBADMSG : 0);
		assert_int_equal(lvm2_mda_read(dev, 4096, &mda, NULL), i == 1 ? -EBADMSG : 0);
		if (i != 1)
			assert_int_equal(lvm2_text_read(dev, &mda, &text, &length, NULL), i == 2 ? -EBADMSG : 0);
		free(text);
		im.data[places[i]] ^= 1;
	}
	image_free(&im);
}

static const struct lvm2_lv *find_lv(const struct lvm2_vg *vg, const char *name)
{
	for (uint32_t i = 0; i < vg->lv_count; i++)
		if (!strcmp(vg->lvs[i].name, name))
			return &vg->lvs[i];
	fail_msg("no volume %s", name);
	abort(); /* fail_msg() has jumped; this tells the compiler */
}

/* The numbers stand in the text beside. */
static void test_segments(void **state)
{
	static const struct {
		const char *lv;
		enum lvm2_segment_type type;
		const char *type_name;
		uint64_t extents;
		uint32_t data_areas, refs, copies;
		uint64_t stripe_bytes, region_bytes, chunk_bytes;
		bool internal;
	} rows[] = {
		{ "lin", LVM2_STRIPED, "linear", 6, 1, 1, 1, 0, 0, 0, false },
		{ "str", LVM2_STRIPED, "striped", 6, 2, 2, 1, 65536, 0, 0, false },
		{ "r1", LVM2_RAID1, "raid1", 4, 2, 4, 2, 0, 65536, 0, false },
		{ "r5", LVM2_RAID_PARITY, "raid5_ls", 4, 3, 6, 1, 65536, 65536, 0, false },
		{ "r6", LVM2_RAID_PARITY, "raid6_zr", 6, 5, 10, 1, 65536, 65536, 0, false },
		{ "r6_rimage_0", LVM2_STRIPED, "linear", 2, 1, 1, 1, 0, 0, 0, true },
		{ "r10", LVM2_RAID10, "raid10", 4, 4, 8, 2, 65536, 65536, 0, false },
		{ "r0", LVM2_RAID0, "raid0", 4, 2, 2, 1, 65536, 65536, 0, false },
		{ "mir", LVM2_MIRROR, "mirror", 3, 2, 3, 2, 0, 65536, 0, false },
		{ "mir_mlog", LVM2_STRIPED, "linear", 1, 1, 1, 1, 0, 0, 0, true },
		{ "snapshot0", LVM2_SNAPSHOT, "snapshot", 4, 0, 2, 1, 0, 0, 4096, false },
		{ "pool", LVM2_THIN_POOL, "thin-pool", 4, 1, 2, 1, 0, 0, 65536, false },
		{ "thin1", LVM2_THIN, "thin", 8, 0, 1, 1, 0, 0, 0, false },
		{ "thin2", LVM2_THIN, "thin", 8, 0, 3, 1, 0, 0, 0, false },
		{ "cached", LVM2_CACHE, "cache", 4, 0, 2, 1, 0, 0, 0, false },
		{ "cp_cpool", LVM2_CACHE_POOL, "cache-pool", 2, 1, 2, 1, 0, 0, 32768, true },
		{ "wc", LVM2_WRITECACHE, "writecache", 2, 0, 2, 1, 0, 0, 0, false },
		{ "integ", LVM2_INTEGRITY, "integrity", 2, 0, 2, 1, 0, 0, 0, false },
		{ "vdo1", LVM2_VDO, "vdo", 8, 0, 1, 1, 0, 0, 0, false },
		{ "vpool", LVM2_VDO_POOL, "vdo-pool", 4, 1, 1, 1, 0, 0, 0, false },
		{ "err", LVM2_ERROR, "error", 1, 0, 0, 1, 0, 0, 0, false },
		{ "zer", LVM2_ZERO, "zero", 1, 0, 0, 1, 0, 0, 0, false },
		{ "new", LVM2_UNKNOWN, "shiny+GLITTER", 1, 0, 0, 1, 0, 0, 0, false },
	};
	char *text = image_all_types();
	struct lvm2_vg *vg = decode(text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct lvm2_lv *lv = find_lv(vg, rows[i].lv);
		const struct lvm2_segment *s = &lv->segments[0];

		assert_int_equal(s->type, rows[i].type);
		assert_string_equal(s->type_name, rows[i].type_name);
		assert_int_equal(lv->extents, rows[i].extents);
		assert_int_equal(lv->size_bytes, rows[i].extents * 262144);
		assert_int_equal(s->data_areas, rows[i].data_areas);
		assert_int_equal(s->ref_count, rows[i].refs);
		assert_int_equal(s->data_copies, rows[i].copies);
		assert_int_equal(s->stripe_bytes, rows[i].stripe_bytes);
		assert_int_equal(s->region_bytes, rows[i].region_bytes);
		assert_int_equal(s->chunk_bytes, rows[i].chunk_bytes);
		assert_int_equal(lv->internal, rows[i].internal);
	}
	assert_int_equal(find_lv(vg, "thin2")->segments[0].device_id, 2);
	assert_int_equal(find_lv(vg, "pool")->segments[0].transaction_id, 1);
	assert_true(find_lv(vg, "wc_cvol")->flags & LVM2_CACHE_VOL);
	assert_string_equal(find_lv(vg, "r6")->segments[0].raid->level, "raid6");
	assert_int_equal(find_lv(vg, "r6")->segments[0].raid->layout, 8);
	lvm2_vg_free(vg);
	free(text);
}

/* What a volume lies on comes before it. */
static void test_order(void **state)
{
	char *text = image_all_types();
	struct lvm2_vg *vg = decode(text);
	uint32_t *place = calloc(vg->lv_count, sizeof(*place));

	(void)state;
	for (uint32_t i = 0; i < vg->lv_count; i++)
		place[vg->order[i]] = i + 1;
	for (uint32_t i = 0; i < vg->lv_count; i++) {
		assert_int_not_equal(place[i], 0);
		for (uint32_t j = 0; j < vg->lvs[i].segments[0].ref_count; j++) {
			const struct lvm2_ref *ref = &vg->lvs[i].segments[0].refs[j];

			assert_true(ref->on_pv || ref->role == LVM2_ROLE_HISTORY || place[ref->index] < place[i]);
		}
	}
	free(place);
	lvm2_vg_free(vg);
	free(text);
}

/* lvm2 merges, reorders and comments: all of this is the same group. */
static void test_grammar(void **state)
{
	static const char text[] =
		"contents=\"Text Format Volume Group\" version=1 # header first, as in backups\n"
		"description = \"a \\\"quoted\\\" \\\\ word\"\n"
		"ratio = 1.5 half = .5 minus = -3 plus = +4 huge = 99999999999999999999\n"
		"\"vg-x\"{id='000000-0000-0000-0000-0000-0000-000001'seqno=12 extent_size=8192#comment\n"
		"status=\"READ\" flags=[] tags=[\"a\",\"b\",1,2.5]\n"
		"system_id = \"\" lock_type = \"sanlock\"\n"
		"physical_volumes{ pv0 { id = \"aaaaaa-0000-0000-0000-0000-0000-000001\" status = [] pe_start = 8 pe_count = 4 } }\n"
		"logical_volumes{ a.b_c+d-e { id=\"bbbbbb-0000-0000-0000-0000-0000-000001\" status=[\"VISIBLE\"] segment_count=2\n"
		"s2 { start_extent=1 extent_count=1 type=\"linear\" stripe_count=1 stripes=[\"pv0\",3] }\n"
		"s1 { start_extent=0 extent_count=1 type=\"striped\" stripe_count=1 stripes=[\"pv0\",0] } } } }";
	struct lvm2_vg *vg = decode(text);

	(void)state;
	assert_string_equal(vg->name, "vg-x");
	assert_int_equal(vg->seqno, 12);
	assert_int_equal(vg->extent_bytes, 4 << 20);
	assert_string_equal(vg->lock_type, "sanlock");
	assert_int_equal(vg->lv_count, 1);
	assert_string_equal(vg->lvs[0].name, "a.b_c+d-e");
	assert_int_equal(vg->lvs[0].segments[0].refs[0].extent, 0);
	assert_int_equal(vg->lvs[0].segments[1].refs[0].extent, 3);
	lvm2_vg_free(vg);
}

static void test_error_position(void **state)
{
	struct blkalign_error err = { 0 };
	struct lvm2_vg *vg;
	static const char text[] = "vg {\n\tid = [\n\t\"a\",\n\t}\n";

	(void)state;
	assert_int_equal(lvm2_vg_decode(text, strlen(text), &vg, &err), -EPROTO);
	assert_string_equal(err.message, "metadata text, line 4, column 2: expected a number or a string");
	assert_int_equal(err.offset_bytes, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_id),
		cmocka_unit_test(test_short_and_unreadable),
		cmocka_unit_test(test_checksums),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_error_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
