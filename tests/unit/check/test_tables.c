/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader of partition tables has found out, and what file systems remember of their partition. */
#include "make.h"

static struct blkalign_node *stated(struct blkalign_node *n, const char *state, const char *note)
{
	set_text(n, BLKALIGN_ATTR_TABLE_STATE, state);
	set_text(n, BLKALIGN_ATTR_TABLE_NOTE, note);
	return n;
}

static struct blkalign_node *drive(struct blkalign_graph *g, const char *name)
{
	return disk(g, name, S512(1953525168), 512, 4096, 4096, 0);
}

/* A member's own table seen through the array; on a mirror the partitions are real. */
static void test_member_table(void **state)
{
	static const char *const levels[] = { "raid0", "raid1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d[2] = { drive(g, "sda"), drive(g, "sdb") }, *array;

		array = stated(md(g, "md0", levels[i], d, 2, i ? 1 : 2, i ? 0 : 64 * KIB, 0), "member-table", "made for sda\x1b");
		part(g, "md0p1", array, S512(63), GIB);
		r = check(g);
		assert_int_equal(must(r, "PHANTOM-PARTITION", "md0")->severity, i ? BLKALIGN_NOTE : BLKALIGN_WARNING);
		assert_non_null(strstr(must(r, "PHANTOM-PARTITION", "md0")->message, "made for sda\\x1b"));
		assert_int_equal(!!found(r, "PARTITION-START", "md0p1"), i);
	}
}

/* A disk that was once half of a mirror and has a newer table: nobody is sent to the mirror. */
static void test_leftover_superblock(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { drive(g, "sda"), drive(g, "sdb") };

	(void)state;
	part(g, "sda1", d[0], MIB, GIB);
	stated(md(g, "md0", "raid1", d, 2, 1, 0, 0), "member-table", "made for sda");
	r = check(g);
	assert_non_null(strstr(must(r, "PHANTOM-PARTITION", "sda1")->message, "may be left over from an earlier use"));
}

static void test_beyond_device(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { drive(g, "sdb"), drive(g, "sdc") }, *array = md(g, "md0", "raid5", d, 2, 1, 64 * KIB, MIB);

	(void)state;
	stated(array, "beyond-device", "entry 1 covers too much");
	part(g, "sda1", stated(drive(g, "sda"), "beyond-device", "entry 2 covers too much"), MIB, GIB);
	r = check(g);
	assert_int_equal(must(r, "PHANTOM-PARTITION", "md0")->severity, BLKALIGN_WARNING);
	assert_int_equal(must(r, "PARTITION-END", "sda")->severity, BLKALIGN_WARNING);
	assert_non_null(strstr(must(r, "PARTITION-END", "sda")->message, "entry 2 covers"));
	assert_int_equal(count_of(r, "PARTITION-END"), 1);
}

/* A member shows the table of the array, which is larger than it: one finding, not two. */
static void test_member_shows_array(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { stated(drive(g, "sda"), "beyond-device", "entry 1"), drive(g, "sdb") };

	(void)state;
	md(g, "md0", "raid0", d, 2, 2, 64 * KIB, 0);
	part(g, "sda1", d[0], MIB, GIB);
	r = check(g);
	must(r, "PHANTOM-PARTITION", "sda1");
	assert_null(found(r, "PARTITION-END", NULL));
}

/* An image has no block size of its own: nothing is wrong with it. */
static void test_assumed_unit(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("images");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *image = node(g, BLKALIGN_KIND_DISK, "d.img"), *p;
	const struct blkalign_finding *f;

	(void)state;
	graph_set_u64(image, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED);
	graph_set_u64(image, BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096, BLKALIGN_ORIGIN_ASSUMED);
	set(image, BLKALIGN_ATTR_SIZE, S512(1953525168));
	set_text(image, BLKALIGN_ATTR_DEVPATH, "d.img");
	set(stated(image, "wrong-unit", "x"), BLKALIGN_ATTR_TABLE_UNIT, 4096);
	p = part(g, "d.img1", image, MIB, GIB);
	set(fs(g, "ntfs:d.img1", "ntfs", p), BLKALIGN_ATTR_FS_HIDDEN_SECTORS, 256);
	r = check(g);
	f = must(r, "TABLE-WRONG-UNIT", "d.img");
	assert_int_equal(f->severity, BLKALIGN_NOTE);
	assert_non_null(strstr(f->message, "written for 4096-byte blocks: pass --assume-logical 4096"));
	assert_non_null(strstr(f->message, "ntfs:d.img1 was made for a start at sector 256 in that unit"));
	assert_string_equal(f->remedy, "blkalign check --assume-logical 4096 d.img");
}

struct memory {
	const char *table;
	uint64_t number, hidden;
	bool told;
};

/* Moved or cloned: told where the start is wrong, and only when the memory contradicts it. */
static void test_hidden_sectors(void **state)
{
	static const struct memory memories[] = {
		{ "dos", 1, 63, false },   { "dos", 1, 2048, true }, { "dos", 1, 0, false },
		{ "dos", 5, 2048, false }, { "gpt", 5, 2048, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda = drive(g, "sda"), *p = part(g, "sda1", sda, S512(63), GIB);

		set_text(sda, BLKALIGN_ATTR_TABLE_TYPE, memories[i].table);
		set(p, BLKALIGN_ATTR_PART_NUMBER, memories[i].number);
		set(fs(g, "ntfs:sda1", "ntfs", p), BLKALIGN_ATTR_FS_HIDDEN_SECTORS, memories[i].hidden);
		r = check(g);
		assert_int_equal(!!strstr(must(r, "PARTITION-START", "sda1")->message, "made for a partition at sector 2048"),
				 memories[i].told);
	}
}

/* In its place: no word of it. */
static void test_hidden_sectors_of_good_start(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;

	(void)state;
	set(fs(g, "ntfs:sda1", "ntfs", part(g, "sda1", drive(g, "sda"), MIB, GIB)), BLKALIGN_ATTR_FS_HIDDEN_SECTORS, 63);
	r = check(g);
	assert_int_equal(blkalign_report_findings(r), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leftover_superblock),
		cmocka_unit_test(test_member_table),
		cmocka_unit_test(test_beyond_device),
		cmocka_unit_test(test_assumed_unit),
		cmocka_unit_test(test_member_shows_array),
		cmocka_unit_test(test_hidden_sectors),
		cmocka_unit_test(test_hidden_sectors_of_good_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
