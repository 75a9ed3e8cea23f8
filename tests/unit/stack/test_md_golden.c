/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every array of tests/golden/md, made and filled by a real kernel: what is found in the images is what mdadm --examine printed (case.txt), and
 * the content read through our own map has the SHA-256 that the kernel's block device had (manifest.tsv).
 */
#include "md_golden.h"

/* Cases whose content takes more than reading the members. */
static const struct {
	const char *name, *reason;
} content_later[] = {
	{ "raid0-090-3u-orig", "0.90 does not record the layout: read by test_unrecorded_layout()" },
	{ "raid0-090-3u-alt", "0.90 does not record the layout: read by test_unrecorded_layout()" },
};

/* --- facts --- */

static void same_str(const struct golden *g, const struct blkalign_node *node, enum blkalign_attr attr, const char *want)
{
	const char *got = blkalign_node_str(node, attr);

	if (strcmp(got ? got : "", want) != 0)
		fail_msg("%s: %s is \"%s\", mdadm says \"%s\"", g->name, blkalign_attr_info(attr)->key, got ? got : "(unknown)", want);
}

static void same_u64(const struct golden *g, const struct blkalign_node *node, enum blkalign_attr attr, uint64_t want)
{
	uint64_t got = blkalign_node_u64(node, attr);

	if (got != want)
		fail_msg("%s: %s is %lu, mdadm says %lu", g->name, blkalign_attr_info(attr)->key, got, want);
}

static const struct printed *newest(const struct golden *g)
{
	const struct printed *best = &g->member[0];

	for (unsigned i = 1; i < g->shown; i++)
		if (g->member[i].events > best->events)
			best = &g->member[i];
	return best;
}

/* mdadm does not show the sets in which far copies rotate. */
static void check_layout(const struct golden *g, const struct blkalign_node *node, const char *want)
{
	const char *got = blkalign_node_str(node, BLKALIGN_ATTR_MD_LAYOUT_NAME), *sets = got ? strstr(got, ", sets=") : NULL;

	if (!sets || fnmatch("*-*sets", g->name, 0) != 0 || strncmp(got, want, (size_t)(sets - got)) != 0)
		same_str(g, node, BLKALIGN_ATTR_MD_LAYOUT_NAME, want);
}

static void check_array(const struct golden *g, const struct blkalign_node *node)
{
	const struct printed *p = newest(g);
	const char *colon = strchr(p->name, ':');
	char name[128];

	same_str(g, node, BLKALIGN_ATTR_MD_METADATA, p->metadata);
	same_str(g, node, BLKALIGN_ATTR_MD_UUID, p->uuid);
	same_str(g, node, BLKALIGN_ATTR_MD_NAME, p->name);
	same_str(g, node, BLKALIGN_ATTR_MD_LEVEL, p->level);
	check_layout(g, node, p->layout);
	same_str(g, node, BLKALIGN_ATTR_MD_BITMAP, p->bitmap ? "internal" : "none");
	same_u64(g, node, BLKALIGN_ATTR_MD_MEMBERS, p->raid_devices);
	same_u64(g, node, BLKALIGN_ATTR_MD_EVENTS, p->events);
	if (p->chunk_kib)
		same_u64(g, node, BLKALIGN_ATTR_MD_CHUNK, p->chunk_kib * KIB);
	if (p->bitmap)
		same_u64(g, node, BLKALIGN_ATTR_MD_BITMAP_CHUNK, 64 * KIB);
	if (g->size_bytes)
		same_u64(g, node, BLKALIGN_ATTR_SIZE, g->size_bytes);
	same_u64(g, node, BLKALIGN_ATTR_LOGICAL_BLOCK, 512);
	same_u64(g, node, BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096);
	snprintf(name, sizeof(name), "md/%s", colon ? colon + 1 : p->name); /* long names have no room for the host */
	assert_string_equal(blkalign_node_name(node), p->name[0] ? name : "md0");
}

static const struct blkalign_edge *edge_to(const struct golden *g, const struct blkalign_node *node, unsigned member)
{
	char disk[32], part[40];

	snprintf(disk, sizeof(disk), "%c%u.img", g->letter, member);
	snprintf(part, sizeof(part), "%c%u.img1", g->letter, member);
	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(node, i);
		const char *lower = blkalign_node_name(e->lower);

		if (!strcmp(lower, !strncmp(g->name, "part-", 5) ? part : disk))
			return e;
	}
	print_error("%s: no edge to member %u\n", g->name, member);
	abort();
}

