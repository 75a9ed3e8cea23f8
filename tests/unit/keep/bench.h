/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A golden array on members in memory that tell every write and flush, and fail the n-th of them. */
#ifndef UNIT_KEEP_BENCH_H
#define UNIT_KEEP_BENCH_H

#include <blkalign/graph.h>
#include <pthread.h>
#include <unistd.h>

#include "scratch.h"
#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "format/mdbitmap/mdbitmap.h"
#include "keep/images.h"
#include "keep/keep.h"

/* --- what happens on the members, in order --- */

#define EVENTS_MAX 100000U

struct bench_event {
	unsigned image;
	enum dev_op op;
	uint64_t offset_bytes;
	size_t length_bytes;
};
static struct {
	pthread_mutex_t lock;
	struct bench_event events[EVENTS_MAX];
	unsigned count;
	unsigned fail_at;	/* this operation and, */
	bool fail_ever;		/* of the same member, all behind it fail; 0: none */
	int error;		/* that they fail with; 0: -EIO */
	int fail_image;		/* only operations on it count; -1: on any */
	void (*on_flush)(void); /* called once, before the next flush */
	unsigned off_at;	/* the power goes: from this operation on nothing is done any more; 0: it stays */
	int tear;		/* of a write at that moment, 1: the first half is done, 2: the second */
	unsigned counted;
	unsigned failed_image;
	bool has_failed;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER, .fail_image = -1 };

struct traced {
	struct dev dev;
	uint8_t *data;
	unsigned image;
};

static inline int traced_result(const struct traced *t, const struct dev_request *q)
{
	if (q->op == DEV_READ)
		return 0;
	assert_true(trace.count < EVENTS_MAX);
	trace.events[trace.count++] = (struct bench_event){ t->image, q->op, q->offset_bytes, q->length_bytes };
	if (trace.fail_image >= 0 && t->image != (unsigned)trace.fail_image)
		return 0;
	trace.counted++;
	if (trace.off_at && trace.counted >= trace.off_at) {
		trace.has_failed = true;
		return -EIO;
	}
	if (trace.fail_at && trace.counted == trace.fail_at) {
		trace.has_failed = true;
		trace.failed_image = t->image;
		return trace.error ? trace.error : -EIO;
	}
	return trace.fail_ever && trace.has_failed && trace.failed_image == t->image ? -EIO : 0;
}

static inline void tear_write(struct traced *t, const struct dev_request *q)
{
	size_t half = q->length_bytes / 1024 * 512, from = trace.tear == 2 ? half : 0;
	size_t length = trace.tear == 2 ? q->length_bytes - half : half;

	memcpy(t->data + q->offset_bytes + from, (const uint8_t *)q->buffer + from, length);
}

static inline void traced_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct traced *t = (struct traced *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];
		void (*hook)(void) = q->op == DEV_FLUSH ? trace.on_flush : NULL;

		if (hook) {
			trace.on_flush = NULL;
			hook();
		}
		pthread_mutex_lock(&trace.lock);
		q->result = traced_result(t, q);
		if (q->op == DEV_WRITE && trace.tear && trace.counted == trace.off_at)
			tear_write(t, q);
		if (!q->result && q->op == DEV_READ)
			memcpy(q->buffer, t->data + q->offset_bytes, q->length_bytes);
		else if (!q->result && q->op == DEV_WRITE)
			memcpy(t->data + q->offset_bytes, q->buffer, q->length_bytes);
		pthread_mutex_unlock(&trace.lock);
	}
}

static const struct dev_ops traced_ops = { .kind = "traced", .run = traced_run };

static inline struct dev *traced_open(unsigned image, uint8_t *data, size_t size)
{
	char name[16];
	struct traced *t;

	snprintf(name, sizeof(name), "m%u", image);
	t = (struct traced *)dev_new(sizeof(*t), &traced_ops, name, size, 1);
	assert_non_null(t);
	t->data = data;
	t->image = image;
	t->dev.writable = true;
	return &t->dev;
}

static inline void trace_reset(void)
{
	trace.count = 0;
	trace.counted = 0;
	trace.fail_at = 0;
	trace.off_at = 0;
	trace.tear = 0;
	trace.on_flush = NULL;
	trace.fail_ever = false;
	trace.error = 0;
	trace.fail_image = -1;
	trace.has_failed = false;
}

/* --- an array of them --- */

