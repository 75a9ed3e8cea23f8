/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash-create [--seed N] [--least N] [--lying] [--sample FILE [--each N]]
 *
 * Every verb of `create` on machines that lose power, and on such whose requests fail: each physical volume must then hold its old state or its new one, whole, for a reader that knows nothing of
 * what happened; where the new metadata can be read, what a new volume covers has been zeroed before. --lying: flushes do nothing, so that there must be faults. --sample: N states of
 * each point (1) to FILE, for test-create-lvm2.
 */
#include <getopt.h>
#include <stdio.h>

#include "apply/apply.h"
#include "create_sample.h"
#include "dev/power_cut.h"

#define DISKS_MAX  8U
#define DISK_BYTES (3 * MIB)
#define EXTENT	   (32 * KIB)
#define GARBAGE	   0xa5
#define FAULTS_MAX 10U /* more say no more */

static uint8_t images[DISKS_MAX][DISK_BYTES];
static uint64_t states_seen, failures_tried, faults, seed = 1;
static bool lying;
static struct sample *sample; /* or NULL */

static const struct plan_author author = { .command = "crash", .host = "host", .system = "Linux", .unix_time = 1796031790 };

/* --- one verb --- */

enum verb { CREATE_PV, CREATE_VG, CREATE_LV };

struct deed {
	enum verb verb;
	unsigned disks;
	const char *type; /* of a volume */
	uint32_t stripes;
	uint64_t extents;
	unsigned copies;     /* of the metadata */
	bool force;	     /* over what is there */
	uint64_t text_bytes; /* 0, or how long the command is made, so that texts are */
};

static void die(const char *what, int r, const struct blkalign_error *err)
{
	printf("FAULT %s: %s %s\n", what, strerror(-r), err ? err->message : "");
	exit(1);
}

/* `probe`: look into the disks; to carry a plan out their names are enough. */
static struct stack *open_stack(struct dev *const *devs, unsigned count, bool probe)
{
	const struct stack_running running = { .writable = true };
	struct stack *stack;

	if (stack_new(graph_new("images"), NULL, &stack) < 0)
		abort();
	stack_set_running(stack, &running);
	for (unsigned i = 0; i < count; i++) {
		char name[16];
		struct blkalign_node *node;

		snprintf(name, sizeof(name), "d%u", i);
		if (stack_add(stack, BLKALIGN_KIND_DISK, name, devs[i], &node) < 0 ||
		    graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED) < 0 ||
		    graph_set_u64(node, BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096, BLKALIGN_ORIGIN_ASSUMED) < 0)
			abort();
	}
	if (probe && stack_run(stack, NULL) < 0)
		abort();
	return stack;
}

static struct plan_author long_author(const struct deed *deed)
{
	static char text[8192];
	struct plan_author a = author;

	if (deed->text_bytes) {
		memset(text, 'x', deed->text_bytes);
		text[deed->text_bytes] = 0;
		a.command = text;
	}
	return a;
}

static int make_plan(struct stack *stack, const struct deed *deed, struct plan *plan, struct blkalign_error *err)
{
	const struct plan_pv_options pv = { .data_alignment_offset_bytes = BLKALIGN_UNKNOWN,
					    .metadata_copies = deed->copies,
					    .force = deed->force };
	const struct plan_vg_options vg = { .name = "vg", .extent_bytes = EXTENT };
	const struct plan_lv_options lv = {
		.vg = "vg", .type = deed->type, .stripes = deed->stripes, .extents = deed->extents, .mirrors = UINT32_MAX
	};
	struct plan_author by = long_author(deed);
	struct plan_place places[DISKS_MAX];
	struct check c;
	struct plan_facts facts = { .stack = &c };
	const char *name;
	int r = check_begin(&c, stack_graph(stack));

	for (unsigned i = 0; i < deed->disks; i++) {
		char disk[16];

		snprintf(disk, sizeof(disk), "d%u", i);
		places[i].node = blkalign_graph_find(stack_graph(stack), disk);
		places[i].dev = stack_dev(stack, places[i].node);
	}
	for (unsigned i = 0; r >= 0 && deed->verb == CREATE_PV && i < deed->disks; i++)
		r = plan_pv(plan, &facts, &places[i], &pv, err);
	if (r >= 0 && deed->verb == CREATE_VG)
		r = plan_vg(plan, stack, &facts, places, deed->disks, &vg, &by, err);
	if (r >= 0 && deed->verb == CREATE_LV)
		r = plan_lv(plan, stack, &facts, &lv, &by, &name, err);
	check_end(&c);
	return r;
}

/* --- what a disk holds --- */