static void check_member(const struct golden *g, const struct blkalign_node *node, unsigned member)
{
	const struct printed *p = &g->member[member];
	const struct blkalign_edge *e = edge_to(g, node, member);
	const char *want = "in_sync";
	unsigned slot = BLKALIGN_SLOT_NONE;

	assert_int_equal(e->lower_offset_bytes, p->data_offset_sectors512 * 512);
	if (sscanf(p->role, "Active device %u", &slot) != 1 && sscanf(p->role, "Replacement device %u", &slot) == 1)
		want = "replacement";
	if (!strcmp(p->role, "spare"))
		want = "spare";
	if (!strcmp(p->role, "Journal"))
		want = "journal";
	if (slot != BLKALIGN_SLOT_NONE && p->events + 1 < newest(g)->events) {
		want = "stale";
		slot = BLKALIGN_SLOT_NONE;
	}
	if (!strcmp(g->name, "raid5-midrecovery") && slot == 3)
		want = "rebuilding";
	if (strcmp(e->state, want) != 0)
		fail_msg("%s: member %u is %s, not %s", g->name, member, e->state, want);
	if (e->slot != slot)
		fail_msg("%s: member %u has slot %u, not %u", g->name, member, e->slot, slot);
}

/* --- content --- */

static bool listed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(content_later); i++)
		if (!strcmp(content_later[i].name, name))
			return true;
	return false;
}

static void check_content(const struct golden *g, struct dev *dev, const char *sha256)
{
	char got[65];

	if (!dev)
		fail_msg("%s: the array has no device", g->name);
	hash(g, dev, got);
	if (strcmp(got, sha256) != 0)
		fail_msg("%s: content is %s, the kernel's is %s", g->name, got, sha256);
}

/* --- the tests --- */

struct counts {
	unsigned cases, hashes;
};

/* Where the kernel went on with the array ("a" images), that is the state which mdadm shows. */
static void check_facts(struct golden *g)
{
	_cleanup_stack_ struct stack *stack = open_images(g, 'a');
	struct blkalign_node *node;

	if (!stack)
		stack = open_images(g, 'm');
	node = the_array(g, stack);
	if (getenv("VERBOSE"))
		print_remarks(g, stack);
	check_array(g, node);
	for (unsigned i = 0; i < g->shown; i++)
		check_member(g, node, i);
}

/*
 * Where the copies of a mirror differ, the kernel's reads went to any of them. Its repair took the first copy, which is what is read here: so the "m" images
 * read already as the "a" images do.
 */
static bool copies_differ(const char *name) { return !fnmatch("raid1-mismatch*", name, 0) || !strcmp(name, "raid10-mismatch"); }

static void one_line(const char *name, const char *sha256, bool after, struct counts *counts)
{
	_cleanup_stack_ struct stack *stack = NULL;
	struct golden g;

	unpack(&g, name);
	if (g.shown && !after) {
		check_facts(&g);
		counts->cases++;
	}
	stack = open_images(&g, after ? 'a' : 'm');
	assert_non_null(stack);
	if (after || !listed(name)) {
		check_content(&g, stack_dev(stack, the_array(&g, stack)), copies_differ(name) ? g.after_sha256 : sha256);
		counts->hashes++;
	}
	discard(&g);
}

static void test_manifest(void **state)
{
	char path[512], line[512], name[64], device[32], sha256[65], content[300];
	struct counts counts = { 0 };
	const char *only = getenv("ONLY");
	unsigned long long size;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/md/manifest.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_true(sscanf(line, "%63[^\t]\t%31[^\t]\t%llu\t%64s\t%299[^\n]", name, device, &size, sha256, content) >= 4);
		if (!only || !fnmatch(only, name, 0))
			one_line(name, sha256, strstr(device, "(a images)") != NULL, &counts);
	}
	fclose(f);
	/* mdadm was not asked in raid5-ppl-crash; the lines of "a" images come on top. */
	print_message("%u arrays as mdadm shows them, %u contents as the kernel read them\n", counts.cases, counts.hashes);
	assert_true(only || (counts.cases == 124 && counts.hashes == 125 + 7 - ARRAY_SIZE(content_later)));
}

static bool remarked(struct stack *stack, const char *part)
{
	for (size_t i = 0; i < blkalign_graph_remarks(stack_graph(stack)); i++)
		if (strstr(blkalign_graph_remark(stack_graph(stack), i), part))
			return true;
	return false;
}

/* Both halves were written to alone and have equal event counts: both are named, none is read. */
static void test_split(void **state)
{
	_cleanup_stack_ struct stack *stack = NULL;
	struct golden g;

	(void)state;
	unpack(&g, "raid1-split");
	stack = open_images(&g, 'm');
	assert_string_equal(edge_to(&g, the_array(&g, stack), 0)->state, "in_sync");
	assert_string_equal(edge_to(&g, the_array(&g, stack), 1)->state, "stale");
	assert_true(remarked(stack, "Neither is read or written"));
	assert_null(stack_dev(stack, the_array(&g, stack)));
	discard(&g);
}

