/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading an md array. A batch is planned whole before any of it starts: each request is cut at chunk ends into reads of members, straight into the
 * caller's buffer where a member has the bytes, into scratch rows where they must be computed. Then everything runs as one batch below.
 */
#include <assert.h>
#include <isa-l/raid.h>

#include "map/map.h"

#define SCRATCH_MAX_BYTES (32 * MIB) /* a larger batch runs in parts */
#define READS_MAX	  16384U
#define ROW_ALIGN	  64U /* isa-l wants 32 */

static const char *const no_copy = "the members that hold this part are missing or not in sync";
static const char *const no_parity = "more members are missing or not in sync than xor parity can replace";
static const char *const no_layout = "the superblocks do not record which of the two raid0 layouts wrote this part";

struct md {
	struct dev dev;
	struct raid_geometry geometry;
	struct map_md_member *members;
};

/* Bytes to be computed: rows_count rows of scratch are read, and xored into target. */
struct xor_job {
	struct dev_request *parent;
	uint8_t *target;
	size_t length_bytes;
	size_t row_bytes;
	uint32_t rows_count;
	uint8_t *scratch;
};

struct batch {
	struct md *md;
	VEC(struct dev_request) reads;
	VEC(struct dev_request *) parents; /* of each read */
	VEC(struct xor_job) jobs;
	uint64_t scratch_bytes;
};

static void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->jobs.count; i++)
		free(b->jobs.data[i].scratch);
	vec_done(&b->reads);
	vec_done(&b->parents);
	vec_done(&b->jobs);
}

static void fail(struct dev_request *request, int error, const char *reason)
{
	if (request->result)
		return;
	request->result = error;
	request->reason = reason;
}

/* The first bad range that ends behind `at`. */
static const struct map_range *bad_behind(const struct map_md_member *m, uint64_t at)
{
	size_t low = 0, high = m->bad_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->bad[middle].offset_bytes + m->bad[middle].length_bytes > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low < m->bad_count ? &m->bad[low] : NULL;
}

static void cut(uint64_t *run_bytes, uint64_t limit)
{
	if (*run_bytes > limit)
		*run_bytes = limit;
}

/* Whether the member has the byte; *run_bytes is cut to where the answer may change. */
static bool usable(const struct map_md_member *m, uint64_t at, uint64_t *run_bytes)
{
	const struct map_range *bad;

	if (!m->dev || at >= m->valid_bytes)
		return false;
	cut(run_bytes, m->valid_bytes - at);
	bad = bad_behind(m, at);
	if (!bad)
		return true;
	if (bad->offset_bytes > at) {
		cut(run_bytes, bad->offset_bytes - at);
		return true;
	}
	cut(run_bytes, bad->offset_bytes + bad->length_bytes - at);
	return false;
}

static int add_read(struct batch *b, struct dev_request *parent, const struct map_md_member *m, uint64_t at, void *buffer, size_t length)
{
	struct dev_request read = { .dev = m->dev, .op = DEV_READ, .length_bytes = length, .buffer = buffer };

	if (!u64_add(m->data_offset_bytes, at, &read.offset_bytes))
		return -ERANGE;
	return vec_push(&b->reads, read) < 0 || vec_push(&b->parents, parent) < 0 ? -ENOMEM : 0;
}

/* How far all members but `absent` and Q have the bytes from `at` on; 0 when one has not. */
static uint64_t parity_run(const struct md *md, uint32_t absent, uint32_t q_slot, uint64_t at, uint64_t run_bytes)
{
	for (uint32_t slot = 0; slot < md->geometry.members; slot++)
		if (slot != absent && slot != q_slot && !usable(&md->members[slot], at, &run_bytes))
			return 0;
	assert(md->geometry.members);
	cut(&run_bytes, SCRATCH_MAX_BYTES / md->geometry.members);
	return run_bytes;
}

static int add_xor(struct batch *b, struct dev_request *parent, const struct raid_place *place, void *target, uint64_t *run_bytes)
{
	const struct md *md = b->md;
	uint32_t q_slot = raid_stripe_at(&md->geometry, place->device_bytes).q_slot;
	struct xor_job job = { .parent = parent, .target = target };
	int r = 0;

	*run_bytes = parity_run(md, place->slot, q_slot, place->device_bytes, *run_bytes);
	if (!*run_bytes)
		return -EIO;
	job.length_bytes = *run_bytes;
	job.row_bytes = round_up_u64(*run_bytes, ROW_ALIGN);
	job.rows_count = md->geometry.members - 1 - (q_slot != RAID_SLOT_NONE);
	job.scratch = aligned_alloc(ROW_ALIGN, job.row_bytes * (job.rows_count + 1));
	if (!job.scratch || vec_push(&b->jobs, job) < 0) {
		free(job.scratch);
		return -ENOMEM;
	}
	b->scratch_bytes += job.row_bytes * (job.rows_count + 1);
	for (uint32_t slot = 0, row = 0; r >= 0 && slot < md->geometry.members; slot++)
		if (slot != place->slot && slot != q_slot)
			r = add_read(b, parent, &md->members[slot], place->device_bytes, job.scratch + job.row_bytes * row++, *run_bytes);
	return r;
}

