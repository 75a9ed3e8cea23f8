/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every array of tests/golden/md without any one and any two of its images. Where the level can do without them the content is that of the whole array, which
 * test_md_golden.c compares with the kernel's; where it cannot, the refusal names the slots. Cases run side by side.
 *
 * A program of its own rather than a cmocka group: outside of one a failed assertion ends the process, which is the case's.
 */
#include "md_golden.h"

#include <sys/mman.h>

#define PIECE_BYTES (64 * KIB)
#define PAGE_BYTES  (4 * KIB)

static struct counts {
	_Atomic unsigned sets, read, refused, doubted;
} * counts;

/* What is known of a case before any of our code has looked at it. */
struct plan {
	bool unequal;	 /* redundancy does not fit the data: only the first copies, or the data members, are the content */
	bool unsynced;	 /* copies of a mirror differ where a resync had not come */
	bool bad_blocks; /* one member lists sectors that it cannot read */
};

static struct plan plan_of(const struct golden *g, char letter)
{
	struct plan p = { 0 };

	p.unequal = letter == 'm' && (!fnmatch("*-mismatch*", g->name, 0) || !fnmatch("*-n2o2", g->name, 0));
	p.unsynced = !fnmatch("raid1-midresync", g->name, 0) || !fnmatch("raid10-midresync*", g->name, 0);
	p.bad_blocks = !strcmp(g->name, "raid1-badblocks");
	return p;
}

/* --- what mdadm's output says about a set of images --- */

struct expectation {
	bool present[MEMBERS]; /* by slot */
	bool newest_there;     /* one of the members with the highest event count */
	bool journal_lost;
};

static unsigned long long highest_events(const struct golden *g, unsigned absent)
{
	unsigned long long highest = 0;

	for (unsigned i = 0; i < g->shown; i++)
		if (!(absent & 1U << i) && strncmp(g->member[i].role, "Active", 6) == 0 && g->member[i].events > highest)
			highest = g->member[i].events;
	return highest;
}

static void expect(const struct golden *g, unsigned absent, struct expectation *ret)
{
	unsigned long long highest = highest_events(g, absent);

	*ret = (struct expectation){ .newest_there = highest == highest_events(g, 0) };
	for (unsigned i = 0; i < g->images; i++) {
		unsigned slot = i;
		bool there = !(absent & 1U << i);

		if (g->shown && sscanf(g->member[i].role, "Active device %u", &slot) != 1) {
			ret->journal_lost = ret->journal_lost || (!there && !strcmp(g->member[i].role, "Journal"));
			continue;
		}
		if (!strcmp(g->name, "raid5-midrecovery") && slot == 3)
			continue;
		ret->present[slot] = there && (!g->shown || g->member[i].events + 1 >= highest);
	}
}

/* raid10: in its geometry, made of what the superblocks say. */
static bool can_do_without(const struct blkalign_node *node, const bool *present)
{
	bool reshaping = strstr(blkalign_node_str(node, BLKALIGN_ATTR_MD_STATE), "reshaping"); /* 3 to 4 members, or back */
	uint64_t count = reshaping ? 4 : blkalign_node_u64(node, BLKALIGN_ATTR_MD_MEMBERS), sizes[MEMBERS], lost = 0;
	const char *level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL);
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	struct raid_shape shape = { RAID_10, (uint32_t)blkalign_node_u64(node, BLKALIGN_ATTR_MD_LAYOUT),
				    blkalign_node_u64(node, BLKALIGN_ATTR_MD_CHUNK), (uint32_t)count, sizes };

	for (uint64_t i = 0; i < count; i++)
		lost += !present[i];
	if (!strcmp(level, "raid1"))
		return lost < count;
	if (strcmp(level, "raid10") != 0)
		return lost <= (!strcmp(level, "raid6") ? 2 : !strcmp(level, "raid5") || !strcmp(level, "raid4") ? 1 : 0);
	for (uint64_t i = 0; i < count; i++)
		sizes[i] = blkalign_node_u64(node, BLKALIGN_ATTR_MD_COMPONENT);
	assert_int_equal(raid_geometry_init(&g, &shape, NULL), 0);
	return raid_survives(&g, present);
}

