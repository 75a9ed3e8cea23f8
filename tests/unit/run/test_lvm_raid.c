/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RAID volumes that a real kernel made, written to: against a byte model, without PVs, with PVs that fail on the way, and with the power cut at any operation. The PVs are in memory; what the
 * raid metadata says is read from their bytes, at the places that the kernel uses, without our decoders.
 */
#include "scratch.h"

#include <sys/stat.h>

#include <blkalign/scrub.h>

#include "run/run.h"

#define PVS_MAX 5U
#define WRITES	32U

struct pv {
	uint8_t *data;
	uint8_t *pristine;
	size_t size_bytes;
	size_t low, high; /* written to between */
};

static struct {
	const char *name; /* of the case */
	struct pv pvs[PVS_MAX];
	unsigned count;
	struct blkalign_run *run;
	const struct blkalign_node *node;
	const char *volume;
	uint64_t size_bytes;
	uint8_t *model;
	/* what happens */
	unsigned counted; /* writes and flushes */
	unsigned off_at;  /* the power goes; 0: it stays */
	bool off;
	unsigned fails; /* PVs whose writes fail */
	unsigned seed;
} bench;

static struct blkalign_error err;

/* --- PVs --- */

struct disk {
	struct dev dev;
	struct pv *pv;
	unsigned number;
};

static int disk_result(const struct disk *d, const struct dev_request *q)
{
	if (q->op == DEV_READ)
		return bench.off ? -EIO : 0;
	bench.off = bench.off || (bench.off_at && ++bench.counted >= bench.off_at);
	return bench.off || bench.fails & 1U << d->number ? -EIO : 0;
}

static void pv_write(struct pv *pv, const struct dev_request *q)
{
	size_t end = (size_t)q->offset_bytes + q->length_bytes;

	memcpy(pv->data + q->offset_bytes, q->buffer, q->length_bytes);
	pv->low = q->offset_bytes < pv->low ? (size_t)q->offset_bytes : pv->low;
	pv->high = end > pv->high ? end : pv->high;
}

static void disk_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct disk *d = (struct disk *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];

		q->result = disk_result(d, q);
		if (!q->result && q->op == DEV_READ)
			memcpy(q->buffer, d->pv->data + q->offset_bytes, q->length_bytes);
		else if (!q->result && q->op == DEV_WRITE)
			pv_write(d->pv, q);
	}
}

static const struct dev_ops disk_ops = { .kind = "disk", .run = disk_run };

static void load_pv(const char *path, struct pv *pv)
{
	FILE *f = fopen(path, "re");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	pv->size_bytes = (size_t)st.st_size;
	pv->data = malloc(pv->size_bytes);
	pv->pristine = malloc(pv->size_bytes);
	assert_true(pv->data && pv->pristine);
	assert_int_equal(fread(pv->pristine, 1, pv->size_bytes, f), pv->size_bytes);
	memcpy(pv->data, pv->pristine, pv->size_bytes);
	fclose(f);
}

static void rewind_pvs(void)
{
	for (unsigned i = 0; i < bench.count; i++) {
		struct pv *pv = &bench.pvs[i];

		if (pv->low < pv->high)
			memcpy(pv->data + pv->low, pv->pristine + pv->low, pv->high - pv->low);
		pv->low = SIZE_MAX;
		pv->high = 0;
	}
}

static void unload(void)
{
	for (unsigned i = 0; i < bench.count; i++) {
		free(bench.pvs[i].data);
		free(bench.pvs[i].pristine);
	}
	free(bench.model);
	memset(&bench, 0, sizeof(bench));
}

/* The PVs as they were made; unpacked once as long as the case stays the same. */
static void load(const char *name, unsigned count)
{
	char archive[64], folder[64], unpacked[128], path[192];

	if (bench.name && !strcmp(bench.name, name)) {
		rewind_pvs();
		return;
	}
	unload();
	bench.name = name;
	bench.count = count;
	snprintf(archive, sizeof(archive), "lvm/%s", name);
	scratch_unpack(archive, folder, unpacked);
	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/m%u.img", unpacked, i);
		load_pv(path, &bench.pvs[i]);
	}
	scratch_remove(folder);
}

