/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that kernels made lose members, which are rebuilt onto empty files. What the array then gives, read from the rebuilt members and without as many of the
 * others as it survives, has the SHA-256 that the kernel's block device had; a scrub finds nothing; mdadm finds nothing odd.
 *
 * With BLKALIGN_ALL=1 every case and every combination of lost members, else a few.
 */
#include "run/golden_md.h"

#include <fnmatch.h>
#include <sys/stat.h>

static struct blkalign_error err;

/* Not in sync as they are, or with more in them than their members. */
static const char *const not_whole[] = { "*crash*",	"*journal*", "*reshape*", "*mid*",	 "*mismatch*",
					 "*stale*",	"*missing*", "*split*",	  "raid0*",	 "linear*",
					 "*replacing*", "*n2o2*",    "part-*",	  "*badblocks*", "*spare*" };
static const char *const few[] = { "raid1-090-2", "raid5-10-3", "raid5-12-4-ppl", "raid6-12-4", "raid10-12-4-n2-bitmap" };

struct work {
	struct golden_md g;
	char *lost[2]; /* files that take the place of these members */
	uint32_t index[2];
	size_t count;
};

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static char *empty_file(const struct golden_md *g, unsigned number, off_t size)
{
	char *path = NULL;
	FILE *f;

	assert_true(asprintf(&path, "%s/new%u.img", g->path, number) > 0);
	unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), size), 0);
	fclose(f);
	return path;
}

static bool is_lost(const struct work *w, uint32_t i) { return w->index[0] == i || (w->count > 1 && w->index[1] == i); }

/* The members of the case without those that are `out` (bits), and the rebuilt ones in place of the lost. */
static size_t gather(const struct work *w, unsigned out, bool rebuilt_too, const char **ret)
{
	size_t count = 0;

	for (unsigned i = 0; i < w->g.count; i++) {
		if (!is_lost(w, i) && !(out & 1U << i))
			ret[count++] = w->g.names[i];
	}
	for (size_t i = 0; rebuilt_too && i < w->count; i++)
		ret[count++] = w->lost[i];
	return count;
}

