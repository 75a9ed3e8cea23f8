/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of PVs that disagree, are missing, come twice or come late; and of every type of volume. */
#include <inttypes.h>

#include "lvm_bench.h"

static void test_pv(void **state)
{
	char *text = image_all_types(), *exported = image_edit(text, NULL, "\"RESIZEABLE\"", "\"EXPORTED\", \"CLUSTERED\"");
	struct bench b;
	const struct blkalign_node *pv;

	(void)state;
	three(&b, exported);
	pv = get(&b, "pv:sdb");
	assert_int_equal(blkalign_node_kind(pv), BLKALIGN_KIND_PV);
	assert_int_equal(edge_to(pv, "sdb")->lower_offset_bytes, 0);
	assert_string_equal(blkalign_node_str(pv, BLKALIGN_ATTR_CONTENT), "LVM2_member");
	assert_int_equal(blkalign_node_u64(pv, BLKALIGN_ATTR_PE_START), 1 << 20);
	assert_int_equal(blkalign_node_u64(pv, BLKALIGN_ATTR_PE_COUNT), 100);
	assert_int_equal(blkalign_node_u64(pv, BLKALIGN_ATTR_EXTENT), EXTENT);
	assert_int_equal(blkalign_node_u64(pv, BLKALIGN_ATTR_VG_SEQNO), 7);
	assert_string_equal(blkalign_node_str(pv, BLKALIGN_ATTR_VG_NAME), "vg");
	assert_string_equal(blkalign_node_str(pv, BLKALIGN_ATTR_VG_STATE), "exported,clustered");
	assert_int_equal(strlen(blkalign_node_str(pv, BLKALIGN_ATTR_PV_UUID)), 38);
	assert_int_equal(strlen(blkalign_node_str(pv, BLKALIGN_ATTR_VG_UUID)), 38);
	/* Of its four RAID volumes, which were never activated, of what has its metadata on volumes that are empty here, and of types that are not read. */
	assert_int_equal(blkalign_graph_remarks(b.graph), 14);
	assert_true(remarked(&b, "vg/r6: was never started: what its images hold is read as it is, and redundancy is void until its first "
				 "start resyncs it"));
	assert_true(remarked(&b, "vg/mir: its log cannot be used: it does not begin with the header of one: only its first leg counts"));
	assert_true(remarked(&b, "vg/pool: cannot be read: its metadata volume holds no thin pool metadata"));
	assert_true(remarked(&b, "vg/thin1: cannot be read: its pool cannot be read"));
	assert_true(
		remarked(&b, "vg/cached: its cache is left out: the cache's metadata volume holds no cache metadata; it writes through"));
	assert_true(remarked(&b, "vg/wc: cannot be read: its newest blocks may be in its writecache"));
	assert_true(remarked(&b, "its blocks are compressed and shared by VDO, which is not understood"));
	assert_true(remarked(&b, "dm-integrity"));
	assert_true(remarked(&b, "vg/new: cannot be read: volumes of its type are not understood"));
	done(&b);
	free(exported);
	free(text);
}