/* --- runs --- */

static void start(unsigned without, bool writable)
{
	const struct blkalign_run_options options = { .writable = writable };

	bench.counted = bench.off_at = bench.fails = 0;
	bench.off = false;
	assert_int_equal(run_new(&options, &bench.run), 0);
	for (unsigned i = 0; i < bench.count; i++) {
		char name[16];
		struct blkalign_node *node;
		struct disk *d;

		if (without & 1U << i)
			continue;
		snprintf(name, sizeof(name), "m%u.img", i);
		d = (struct disk *)dev_new(sizeof(*d), &disk_ops, name, bench.pvs[i].size_bytes, 1);
		assert_non_null(d);
		d->pv = &bench.pvs[i];
		d->number = i;
		d->dev.writable = writable;
		assert_int_equal(stack_add(bench.run->stack, BLKALIGN_KIND_DISK, name, &d->dev, &node), 0);
	}
	assert_int_equal(run_start(bench.run, &err), 0);
	if (blkalign_run_node(bench.run, bench.volume, &bench.node, &err) < 0)
		fail_msg("%s", err.message);
	bench.size_bytes = blkalign_run_size(bench.run, bench.node);
}

static void stop(void)
{
	if (blkalign_run_close(bench.run, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
}

/* As if the power had gone: nothing is written any more. */
static void abandon(void)
{
	bench.off = true;
	(void)blkalign_run_close(bench.run, NULL);
	bench.off = false;
}

static void read_model(void)
{
	free(bench.model);
	bench.model = malloc(bench.size_bytes);
	assert_non_null(bench.model);
	if (blkalign_run_read(bench.run, bench.node, 0, bench.model, bench.size_bytes, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
}

static void open_volume(const char *volume, unsigned without, bool writable)
{
	const char *why = NULL;

	bench.volume = volume;
	start(without, writable);
	if (writable && !blkalign_run_writable(bench.run, bench.node, &why))
		fail_msg("%s is read-only: %s", volume, why);
}

static void expect_model(unsigned without)
{
	uint8_t *content = malloc(bench.size_bytes);

	assert_non_null(content);
	start(without, false);
	if (blkalign_run_read(bench.run, bench.node, 0, content, bench.size_bytes, &err) < 0)
		fail_msg("%s without %#x: %s", bench.volume, without, err.message);
	if (memcmp(content, bench.model, bench.size_bytes) != 0)
		fail_msg("%s does not have what was written, without %#x", bench.volume, without);
	stop();
	free(content);
}

static void expect_state(unsigned without, const char *state)
{
	start(without, false);
	assert_string_equal(blkalign_node_str(bench.node, BLKALIGN_ATTR_MD_STATE), state);
	stop();
}

static unsigned next(unsigned below)
{
	bench.seed = bench.seed * 1103515245 + 12345;
	return (bench.seed >> 10) % below;
}

/* What is being written, until it was acknowledged. */
static struct {
	uint64_t at;
	size_t length;
} torn;

static int write_once(void)
{
	static uint8_t data[200 * 1024];
	size_t length = next(3) ? (1 + next(24)) * 512 : (1 + next(384)) * 512;
	uint64_t at = next((unsigned)((bench.size_bytes - length) / 512) + 1) * UINT64_C(512);
	int r;

	for (size_t i = 0; i < length; i++)
		data[i] = (uint8_t)next(256);
	torn.at = at;
	torn.length = length;
	r = blkalign_run_write(bench.run, bench.node, at, data, length, &err);
	if (r == 0) {
		memcpy(bench.model + at, data, length);
		torn.length = 0;
	}
	return r;
}

static void write_many(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (write_once() < 0)
			fail_msg("%s: %s", err.where, err.message);
		if (next(5) == 0)
			assert_int_equal(blkalign_run_flush(bench.run, bench.node, &err), 0);
	}
}

/* --- raid metadata, by its bytes --- */

/* Of the first volume of a group; lvm2 puts it at the first extent. */
static const uint8_t *rmeta(unsigned pv) { return bench.pvs[pv].data + (1 << 20); }

static unsigned set_bits(unsigned pv)
{
	const uint8_t *bitmap = rmeta(pv) + 4096;
	uint64_t chunks = load_le64(bitmap + 40) * 512 / load_le32(bitmap + 52);
	unsigned count = 0;

	for (uint64_t i = 0; i < chunks; i++)
		count += bitmap[256 + i / 8] >> i % 8 & 1;
	return count;
}

/* As after a stop in order: one event count everywhere, in the bitmap as well, nothing marked. */
static void expect_clean_records(unsigned without, uint64_t failed, uint64_t events_at_least)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < bench.count; i++) {
		if (without & 1U << i)
			continue;
		events = events ? events : load_le64(rmeta(i) + 16);
		assert_int_equal(load_le64(rmeta(i) + 16), events);
		assert_int_equal(load_le64(rmeta(i) + 4096 + 24), events);
		assert_int_equal(load_le64(rmeta(i) + 24), failed);
		assert_int_equal(load_le64(rmeta(i) + 32), UINT64_MAX);
		assert_int_equal(load_le64(rmeta(i) + 40), UINT64_MAX);
		assert_int_equal(set_bits(i) != 0, failed != 0);
	}
	assert_true(events >= events_at_least);
}

/* --- written, closed, read without each --- */

struct shape {
	const char *name;
	unsigned pvs;
	const char *volume;
	unsigned redundancy; /* PVs that may be missing; raid10: of each pair one */
	bool layout_only;    /* of a level that another shape tries in full */
};

static const struct shape shapes[] = {
	{ "lvm-raid1", 2, "vg/r1", 1, false },		{ "lvm-raid10", 4, "vg/r10", 1, false },
	{ "lvm-raid5", 4, "vg/raid4", 1, false },	{ "lvm-raid5", 4, "vg/raid5_ls", 1, true },
	{ "lvm-raid5", 4, "vg/raid5_la", 1, true },	{ "lvm-raid5", 4, "vg/raid5_rs", 1, true },
	{ "lvm-raid5", 4, "vg/raid5_ra", 1, true },	{ "lvm-raid5", 4, "vg/raid5_n", 1, true },
	{ "lvm-raid5-reshaped", 4, "vg/r5", 1, false }, { "lvm-raid6", 5, "vg/raid6", 2, false },
	{ "lvm-raid6", 5, "vg/raid6_nr", 2, true },	{ "lvm-raid6", 5, "vg/raid6_nc", 2, true },
	{ "lvm-raid6", 5, "vg/raid6_n_6", 2, true },	{ "lvm-raid6", 5, "vg/raid6_ls_6", 2, true },
	{ "lvm-raid6", 5, "vg/raid6_rs_6", 2, true },	{ "lvm-raid6", 5, "vg/raid6_la_6", 2, true },
	{ "lvm-raid6", 5, "vg/raid6_ra_6", 2, true },
};

static void written_and_read(const struct shape *s)
{
	load(s->name, s->pvs);
	bench.seed = 3;
	open_volume(s->volume, 0, true);
	read_model();
	write_many(WRITES);
	stop();
	expect_state(0, "clean");
	for (unsigned without = 0; without < 1U << s->pvs; without += 1 + (s->layout_only ? s->pvs : 0))
		if ((unsigned)__builtin_popcount(without) <= s->redundancy)
			expect_model(without);
	/* The first volume of the group. */
	if (s == &shapes[0] || s == &shapes[1] || s == &shapes[2] || s == &shapes[8] || s == &shapes[9])
		expect_clean_records(0, 0, 17);
}

static void test_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		written_and_read(&shapes[i]);
}

