/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays as real kernels (5.10, 6.1, 6.12, 7.2) showed them, rows of golden/kernel-limits.tsv: what the kernel hides is told, and nothing else. Whether the
 * mark -1 was lost is known from the kernels before 6.9, which show it.
 */
#include "make.h"

#include <inttypes.h>

#define MEMBERS_MAX 16

struct row {
	char kernel[32], text[256];
	unsigned level, members, copies, far;
	uint64_t chunk, data_offset;
	int64_t logical, physical, minimum, optimal, offset; /* of a member */
	int64_t shown_logical, shown_physical, shown_minimum, shown_optimal, shown_offset;
};

static struct row rows[1024];
static size_t row_count;

static int64_t number(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoll(p + strlen(key), NULL, 10) : 0;
}

static bool parse(const char *line, struct row *ret)
{
	struct row r = { 0 };
	char result[512], layout[8] = "";

	if (sscanf(line, "md\t%31[^\t]\t%255[^\t]\t%511[^\n]", r.kernel, r.text, result) != 3 || strstr(r.text, "reshape"))
		return false;
	r.level = (unsigned)number(r.text, "level=");
	r.members = (unsigned)number(r.text, " n=");
	if (strstr(r.text, "layout=") && sscanf(strstr(r.text, "layout="), "layout=%7[a-z0-9]", layout) == 1) {
		r.far = layout[0] != 'n';
		r.copies = (unsigned)strtoul(layout + 1, NULL, 10);
	}
	r.chunk = (uint64_t)number(r.text, "chunk_k=") * KIB;
	r.data_offset = S512((uint64_t)number(r.text, "data_offset_s="));
	r.logical = number(r.text, "[lbs=");
	r.physical = number(r.text, ",pbs=");
	r.minimum = number(r.text, ",min=");
	r.optimal = number(r.text, ",opt=");
	r.offset = number(r.text, ",ao=");
	r.shown_logical = number(result, "lbs=");
	r.shown_physical = number(result, " pbs=");
	r.shown_minimum = number(result, " min=");
	r.shown_optimal = number(result, " opt=");
	r.shown_offset = number(result, " ao=");
	if (!r.logical || !r.members || r.members > MEMBERS_MAX || (r.level != 1 && !r.chunk))
		return false;
	*ret = r;
	return true;
}

static void read_rows(void)
{
	char path[512], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/golden/kernel-limits.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && row_count < ARRAY_SIZE(rows))
		row_count += parse(line, &rows[row_count]);
	fclose(f);
}

static void shown(struct blkalign_node *n, int64_t logical, int64_t physical, int64_t minimum, int64_t optimal, int64_t offset)
{
	set(n, BLKALIGN_ATTR_LOGICAL_BLOCK, (uint64_t)logical);
	set(n, BLKALIGN_ATTR_PHYSICAL_BLOCK, (uint64_t)physical);
	set(n, BLKALIGN_ATTR_MINIMUM_IO, (uint64_t)minimum);
	set(n, BLKALIGN_ATTR_OPTIMAL_IO, (uint64_t)optimal);
	assert_int_equal(graph_set_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, offset, BLKALIGN_ORIGIN_SYSFS), 0);
}

static uint32_t data_members(const struct row *r)
{
	if (r->level == 10)
		return r->members / r->copies;
	return r->members - (r->level == 6 ? 2 : r->level == 5 || r->level == 4 ? 1 : 0);
}

static struct blkalign_graph *build(const struct row *r)
{
	struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *members[MEMBERS_MAX], *array;
	char name[16];

	set_text(node(g, BLKALIGN_KIND_HOST, "host"), BLKALIGN_ATTR_KERNEL, r->kernel);
	for (unsigned i = 0; i < r->members; i++) {
		snprintf(name, sizeof(name), "sd%c", 'a' + (int)i);
		members[i] = node(g, BLKALIGN_KIND_DISK, name);
		shown(members[i], r->logical, r->physical, r->minimum, r->optimal, r->offset);
	}
	snprintf(name, sizeof(name), "raid%u", r->level);
	array = md(g, "md0", name, members, r->members, r->level == 1 ? 1 : data_members(r), r->level == 1 ? 0 : r->chunk, r->data_offset);
	set(array, BLKALIGN_ATTR_MD_MEMBERS, r->members);
	if (r->level == 10)
		set(array, BLKALIGN_ATTR_MD_LAYOUT, r->far ? 1 | r->copies << 8 : 0x100 | r->copies);
	shown(array, r->shown_logical, r->shown_physical, r->shown_minimum, r->shown_optimal, r->shown_offset);
	return g;
}