/* Kernel names, types and what each volume lies on: numbers as in the text beside. */
static void test_volumes(void **state)
{
	static const struct {
		const char *name, *type, *level, *layout;
		uint64_t chunk, stripe, size;
		bool hidden, read;
		const char *lower;
		uint64_t upper_offset, lower_offset;
		uint32_t stripes, slot;
		const char *state;
	} rows[] = {
		{ "vg/lin", "linear", NULL, NULL, 0, 0, 6, false, true, "pv:sdb", 4 * EXTENT, 1 << 20, 1, 0, NULL },
		{ "vg/str", "striped", NULL, NULL, 65536, 131072, 6, false, true, "pv:sdb", 0, (1 << 20) + 2 * EXTENT, 2, 1, NULL },
		{ "vg/r0", "raid0", "raid0", NULL, 65536, 131072, 4, false, true, "vg/r0_rimage_1", 0, 0, 2, 1, NULL },
		{ "vg/r1", "raid1", "raid1", NULL, 0, 0, 4, false, true, "vg/r1_rimage_1", 0, 0, 1, 1, "in_sync" },
		{ "vg/r1", "raid1", "raid1", NULL, 0, 0, 4, false, true, "vg/r1_rmeta_1", 0, BLKALIGN_UNKNOWN, 1, BLKALIGN_SLOT_NONE,
		  "metadata" },
		{ "vg/r5", "raid5_ls", "raid5", "left-symmetric", 65536, 131072, 4, false, true, "vg/r5_rimage_2", 0, 0, 2, 2, "in_sync" },
		{ "vg/r6", "raid6_zr", "raid6", "ddf-zero-restart", 65536, 196608, 6, false, true, "vg/r6_rimage_4", 0, 0, 3, 4,
		  "in_sync" },
		{ "vg/r10", "raid10", "raid10", "near=2", 65536, 131072, 4, false, true, "vg/r10_rimage_3", 0, 0, 2, 3, "in_sync" },
		{ "vg/r6_rimage_4", "linear", NULL, NULL, 0, 0, 2, true, false, "pv:sdb", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
		{ "vg/mir", "mirror", "raid1", NULL, 0, 0, 3, false, true, "vg/mir_mimage_1", 0, 0, 1, 1, NULL },
		{ "vg/mir", "mirror", "raid1", NULL, 0, 0, 3, false, true, "vg/mir_mlog", 0, BLKALIGN_UNKNOWN, 1, BLKALIGN_SLOT_NONE,
		  "metadata" },
		{ "vg/org", "linear", NULL, NULL, 0, 0, 4, false, true, "pv:sdc", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
		{ "vg/snap", "snapshot", NULL, NULL, 0, 0, 4, false, true, "vg/org", 0, 0, 1, 0, NULL },
		{ "vg/snap", "snapshot", NULL, NULL, 0, 0, 4, false, true, "vg/snap-cow", 0, BLKALIGN_UNKNOWN, 1, BLKALIGN_SLOT_NONE,
		  "journal" },
		{ "vg/snap-cow", "linear", NULL, NULL, 0, 0, 2, true, false, "pv:sdc", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
		{ "vg/pool", "thin-pool", NULL, NULL, 0, 0, 4, false, false, "vg/pool_tdata", 0, 0, 1, 0, NULL },
		{ "vg/pool", "thin-pool", NULL, NULL, 0, 0, 4, false, false, "vg/pool_tmeta", 0, BLKALIGN_UNKNOWN, 1, BLKALIGN_SLOT_NONE,
		  "metadata" },
		{ "vg/thin1", "thin", NULL, NULL, 0, 0, 8, false, false, "vg/pool", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
		{ "vg/thin2", "thin", NULL, NULL, 0, 0, 8, false, false, "vg/org", 0, 0, 1, 0, NULL },
		{ "vg/cached", "cache", NULL, NULL, 0, 0, 4, false, true, "vg/cached_corig", 0, 0, 1, 0, NULL },
		{ "vg/cached", "cache", NULL, NULL, 0, 0, 4, false, true, "vg/cp_cpool", 0, BLKALIGN_UNKNOWN, 1, BLKALIGN_SLOT_NONE,
		  "journal" },
		{ "vg/cp_cpool", "cache-pool", NULL, NULL, 0, 0, 2, true, false, "vg/cp_cpool_cdata", 0, 0, 1, 0, NULL },
		{ "vg/wc", "writecache", NULL, NULL, 0, 0, 2, false, false, "vg/wc_wcorig", 0, 0, 1, 0, NULL },
		{ "vg/integ", "integrity", NULL, NULL, 0, 0, 2, false, false, "vg/integ_iorig", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
		{ "vg/vdo1", "vdo", NULL, NULL, 0, 0, 8, false, false, "vg/vpool", 0, BLKALIGN_UNKNOWN, 1, 0, NULL },
	};
	char *text = image_all_types();
	struct bench b;

	(void)state;
	three(&b, text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct blkalign_node *n = get(&b, rows[i].name);
		const struct blkalign_edge *e = edge_to(n, rows[i].lower);
		const char *level = blkalign_node_str(n, BLKALIGN_ATTR_MD_LEVEL),
			   *layout = blkalign_node_str(n, BLKALIGN_ATTR_MD_LAYOUT_NAME);

		assert_int_equal(blkalign_node_kind(n), BLKALIGN_KIND_LV);
		assert_string_equal(blkalign_node_str(n, BLKALIGN_ATTR_LV_TYPE), rows[i].type);
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), rows[i].size * EXTENT);
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_LV_HIDDEN), rows[i].hidden);
		assert_string_equal(level ? level : "-", rows[i].level ? rows[i].level : "-");
		assert_string_equal(layout ? layout : "-", rows[i].layout ? rows[i].layout : "-");
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_MD_CHUNK), rows[i].chunk ? rows[i].chunk : BLKALIGN_UNKNOWN);
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_MD_STRIPE), rows[i].stripe ? rows[i].stripe : BLKALIGN_UNKNOWN);
		assert_int_equal(stack_dev(b.stack, n) != NULL, rows[i].read);
		assert_int_equal(e->upper_offset_bytes, rows[i].upper_offset);
		/* Where extents lie on PVs is checked on real groups, by the tables of the kernel. */
		if (rows[i].lower_offset != BLKALIGN_UNKNOWN || strncmp(rows[i].lower, "pv:", 3) != 0)
			assert_int_equal(e->lower_offset_bytes, rows[i].lower_offset);
		assert_int_equal(e->stripes, rows[i].stripes);
		assert_int_equal(e->chunk_bytes, e->stripes > 1 ? rows[i].chunk : 0);
		assert_int_equal(e->slot, rows[i].slot);
		assert_string_equal(e->state ? e->state : "-", rows[i].state ? rows[i].state : "-");
	}
	assert_null(blkalign_graph_find(b.graph, "vg/snapshot0"));
	assert_null(stack_dev(b.stack, get(&b, "vg/new")));
	assert_string_equal(blkalign_node_str(get(&b, "vg/new"), BLKALIGN_ATTR_LV_TYPE), "shiny+GLITTER");
	done(&b);
	free(text);
}

