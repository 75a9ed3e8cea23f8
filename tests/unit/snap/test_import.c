/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/import/NAME.txt is what tools printed, NAME.facts what the graph must say. A fact is "NODE KEY VALUE", "NODE kind KIND" or "UPPER on LOWER OFFSET
 * [slot N] [segment N]"; "-" means not known.
 */
#include <dirent.h>
#include <inttypes.h>

#include "unit.h"

#include "snap/import.h"

#define TEXT_MAX (1U << 20)

static char *read_file(const char *name, const char *suffix, size_t *ret_length)
{
	char path[4096];
	char *text = calloc(1, TEXT_MAX);
	FILE *f;

	snprintf(path, sizeof(path), "%s/import/%s%s", getenv("BLKALIGN_TESTS"), name, suffix);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	*ret_length = fread(text, 1, TEXT_MAX - 1, f);
	fclose(f);
	return text;
}

static bool import(const char *text, size_t length, struct blkalign_graph *graph)
{
	struct blkalign_error e = { 0 };
	int r = import_lsblk(text, length, graph, &e);

	if (r == BLKALIGN_NOT_THIS)
		r = import_text(text, length, graph, &e);
	return r == 0;
}

/* The value as text; "-" when not known. */
static void value_text(const struct blkalign_node *node, enum blkalign_attr attr, char *ret, size_t size)
{
	const struct blkalign_value *v = blkalign_node_value(node, attr);

	if (!v)
		snprintf(ret, size, "-");
	else if (v->type == BLKALIGN_TYPE_STR)
		snprintf(ret, size, "%s", v->str);
	else if (v->type == BLKALIGN_TYPE_I64)
		snprintf(ret, size, "%" PRId64, v->i64);
	else
		snprintf(ret, size, "%" PRIu64, blkalign_node_u64(node, attr));
}

static bool edge_holds(const struct blkalign_node *node, const char *fact)
{
	char lower[256], offset[32], more[2][16] = { "", "" };
	uint64_t number = 0, want;

	if (sscanf(fact, "on %255s %31s %15s %15s", lower, offset, more[0], more[1]) < 2)
		return false;
	want = !strcmp(offset, "-") ? BLKALIGN_UNKNOWN : strtoull(offset, NULL, 10);
	number = strtoull(more[1], NULL, 10);
	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(node, i);

		if (strcmp(blkalign_node_name(e->lower), lower) != 0 || e->lower_offset_bytes != want)
			continue;
		if (strcmp(more[0], "slot") == 0 ? e->slot == number : e->segment == number)
			return true;
	}
	return false;
}

static void check_fact(const struct blkalign_graph *graph, const char *file, const char *fact)
{
	char name[256], key[64], found[1024] = "no such node";
	const struct blkalign_node *node;
	int behind = 0, value = 0;

	assert_true(sscanf(fact, "%255s %n%63s %n", name, &behind, key, &value) == 2);
	node = blkalign_graph_find(graph, name);
	if (node && !strcmp(key, "on")) {
		if (edge_holds(node, fact + behind))
			return;
		snprintf(found, sizeof(found), "no such edge");
	} else if (node && !strcmp(key, "kind")) {
		snprintf(found, sizeof(found), "%s", blkalign_kind_name(blkalign_node_kind(node)));
	} else if (node) {
		assert_int_not_equal(blkalign_attr_find(key), BLKALIGN_ATTR_COUNT);
		value_text(node, blkalign_attr_find(key), found, sizeof(found));
	}
	if (strcmp(found, fact + value) != 0)
		fail_msg("%s: expected \"%s\", found %s", file, fact, found);
}

static void check_file(const char *name)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("test");
	size_t length, facts_length;
	char *text = read_file(name, ".txt", &length), *facts = read_file(name, ".facts", &facts_length), *rest = facts, *fact;

	if (!import(text, length, graph))
		fail_msg("%s is not recognised", name);
	while ((fact = strsep(&rest, "\n")))
		if (*fact)
			check_fact(graph, name, fact);
	free(text);
	free(facts);
}