static bool is_old(const struct row *r) { return !strncmp(r->kernel, "5.", 2) || !strncmp(r->kernel, "6.1.", 4); }

/* What a kernel that never loses the mark shows of the same array; false when none was asked. */
static bool marked_by_old_kernel(const struct row *r, bool *ret)
{
	for (size_t i = 0; i < row_count; i++)
		if (is_old(&rows[i]) && !strcmp(rows[i].text, r->text)) {
			*ret = rows[i].shown_offset == -1;
			return true;
		}
	return false;
}

static void test_lost_mark(void **state)
{
	unsigned lost = 0, silent = 0;

	(void)state;
	for (size_t i = 0; i < row_count; i++) {
		_cleanup_graph_ struct blkalign_graph *g = build(&rows[i]);
		_cleanup_report_ struct blkalign_report *r = check(g);
		const struct blkalign_finding *f = found(r, "LIMITS-INCONSISTENT", "md0");
		bool marked;

		if (rows[i].shown_offset == -1) {
			must(r, "LIMITS-INCONSISTENT", "md0");
			continue;
		}
		if (!marked_by_old_kernel(&rows[i], &marked))
			continue;
		if (!!f != marked)
			print_error("%s %s: %s\n", rows[i].kernel, rows[i].text, f ? f->message : "silent");
		assert_int_equal(!!f, marked);
		lost += marked;
		silent += !marked;
	}
	print_message("%u lost marks told, %u rows silent\n", lost, silent);
	assert_true(lost >= 4 && silent >= 100);
}

static void test_poisoned(void **state)
{
	unsigned told = 0, silent = 0, proven = 0;

	(void)state;
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];
		bool bad = row->optimal == 33553920 || row->optimal == 16776704 || row->optimal == 16773120;
		uint64_t stripe = row->chunk * (row->level == 1 ? 0 : data_members(row)), optimal = (uint64_t)row->shown_optimal;
		/* The kernel counts far copies as data. */
		bool fits = (stripe && optimal % stripe == 0 && optimal < 64 * MIB) ||
			    (row->level == 10 && optimal % row->chunk == 0 && optimal / row->chunk <= row->members);
		_cleanup_graph_ struct blkalign_graph *g = build(row);
		_cleanup_report_ struct blkalign_report *r = check(g);
		const struct blkalign_finding *f = found(r, "BOGUS-OPTIMAL-IO", "md0");
		char text[64];

		if (row->level == 1)
			continue;
		if (!!f != (bad && !fits))
			print_error("%s %s: optimum %" PRIu64 " of stripe %" PRIu64 ": %s\n", row->kernel, row->text, optimal, stripe,
				    f ? f->message : "silent");
		assert_int_equal(!!f, bad && !fits);
		silent += !f;
		if (!f)
			continue;
		told++;
		assert_string_equal(blkalign_node_name(f->cause), "sda");
		assert_int_equal(f->expected_bytes, stripe);
		snprintf(text, sizeof(text), "the true stripe is %" PRIu64 ", sda claims %" PRId64, stripe, row->optimal);
		assert_non_null(strstr(f->message, text));
		proven += !!strstr(f->message, "gives exactly this value");
	}
	print_message("%u poisoned optima told, %u of them proven, %u rows silent\n", told, proven, silent);
	assert_true(told >= 20 && silent >= 50);
	assert_int_equal(proven, told);
}