struct bench {
	struct images images;
	struct images pristine; /* what they were */
	struct dev *devs[IMAGES_MAX];
	struct keep_member members[IMAGES_MAX];
	unsigned image_of[IMAGES_MAX]; /* by member */
	size_t count;
	size_t freshest;
	struct raid_geometry geometry;
	struct keep_array array;
	struct keep *keep;
};
static struct bench bench;
static struct blkalign_error err;

static inline bool bench_v1(unsigned image, struct md1_superblock *ret)
{
	for (unsigned minor = 0; minor < 3; minor++) {
		uint64_t at = md1_super_bytes(minor, bench.images.size[image]);

		if (at != UINT64_MAX && md1_decode(bench.images.data[image] + at, MD1_BYTES, at, bench.images.size[image], ret, NULL) == 0)
			return true;
	}
	return false;
}

static inline void bench_v0(unsigned image, struct md0_superblock *ret)
{
	uint64_t at = md0_super_bytes(bench.images.size[image]);

	assert_int_equal(md0_decode(bench.images.data[image] + at, MD0_BYTES, at, ret, &err), 0);
}

struct bench_facts {
	uint64_t events, component_bytes, chunk_bytes, super_bytes, data_offset_bytes;
	int32_t level;
	uint32_t layout, raid_disks, slot;
	enum keep_metadata metadata;
};

static inline void bench_facts(unsigned image, struct bench_facts *f)
{
	static struct md1_superblock v1;
	struct md0_superblock v0;

	if (bench_v1(image, &v1)) {
		*f = (struct bench_facts){ v1.events, v1.component_bytes, v1.chunk_bytes, v1.super_bytes,     v1.data_offset_bytes,
					   v1.level,  v1.layout,	  v1.raid_disks,  BLKALIGN_SLOT_NONE, KEEP_MD1 };
		if (MD1_ROLE_IS_SLOT(v1.role))
			f->slot = v1.role;
		return;
	}
	bench_v0(image, &v0);
	*f = (struct bench_facts){ v0.events, v0.component_bytes, v0.chunk_bytes, v0.super_bytes,    0,
				   v0.level,  v0.layout,	  v0.raid_disks,  v0.self.raid_disk, KEEP_MD0 };
}

/* The shape that member `image` tells of. */
static inline void bench_geometry(unsigned image, struct raid_geometry *ret)
{
	uint64_t lengths[IMAGES_MAX];
	struct raid_shape shape;
	struct bench_facts f;

	bench_facts(image, &f);
	for (unsigned i = 0; i < IMAGES_MAX; i++)
		lengths[i] = f.component_bytes;
	shape = (struct raid_shape){ f.level, f.layout, f.level == 1 ? 0 : f.chunk_bytes, f.raid_disks, lengths };
	assert_int_equal(raid_geometry_init(ret, &shape, &err), 0);
}

/* Only members with the highest events, or one less; and spares. */
static inline void bench_choose(unsigned without)
{
	struct bench_facts f[IMAGES_MAX];
	uint64_t newest = 0;

	bench.count = 0;
	for (unsigned i = 0; i < bench.images.count; i++) {
		if (!bench.images.data[i] || without & 1U << i)
			continue;
		bench_facts(i, &f[i]);
		if (f[i].slot != BLKALIGN_SLOT_NONE && f[i].events > newest)
			newest = f[i].events;
	}
	for (unsigned i = 0; i < bench.images.count; i++) {
		if (!bench.images.data[i] || without & 1U << i || (f[i].slot != BLKALIGN_SLOT_NONE && newest - f[i].events > 1))
			continue;
		if (f[i].events == newest && f[i].slot != BLKALIGN_SLOT_NONE)
			bench.freshest = bench.count;
		bench.image_of[bench.count] = i;
		bench.members[bench.count++] = (struct keep_member){ bench.devs[i], f[i].metadata, f[i].super_bytes, f[i].slot, NULL, 0 };
	}
	bench_geometry(bench.image_of[bench.freshest], &bench.geometry);
	bench.array = (struct keep_array){ "md0", bench.members, bench.count, bench.freshest, &bench.geometry };
}

static inline int bench_open(void) { return keep_open(&bench.array, &bench.keep, &err); }

