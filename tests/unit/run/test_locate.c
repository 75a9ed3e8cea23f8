/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Golden arrays: where a byte of the array is said to live, the member's image holds that byte; parity is the xor of what is said to be beside it; and the way up leads back.
 * With BLKALIGN_ALL in the environment every array, otherwise a few.
 */
#include "scratch.h"

#include <dirent.h>
#include <unistd.h>

#include <blkalign/locate.h>

#include "run/locate.h"

#define MEMBERS 10
#define PLACES	60U

struct unpacked {
	char folder[64];
	char *names[MEMBERS];
	size_t count;
	struct blkalign_run *run;
};

static void unpack(struct unpacked *u, const char *name)
{
	char path[128];
	struct blkalign_error err = { 0 };

	*u = (struct unpacked){ .count = 0 };
	scratch_unpack(name, u->folder, path);
	u->count = scratch_members(path, u->names, MEMBERS);
	if (blkalign_run_open(NULL, (const char *const *)u->names, u->count, &u->run, &err) < 0)
		fail_msg("%s: %s", name, err.message);
}

static void unpacked_done(struct unpacked *u)
{
	assert_int_equal(blkalign_run_close(u->run, NULL), 0);
	scratch_remove(u->folder);
	for (size_t i = 0; i < u->count; i++)
		free(u->names[i]);
}

static uint64_t word_at(const struct unpacked *u, const struct blkalign_node *node, uint64_t offset)
{
	uint64_t word = 0;

	assert_int_equal(blkalign_run_read(u->run, node, offset, &word, sizeof(word), NULL), 0);
	return word;
}

/* The row of a parity array across its members: P is the xor of the data. */
static void check_parity(const struct unpacked *u, const struct blkalign_node *array, const struct blkalign_location *p, uint32_t q_slot)
{
	struct dev *dev = stack_dev(u->run->stack, array);
	const struct raid_geometry *g;
	const char *note = NULL;
	const struct map_md_member *members = locate_md(dev, p->above_bytes, &(uint64_t){ 8 }, &g, &note);
	uint64_t row = p->offset_bytes - members[p->slot].data_offset_bytes, sum = 0, word;

	for (uint32_t slot = 0; slot < g->members; slot++) {
		if (!members[slot].dev)
			return;
		if (slot == q_slot)
			continue;
		assert_int_equal(dev_read(members[slot].dev, members[slot].data_offset_bytes + row, &word, sizeof(word), NULL), 0);
		sum ^= word;
	}
	assert_int_equal(sum, 0);
}

/* Up from a member: the array's byte is among what is found. */
static void check_up(const struct unpacked *u, const struct blkalign_node *array, const struct blkalign_location *at, uint64_t array_byte)
{
	struct blkalign_location *found;
	size_t count;
	bool there = false;

	assert_int_equal(blkalign_locate_upward(u->run, at->node, at->offset_bytes, &found, &count, NULL), 0);
	for (size_t i = 0; i < count && !there; i++)
		there = found[i].node == array && found[i].role == at->role &&
			(at->role == BLKALIGN_ROLE_P || at->role == BLKALIGN_ROLE_Q ? found[i].offset_bytes <= array_byte
										    : found[i].offset_bytes == array_byte);
	if (!there)
		fail_msg("byte %llu of %s: the way up does not lead to byte %llu", (unsigned long long)at->offset_bytes,
			 blkalign_node_name(at->node), (unsigned long long)array_byte);
	free(found);
}