/* Nothing is written by those who only read, not even when they could. */
static void test_untouched(void **state)
{
	(void)state;
	load("lvm-raid5", 4);
	open_volume("vg/raid5_ls", 0, true);
	read_model();
	assert_int_equal(blkalign_run_flush(bench.run, bench.node, &err), 0);
	stop();
	for (unsigned i = 0; i < 4; i++)
		assert_memory_equal(bench.pvs[i].data, bench.pvs[i].pristine, bench.pvs[i].size_bytes);
}

/* --- degraded --- */

static void written_degraded(const struct shape *s, unsigned lost)
{
	uint64_t before;

	load(s->name, s->pvs);
	bench.seed = 5 + lost;
	before = load_le64(rmeta(lost) + 16);
	open_volume(s->volume, 1U << lost, true);
	read_model();
	write_many(WRITES);
	stop();
	expect_clean_records(1U << lost, UINT64_C(1) << lost, before + 2);
	assert_memory_equal(bench.pvs[lost].data, bench.pvs[lost].pristine, bench.pvs[lost].size_bytes);
	expect_state(1U << lost, "clean,degraded");
	expect_model(1U << lost);
	/* It is back, and not believed. */
	expect_state(0, "clean,degraded");
	expect_model(0);
}

static void test_degraded(void **state)
{
	(void)state;
	written_degraded(&shapes[0], 0);
	written_degraded(&shapes[0], 1);
	written_degraded(&shapes[1], 2);
	written_degraded(&shapes[2], 0);
	written_degraded(&shapes[2], 3);
	written_degraded(&shapes[8], 1);
	written_degraded(&shapes[9], 4);
}

