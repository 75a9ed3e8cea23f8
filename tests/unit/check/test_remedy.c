/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remedies are pasted into shells: every line is a command as it is typed, or a comment. Which sfdisk and lvm2 commands mend what is known from
 * running them; tests/interop runs them again.
 */
#include "make.h"

#include "check/shell.h"

#define DISK_BYTES S512(131072)

static struct blkalign_node *numbered(struct blkalign_graph *g, const char *name, struct blkalign_node *lower, uint64_t number,
				      uint64_t sector, uint64_t sectors)
{
	struct blkalign_node *n = part(g, name, lower, S512(sector), S512(sectors));

	set(n, BLKALIGN_ATTR_PART_NUMBER, number);
	return n;
}

/* Commands start with the name of one of these programs. */
static void assert_is_script(const char *remedy)
{
	static const char *const programs[] = { "echo '", "pv",	     "vg",	 "lv",	     "mdadm ",	  "tune2fs ",	     "cryptsetup ",
						"mount ", "umount ", "swapoff ", "losetup ", "blockdev ", "LOOP=$(losetup ", "blkalign " };

	for (const char *line = remedy, *end; line; line = *end ? end + 1 : NULL) {
		bool comment = !strncmp(line, "# ", 2), known = comment;

		end = strchrnul(line, '\n');
		for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
			known = known || !strncmp(line, programs[i], strlen(programs[i]));
		if (!known)
			print_error("no command: %s\n", line);
		assert_true(known);
		/* Comments that are prose are short. */
		if (comment && strncmp(line, "#   ", 4) != 0)
			assert_true(end - line <= 70 || !memchr(line + 2, ' ', (size_t)(end - line - 2)));
	}
}

struct move {
	uint64_t start, sectors, next; /* of the partition, and where the next one starts; 0 for none */
	uint64_t expected;	       /* sector */
	const char *command;
	const char *says;
};

