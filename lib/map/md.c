/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An md device: opened, closed, and its batches taken apart by operation. */
#include "map/md_priv.h"

const char *const md_no_copy = "the members that hold this part are missing or not in sync";
const char *const md_no_parity = "more members are missing or not in sync than parity can replace";
const char *const md_no_layout = "the superblocks do not record which of the two raid0 layouts wrote this part";
const char *const md_in_doubt = "a member is missing, and the array was not stopped cleanly: parity may not fit the data here";

static void run_rest(struct md *md, struct dev_request *requests, size_t count)
{
	bool writes = false;

	for (size_t i = 0; i < count; i++)
		writes |= requests[i].op == DEV_WRITE;
	if (writes)
		md_write(md, requests, count);
	for (size_t i = 0; i < count; i++)
		if (requests[i].op == DEV_FLUSH) {
			requests[i].result = md_flush(md);
			requests[i].reason = atomic_load(&md->broken);
		}
}

static void md_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct md *md = (struct md *)dev;
	size_t reads = 0;

	for (size_t i = 0; i < count; i++) {
		requests[i].result = 0;
		reads += requests[i].op == DEV_READ;
	}
	if (reads)
		md_read(md, requests, count);
	if (reads < count)
		run_rest(md, requests, count);
}

static void md_close(struct dev *dev)
{
	struct md *md = (struct md *)dev;

	md_state_done(md);
	md_locks_done(&md->locks);
	vec_done(&md->doubtful);
	pthread_mutex_destroy(&md->doubt_mutex);
	pthread_mutex_destroy(&md->change);
	pthread_mutex_destroy(&md->drain);
	pthread_cond_destroy(&md->drained);
	raid_geometry_done(&md->geometry);
}

static const struct dev_ops md_ops = { .kind = "md", .run = md_run, .extent = md_extent, .close = md_close };

bool md_is_md(const struct dev *dev) { return dev->ops == &md_ops; }

/* A member that could not take a write would be failed for it. */
static int check_member(struct md *md, const struct map_md_member *m)
{
	if (!m->dev)
		return 0;
	if (m->dev->block_bytes > md->dev.block_bytes)
		md->dev.block_bytes = m->dev->block_bytes;
	if (!md->guard)
		return 0;
	if (!m->dev->writable)
		return -EROFS;
	if (m->data_offset_bytes % m->dev->block_bytes || !range_inside(m->data_offset_bytes, md->geometry.used_bytes, m->dev->size_bytes))
		return -ERANGE;
	return 0;
}

static void set_slice(struct md *md)
{
	uint64_t slice = round_down_u64(MD_SCRATCH_BYTES / (md->geometry.members + 2), MD_UNIT_BYTES);

	md->data_members = raid_data_members(&md->geometry);
	md->slice_bytes = slice > MD_UNIT_BYTES ? slice : MD_UNIT_BYTES;
	if (md->has_log && md->slice_bytes > MD_LOG_SLICE_BYTES)
		md->slice_bytes = MD_LOG_SLICE_BYTES;
}

static int init(struct md *md, const struct map_md *array)
{
	int r = md_state_init(md, array->members);

	if (r >= 0)
		r = md_doubt_init(md, array->doubtful, array->doubtful_count);
	md->use_doubtful = array->use_doubtful;
	if (!raid_overlaps_itself(&md->geometry))
		md->guard = array->guard;
	md->dev.writable = md->guard != NULL;
	md->has_log = md->guard && md->guard->ops->log && md->geometry.level == RAID_5;
	/* The kernel's log counts sectors. */
	if (md->has_log)
		md->dev.block_bytes = 512;
	for (uint32_t i = 0; r >= 0 && i < md->geometry.members; i++)
		r = check_member(md, &array->members[i]);
	set_slice(md);
	return r;
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
	md_locks_init(&md->locks);
	pthread_mutex_init(&md->doubt_mutex, NULL);
	pthread_mutex_init(&md->change, NULL);
	pthread_mutex_init(&md->drain, NULL);
	pthread_cond_init(&md->drained, NULL);
	r = init(md, array);
	if (r < 0) {
		dev_close(&md->dev);
		return r;
	}
	*ret_dev = &md->dev;
	return 0;
}