static void test_printed_output(void **state)
{
	char path[4096];
	struct dirent **names;
	int n, files = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/import", getenv("BLKALIGN_TESTS"));
	n = scandir(path, &names, NULL, alphasort);
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char *dot = strstr(names[i]->d_name, ".facts");

		if (dot) {
			*dot = '\0';
			check_file(names[i]->d_name);
			files++;
		}
		free(names[i]);
	}
	free(names);
	assert_true(files >= 17);
}

static void test_sosreport(void **state)
{
	static const char *const facts[] = {
		"sda2 on sda 210763776",
		"sda1 partition_role esp",
		"sda physical_block_bytes 4096",
		"sda optimal_io_bytes 0",
		"pv:sda2 pe_start_bytes 1048576",
		"pv:sda2 extent_bytes 4194304",
		"sda2 size_bytes 999993376768",
		"md0 on sdc1 - slot 0",
		"md0 size_bytes 1071644672",
		"host tool_lvm2 2.03.11-2.1",
		"host kernel_release 5.10.0-21-amd64",
	};
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("test"), *base = graph_new("sysfs"), *both = graph_new("test");
	struct blkalign_node *sda;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/import/sosreport", getenv("BLKALIGN_TESTS"));
	assert_int_equal(import_sosreport(path, NULL, graph, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		check_fact(graph, path, facts[i]);

	/* What sysfs said of the same disk goes before what was printed. */
	assert_int_equal(graph_add(base, BLKALIGN_KIND_DISK, "sda", &sda), 0);
	assert_int_equal(graph_set_u64(sda, BLKALIGN_ATTR_PHYSICAL_BLOCK, 16384, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(import_sosreport(path, base, both, NULL), 0);
	check_fact(both, path, "sda physical_block_bytes 16384");
	check_fact(both, path, "sda2 on sda 210763776");
	assert_int_equal(blkalign_node_value(blkalign_graph_find(both, "sda"), BLKALIGN_ATTR_PHYSICAL_BLOCK)->origin,
			 BLKALIGN_ORIGIN_SYSFS);
}

/* Cut anywhere, a text gives a graph or is not recognised; it never fails. */
static void test_cut_text(void **state)
{
	size_t length;
	char *text = read_file("one-report", ".txt", &length);

	(void)state;
	for (size_t n = 0; n < length; n += 61) {
		_cleanup_graph_ struct blkalign_graph *graph = graph_new("test");

		assert_true(import_text(text, n, graph, NULL) >= 0);
	}
	free(text);
}

static void test_not_recognised(void **state)
{
	static const char *const texts[] = { "", "Dear all,\nmy disk is slow. Any idea?\n", "{\"blockdevices\": 3}", "{}",
					     "Disk usage: 5, 6\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_graph_ struct blkalign_graph *graph = graph_new("test");

		assert_false(import(texts[i], strlen(texts[i]), graph));
		assert_int_equal(blkalign_graph_size(graph), 0);
	}
}

/* An array on itself, two arrays on each other: what closes the circle is left out and said. */
static void test_circle(void **state)
{
	static const char text[] = "md0 : active raid1 md1[0] sda1[1]\n"
				   "md1 : active raid1 md0[0] sdb1[1]\n"
				   "md2 : active raid1 md2[0]\n";
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("test");

	(void)state;
	assert_int_equal(import_text(text, strlen(text), graph, NULL), 0);
	assert_int_equal(blkalign_graph_remarks(graph), 1);
}

/* One array with more members than any: refused, not quadratic. */
static void test_many_members(void **state)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("test");
	_cleanup_strbuf_ struct strbuf text = { 0 };

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		strbuf_printf(&text, "md0 : active raid1 x%u[0]\n", i);
	assert_int_equal(import_text(strbuf_text(&text), text.length, graph, NULL), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printed_output), cmocka_unit_test(test_sosreport), cmocka_unit_test(test_cut_text),
		cmocka_unit_test(test_not_recognised), cmocka_unit_test(test_circle),	 cmocka_unit_test(test_many_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