struct held {
	int label; /* 0, or that there is none */
	char id[LVM2_ID_LENGTH + 1];
	uint64_t seqno; /* of the freshest text; 0: none */
	const char *wrong;
};

static void read_area(struct dev *dev, const struct lvm2_area *area, struct held *held)
{
	struct lvm2_mda mda;
	struct lvm2_vg *vg;
	char *text;
	size_t length;
	int r = lvm2_mda_read(dev, area->offset_bytes, &mda, NULL);

	if (r < 0) {
		held->wrong = "the header of a metadata area is damaged";
		return;
	}
	r = lvm2_text_read(dev, &mda, &text, &length, NULL);
	if (r == BLKALIGN_ABSENT)
		return;
	if (r < 0) {
		held->wrong = "a metadata text is damaged";
		return;
	}
	if (lvm2_vg_decode(text, length, &vg, NULL) < 0) {
		held->wrong = "a metadata text says nothing sensible";
	} else {
		held->seqno = vg->seqno > held->seqno ? vg->seqno : held->seqno;
		lvm2_vg_free(vg);
	}
	free(text);
}

static struct held look(const uint8_t *bytes)
{
	struct held held = { 0 };
	struct lvm2_label label;
	struct dev *dev;

	if (dev_open_memory("disk", (void *)(uintptr_t)bytes, DISK_BYTES, false, &dev) < 0)
		abort();
	held.label = lvm2_label_read(dev, &label, NULL);
	if (held.label < 0)
		held.wrong = "the label is damaged";
	if (held.label == 0)
		memcpy(held.id, label.pv_id, sizeof(held.id));
	for (unsigned i = 0; held.label == 0 && i < label.metadata.count; i++)
		read_area(dev, &label.metadata.area[i], &held);
	dev_close(dev);
	return held;
}

/* --- judging --- */

struct stage {
	const struct deed *deed;
	struct plan *plan;
	struct power_machine *machine;
	struct held before[DISKS_MAX];
	uint64_t new_seqno;
};

/* Of a forced PV: with the label all that was recognised before is gone, and in any state the undo log, which is written before the disk is, has all that is no longer there. */
static const char *judge_forced(const struct stage *s, const uint8_t *const *disks)
{
	static uint8_t restored[DISK_BYTES];

	for (unsigned i = 0; i < s->deed->disks; i++) {
		bool label = look(disks[i]).label == 0;

		memcpy(restored, disks[i], DISK_BYTES);
		for (size_t k = s->plan->writes.count; k-- > 0;) {
			const struct plan_write *w = &s->plan->writes.data[k];

			if (w->node[1] != (char)('0' + i))
				continue;
			if (label && memcmp(disks[i] + w->offset_bytes, w->data, w->length_bytes) != 0)
				return "it is a physical volume, and what was there before is recognised as well";
			memcpy(restored + w->offset_bytes, w->before, w->length_bytes);
		}
		if (memcmp(restored, images[i], DISK_BYTES) != 0)
			return "the undo log does not have all that was overwritten";
	}
	return NULL;
}

/* The sentence of what is wrong, or NULL. */
static const char *judge(const struct stage *s, const uint8_t *const *disks)
{
	bool fresh = false;

	for (unsigned i = 0; i < s->deed->disks; i++) {
		struct held now = look(disks[i]);

		if (now.wrong)
			return now.wrong;
		if (s->deed->verb != CREATE_PV && (now.label != 0 || strcmp(now.id, s->before[i].id) != 0))
			return "a physical volume has lost its label";
		if (now.seqno != s->before[i].seqno && now.seqno != s->new_seqno)
			return "a text is neither the old nor the new one";
		fresh = fresh || (now.seqno == s->new_seqno && s->new_seqno != s->before[i].seqno);
	}
	/* What is written before the text must be there when the text is. */
	for (size_t i = 0; fresh && s->deed->verb == CREATE_LV && i < s->plan->writes.count; i++) {
		const struct plan_write *w = &s->plan->writes.data[i];
		unsigned disk = (unsigned)(w->node[1] - '0');

		if (w->step == 0 && memcmp(disks[disk] + w->offset_bytes, w->data, w->length_bytes) != 0)
			return "the new volume can be read, and holds what was there before";
	}
	return s->deed->force ? judge_forced(s, disks) : NULL;
}

/* --- states --- */

static uint64_t *known;
static size_t known_room, known_count;