/* --- content --- */

static uint8_t *read_whole(const struct golden *g, struct dev *dev)
{
	uint8_t *data = malloc(dev->size_bytes);
	struct blkalign_error err;

	assert_non_null(data);
	for (uint64_t at = 0; at < dev->size_bytes; at += MIB)
		if (dev_read(dev, at, data + at, dev->size_bytes - at < MIB ? dev->size_bytes - at : MIB, &err) < 0)
			fail_msg("%s: %s", g->name, err.message);
	return data;
}

struct outcome {
	uint64_t refused_bytes;
	uint64_t different_bytes;
};

/* What is refused is looked at page by page. */
static void compare_piece(struct dev *dev, uint64_t at, size_t length, const uint8_t *want, struct outcome *o)
{
	static uint8_t piece[PIECE_BYTES];
	struct blkalign_error err;
	int r = dev_read(dev, at, piece, length, &err);

	if (r == -EIO && length > PAGE_BYTES)
		for (size_t done = 0; done < length; done += PAGE_BYTES)
			compare_piece(dev, at + done, length - done < PAGE_BYTES ? length - done : PAGE_BYTES, want, o);
	else if (r == -EIO)
		o->refused_bytes += length;
	else if (r < 0)
		fail_msg("%s", err.message);
	else if (memcmp(piece, want + at, length) != 0)
		o->different_bytes += length;
}

static void check_content(const struct golden *g, const struct plan *p, const struct blkalign_node *node, struct dev *dev,
			  const uint8_t *want, unsigned absent)
{
	uint64_t doubtful = blkalign_node_u64(node, BLKALIGN_ATTR_MD_DOUBTFUL), members = blkalign_node_u64(node, BLKALIGN_ATTR_MD_MEMBERS);
	const char *level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL);
	bool mirror = !strcmp(level, "raid1") || !strcmp(level, "raid10");
	uint64_t may_refuse = mirror ? 0 : doubtful * members, may_differ = mirror && p->unsynced ? doubtful : 0;
	struct outcome o = { 0 };

	for (uint64_t at = 0; at < dev->size_bytes; at += PIECE_BYTES)
		compare_piece(dev, at, dev->size_bytes - at < PIECE_BYTES ? dev->size_bytes - at : PIECE_BYTES, want, &o);
	if (p->bad_blocks)
		may_refuse = 4 * PAGE_BYTES;
	if (o.refused_bytes > may_refuse || o.different_bytes > may_differ)
		fail_msg("%s without %#x: %lu bytes refused (at most %lu), %lu bytes other than whole (at most %lu)", g->name, absent,
			 o.refused_bytes, may_refuse, o.different_bytes, may_differ);
	counts->read++;
	counts->doubted += o.refused_bytes > 0;
}

/* "members are missing (slot 1, 3)": every one of them. */
static void check_refusal(const struct golden *g, struct stack *stack, const struct blkalign_node *node, const bool *present,
			  unsigned absent)
{
	const struct blkalign_graph *graph = stack_graph(stack);
	const char *list = NULL;

	if (stack_dev(stack, node))
		fail_msg("%s without %#x is read, and cannot be whole", g->name, absent);
	for (size_t i = 0; i < blkalign_graph_remarks(graph) && !list; i++)
		list = strstr(blkalign_graph_remark(graph, i), " missing (slot ");
	for (uint64_t slot = 0; slot < blkalign_node_u64(node, BLKALIGN_ATTR_MD_MEMBERS); slot++) {
		char number[16];

		snprintf(number, sizeof(number), "%u", (unsigned)slot);
		if (!present[slot] && (!list || !strstr(list, number)) && strcmp(g->name, "raid5-midrecovery") != 0) {
			print_remarks(g, stack);
			fail_msg("%s without %#x: no remark names slot %s", g->name, absent, number);
		}
	}
	counts->refused++;
}