/* Mirrors and parity agree in arrays that were at rest. */
static bool at_rest(const char *name)
{
	static const char *const words[] = { "crash", "mid", "mismatch", "stale", "replacing", "missing", "journal", "n2o2", "split" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return false;
	return true;
}

static void check_byte(const struct unpacked *u, const char *name, const struct blkalign_node *array, uint64_t at)
{
	struct blkalign_location *found;
	struct blkalign_error err = { 0 };
	size_t count = 0;
	uint64_t word = word_at(u, array, at);
	uint32_t q_slot = UINT32_MAX;
	bool data = false;

	if (blkalign_locate(u->run, array, at, 8, &found, &count, &err) < 0)
		fail_msg("%s: %s", name, err.message);
	for (size_t i = 1; i < count; i++)
		if (found[i].role == BLKALIGN_ROLE_Q)
			q_slot = found[i].slot;
	for (size_t i = 1; i < count; i++) {
		const struct blkalign_location *l = &found[i];

		if (l->depth != 1 || !l->node || l->note)
			continue;
		if (l->role == BLKALIGN_ROLE_DATA || (l->role == BLKALIGN_ROLE_COPY && at_rest(name))) {
			assert_int_equal(word_at(u, l->node, l->offset_bytes), word);
			data = true;
		}
		if (l->role == BLKALIGN_ROLE_P && at_rest(name))
			check_parity(u, array, l, q_slot);
		if (!strstr(name, "n2o2"))
			check_up(u, array, l, at);
	}
	assert_true(data || !at_rest(name) || strstr(name, "badblocks"));
	free(found);
}

static void check_array(const char *name)
{
	const struct blkalign_node *array;
	struct unpacked u;
	uint32_t seed = 1;
	char path[128];

	snprintf(path, sizeof(path), "md/%s", name);
	unpack(&u, path);
	if (blkalign_run_node(u.run, NULL, &array, NULL) == 0 && blkalign_run_size(u.run, array) != BLKALIGN_UNKNOWN)
		for (unsigned i = 0; i < PLACES; i++) {
			seed = seed * 1664525U + 1013904223U;
			check_byte(&u, name, array, (uint64_t)(seed >> 4) * 8 % blkalign_run_size(u.run, array));
		}
	unpacked_done(&u);
}

static void test_arrays(void **state)
{
	static const char *const few[] = { "linear-12-3", "raid0-12-4u-alt", "raid1-12-2",	   "raid10-12-5-o2",
					   "raid6-12-7",  "part-mbr-raid5",  "raid5-reshape-back", "raid5-journal-wb-crash" };

	(void)state;
	for (size_t i = 0; !getenv("BLKALIGN_ALL") && i < ARRAY_SIZE(few); i++)
		check_array(few[i]);
}

static void test_all_arrays(void **state)
{
	char path[512], name[128];
	struct dirent *entry;
	DIR *folder;

	(void)state;
	if (!getenv("BLKALIGN_ALL"))
		return;
	snprintf(path, sizeof(path), "%s/golden/md", getenv("BLKALIGN_TESTS"));
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);

		/* Without a recorded layout most bytes have no known place. */
		if (length < 8 || length > 100 || strcmp(entry->d_name + length - 7, ".tar.xz") != 0 ||
		    !strncmp(entry->d_name, "raid0-090-3u", 12))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(length - 7), entry->d_name);
		check_array(name);
	}
	closedir(folder);
}

/* Volumes of plain stripes: through the volume group down to the images. */
static void check_volume(const struct unpacked *u, const char *name)
{
	const struct blkalign_node *lv;
	struct blkalign_location *found;
	uint32_t seed = 2;
	size_t count;

	assert_int_equal(blkalign_run_node(u->run, name, &lv, NULL), 0);
	for (unsigned i = 0; i < PLACES; i++) {
		uint64_t at;

		seed = seed * 1664525U + 1013904223U;
		at = (uint64_t)(seed >> 4) * 8 % blkalign_run_size(u->run, lv);
		assert_int_equal(blkalign_locate(u->run, lv, at, 8, &found, &count, NULL), 0);
		assert_int_equal(count, 3);
		assert_int_equal(found[2].depth, 2);
		assert_int_equal(blkalign_node_kind(found[2].node), BLKALIGN_KIND_DISK);
		assert_int_equal(word_at(u, found[2].node, found[2].offset_bytes), word_at(u, lv, at));
		check_up(u, lv, &found[2], at);
		free(found);
	}
	/* Across everything: the pieces make up the whole. */
	assert_int_equal(blkalign_locate(u->run, lv, 0, blkalign_run_size(u->run, lv), &found, &count, NULL), 0);
	for (size_t i = 1; i < count; i++)
		found[0].length_bytes -= found[i].depth == 1 ? found[i].length_bytes : 0;
	assert_int_equal(found[0].length_bytes, 0);
	free(found);
}