static bool is_new(uint64_t key)
{
	size_t at;

	if (known_count * 2 >= known_room) {
		uint64_t *old = known;
		size_t room = known_room;

		known_room = room ? room * 2 : 1 << 16;
		known = calloc(known_room, sizeof(*known));
		if (!known)
			abort();
		known_count = 0;
		for (size_t i = 0; i < room; i++)
			if (old[i])
				is_new(old[i]);
		free(old);
	}
	key += !key;
	for (at = key % known_room; known[at]; at = (at + 1) % known_room)
		if (known[at] == key)
			return false;
	known[at] = key;
	known_count++;
	return true;
}

static void fault(const struct stage *s, const char *why, size_t point, const char *when)
{
	if (faults++ < FAULTS_MAX)
		printf("FAULT verb %d, %u disks, type %s, point %zu%s: %s\n", (int)s->deed->verb, s->deed->disks,
		       s->deed->type ? s->deed->type : "-", point, when, why);
}

static void try_states(const struct stage *s, size_t point, uint32_t unit, const char *when)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	const uint8_t *disks[DISKS_MAX];

	if (power_states_open(s->machine, point, unit, seed, &states) < 0)
		abort();
	while (faults < FAULTS_MAX && power_states_next(states)) {
		const char *why;

		if (!is_new(power_states_hash(states)))
			continue;
		states_seen++;
		for (unsigned i = 0; i < s->deed->disks; i++)
			disks[i] = power_states_image(states, i);
		if (sample)
			sample_cut(sample, power_states_hash(states), disks);
		why = judge(s, disks);
		if (why)
			fault(s, why, point, when);
	}
}

static void try_points(const struct stage *s, const char *when)
{
	for (size_t point = 0; point < power_points(s->machine); point++) {
		try_states(s, point, 512, when);
		try_states(s, point, 4096, when);
		if (sample)
			sample_point(sample);
	}
}

/* --- playing --- */

static void stage_set(struct stage *s, struct dev **devs)
{
	if (power_machine_new(&s->machine) < 0)
		abort();
	for (unsigned i = 0; i < s->deed->disks; i++)
		if (dev_open_power_cut(s->machine, "disk", images[i], DISK_BYTES, &devs[i]) < 0)
			abort();
	if (lying)
		power_machine_lie(s->machine);
}

/* The result of apply_plan(). The machine keeps what was written. */
static int play(struct stage *s, size_t nth, enum power_failure failure)
{
	struct blkalign_error err = { 0 };
	struct dev *devs[DISKS_MAX];
	struct stack *stack;
	size_t done = 0;
	int r;

	stage_set(s, devs);
	stack = open_stack(devs, s->deed->disks, false);
	power_machine_fail(s->machine, 1U << DEV_WRITE | 1U << DEV_FLUSH, nth, failure, -EIO);
	r = apply_plan(s->plan, stack, &done, &err);
	if (r >= 0 && done != s->plan->writes.count)
		die("not all is done, and it says so of all", -EIO, &err);
	/* As a run that failed ends: nothing more is written. */
	stack_free(stack);
	return r;
}

static void stage_clear(struct stage *s)
{
	power_machine_free(s->machine);
	s->machine = NULL;
}

static void plan_deed(struct stage *s)
{
	struct blkalign_error err = { 0 };
	struct dev *devs[DISKS_MAX];
	struct stack *stack;
	int r = plan_new(&s->plan);

	for (unsigned i = 0; i < s->deed->disks; i++)
		if (dev_open_memory("disk", images[i], DISK_BYTES, false, &devs[i]) < 0)
			abort();
	stack = open_stack(devs, s->deed->disks, true);
	if (r >= 0)
		r = make_plan(stack, s->deed, s->plan, &err);
	if (r < 0)
		die("cannot be planned", r, &err);
	stack_free(stack);
}

static void play_failures(struct stage *s, size_t requests)
{
	for (size_t nth = 1; nth <= requests; nth++) {
		int r = play(s, nth, nth % 2 ? POWER_FAIL_ONCE : POWER_FAIL_ALL);

		failures_tried++;
		if (r >= 0)
			fault(s, "a request failed, and the verb says that all is well", nth, " (failing)");
		/* What the media hold after the last request, or in any cut there. */
		try_states(s, power_points(s->machine) - 1, nth % 2 ? 4096 : 512, " (after a failed request)");
		if (sample)
			sample_point(sample);
		stage_clear(s);
	}
}

static void begin_sample(const struct deed *deed, const uint8_t *const *disks)
{
	static const char *const verbs[] = { [CREATE_PV] = "pv", [CREATE_VG] = "vg", [CREATE_LV] = "lv" };

	if (sample)
		sample_deed(sample, verbs[deed->verb], deed->type ? deed->type : "-", disks, deed->disks);
}