/* sda and sdc have 512, sdb 4096 */
static void test_blocks(void **state)
{
	char *text = image_all_types();
	struct bench b;
	const struct blkalign_value *v;

	(void)state;
	three(&b, text);
	assert_int_equal(blkalign_node_u64(get(&b, "vg/org"), BLKALIGN_ATTR_PHYSICAL_BLOCK), 512);
	assert_int_equal(blkalign_node_u64(get(&b, "vg/lin"), BLKALIGN_ATTR_PHYSICAL_BLOCK), 4096);
	v = blkalign_node_value(get(&b, "vg/r6"), BLKALIGN_ATTR_PHYSICAL_BLOCK);
	assert_int_equal(v->u64, 4096);
	assert_int_equal(v->origin, BLKALIGN_ORIGIN_COMPUTED);
	assert_int_equal(blkalign_node_u64(get(&b, "vg/r6"), BLKALIGN_ATTR_LOGICAL_BLOCK), 512);
	assert_int_equal(blkalign_node_u64(get(&b, "vg/zer"), BLKALIGN_ATTR_PHYSICAL_BLOCK), BLKALIGN_UNKNOWN);
	done(&b);
	free(text);
}

/* Without sdb: what lies on sda only is read, the rest fails there and says why; mirrors use the leg that is left. */
/* The cache is of no use here: its metadata is empty. */
static void test_cache_modes(void **state)
{
	static const struct {
		const char *mode;
		bool read;
	} rows[] = {
		{ "\"writethrough\"", true }, { "\"passthrough\"", true }, { "\"writeback\"", false }, { "\"writethroughs\"", false }
	};
	char *text = image_all_types();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *edited = image_edit(text, "cp_cpool {", "\"writethrough\"", rows[i].mode);
		struct blkalign_error err = { 0 };
		uint8_t bytes[2] = { 0 };
		struct bench b;
		struct dev *dev;

		start(&b);
		add_pv(&b, "sda", edited, "pv0", 512);
		add_pv(&b, "sdb", edited, "pv1", 512);
		add_pv(&b, "sdc", edited, "pv2", 512);
		memset(b.images[1].data + (1 << 20) + 30 * EXTENT, 0xc0, 4 * EXTENT);
		run(&b);
		dev = stack_dev(b.stack, get(&b, "vg/cached"));
		assert_int_equal(dev != NULL, rows[i].read);
		if (dev) {
			assert_int_equal(dev_read(dev, 0, bytes, 1, &err), 0);
			assert_int_equal(dev_read(dev, 4 * EXTENT - 1, bytes + 1, 1, &err), 0);
			assert_memory_equal(bytes, "\xc0\xc0", 2);
		} else {
			assert_true(remarked(&b, "vg/cached: cannot be read: the cache's metadata volume holds no cache metadata"));
		}
		done(&b);
		free(edited);
	}
	free(text);
}

