/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every LVM image made by real lvm2 and filled by a real kernel: the device mapper tables that the kernel printed, the sizes and types that lvs printed,
 * and the checksum of what the kernel read, against our graph and our reading.
 */
#include "golden.h"

#include <inttypes.h>

static const char *const cases[] = {
	"lvm-cache", "lvm-exported",	"lvm-linear",	      "lvm-mdas",    "lvm-mirror", "lvm-on-md",		 "lvm-raid0",
	"lvm-raid1", "lvm-raid1-crash", "lvm-raid1-missing",  "lvm-raid10",  "lvm-raid5",  "lvm-raid5-reshaped", "lvm-raid5-stale",
	"lvm-raid6", "lvm-snapshot",	"lvm-snapshot-areas", "lvm-striped", "lvm-thin",   "lvm-wrap",
};

static unsigned contents_read, tables_checked, areas_checked;

static const struct blkalign_node *volume(const struct golden *g, const char *name)
{
	char full[128];
	const struct blkalign_node *n;

	snprintf(full, sizeof(full), "vg/%s", name);
	n = blkalign_graph_find(stack_graph(g->stack), full);
	if (!n)
		fail_msg("%s: no node %s", g->path, full);
	assert_int_equal(blkalign_node_kind(n), BLKALIGN_KIND_LV);
	return n;
}

/* "one 3145728 0daedb... pattern": size and content */
static void check_content(const struct golden *g, const char *line)
{
	char name[64], expected[65], found[65];
	uint64_t bytes;
	const struct blkalign_node *n;
	struct dev *dev;

	assert_int_equal(sscanf(line, "%63s %" SCNu64 " %64s", name, &bytes, expected), 3);
	n = volume(g, name);
	dev = stack_dev(g->stack, n);
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), bytes);
	assert_non_null(dev);
	assert_int_equal(dev->size_bytes, bytes);
	golden_sha256(dev, found);
	if (strcmp(found, expected) != 0)
		fail_msg("%s: %s reads as %s, the kernel read %s", g->path, name, found, expected);
	contents_read++;
}

/* "[r1_rmeta_0] ewi-aor--- linear 512S ..." */
static void check_lvs(const struct golden *g, const char *line)
{
	char name[80], *bare = name, type[32];
	uint64_t sectors512;
	bool hidden = line[strspn(line, " ")] == '[';
	const struct blkalign_node *n;

	assert_int_equal(sscanf(line, " %63s %*s %31s %" SCNu64 "S", name, type, &sectors512), 3);
	if (hidden) {
		bare = name + 1;
		bare[strlen(bare) - 1] = 0;
	}
	/* lvs shows the store of a snapshot under the snapshot's name. */
	if (!hidden && !strncmp(bare, "snap", 4))
		snprintf(bare + strlen(bare), sizeof(name) - strlen(bare), "-cow");
	n = volume(g, bare);
	if (strcmp(blkalign_node_str(n, BLKALIGN_ATTR_LV_TYPE), type) != 0 &&
	    !(blkalign_node_u64(n, BLKALIGN_ATTR_LV_SEGMENTS) > 1 && !strcmp(type, "linear")))
		fail_msg("%s: %s is of type %s, lvs says %s", g->path, bare, blkalign_node_str(n, BLKALIGN_ATTR_LV_TYPE), type);
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), sectors512 * 512);
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_LV_HIDDEN), hidden || strstr(bare, "-cow"));
}

/* Loop device N (major 7) is image N; the only array (major 9) carries the only PV. */
static void pv_name(const struct golden *g, unsigned major, unsigned minor, char ret[64])
{
	const struct blkalign_graph *graph = stack_graph(g->stack);

	snprintf(ret, 64, "pv:m%u.img", minor);
	for (size_t i = 0; major == 9 && i < blkalign_graph_size(graph); i++)
		if (blkalign_node_kind(blkalign_graph_node(graph, i)) == BLKALIGN_KIND_PV)
			snprintf(ret, 64, "%s", blkalign_node_name(blkalign_graph_node(graph, i)));
}