/* The maximum of SAS adapters, 16773120, below arrays of 512 KiB chunks: figures of an independent model that agrees with all rows above. */
static void test_sas_maximum(void **state)
{
	static const struct {
		unsigned level, members;
		int64_t shown;
	} cases[] = { { 5, 4, 2146959360 }, { 6, 9, 2146959360 }, { 5, 3, 4293918720 }, { 6, 8, 4293918720 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct row row = { .kernel = "6.12.50",
				   .level = cases[i].level,
				   .members = cases[i].members,
				   .chunk = 512 * KIB,
				   .data_offset = S512(264192),
				   .logical = 512,
				   .physical = 4096,
				   .minimum = 4096,
				   .optimal = 16773120,
				   .shown_logical = 512,
				   .shown_physical = 4096,
				   .shown_minimum = 524288,
				   .shown_optimal = cases[i].shown };
		_cleanup_graph_ struct blkalign_graph *g = build(&row);
		_cleanup_report_ struct blkalign_report *r = check(g);
		const struct blkalign_finding *f = must(r, "BOGUS-OPTIMAL-IO", "md0");

		assert_string_equal(blkalign_node_name(f->cause), "sda");
		assert_non_null(strstr(f->message, "gives exactly this value"));
	}
}

/* Without one of the facts nothing is worked out: no new alarm. */
static void test_missing_facts(void **state)
{
	static const enum blkalign_attr attrs[] = { BLKALIGN_ATTR_ALIGNMENT_OFFSET, BLKALIGN_ATTR_PHYSICAL_BLOCK,
						    BLKALIGN_ATTR_MINIMUM_IO };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d[4], *array;

		for (unsigned m = 0; m < 4; m++) {
			char name[8] = { 's', 'd', (char)('a' + m), 0 };

			d[m] = node(g, BLKALIGN_KIND_DISK, name);
			set(d[m], BLKALIGN_ATTR_LOGICAL_BLOCK, 512);
			if (attrs[i] != BLKALIGN_ATTR_PHYSICAL_BLOCK)
				set(d[m], BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096);
			if (attrs[i] != BLKALIGN_ATTR_MINIMUM_IO)
				set(d[m], BLKALIGN_ATTR_MINIMUM_IO, 4096);
			set(d[m], BLKALIGN_ATTR_OPTIMAL_IO, 0);
			if (attrs[i] != BLKALIGN_ATTR_ALIGNMENT_OFFSET)
				graph_set_i64(d[m], BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0, BLKALIGN_ORIGIN_SYSFS);
		}
		array = md(g, "md0", "raid5", d, 4, 3, 512 * KIB, S512(2049));
		shown(array, 512, 4096, 524288, 1572864, 3584);
		r = check(g);
		assert_null(found(r, "LIMITS-INCONSISTENT", NULL));
	}
}

/* A volume of two pieces, sectors 2048 and 40063 of a 4 KiB drive: -1 until 6.8, 512 from 6.9 on. */
static void test_segments(void **state)
{
	static const struct {
		const char *kernel;
		int64_t shown;
		bool told;
	} cases[] = { { "6.1.192", -1, true }, { "6.12.117", 512, true }, { "6.12.117", 1024, false }, { "6.1.192", 512, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda, *lv;

		set_text(node(g, BLKALIGN_KIND_HOST, "host"), BLKALIGN_ATTR_KERNEL, cases[i].kernel);
		sda = node(g, BLKALIGN_KIND_DISK, "sda");
		shown(sda, 512, 4096, 4096, 0, 0);
		lv = node(g, BLKALIGN_KIND_DM, "dm-0");
		for (uint32_t segment = 0; segment < 2; segment++) {
			struct blkalign_edge e = { .upper = lv,
						   .lower = sda,
						   .upper_offset_bytes = segment * 8 * MIB,
						   .lower_offset_bytes = S512(segment ? 40063 : 2048),
						   .length_bytes = 8 * MIB,
						   .stripes = 1,
						   .segment = segment };

			assert_int_equal(graph_connect(g, &e), 0);
		}
		shown(lv, 512, 4096, 4096, 0, cases[i].shown);
		r = check(g);
		assert_int_equal(!!found(r, "LIMITS-INCONSISTENT", "dm-0"), cases[i].told);
	}
}

/* An lcm that two honest-looking hints blow up: the one that does not fit is named. */
static void test_odd_one(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[3] = { disk(g, "sda", 0, 512, 4096, 4096, 0), disk(g, "sdb", 0, 512, 4096, 98304, 47 * 98304),
				       disk(g, "sdc", 0, 512, 4096, 4096, 0) };
	struct blkalign_node *array = md(g, "md0", "raid5", d, 3, 2, 512 * KIB, MIB);

	(void)state;
	set(array, BLKALIGN_ATTR_OPTIMAL_IO, 147849216);
	r = check(g);
	assert_string_equal(blkalign_node_name(must(r, "BOGUS-OPTIMAL-IO", "md0")->cause), "sdb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_mark), cmocka_unit_test(test_poisoned), cmocka_unit_test(test_missing_facts),
		cmocka_unit_test(test_segments),  cmocka_unit_test(test_odd_one),  cmocka_unit_test(test_sas_maximum),
	};

	read_rows();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