static void do_deed(const struct deed *deed)
{
	const uint8_t *disks[DISKS_MAX];
	struct stage s = { .deed = deed };
	size_t requests;

	for (unsigned i = 0; i < deed->disks; i++) {
		disks[i] = images[i];
		s.before[i] = look(images[i]);
	}
	begin_sample(deed, disks);
	plan_deed(&s);
	s.new_seqno = deed->verb == CREATE_PV ? 0 : s.before[0].seqno + 1;
	if (play(&s, 0, POWER_FAIL_ONCE) < 0)
		die("fails without a reason", -EIO, NULL);
	requests = power_machine_counted(s.machine);
	try_points(&s, "");
	stage_clear(&s);
	play_failures(&s, requests);
	if (play(&s, 0, POWER_FAIL_ONCE) < 0)
		die("fails without a reason", -EIO, NULL);
	for (unsigned i = 0; i < deed->disks; i++) {
		struct held now;

		memcpy(images[i], power_machine_contents(s.machine, i), DISK_BYTES);
		now = look(images[i]);
		if (now.wrong || now.label != 0 || now.seqno != s.new_seqno)
			fault(&s, now.wrong ? now.wrong : "afterwards it is not as planned", 0, " (the end)");
	}
	if (sample)
		sample_done(sample, disks);
	stage_clear(&s);
	plan_free(s.plan);
}

/* A group from nothing, and volumes of every type in it, in a ring that is as small as they come: texts break at its end. */
static void do_story(unsigned disks, unsigned copies, uint64_t text_bytes)
{
	static const struct {
		const char *type;
		uint32_t stripes;
		unsigned disks;
	} types[] = { { "linear", 0, 1 }, { "striped", 2, 2 }, { "raid1", 0, 2 }, { "raid4", 0, 3 },
		      { "raid5", 2, 3 },  { "raid6", 0, 5 },   { "raid10", 0, 4 } };
	struct deed deed = { .verb = CREATE_PV, .disks = disks, .copies = copies, .text_bytes = text_bytes };

	for (unsigned i = 0; i < disks; i++)
		memset(images[i], GARBAGE, DISK_BYTES);
	do_deed(&deed);
	deed.verb = CREATE_VG;
	do_deed(&deed);
	deed.verb = CREATE_LV;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].disks > disks)
			continue;
		deed.type = types[i].type;
		deed.stripes = types[i].stripes;
		deed.extents = 3;
		do_deed(&deed);
	}
}

/* Two file systems of which magic bytes are all that is recognised. */
static void put_signatures(uint8_t *disk)
{
	static const char romfs[] = "-rom1fs-", reiserfs[] = "ReIsEr2Fs";

	memcpy(disk, romfs, sizeof(romfs));
	memcpy(disk + 64 * KIB + 52, reiserfs, sizeof(reiserfs));
}

static void do_forced(void)
{
	struct deed deed = { .verb = CREATE_PV, .disks = 2, .copies = 1, .force = true };
	struct stack_magic magics[8];
	size_t count = 0;
	struct dev *dev;

	for (unsigned i = 0; i < deed.disks; i++) {
		memset(images[i], GARBAGE, DISK_BYTES);
		put_signatures(images[i]);
	}
	if (dev_open_memory("disk", images[0], DISK_BYTES, false, &dev) < 0 || stack_find_magics(dev, magics, 8, &count) < 0 || count != 2)
		die("the signatures are not found", (int)count, NULL);
	dev_close(dev);
	do_deed(&deed);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", required_argument, NULL, 's' }, { "least", required_argument, NULL, 'l' },
						 { "lying", no_argument, NULL, 'y' },	   { "sample", required_argument, NULL, 'f' },
						 { "each", required_argument, NULL, 'e' }, { 0 } };
	uint64_t least = 0, each = 1;
	const char *path = NULL;
	int code;

	while ((code = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (code == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (code == 'l')
			least = strtoull(optarg, NULL, 0);
		else if (code == 'y')
			lying = true;
		else if (code == 'f')
			path = optarg;
		else if (code == 'e')
			each = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	if (path) {
		sample = sample_open(path, each, DISK_BYTES, GARBAGE);
		if (!sample)
			die(path, -errno, NULL);
	}
	do_story(2, 2, 0);
	if (!lying) {
		do_story(1, 1, 0);
		do_story(3, 1, 3000);
		do_story(5, 1, 0);
		do_forced();
	}
	if (sample && sample_close(sample) < 0)
		die(path, -EIO, NULL);
	printf("seed %llu: %llu distinct states, %llu failing requests, %llu faults\n", (unsigned long long)seed,
	       (unsigned long long)states_seen, (unsigned long long)failures_tried, (unsigned long long)faults);
	if (lying)
		return !faults;
	return faults || states_seen < least;
}