/* The first copy that is there and not write-mostly, else the first write-mostly one. */
static bool pick_copy(const struct md *md, uint64_t at, uint64_t *run_bytes, struct raid_place *ret)
{
	bool found = false;

	for (uint32_t copy = 0; copy < raid_copies(&md->geometry); copy++) {
		struct raid_place place;
		const struct map_md_member *m;

		if (raid_locate(&md->geometry, at, copy, &place) < 0)
			return false;
		cut(run_bytes, place.run_bytes);
		m = &md->members[place.slot];
		if (!usable(m, place.device_bytes, run_bytes) || (found && m->write_mostly))
			continue;
		*ret = place;
		found = true;
		if (!m->write_mostly)
			break;
	}
	return found;
}

static int plan_run(struct batch *b, struct dev_request *request, uint64_t at, uint8_t *target, uint64_t *run_bytes)
{
	const struct raid_geometry *g = &b->md->geometry;
	struct raid_place place;
	int r = raid_locate(g, at, 0, &place);

	if (r < 0)
		return r;
	if (pick_copy(b->md, at, run_bytes, &place))
		return add_read(b, request, &b->md->members[place.slot], place.device_bytes, target, *run_bytes);
	if (!g->parity)
		return -EIO;
	cut(run_bytes, place.run_bytes);
	return add_xor(b, request, &place, target, run_bytes);
}

static void finish_job(const struct xor_job *job)
{
	void *rows[RAID_MEMBERS_MAX + 1];

	if (job->parent->result)
		return;
	for (uint32_t i = 0; i <= job->rows_count; i++)
		rows[i] = job->scratch + job->row_bytes * i;
	/* isa-l takes two sources or more; raid5 of two members is a mirror. */
	if (job->rows_count == 1)
		rows[1] = rows[0];
	else if (xor_gen((int)job->rows_count + 1, (int)job->length_bytes, rows) != 0)
		fail(job->parent, -EINVAL, NULL);
	memcpy(job->target, rows[job->rows_count], job->length_bytes);
}

static void batch_run(struct batch *b)
{
	dev_run(b->reads.data, b->reads.count, NULL);
	for (size_t i = 0; i < b->reads.count; i++)
		if (b->reads.data[i].result)
			fail(b->parents.data[i], b->reads.data[i].result, b->reads.data[i].reason);
	for (size_t i = 0; i < b->jobs.count; i++)
		finish_job(&b->jobs.data[i]);
	batch_done(b);
	*b = (struct batch){ .md = b->md };
}

static const char *reason_of(const struct md *md, int error)
{
	if (error == -ENODATA)
		return no_layout;
	if (error != -EIO)
		return NULL;
	return md->geometry.parity ? no_parity : no_copy;
}

static void plan(struct batch *b, struct dev_request *request)
{
	uint8_t *target = request->buffer;

	for (uint64_t done = 0, run; !request->result && done < request->length_bytes; done += run) {
		int r;

		run = request->length_bytes - done;
		r = plan_run(b, request, request->offset_bytes + done, target + done, &run);
		if (r < 0)
			fail(request, r, reason_of(b->md, r));
		if (b->scratch_bytes >= SCRATCH_MAX_BYTES || b->reads.count >= READS_MAX)
			batch_run(b);
	}
}

static void md_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct batch b = { .md = (struct md *)dev };

	for (size_t i = 0; i < count; i++) {
		requests[i].result = 0;
		plan(&b, &requests[i]);
	}
	batch_run(&b);
	batch_done(&b);
}

static void md_close(struct dev *dev)
{
	struct md *md = (struct md *)dev;

	for (uint32_t i = 0; md->members && i < md->geometry.members; i++)
		free((void *)(uintptr_t)md->members[i].bad);
	free(md->members);
	raid_geometry_done(&md->geometry);
}

static const struct dev_ops md_ops = { .kind = "md", .run = md_run, .close = md_close };

static int copy_members(struct md *md, const struct map_md_member *members)
{
	md->members = calloc(md->geometry.members, sizeof(*md->members));
	if (!md->members)
		return -ENOMEM;
	for (uint32_t i = 0; i < md->geometry.members; i++) {
		struct map_range *bad = NULL;

		if (members[i].bad_count) {
			bad = calloc(members[i].bad_count, sizeof(*bad));
			if (!bad)
				return -ENOMEM;
			memcpy(bad, members[i].bad, members[i].bad_count * sizeof(*bad));
		}
		md->members[i] = members[i];
		md->members[i].bad = bad;
	}
	return 0;
}

int map_open_md(const char *name, struct map_md *array, struct dev **ret_dev)
{
	struct raid_geometry *geometry = array->geometry;
	struct md *md = (struct md *)dev_new(sizeof(*md), &md_ops, name, raid_array_bytes(geometry), 1);
	int r;

	if (!md) {
		raid_geometry_done(geometry);
		return -ENOMEM;
	}
	md->geometry = *geometry;
	*geometry = (struct raid_geometry){ 0 };
	r = copy_members(md, array->members);
	if (r < 0) {
		dev_close(&md->dev);
		return r;
	}
	*ret_dev = &md->dev;
	return 0;
}
