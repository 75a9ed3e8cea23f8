/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that kernels made, spoilt and checked: the count of mismatches is the kernel's, and where a member was spoilt it is named. */
#include "run/golden_md.h"

static struct blkalign_error err;

struct spot {
	uint32_t slot; /* BLKALIGN_SLOT_NONE: nobody can be named */
	uint64_t at, length;
	enum blkalign_scrub_verdict verdict;
};

static struct blkalign_scrub_progress scrub(struct blkalign_scrub *s)
{
	struct blkalign_scrub_progress p;
	int r;

	do
		r = blkalign_scrub_step(s, &p, &err);
	while (r == 0);
	if (r < 0)
		fail_msg("%s: %s", err.where, err.message);
	return p;
}

static void compare(const struct blkalign_scrub *s, const struct spot *spots, size_t count)
{
	assert_int_equal(blkalign_scrub_findings(s, NULL), count);
	for (size_t i = 0; i < count; i++) {
		const struct blkalign_scrub_finding *f = blkalign_scrub_finding(s, i);

		assert_int_equal(f->kind, BLKALIGN_SCRUB_MISMATCH);
		assert_string_equal(blkalign_scrub_verdict_name(f->verdict), blkalign_scrub_verdict_name(spots[i].verdict));
		assert_int_equal(f->slot, spots[i].slot);
		assert_int_equal(f->member_bytes, spots[i].at);
		assert_int_equal(f->length_bytes, spots[i].length);
	}
}

/* Members of these arrays lie in their slots in order, but for raid5, whose last one was rebuilt: it is in the last slot all the same. */
static void one(const char *name, const struct spot *spots, size_t count)
{
	struct golden_md g;
	struct blkalign_run *run;

	golden_md_open(&g, name);
	assert_true(g.mismatch > 0);
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct blkalign_scrub_options options = { .threads = threads };
		struct blkalign_scrub *s;

		assert_int_equal(blkalign_run_open(NULL, (const char *const *)g.names, g.count, &run, &err), 0);
		if (blkalign_scrub_open(run, NULL, &options, &s, &err) < 0)
			fail_msg("%s: %s: %s", name, err.where, err.message);
		assert_int_equal(scrub(s).mismatch_sectors512, g.mismatch);
		compare(s, spots, count);
		blkalign_scrub_close(s);
		assert_int_equal(blkalign_run_close(run, &err), 0);
	}
	golden_md_close(&g);
}

#define NONE BLKALIGN_SLOT_NONE

static void test_mismatches(void **state)
{
	static const struct spot raid5[] = { { NONE, 0, 4096, BLKALIGN_SCRUB_ONE_PARITY },
					     { NONE, 131072, 4096, BLKALIGN_SCRUB_ONE_PARITY },
					     { NONE, 1048576, 65536, BLKALIGN_SCRUB_ONE_PARITY } };
	static const struct spot raid6[] = { { 4, 0, 4096, BLKALIGN_SCRUB_PROVEN },
					     { 0, 65536, 4096, BLKALIGN_SCRUB_PROVEN },
					     { 0, 131072, 4096, BLKALIGN_SCRUB_PROVEN },
					     { 2, 1048576, 65536, BLKALIGN_SCRUB_PROVEN },
					     { NONE, 2097152, 4096, BLKALIGN_SCRUB_SEVERAL } };
	static const struct spot raid1[] = { { 1, 131072, 4096, BLKALIGN_SCRUB_ONE_PARITY },
					     { 1, 1048576, 4096, BLKALIGN_SCRUB_ONE_PARITY } };
	static const struct spot raid1_3[] = { { 1, 131072, 4096, BLKALIGN_SCRUB_SEVERAL },
					       { 2, 131072, 4096, BLKALIGN_SCRUB_SEVERAL },
					       { 2, 3145728, 4096, BLKALIGN_SCRUB_OUTVOTED } };
	static const struct spot raid10[] = { { 1, 131072, 4096, BLKALIGN_SCRUB_ONE_PARITY },
					      { 3, 1048576, 4096, BLKALIGN_SCRUB_ONE_PARITY } };

	(void)state;
	one("raid5-mismatch", raid5, 3);
	one("raid6-mismatch", raid6, 5);
	one("raid6-mismatch-ddf", raid6, 4);
	one("raid1-mismatch", raid1, 2);
	one("raid1-mismatch-3", raid1_3, 3);
	one("raid10-mismatch", raid10, 2);
}

/* A layout that overlaps itself, filled by a kernel: 56 chunks lost a copy to another one (its check counts 7168 sectors), and no member is blamed for it. What differs elsewhere is told as usual. */
static void test_overlap(void **state)
{
	struct golden_md g;
	struct blkalign_run *run;
	struct blkalign_scrub *s;

	(void)state;
	golden_md_open(&g, "raid10-12-5-n2o2");
	for (unsigned spoilt = 0; spoilt < 2; spoilt++) {
		unsigned others = 0;

		if (spoilt) {
			FILE *f = fopen(g.names[0], "r+e");

			/* Copy 0 of chunk 0, which lies apart from all others. */
			assert_non_null(f);
			assert_int_equal(fseek(f, 1048576 + 4096, SEEK_SET), 0);
			assert_int_equal(fputc('x', f), 'x');
			assert_int_equal(fclose(f), 0);
		}
		assert_int_equal(blkalign_run_open(NULL, (const char *const *)g.names, g.count, &run, &err), 0);
		assert_int_equal(blkalign_scrub_open(run, NULL, NULL, &s, &err), 0);
		assert_int_equal(scrub(s).mismatch_sectors512, (56 + spoilt * 3) * 128);
		for (size_t i = 0; i < blkalign_scrub_findings(s, NULL); i++)
			others += blkalign_scrub_finding(s, i)->verdict != BLKALIGN_SCRUB_OVERLAP;
		assert_int_equal(others, spoilt ? 3 : 0);
		assert_int_equal(blkalign_scrub_findings(s, NULL), 56 + others);
		blkalign_scrub_close(s);
		assert_int_equal(blkalign_run_close(run, &err), 0);
	}
	golden_md_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_mismatches), cmocka_unit_test(test_overlap) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