/* --- a PV fails while it is written to --- */

static void fails_on_the_way(const struct shape *s, unsigned lost)
{
	load(s->name, s->pvs);
	bench.seed = 11;
	open_volume(s->volume, 0, true);
	read_model();
	write_many(4);
	bench.fails = 1U << lost;
	write_many(12);
	stop();
	assert_int_equal(load_le64(rmeta((lost + 1) % s->pvs) + 24), UINT64_C(1) << lost);
	expect_state(0, "clean,degraded");
	expect_model(0);
	expect_model(1U << lost);
}

static void test_failing(void **state)
{
	(void)state;
	fails_on_the_way(&shapes[0], 0);
	fails_on_the_way(&shapes[1], 3);
	fails_on_the_way(&shapes[2], 1);
	fails_on_the_way(&shapes[9], 0);
}

/* --- scrub --- */

static void expect_only_doubtful_mismatches(void)
{
	struct blkalign_scrub *s;
	int r;

	if (blkalign_scrub_open(bench.run, bench.node, NULL, &s, &err) < 0)
		fail_msg("%s", err.message);
	while ((r = blkalign_scrub_step(s, NULL, &err)) == 0)
		;
	assert_int_equal(r, BLKALIGN_SCRUB_DONE);
	/* Whatever does not fit is where a write was cut short. */
	for (size_t i = 0; i < blkalign_scrub_findings(s, NULL); i++)
		assert_int_equal(blkalign_scrub_finding(s, i)->verdict, BLKALIGN_SCRUB_DOUBTFUL);
	blkalign_scrub_close(s);
}

/* --- the power goes --- */

static void expect_model_but_torn(unsigned without)
{
	uint8_t *content = malloc(bench.size_bytes);

	assert_non_null(content);
	start(without, false);
	if (blkalign_run_read(bench.run, bench.node, 0, content, bench.size_bytes, &err) < 0)
		fail_msg("%s without %#x: %s", bench.volume, without, err.message);
	memcpy(content + torn.at, bench.model + torn.at, torn.length);
	assert_memory_equal(content, bench.model, bench.size_bytes);
	stop();
	free(content);
}

static bool cut(const struct shape *s, unsigned at, unsigned without)
{
	bool reached;

	rewind_pvs();
	bench.seed = 17;
	open_volume(s->volume, without, true);
	read_model();
	torn.length = 0;
	bench.off_at = at;
	for (unsigned i = 0; i < 8 && !bench.off; i++) {
		if (write_once() < 0)
			break;
		if (next(3) == 0 && blkalign_run_flush(bench.run, bench.node, NULL) < 0)
			break;
	}
	reached = bench.off;
	abandon();
	if (!without) {
		start(0, false);
		expect_only_doubtful_mismatches();
		stop();
	}
	expect_model_but_torn(without);
	return reached;
}