/* The edge for "7:N offset" */
static void check_area(const struct golden *g, const struct blkalign_node *n, uint64_t start512, uint64_t length512, const char *area,
		       unsigned slot, unsigned stripes, uint64_t chunk512)
{
	unsigned major, minor;
	uint64_t offset512;
	char pv[64];

	assert_int_equal(sscanf(area, "%u:%u %" SCNu64, &major, &minor, &offset512), 3);
	pv_name(g, major, minor, pv);
	/* A PV that is left out of the case has no node. */
	if (!blkalign_graph_find(stack_graph(g->stack), pv))
		return;
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		if (e->upper_offset_bytes != start512 * 512 || e->slot != slot)
			continue;
		assert_string_equal(blkalign_node_name(e->lower), pv);
		assert_int_equal(e->lower_offset_bytes, offset512 * 512);
		assert_int_equal(e->length_bytes, length512 * 512);
		assert_int_equal(e->stripes, stripes);
		assert_int_equal(e->chunk_bytes, chunk512 * 512);
		areas_checked++;
		return;
	}
	fail_msg("%s: %s has no edge for %s", g->path, blkalign_node_name(n), area);
}

static void check_raid_table(const struct blkalign_node *n, const char *parameters)
{
	unsigned count, images = 0, metadata = 0;
	uint64_t chunk512;
	char type[32];

	assert_int_equal(sscanf(parameters, "%31s %u %" SCNu64, type, &count, &chunk512), 3);
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		images += e->slot != BLKALIGN_SLOT_NONE;
		metadata += e->state && !strcmp(e->state, "metadata");
		if (e->stripes > 1)
			assert_int_equal(e->chunk_bytes, chunk512 * 512);
	}
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS), images);
	assert_true(metadata == 0 || metadata == images);
	if (chunk512)
		assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_MD_CHUNK), chunk512 * 512);
}

static const char *next_pair(const char *p)
{
	p = strchr(p, ' ');
	p = p ? strchr(p + 1, ' ') : NULL;
	return p ? p + 1 : "";
}

/* "vg-one: 0 4096 linear 7:0 2048" */
static void check_table(const struct golden *g, const char *line)
{
	char name[64], target[32];
	uint64_t start512, length512, chunk512;
	unsigned stripes;
	int at;
	const struct blkalign_node *n;
	const char *area;

	assert_int_equal(sscanf(line, "vg-%63[^:]: %" SCNu64 " %" SCNu64 " %31s %n", name, &start512, &length512, target, &at), 4);
	/* Layers that only a running machine has. */
	if (strstr(name, "-real") || strstr(name, "-tpool") || strstr(name, "-missing"))
		return;
	n = volume(g, name);
	area = line + at;
	tables_checked++;
	if (!strcmp(target, "linear") && strncmp(area, "252:", 4) != 0) {
		check_area(g, n, start512, length512, area, 0, 1, 0);
	} else if (!strcmp(target, "striped")) {
		assert_int_equal(sscanf(area, "%u %" SCNu64 " %n", &stripes, &chunk512, &at), 2);
		area += at;
		for (unsigned i = 0; i < stripes; i++, area = next_pair(area))
			check_area(g, n, start512, length512, area, i, stripes, chunk512);
	} else if (!strcmp(target, "raid")) {
		check_raid_table(n, area);
	}
}

static void each_line(const struct golden *g, const char *key, void (*check)(const struct golden *, const char *))
{
	char *copy = strdup(g->text), *state, *line;

	for (line = strtok_r(copy, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		if (!strncmp(line, key, strlen(key)))
			check(g, line + strlen(key));
	free(copy);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct golden g;

		golden_open(&g, cases[i]);
		golden_assemble(&g);
		each_line(&g, "table: ", check_table);
		each_line(&g, "lvs: ", check_lvs);
		each_line(&g, "lv: ", check_content);
		golden_close(&g);
	}
	assert_int_equal(contents_read, 48);
	assert_int_equal(tables_checked, 264);
	assert_int_equal(areas_checked, 231);
	print_message("%u contents equal, %u tables and %u areas equal\n", contents_read, tables_checked, areas_checked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