static void test_volumes(void **state)
{
	struct unpacked u;

	(void)state;
	unpack(&u, "lvm/lvm-striped");
	check_volume(&u, "vg/s3");
	check_volume(&u, "vg/s2");
	check_volume(&u, "vg/mixed");
	unpacked_done(&u);
	unpack(&u, "lvm/lvm-linear");
	check_volume(&u, "vg/one");
	check_volume(&u, "vg/span");
	unpacked_done(&u);
}

static void metadata(const struct unpacked *u, const char *member, uint64_t at, enum blkalign_role role, const char *note)
{
	struct blkalign_location *found;
	size_t count;

	assert_int_equal(blkalign_locate_upward(u->run, blkalign_graph_find(blkalign_run_graph(u->run), member), at, &found, &count, NULL),
			 0);
	assert_int_equal(count, 2);
	assert_int_equal(found[1].role, role);
	if (strcmp(found[1].note, note) != 0)
		fail_msg("byte %llu: \"%s\", expected \"%s\"", (unsigned long long)at, found[1].note, note);
	assert_true(found[1].length_bytes > 0);
	free(found);
}

/* By what mdadm --examine printed of these: super offset, bitmap and bad block log. */
static void test_metadata(void **state)
{
	struct unpacked u;

	(void)state;
	unpack(&u, "md/raid1-12-3-bitmap");
	metadata(&u, "m1.img", 0, BLKALIGN_ROLE_UNUSED, "neither data nor records");
	metadata(&u, "m1.img", 4096, BLKALIGN_ROLE_METADATA, "superblock");
	metadata(&u, "m1.img", 8192, BLKALIGN_ROLE_METADATA, "bitmap");
	unpacked_done(&u);
	unpack(&u, "md/raid1-090-2-bitmap");
	metadata(&u, "m0.img", 8388608 - 65536, BLKALIGN_ROLE_METADATA, "superblock");
	metadata(&u, "m0.img", 8388608 - 65536 + 4096, BLKALIGN_ROLE_METADATA, "bitmap");
	unpacked_done(&u);
	unpack(&u, "md/raid1-10-2");
	metadata(&u, "m0.img", 8388608 - 8192, BLKALIGN_ROLE_METADATA, "superblock");
	unpacked_done(&u);
}

static void test_refused(void **state)
{
	const struct blkalign_node *array;
	struct blkalign_location *found;
	struct unpacked u;
	uint64_t size;
	size_t count;

	(void)state;
	unpack(&u, "md/raid5-12-3-default");
	assert_int_equal(blkalign_run_node(u.run, NULL, &array, NULL), 0);
	size = blkalign_run_size(u.run, array);
	assert_int_equal(blkalign_locate(u.run, array, size - 1, 1, &found, &count, NULL), 0);
	free(found);
	assert_int_equal(blkalign_locate(u.run, array, size, 1, &found, &count, NULL), -ERANGE);
	assert_int_equal(blkalign_locate(u.run, array, 0, size + 1, &found, &count, NULL), -ERANGE);
	assert_int_equal(blkalign_locate(u.run, array, UINT64_MAX, 2, &found, &count, NULL), -ERANGE);
	assert_int_equal(blkalign_locate(u.run, array, 0, 0, &found, &count, NULL), -ERANGE);
	assert_int_equal(blkalign_locate_upward(u.run, array, size, &found, &count, NULL), -ERANGE);
	unpacked_done(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrays),	 cmocka_unit_test(test_all_arrays), cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_metadata), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