static void test_partition_room(void **state)
{
	static const struct move moves[] = {
		{ 63, 40000, 0, 2048, "\necho '2048,' | sfdisk --move-data -N 2 /dev/sda", "up into the 1985 sectors behind it" },
		{ 65537, 40000, 0, 67584, "\necho '67584,' | sfdisk --move-data -N 2 /dev/sda", "up into the 2047 sectors behind it" },
		{ 65537, 40000, 105537, 65536, "\necho '65536,' | sfdisk --move-data -N 2 /dev/sda",
		  "down into sectors 65536 to 65536 before it" },
		/* One sector behind it is free: enough for the next physical block. */
		{ 63, 40000, 40064, 64, "\necho '64,' | sfdisk --move-data -N 2 /dev/sda", "up into the 1 sectors" },
		{ 63, 40000, 40063, 2048, "\necho '2048,38015' | sfdisk -N 2 /dev/sda", "# destroys the content of sda2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda = disk(g, "sda", DISK_BYTES, 512, 4096, 4096, 0);
		const struct blkalign_finding *f;

		set_text(sda, BLKALIGN_ATTR_TABLE_TYPE, "dos");
		numbered(g, "sda2", sda, 2, moves[i].start, moves[i].sectors);
		if (moves[i].next)
			numbered(g, "sda3", sda, 3, moves[i].next, 8);
		r = check(g);
		f = must(r, "PARTITION-START", "sda2");
		assert_int_equal(f->expected_bytes, S512(moves[i].expected));
		if (!strstr(f->remedy, moves[i].command) || !strstr(f->remedy, moves[i].says))
			dump(r);
		assert_non_null(strstr(f->remedy, moves[i].command));
		assert_non_null(strstr(f->remedy, moves[i].says));
		assert_is_script(f->remedy);
	}
}

/* A start that a bogus hint chose goes back to 1 MiB, down, where that is free. */
static void test_partition_of_hint(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", DISK_BYTES, 512, 512, 512, 33553920), *p;
	const struct blkalign_finding *f;

	(void)state;
	p = numbered(g, "sda1", sda, 1, 65535, 40000);
	set_text(fs(g, "ext4:sda1", "ext4", p), BLKALIGN_ATTR_MOUNT_POINT, "/srv/it's");
	r = check(g);
	f = must(r, "PARTITION-START", "sda1");
	assert_non_null(strstr(f->remedy, "down into sectors 2048 to 65534"));
	assert_non_null(strstr(f->remedy, "\numount '/srv/it'\\''s'\necho '2048,' | sfdisk --move-data -N 1 /dev/sda"));
	assert_is_script(must(r, "BOGUS-OPTIMAL-IO", "sda")->remedy);
}

/* Nobody told how long it is or which number it has: the line that needs the number is a comment. */
static void test_partition_unknown(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	const char *remedy;

	(void)state;
	part(g, "sda1", disk(g, "sda", 0, 512, 4096, 4096, 0), S512(63), 0);
	r = check(g);
	remedy = must(r, "PARTITION-START", "sda1")->remedy;
	assert_non_null(strstr(remedy, "must be free"));
	assert_non_null(strstr(remedy, "fill in the number"));
	assert_non_null(strstr(remedy, "#   echo '2048,' | sfdisk --move-data -N N /dev/sda"));
	assert_is_script(remedy);
}

static void test_lvm(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *volumes = pv(g, "pv:sda", disk(g, "sda", DISK_BYTES, 512, 512, 512, 33553920), 33553920, 4 * MIB), *lv;
	const char *remedy;

	(void)state;
	set_text(volumes, BLKALIGN_ATTR_VG_NAME, "$(x)");
	lv = on(g, BLKALIGN_KIND_LV, "$(x)/a b", volumes, 33553920, 8 * MIB);
	set_text(lv, BLKALIGN_ATTR_LV_NAME, "a b");
	r = check(g);
	remedy = must(r, "PE-START", "pv:sda")->remedy;
	assert_non_null(strstr(remedy, "\npvcreate --dataalignment 1m \"$NEW\"\nvgextend '$(x)' \"$NEW\"\npvmove /dev/sda\nvgreduce '$(x)' "
				       "/dev/sda\npvremove /dev/sda\npvcreate --dataalignment 1m /dev/sda\nvgextend '$(x)' /dev/sda\n"));
	assert_non_null(strstr(remedy,
			       "# destroys all volumes of '$(x)':\n#   vgremove --yes '$(x)'\n#   pvcreate --dataalignment 1m /dev/sda\n"
			       "#   vgcreate --physicalextentsize 4096k '$(x)' /dev/sda\n#   lvcreate -l 2 -n 'a b' '$(x)'\n"));
	assert_is_script(remedy);
}

/* Another volume of the group takes the extents. */
static void test_lvm_two_volumes(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	const char *remedy;

	(void)state;
	set_text(pv(g, "pv:sda", disk(g, "sda", DISK_BYTES, 512, 512, 512, 33553920), 33553920, 4 * MIB), BLKALIGN_ATTR_VG_NAME, "vg");
	set_text(pv(g, "pv:sdb", disk(g, "sdb", DISK_BYTES, 512, 4096, 4096, 0), MIB, 4 * MIB), BLKALIGN_ATTR_VG_NAME, "vg");
	r = check(g);
	remedy = must(r, "PE-START", "pv:sda")->remedy;
	assert_null(strstr(remedy, "NEW"));
	assert_non_null(strstr(remedy, "\npvmove /dev/sda\nvgreduce vg /dev/sda\n"));
	assert_is_script(remedy);
}

/* mdadm 4.2 on Linux 6.1: a member that is added gets the array's offset of 2049 sectors again; growing to 1024K puts all members at 2048. */
static void test_md(void **state)
{
	static const char *const levels[] = { "raid5", "raid1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *members[3] = { disk(g, "sda", DISK_BYTES, 512, 4096, 4096, 0),
						     disk(g, "sdb", DISK_BYTES, 512, 4096, 4096, 0),
						     disk(g, "sdc", DISK_BYTES, 512, 4096, 4096, 0) };
		const char *remedy;

		md(g, "md0", levels[i], members, 3, i ? 1 : 2, i ? 0 : 64 * KIB, S512(2049));
		r = check(g);
		remedy = must(r, "MD-DATA-OFFSET", "md0")->remedy;
		assert_is_script(remedy);
		if (i)
			assert_non_null(strstr(remedy, "\n#   mdadm --create /dev/md0 --data-offset=2048K"));
		else
			assert_non_null(strstr(remedy, "\nmdadm --grow /dev/md0 --data-offset=1024K\nmdadm --wait /dev/md0"));
	}
}