/* Members of raid0 on 0.90, read in the layout that case.txt says the kernel was told. */
static void read_as(struct golden *g, struct stack *stack, uint32_t layout, const char *sha256)
{
	static const char *const names[3] = { "m0.img", "m1.img", "m2.img" };
	struct map_md_member members[3];
	uint64_t lengths[3];
	struct raid_geometry geometry;
	_cleanup_dev_ struct dev *dev = NULL;

	for (unsigned i = 0; i < 3; i++) {
		members[i] = (struct map_md_member){ .dev = stack_dev(stack, graph_find(stack_graph(stack), names[i])),
						     .valid_bytes = UINT64_MAX };
		lengths[i] = round_down_u64(members[i].dev->size_bytes, 64 * KIB) - 64 * KIB;
	}
	assert_int_equal(raid_geometry_init(&geometry, &(struct raid_shape){ RAID_0, layout, 64 * KIB, 3, lengths }, NULL), 0);
	assert_int_equal(map_open_md(g->name, &(struct map_md){ .geometry = &geometry, .members = members }, &dev), 0);
	check_content(g, dev, sha256);
}

/* What both layouts agree on is read; where they differ nothing is guessed. */
static void test_unrecorded_layout(void **state)
{
	static const char sha256[] = "e477b28419a0ea9e6c0a2f4510c22ad6b9e834093d7bf87ff4bf870112b4b8e4";

	(void)state;
	for (uint32_t layout = RAID0_ORIGINAL; layout <= RAID0_ALTERNATE; layout++) {
		_cleanup_stack_ struct stack *stack = NULL;
		uint8_t buffer[4096];
		struct golden g;
		struct dev *dev;

		unpack(&g, layout == RAID0_ORIGINAL ? "raid0-090-3u-orig" : "raid0-090-3u-alt");
		stack = open_images(&g, 'm');
		dev = stack_dev(stack, the_array(&g, stack));
		assert_int_equal(dev_read(dev, 0, buffer, sizeof(buffer), NULL), 0);
		assert_int_equal(load_le64(buffer + 512), 1);
		/* 3 x 129 chunks are the first zone: an odd number before a zone of two members. */
		assert_int_equal(dev_read(dev, 387 * 64 * KIB - 4096, buffer, sizeof(buffer), NULL), 0);
		assert_int_equal(dev_read(dev, 387 * 64 * KIB, buffer, sizeof(buffer), NULL), -ENODATA);
		assert_true(remarked(stack, "do not record which of the two raid0 layouts"));
		assert_int_equal(dev_read(dev, dev->size_bytes - 4096, buffer, sizeof(buffer), NULL), 0);
		assert_int_equal(load_le64(buffer + 3584), dev->size_bytes / 512 - 1);
		read_as(&g, stack, layout, sha256);
		discard(&g);
	}
}

/* --- written through overlays --- */

/* By case; all others of redundant levels and of levels without redundancy are writable when they are whole. */
static const char *expected_refusal(const char *name)
{
	static const struct {
		const char *pattern, *why;
	} refused[] = {
		{ "raid1-split", "two halves" },
		{ "raid5-reshape*", "a reshape" },
		{ "raid5-journal*", "a write journal" },
		{ "raid1-replacing", "a replacement" },
		{ "raid0-090-3u*", "layout is not recorded" },
		{ "raid10-12-5-n2o2", "copies of different data in one place" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (!fnmatch(refused[i].pattern, name, 0))
			return refused[i].why;
	return NULL;
}

static void write_and_read(const struct golden *g, struct dev *dev)
{
	static uint8_t data[12 * KIB], got[sizeof(data)];
	const uint64_t places[] = { 0, dev->size_bytes / 2 / 4096 * 4096 + 512, dev->size_bytes - sizeof(data) };
	struct blkalign_error err;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(k * 13 + i);
		if (dev_write(dev, places[i], data, sizeof(data), &err) < 0 || dev_read(dev, places[i], got, sizeof(got), &err) < 0)
			fail_msg("%s: %s", g->name, err.message);
		assert_memory_equal(got, data, sizeof(data));
	}
}

static void overlaid(const char *name)
{
	struct stack_running running = { .cow = true };
	const char *expected = expected_refusal(name), *why;
	struct blkalign_error err;
	struct blkalign_node *node;
	struct stack *stack;
	struct golden g;

	unpack(&g, name);
	stack = open_some(&g, 'm', 0, &running);
	node = the_array(&g, stack);
	why = stack_read_only_because(stack, node);
	if (!why != !expected || (why && !strstr(why, expected)))
		fail_msg("%s: read-only because %s, not %s", name, why ? why : "(it is not)",
			 expected ? expected : "(it should be writable)");
	if (!why)
		write_and_read(&g, stack_dev(stack, node));
	if (stack_close(stack, &err) < 0)
		fail_msg("%s: %s", name, err.message);
	discard(&g);
}

static void test_overlays(void **state)
{
	char path[512], line[512], name[64], last[64] = "";
	const char *only = getenv("ONLY");
	unsigned cases = 0;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/md/manifest.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^\t]", name) != 1 || !strcmp(name, last) || (only && fnmatch(only, name, 0) != 0))
			continue;
		snprintf(last, sizeof(last), "%s", name);
		overlaid(name);
		cases++;
	}
	fclose(f);
	print_message("%u arrays opened for writing\n", cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_unrecorded_layout),
		cmocka_unit_test(test_overlays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