static void test_missing(void **state)
{
	char *text = image_all_types();
	struct bench b;
	struct dev *dev;
	struct blkalign_error err = { 0 };
	uint8_t byte;

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	memset(b.images[0].data + (1 << 20), 0xa1, 4 * EXTENT);
	run(&b);
	assert_true(remarked(&b, "(last seen as /dev/sdb) is missing"));
	assert_string_equal(blkalign_node_str(get(&b, "pv:sda"), BLKALIGN_ATTR_VG_STATE), "partial");
	dev = stack_dev(b.stack, get(&b, "vg/lin"));
	assert_int_equal(dev_read(dev, 4 * EXTENT - 1, &byte, 1, &err), 0);
	assert_int_equal(byte, 0xa1);
	assert_int_equal(dev_read(dev, 4 * EXTENT, &byte, 1, &err), -EIO);
	assert_non_null(strstr(err.message, "a physical volume is missing"));
	/* Leg 0 of both is on sda. */
	assert_int_equal(dev_read(stack_dev(b.stack, get(&b, "vg/r1")), 4 * EXTENT - 1, &byte, 1, &err), 0);
	assert_int_equal(dev_read(stack_dev(b.stack, get(&b, "vg/mir")), 0, &byte, 1, &err), 0);
	assert_int_equal(blkalign_node_edges(get(&b, "vg/r1_rimage_1")), 0);
	done(&b);

	start(&b);
	add_pv(&b, "sdb", text, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	run(&b);
	assert_int_equal(dev_read(stack_dev(b.stack, get(&b, "vg/r1")), 0, &byte, 1, &err), 0);
	assert_null(stack_dev(b.stack, get(&b, "vg/r0_rimage_0")));
	done(&b);
	free(text);
}

/* A leg that is being rebuilt is not read, though it is there. */
static void test_rebuild(void **state)
{
	char *text = image_all_types(), *edited = image_edit(text, "\nr1_rimage_0 {", "\"WRITE\"", "\"WRITE\", \"REBUILD\"");
	struct bench b;
	uint64_t place;
	uint8_t byte;

	(void)state;
	three(&b, edited);
	place = edge_to(get(&b, "vg/r1_rimage_1"), "pv:sdb")->lower_offset_bytes;
	b.images[1].data[place] = 0x77;
	assert_int_equal(dev_read(stack_dev(b.stack, get(&b, "vg/r1")), 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 0x77);
	done(&b);
	free(edited);
	free(text);
}

static void test_freshest(void **state)
{
	char *text = image_all_types(), *newer = image_edit(text, NULL, "seqno = 7", "seqno = 8");
	char *renamed = image_edit(newer, NULL, "\nlin {", "\nlong {");
	struct bench b;

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdb", renamed, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	run(&b);
	assert_int_equal(blkalign_node_u64(get(&b, "pv:sda"), BLKALIGN_ATTR_VG_SEQNO), 8);
	get(&b, "vg/long");
	assert_null(blkalign_graph_find(b.graph, "vg/lin"));
	assert_true(remarked(&b, "sda: its text of volume group vg is outdated: sequence number 7, the freshest is 8 on sdb"));
	assert_true(remarked(&b, "sdc: its text"));
	assert_false(remarked(&b, "sdb: its text"));
	done(&b);

	/* 9: the same number, different texts: on two PVs, and in the two areas of one */
	start(&b);
	add_pv(&b, "sda", newer, "pv0", 512);
	add_pv(&b, "sdb", renamed, "pv1", 512);
	add_pv(&b, "sdc", newer, "pv2", 512);
	run(&b);
	get(&b, "vg/lin");
	assert_true(remarked(&b, "different texts bear the sequence number 8; the one on sda is used"));
	done(&b);
	free(renamed);
	free(newer);
	free(text);
}

/* 9: the two areas of one PV disagree: the higher number counts, of equal ones the first. */
static void test_two_areas(void **state)
{
	char *text = image_all_types();

	(void)state;
	for (unsigned seqno = 6; seqno <= 8; seqno++) {
		char number[32], *other;
		struct image second;
		struct image *im;
		struct bench b;
		char id[33];

		snprintf(number, sizeof(number), "seqno = %u", seqno);
		other = image_edit(text, NULL, "seqno = 7", number);
		memcpy(strstr(other, "\nlin {"), "\nLIN {", 6);
		id_of(text, "pv0", id);
		second = image_new(2 << 20, id, other);
		start(&b);
		im = add_pv(&b, "sda", text, "pv0", 512);
		/* The second area takes the last MiB but 4 KiB of the device: not where the text puts extents that matter here. */
		memcpy(im->data + PV_BYTES - IMAGE_AREA_BYTES, second.data + IMAGE_AREA_AT, IMAGE_AREA_BYTES);
		image_put(im, IMAGE_MDA_AREAS + 16, PV_BYTES - IMAGE_AREA_BYTES, 8);
		image_put(im, IMAGE_MDA_AREAS + 24, IMAGE_AREA_BYTES, 8);
		image_put(im, IMAGE_EXTENSION, 0, 8);
		image_put(im, IMAGE_EXTENSION + 16, 2, 4);
		image_put(im, IMAGE_EXTENSION + 20, 1, 4);
		image_seal(im);
		image_put(im, PV_BYTES - IMAGE_AREA_BYTES + 24, PV_BYTES - IMAGE_AREA_BYTES, 8);
		image_put(im, PV_BYTES - IMAGE_AREA_BYTES, crc32_raw(IMAGE_CRC_SEED, im->data + PV_BYTES - IMAGE_AREA_BYTES + 4, 508), 4);
		run(&b);
		get(&b, seqno == 8 ? "vg/LIN" : "vg/lin");
		assert_int_equal(remarked(&b, "different texts bear the sequence number 7"), seqno == 7);
		assert_int_equal(blkalign_node_u64(get(&b, "pv:sda"), BLKALIGN_ATTR_VG_SEQNO), seqno == 8 ? 8 : 7);
		done(&b);
		image_free(&second);
		free(other);
	}
	free(text);
}

/* 10: a device that the text does not list carries the highest number */
static void test_foreign(void **state)
{
	char *text = image_all_types(), *fresh = image_edit(text, NULL, "seqno = 7", "seqno = 4000000000");
	char *hijack = image_edit(fresh, NULL, "\nlin {", "\nlost {");
	struct bench b;
	struct image *im;

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdb", text, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	im = add_pv(&b, "usb", hijack, "pv0", 512);
	memset(im->data + IMAGE_PV_ID, 'x', 32);
	image_seal(im);
	run(&b);
	get(&b, "vg/lin");
	assert_int_equal(blkalign_node_u64(get(&b, "pv:sda"), BLKALIGN_ATTR_VG_SEQNO), 7);
	assert_true(remarked(&b, "usb: carries a text of volume group vg that does not list it"));
	assert_null(blkalign_node_value(get(&b, "pv:usb"), BLKALIGN_ATTR_VG_NAME));
	done(&b);
	free(hijack);
	free(fresh);
	free(text);
}

static void test_clone(void **state)
{
	char *text = image_all_types();
	struct bench b;

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdb", text, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	add_pv(&b, "usb", text, "pv0", 512);
	run(&b);
	assert_true(remarked(&b, "sda and usb bear the same physical volume id: neither is used"));
	assert_string_equal(blkalign_node_str(get(&b, "pv:sdb"), BLKALIGN_ATTR_VG_STATE), "partial");
	assert_null(blkalign_node_value(get(&b, "pv:sda"), BLKALIGN_ATTR_VG_NAME));
	done(&b);
	free(text);
}

/* A multipath map over its two paths, all three readable. */
static void test_multipath(void **state)
{
	char *text = image_all_types();
	struct bench b;
	struct blkalign_node *map;
	struct dev *dev;

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdb", text, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	add_pv(&b, "sdd", text, "pv0", 512);
	assert_int_equal(dev_open_memory("mpatha", b.images[0].data, PV_BYTES, false, &dev), 0);
	assert_int_equal(stack_add(b.stack, BLKALIGN_KIND_DM, "mpatha", dev, &map), 0);
	assert_int_equal(graph_connect_linear(b.graph, map, graph_find(b.graph, "sda"), 0, PV_BYTES), 0);
	assert_int_equal(graph_connect(b.graph, &(struct blkalign_edge){ .upper = map,
									 .lower = graph_find(b.graph, "sdd"),
									 .length_bytes = PV_BYTES,
									 .stripes = 1,
									 .slot = 1 }),
			 0);
	run(&b);
	edge_to(get(&b, "vg/lin"), "pv:mpatha");
	assert_null(blkalign_node_value(get(&b, "pv:sdb"), BLKALIGN_ATTR_VG_STATE));
	done(&b);
	free(text);
}

static void test_same_name(void **state)
{
	char *text = image_all_types(),
	     *other = image_edit(text, NULL, "id = \"", "id = \"other0-0000-0000-0000-0000-0000-000000\" x = \"");
	struct bench b;
	char *pv0 = image_edit(other, "\npv0 {", "id = \"", "id = \"otherp-0000-0000-0000-0000-0000-000000\" x = \"");

	(void)state;
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdz", pv0, "pv0", 512);
	run(&b);
	assert_true(remarked(&b, "two volume groups are named vg"));
	get(&b, "vg/lin");
	edge_to(get(&b, "vg/lin#2"), "pv:sdz");
	done(&b);
	free(pv0);
	free(other);
	free(text);
}

/* A group whose PV is a volume of another group. */
static void test_nested(void **state)
{
	char *text = image_all_types(), *inner_text, *edited, id[33];
	struct bench b;
	struct image inner;

	(void)state;
	edited = image_edit(text, NULL, "vg {\nid = \"", "inner {\nid = \"innerg-0000-0000-0000-0000-0000-000000\" x = \"");
	inner_text = image_edit(edited, "\npv0 {", "id = \"", "id = \"innerp-0000-0000-0000-0000-0000-000000\" x = \"");
	id_of(inner_text, "pv0", id);
	inner = image_new(2 << 20, id, inner_text);
	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	memcpy(b.images[0].data + (1 << 20), inner.data, 4 * EXTENT);
	run(&b);
	edge_to(get(&b, "pv:vg/lin"), "vg/lin");
	edge_to(get(&b, "inner/lin"), "pv:vg/lin");
	done(&b);
	image_free(&inner);
	free(inner_text);
	free(edited);
	free(text);
}

/* 24: a raid image that calls itself visible is still a part, and what it seems to hold is not told. */
static void test_hidden(void **state)
{
	char *text = image_all_types(), *edited = image_edit(text, "\nr1_rimage_0 {", "\"WRITE\"", "\"WRITE\", \"VISIBLE\"");
	struct bench b;
	const struct blkalign_node *image;

	(void)state;
	three(&b, edited);
	image = get(&b, "vg/r1_rimage_0");
	assert_int_equal(blkalign_node_u64(image, BLKALIGN_ATTR_LV_HIDDEN), 1);
	assert_null(stack_dev(b.stack, image));
	assert_int_equal(blkalign_node_uppers(image), 1);
	done(&b);
	free(edited);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pv),	    cmocka_unit_test(test_volumes),   cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_cache_modes), cmocka_unit_test(test_missing),   cmocka_unit_test(test_rebuild),
		cmocka_unit_test(test_freshest),    cmocka_unit_test(test_two_areas), cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_clone),	    cmocka_unit_test(test_multipath), cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_nested),	    cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