/* --- sets --- */

static void one_set(struct golden *g, char letter, const uint8_t *want, unsigned absent)
{
	_cleanup_stack_ struct stack *stack = open_some(g, letter, absent, &(struct stack_running){ 0 });
	struct plan p = plan_of(g, letter);
	struct blkalign_node *node;
	struct expectation e;
	struct dev *dev;

	expect(g, absent, &e);
	node = the_array(g, stack);
	dev = stack_dev(stack, node);
	counts->sets++;
	if (!can_do_without(node, e.present)) {
		check_refusal(g, stack, node, e.present, absent);
		return;
	}
	if (!dev) {
		print_remarks(g, stack);
		fail_msg("%s without %#x cannot be read", g->name, absent);
	}
	/* An older member alone is an older array, and a lost journal takes its data with it. */
	if (e.newest_there && !p.unequal && !(e.journal_lost && strstr(g->name, "-wb-")))
		check_content(g, &p, node, dev, want, absent);
}

static void all_sets(struct golden *g, char letter)
{
	_cleanup_stack_ struct stack *stack = open_some(g, letter, 0, NULL);
	_cleanup_free_ uint8_t *want = NULL;
	unsigned images = g->images;
	struct dev *dev;

	if (!stack)
		return;
	dev = stack_dev(stack, the_array(g, stack));
	if (!dev || !fnmatch("raid0-090-3u*", g->name, 0))
		return;
	want = read_whole(g, dev);
	for (unsigned absent = 1; absent < 1U << images; absent++)
		if (__builtin_popcount(absent) <= 2 && absent != (1U << images) - 1)
			one_set(g, letter, want, absent);
}

/* --- cases --- */

static void one_case(const char *name)
{
	struct golden g;

	unpack(&g, name);
	all_sets(&g, 'm');
	/* mdadm printed what the images were before: events of "a" images are equal again. */
	g.shown = 0;
	all_sets(&g, 'a');
	discard(&g);
}

static bool wait_for_one(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void start(const char *name)
{
	fflush(NULL);
	if (fork() == 0) {
		one_case(name);
		exit(EXIT_SUCCESS);
	}
}

#define CASES_MAX 256

struct cases {
	char names[CASES_MAX][64];
	unsigned count;
};

/* All before the first child: they would share the position in the file. */
static void read_names(struct cases *cases)
{
	char path[512], line[512], name[64];
	const char *only = getenv("ONLY");
	FILE *manifest;

	snprintf(path, sizeof(path), "%s/golden/md/manifest.tsv", getenv("BLKALIGN_TESTS"));
	manifest = fopen(path, "r");
	assert_non_null(manifest);
	while (fgets(line, sizeof(line), manifest)) {
		if (sscanf(line, "%63[^\t]", name) != 1 || (cases->count && !strcmp(name, cases->names[cases->count - 1])) ||
		    (only && fnmatch(only, name, 0) != 0))
			continue;
		assert_true(cases->count < CASES_MAX);
		snprintf(cases->names[cases->count++], sizeof(name), "%s", name);
	}
	fclose(manifest);
}

static bool run_cases(const struct cases *cases, long side_by_side)
{
	long running = 0;
	bool good = true;

	for (unsigned i = 0; i < cases->count; i++) {
		if (running == side_by_side) {
			good = wait_for_one() && good;
			running--;
		}
		start(cases->names[i]);
		running++;
	}
	while (running--)
		good = wait_for_one() && good;
	return good;
}

int main(void)
{
	static struct cases cases;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	bool good;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		return EXIT_FAILURE;
	read_names(&cases);
	good = run_cases(&cases, processors > 0 ? processors : 1);
	printf("%u arrays, %u sets: %u read whole (of these %u in part, where redundancy is in doubt), %u refused\n", cases.count,
	       counts->sets, counts->read, counts->doubted, counts->refused);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