/* Partitions of image files are there only behind a loop device. */
static void test_image(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("images");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *image = disk(g, "-a b.img", DISK_BYTES, 512, 4096, 4096, 0);

	(void)state;
	set_text(image, BLKALIGN_ATTR_DEVPATH, "-a b.img");
	pv(g, "pv:-a b.img1", numbered(g, "-a b.img1", image, 1, 2048, 100000), 33553920, 4 * MIB);
	r = check(g);
	assert_string_equal(must(r, "PE-START", NULL)->remedy, "LOOP=$(losetup --find --show --partscan './-a b.img')\n"
							       "# destroys the LVM label (refused while a volume group is on it):\n"
							       "pvremove \"${LOOP}p1\"\n"
							       "pvcreate --dataalignment 1m \"${LOOP}p1\"");
}

static void assert_word(const char *text, const char *expected)
{
	struct check c = { .report = report_new() };

	assert_string_equal(shell_word(&c, text, "./"), expected);
	assert_false(c.failed);
	blkalign_report_free(c.report);
}

static void test_words(void **state)
{
	(void)state;
	assert_word("/dev/disk/by-id/ata-X_1:0", "/dev/disk/by-id/ata-X_1:0");
	assert_word("", "''");
	assert_word("-rf", "./-rf");
	assert_word("-r f", "'./-r f'");
	assert_word("a b", "'a b'");
	assert_word("$(x)", "'$(x)'");
	assert_word("`x`;\"*?~", "'`x`;\"*?~'");
	assert_word("it's", "'it'\\''s'");
	assert_word("back\\slash", "'back\\slash'");
	assert_word("B\xc3\xbc"
		    "cher",
		    "'B\xc3\xbc"
		    "cher'");
	assert_word("a\x1b[31m\n'\\", "$'a\\033[31m\\012\\047\\134'");
	/* Text that runs backwards, and bytes that are no text. */
	assert_word("\xe2\x80\xae"
		    "x",
		    "$'\\342\\200\\256x'");
	assert_word("\xff\xc3", "$'\\377\\303'");
}

/* --- the state of an array --- */

/* Four members, `stale` of them left out, and a name that a shell would act on. */
static struct blkalign_node *array_in_state(struct blkalign_graph *g, const char *level, const char *words, uint32_t stale)
{
	static const char *const names[] = { "sda", "sdb; rm -r $HOME", "sdc", "sdd" };
	struct blkalign_node *array = node(g, BLKALIGN_KIND_MD, "md0");

	set_text(array, BLKALIGN_ATTR_MD_LEVEL, level);
	set(array, BLKALIGN_ATTR_MD_CHUNK, 64 * KIB);
	set(array, BLKALIGN_ATTR_MD_MEMBERS, 4);
	assert_int_equal(graph_set_str(array, BLKALIGN_ATTR_MD_STATE, words, BLKALIGN_ORIGIN_ONDISK), 0);
	assert_int_equal(graph_set_bool(array, BLKALIGN_ATTR_MD_DIRTY, !strncmp(words, "dirty", 5), BLKALIGN_ORIGIN_ONDISK), 0);
	set(array, BLKALIGN_ATTR_MD_DEGRADED, stale);
	set(array, BLKALIGN_ATTR_MD_STALE, stale);
	for (uint32_t i = 0; i < 4; i++) {
		struct blkalign_edge e = { .upper = array,
					   .lower = plain_disk(g, names[i]),
					   .lower_offset_bytes = MIB,
					   .length_bytes = GIB,
					   .chunk_bytes = 64 * KIB,
					   .stripes = 3,
					   .slot = i < stale ? BLKALIGN_SLOT_NONE : i,
					   .state = i < stale ? "stale" : "in_sync" };

		assert_int_equal(graph_connect(g, &e), 0);
	}
	return array;
}

static void test_dropped_member(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *array = array_in_state(g, "raid5", "clean,degraded", 1);
	const char *remedy;

	(void)state;
	set_text(array, BLKALIGN_ATTR_MD_BITMAP, "internal");
	set(array, BLKALIGN_ATTR_MD_STALE_GAP, 7);
	r = check(g);
	remedy = must(r, "MD-STALE-MEMBER", "md0")->remedy;
	assert_is_script(remedy);
	assert_non_null(strstr(remedy, "#   mdadm /dev/md0 --re-add /dev/sda"));
	assert_non_null(strstr(remedy, "\n#   blkalign rebuild '/dev/sdb; rm -r $HOME' /dev/sdc /dev/sdd --onto=/dev/sda"));
	assert_non_null(strstr(must(r, "MD-STALE-MEMBER", "md0")->message, "up to 7 events behind"));
	assert_string_equal(severity_of(r, "MD-STALE-MEMBER", "md0"), "warning");
}