static void expect_content(const struct work *w, unsigned out)
{
	const char *paths[GOLDEN_MEMBERS];
	size_t count = gather(w, out, true, paths);
	struct blkalign_run *run;
	char sha256[65];

	if (blkalign_run_open(NULL, paths, count, &run, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	golden_md_sha256(run, NULL, sha256);
	assert_string_equal(sha256, w->g.sha256);
	assert_int_equal(blkalign_run_close(run, &err), 0);
}

static void expect_clean(const struct work *w)
{
	const char *paths[GOLDEN_MEMBERS];
	size_t count = gather(w, 0, true, paths);
	struct blkalign_scrub_progress p;
	struct blkalign_run *run;
	struct blkalign_scrub *s;
	int r;

	assert_int_equal(blkalign_run_open(NULL, paths, count, &run, &err), 0);
	if (blkalign_scrub_open(run, NULL, NULL, &s, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	do
		r = blkalign_scrub_step(s, &p, &err);
	while (r == 0);
	assert_int_equal(r, BLKALIGN_SCRUB_DONE);
	assert_int_equal(p.findings, 0);
	assert_string_equal(blkalign_node_str(blkalign_scrub_node(s), BLKALIGN_ATTR_MD_STATE), "clean");
	blkalign_scrub_close(s);
	assert_int_equal(blkalign_run_close(run, &err), 0);
}

static void expect_mdadm(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin; mdadm -E '%s' | grep -q 'Checksum.*correct'", path);
	if (system("PATH=$PATH:/sbin:/usr/sbin; command -v mdadm >/dev/null") == 0)
		assert_int_equal(system(command), 0);
}

static int step_to_end(struct blkalign_rebuild *b)
{
	int r;

	do
		r = blkalign_rebuild_step(b, NULL, &err);
	while (r == 0);
	return r;
}

static bool rebuild(const struct work *w)
{
	const char *members[GOLDEN_MEMBERS];
	size_t count = gather(w, 0, false, members);
	struct blkalign_rebuild *b;
	int r = blkalign_rebuild_open(NULL, members, count, (const char *const *)w->lost, w->count, &b, &err);

	if (r < 0 && strstr(w->g.path, "raid10") && strstr(err.message, "members are missing"))
		return false; /* some choices of two do not survive */
	if (r < 0)
		fail_msg("%s: %s: %s", w->g.path, err.where, err.message);
	if (step_to_end(b) < 0)
		fail_msg("%s: %s: %s", w->g.path, err.where, err.message);
	if (blkalign_rebuild_close(b, &err) < 0)
		fail_msg("%s: %s: %s", w->g.path, err.where, err.message);
	return true;
}

/* Of raid10 some choices do not survive. */
static void expect_content_without(const struct work *w, unsigned out)
{
	const char *paths[GOLDEN_MEMBERS];
	struct blkalign_run *run;
	char sha256[65];
	int r;

	if (blkalign_run_open(NULL, paths, gather(w, out, true, paths), &run, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	r = golden_md_try_sha256(run, NULL, sha256, &err);
	if (r >= 0)
		assert_string_equal(sha256, w->g.sha256);
	else if (r != -EIO || !strstr(w->g.path, "raid10"))
		fail_msg("%s: %s: %s", w->g.path, err.where, err.message);
	blkalign_run_close(run, NULL);
}

/* As many of the others left out as were lost: then every byte comes from the rebuilt ones. */
static void read_without_others(const struct work *w)
{
	for (unsigned x = 0; x < w->g.count; x++)
		for (unsigned y = w->count > 1 ? x + 1 : x; y < (w->count > 1 ? w->g.count : x + 1); y++)
			if (!is_lost(w, x) && !is_lost(w, y))
				expect_content_without(w, 1U << x | 1U << y);
}

static unsigned done, refused;

static void one_loss(const struct golden_md *g, const uint32_t *index, size_t count)
{
	struct work w = { .g = *g, .count = count };
	char command[512];

	snprintf(command, sizeof(command), "cp --sparse=always '%s'/m*.img '%s'", g->path, g->folder);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < count; i++) {
		w.index[i] = index[i];
		w.lost[i] = empty_file(g, index[i], size_of(g->names[index[i]]));
	}
	if (rebuild(&w)) {
		expect_content(&w, 0);
		expect_clean(&w);
		read_without_others(&w);
		for (size_t i = 0; i < count; i++)
			expect_mdadm(w.lost[i]);
		done++;
	} else {
		refused++;
	}
	snprintf(command, sizeof(command), "mv '%s'/m*.img '%s'", g->folder, g->path);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < count; i++)
		free(w.lost[i]);
}

static void one_case(const char *name)
{
	struct golden_md g;
	bool two = !strncmp(name, "raid6", 5) || !strncmp(name, "raid10", 6);

	golden_md_open(&g, name);
	two = two && g.count > 2;
	for (uint32_t x = 0; x < g.count; x++) {
		one_loss(&g, &x, 1);
		for (uint32_t y = x + 1; two && y < g.count; y++)
			one_loss(&g, (uint32_t[]){ x, y }, 2);
	}
	golden_md_close(&g);
}

static bool fits(const char *name)
{
	for (size_t i = 0; i < sizeof(not_whole) / sizeof(not_whole[0]); i++)
		if (fnmatch(not_whole[i], name, 0) == 0)
			return false;
	return true;
}

static void every_case(void)
{
	char path[512], name[256];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/golden/md", getenv("BLKALIGN_TESTS"));
	d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d))) {
		char *end = strstr(e->d_name, ".tar.xz");

		if (!end)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(end - e->d_name), e->d_name);
		if (fits(name))
			one_case(name);
	}
	closedir(d);
}

static void test_every_loss(void **state)
{
	(void)state;
	if (getenv("BLKALIGN_ALL")) {
		every_case();
		assert_true(done > 200);
	} else {
		for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
			one_case(few[i]);
	}
	print_message("%u rebuilt, %u refused: not survivable\n", done, refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_loss) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