static void cut_each(const struct shape *s, unsigned without)
{
	unsigned cuts = 0;

	load(s->name, s->pvs);
	for (unsigned at = 1; cut(s, at, without); at += at > 8 ? 15 : 1)
		cuts++;
	print_message("%s without %#x: %u cuts\n", s->volume, without, cuts);
}

static void test_cut(void **state)
{
	(void)state;
	cut_each(&shapes[0], 0);
	cut_each(&shapes[1], 0);
	cut_each(&shapes[2], 0);
	cut_each(&shapes[9], 0);
	cut_each(&shapes[0], 1);
	cut_each(&shapes[1], 2);
}

/* While writes may be in flight the kernel is told to look at what the bitmap marks; not when an image is missing. */
static void test_marks(void **state)
{
	(void)state;
	load("lvm-raid5", 4);
	bench.seed = 23;
	open_volume("vg/raid4", 0, true);
	read_model();
	write_many(3);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(load_le64(rmeta(i) + 40), 0);
		assert_true(set_bits(i) > 0);
	}
	bench.fails = 1 << 2;
	write_many(3);
	assert_int_equal(load_le64(rmeta(0) + 40), UINT64_MAX);
	assert_int_equal(load_le64(rmeta(0) + 24), 4);
	abandon();
	expect_state(0, "clean,degraded");
}

/* --- never started --- */

/* Records as the kernel makes them: byte for byte those that it wrote, but for the counts of events, what is in sync, and the bits. */
static void expect_kernels_records(unsigned pv)
{
	const uint8_t *now = rmeta(pv), *then = bench.pvs[pv].pristine + (1 << 20);

	for (size_t i = 0; i < 512; i++)
		if ((i < 16 || i >= 24) && (i < 40 || i >= 48))
			assert_int_equal(now[i], then[i]);
	for (size_t i = 0; i < 256; i++)
		if (i < 24 || i >= 40)
			assert_int_equal(now[4096 + i], then[4096 + i]);
	assert_int_equal(load_le64(now + 40), 0); /* the kernel resyncs all that is marked: everything */
	assert_int_equal(load_le64(now + 4096 + 24), load_le64(now + 16));
	assert_int_equal(set_bits(pv), (load_le64(now + 4096 + 40) * 512 + 65535) / 65536);
}

static void started_by_us(const struct shape *s)
{
	load(s->name, s->pvs);
	for (unsigned i = 0; i < s->pvs; i++) {
		memset(bench.pvs[i].data + (1 << 20), 0, 262144);
		bench.pvs[i].low = 0;
		bench.pvs[i].high = bench.pvs[i].size_bytes;
	}
	bench.seed = 29;
	open_volume(s->volume, 0, true);
	read_model();
	write_many(8);
	stop();
	for (unsigned i = 0; i < s->pvs; i++)
		expect_kernels_records(i);
	expect_state(0, "dirty");
	expect_model(0);
}

static void test_never_started(void **state)
{
	(void)state;
	started_by_us(&shapes[0]);
	started_by_us(&shapes[1]);
	started_by_us(&shapes[2]);
	started_by_us(&shapes[9]);
	/* Without one of its images nothing says what that one has. */
	load("lvm-raid1", 2);
	memset(bench.pvs[0].data + (1 << 20), 0, 262144);
	memset(bench.pvs[1].data + (1 << 20), 0, 262144);
	bench.pvs[0].low = bench.pvs[1].low = 0;
	bench.pvs[0].high = bench.pvs[1].high = bench.pvs[0].size_bytes;
	bench.volume = "vg/r1";
	start(1, true);
	assert_false(blkalign_run_writable(bench.run, bench.node, NULL));
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),	      cmocka_unit_test(test_untouched), cmocka_unit_test(test_degraded),
		cmocka_unit_test(test_failing),	      cmocka_unit_test(test_cut),	cmocka_unit_test(test_marks),
		cmocka_unit_test(test_never_started),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	unload();
	return failed;
}