/** Devices for the images that are there, leaving out those of the mask `without`; the keep is not opened. */
static inline void bench_prepare(unsigned without)
{
	trace_reset();
	bench.pristine = (struct images){ .count = bench.images.count };
	for (unsigned i = 0; i < bench.images.count; i++) {
		if (!bench.images.data[i])
			continue;
		bench.pristine.size[i] = bench.images.size[i];
		bench.pristine.data[i] = malloc(bench.images.size[i]);
		assert_non_null(bench.pristine.data[i]);
		memcpy(bench.pristine.data[i], bench.images.data[i], bench.images.size[i]);
		bench.devs[i] = traced_open(i, bench.images.data[i], bench.images.size[i]);
	}
	bench_choose(without);
}

/** Load a case. */
static inline void bench_load(const char *name, char letter, unsigned without)
{
	bench = (struct bench){ 0 };
	images_load(&bench.images, name, letter);
	bench_prepare(without);
}

/** The images as they were, and the members chosen anew. */
static inline void bench_rewind(unsigned without)
{
	trace_reset();
	for (unsigned i = 0; i < bench.images.count; i++)
		if (bench.images.data[i])
			memcpy(bench.images.data[i], bench.pristine.data[i], bench.images.size[i]);
	raid_geometry_done(&bench.geometry);
	bench_choose(without);
}

/** Choose members anew by what is on the images now, and open. */
static inline void bench_reopen(unsigned without)
{
	trace_reset();
	raid_geometry_done(&bench.geometry);
	bench_choose(without);
	assert_int_equal(bench_open(), 0);
}

static inline void bench_done(void)
{
	raid_geometry_done(&bench.geometry);
	for (unsigned i = 0; i < bench.images.count; i++)
		dev_close(bench.devs[i]);
	images_done(&bench.images);
	images_done(&bench.pristine);
}

static inline void bench_unchanged(unsigned image)
{
	assert_memory_equal(bench.images.data[image], bench.pristine.data[image], bench.images.size[image]);
}

static inline int bench_begin(uint64_t offset_bytes, uint64_t length_bytes)
{
	struct map_md_guard *g = keep_guard(bench.keep);

	return g->ops->begin(g, &(struct byte_range){ offset_bytes, length_bytes }, 1, &err);
}

static inline void bench_end(uint64_t offset_bytes, uint64_t length_bytes, bool complete)
{
	struct map_md_guard *g = keep_guard(bench.keep);

	g->ops->end(g, &(struct byte_range){ offset_bytes, length_bytes }, 1, complete);
}

static inline int bench_fail(uint32_t slot)
{
	struct map_md_guard *g = keep_guard(bench.keep);

	return (g->ops->fail)(g, slot, &err); /* cmocka has a macro of that name */
}

static inline int bench_flushed(void)
{
	struct map_md_guard *g = keep_guard(bench.keep);

	return g->ops->flushed(g, g->ops->flushing(g));
}

static inline void bench_doubt(uint64_t offset_bytes, uint64_t length_bytes)
{
	struct map_md_guard *g = keep_guard(bench.keep);

	g->ops->doubt(g, &(struct byte_range){ offset_bytes, length_bytes }, 1);
}

/* --- the real tool --- */

/** What `mdadm OPTION` prints of an image as it is now, from byte `from` on; freed by the caller. */
static inline char *bench_mdadm_from(const char *option, unsigned image, uint64_t from)
{
	char path[64], command[256], *text = calloc(1, 16384);
	int fd = scratch_file(path);
	FILE *pipe;

	assert_non_null(text);
	assert_int_equal(write(fd, bench.images.data[image] + from, bench.images.size[image] - from), bench.images.size[image] - from);
	close(fd);
	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin mdadm %s %s 2>&1", option, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	(void)!fread(text, 1, 16383, pipe);
	pclose(pipe);
	unlink(path);
	return text;
}

/** Of plain files, mdadm takes what begins at byte 0 for a bitmap. */
static inline uint64_t bench_bitmap_at(unsigned image)
{
	static struct md1_superblock v1;
	struct md0_superblock v0;

	if (bench_v1(image, &v1))
		return v1.super_bytes + (uint64_t)v1.bitmap_from_super_bytes;
	bench_v0(image, &v0);
	return v0.super_bytes + MD0_BYTES;
}

static inline char *bench_mdadm(const char *option, unsigned image)
{
	return bench_mdadm_from(option, image, strcmp(option, "-X") == 0 ? bench_bitmap_at(image) : 0);
}

static inline void bench_mdadm_says(const char *option, unsigned image, const char *line)
{
	char *text = bench_mdadm(option, image);

	if (!strstr(text, line))
		print_message("m%u: no \"%s\" in\n%s", image, line, text);
	assert_non_null(strstr(text, line));
	free(text);
}

#endif