/* Where the stale members are all there is, nothing in the remedy destroys them, and nothing of what is risky can be pasted by accident. */
static void test_nothing_destroys_the_last_copy(void **state)
{
	static const char *const words[] = { "clean,failed,degraded", "split,degraded" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		const char *remedy;

		array_in_state(g, "raid5", words[i], 2);
		r = check(g);
		remedy = must(r, "MD-STALE-MEMBER", "md0")->remedy;
		assert_is_script(remedy);
		assert_null(strstr(remedy, "--zero-superblock"));
		assert_null(strstr(remedy, "--re-add"));
		assert_null(strstr(remedy, "--onto"));
		assert_null(strstr(remedy, "--add"));
		assert_null(strstr(remedy, "\nmdadm --assemble"));
	}
}

static void test_dirty_degraded_remedy(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *array = array_in_state(g, "raid6", "dirty,degraded", 1);
	const char *remedy;

	(void)state;
	set(array, BLKALIGN_ATTR_MD_DOUBTFUL, MIB);
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_AT_RISK);
	remedy = must(r, "MD-DIRTY-DEGRADED", "md0")->remedy;
	assert_is_script(remedy);
	assert_non_null(strstr(remedy, "\nmdadm --examine '/dev/sdb; rm -r $HOME'\n"));
	assert_non_null(strstr(remedy, "\n#   mdadm --assemble --force /dev/md0 '/dev/sdb; rm -r $HOME' /dev/sdc /dev/sdd\n"));
}

static void test_bad_blocks_and_bitmap(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *array = array_in_state(g, "raid6", "clean", 0);

	(void)state;
	set(array, BLKALIGN_ATTR_MD_BAD_RANGES, 2);
	set(array, BLKALIGN_ATTR_MD_BAD_BYTES, 8192);
	set(array, BLKALIGN_ATTR_MD_BAD_SHARED, 4096);
	set(array, BLKALIGN_ATTR_MD_COMPONENT, 100 * GIB);
	set_text(array, BLKALIGN_ATTR_MD_BITMAP, "none");
	r = check(g);
	assert_is_script(must(r, "MD-BAD-BLOCK-LOG", "md0")->remedy);
	assert_non_null(strstr(must(r, "MD-BAD-BLOCK-LOG", "md0")->message, "4096 bytes are listed by two or more"));
	assert_non_null(strstr(must(r, "MD-BITMAP-MISSING", "md0")->remedy, "\nmdadm --grow --bitmap=internal /dev/md0"));
	assert_is_script(must(r, "MD-BITMAP-MISSING", "md0")->remedy);
	assert_null(found(r, "MD-STALE-MEMBER", NULL));
}

/* Data at risk outweighs data out of place, and says nothing about the place of a layer. */
static void test_verdict_of_both(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *array = array_in_state(g, "raid10", "clean", 0);

	(void)state;
	assert_int_equal(graph_set_bool(array, BLKALIGN_ATTR_MD_OVERLAPS, true, BLKALIGN_ORIGIN_COMPUTED), 0);
	part(g, "sde1", plain_disk(g, "sde"), S512(63), GIB);
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_AT_RISK);
	assert_int_equal(must(r, "PARTITION-START", "sde1")->severity, BLKALIGN_ERROR);
	assert_int_equal(must(r, "MD-LAYOUT-OVERLAP", "md0")->severity, BLKALIGN_ERROR);
	assert_null(strstr(line_of(r, "md0"), "misaligned"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partition_room),
		cmocka_unit_test(test_partition_of_hint),
		cmocka_unit_test(test_partition_unknown),
		cmocka_unit_test(test_lvm),
		cmocka_unit_test(test_lvm_two_volumes),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_md),
		cmocka_unit_test(test_dropped_member),
		cmocka_unit_test(test_nothing_destroys_the_last_copy),
		cmocka_unit_test(test_dirty_degraded_remedy),
		cmocka_unit_test(test_bad_blocks_and_bitmap),
		cmocka_unit_test(test_verdict_of_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
