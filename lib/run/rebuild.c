/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which devices become which members, and everything that speaks against it, before anything is written. */
#include <errno.h>
#include <unistd.h>

#include "keep/keep.h"
#include "run/rebuild.h"
#include "run/run.h"

#define PATHS_MAX 2048U

/* --- who is meant --- */

struct paths {
	const char *names[PATHS_MAX];
	size_t count;
};

/* Members without those that are targets as well: what becomes of these is decided by what is on them. */
static int gather_members(const char *const *members, size_t count, const struct blkalign_rebuild *b, struct paths *ret,
			  struct blkalign_error *reterr)
{
	ret->count = 0;
	for (size_t i = 0; i < count; i++) {
		bool target = false;

		for (size_t k = 0; k < b->target_count; k++)
			target |= dev_same_file(members[i], b->targets[k].path);
		if (target)
			continue;
		if (ret->count + REBUILD_TARGETS_MAX >= PATHS_MAX)
			return blkalign_error_set(reterr, -E2BIG, NULL, BLKALIGN_UNKNOWN, "too many members");
		ret->names[ret->count++] = members[i];
	}
	return 0;
}

static int open_run(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, const struct paths *paths, bool writable,
		    struct blkalign_error *reterr)
{
	struct blkalign_run_options options = { .source = o->source, .writable = writable, .force = o->force };
	int r = blkalign_run_open(&options, paths->names, paths->count, &b->run, reterr);

	b->node = NULL;
	if (r >= 0 && o->node)
		r = blkalign_run_node(b->run, o->node, &b->node, reterr);
	return r < 0 ? r : run_md(b->run, &b->node, &b->view, reterr);
}

static void close_run(struct blkalign_rebuild *b)
{
	blkalign_run_close(b->run, NULL);
	b->run = NULL;
}

static const struct blkalign_edge *edge_to(const struct blkalign_node *array, const char *path)
{
	for (size_t i = 0; i < blkalign_node_edges(array); i++) {
		const struct blkalign_edge *edge = blkalign_node_edge(array, i);
		const char *its = blkalign_node_str(edge->lower, BLKALIGN_ATTR_DEVPATH);

		if (its && !strcmp(its, path))
			return edge;
	}
	return NULL;
}

/* --- what the targets are --- */

static int refuse_full(const struct rebuild_target *t, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EEXIST, t->path, BLKALIGN_UNKNOWN, "holds %s: to overwrite it say --force-overwrite", t->found);
}

/* As large as the largest of the others: it fits in any case. */
static int refuse_absent(const struct blkalign_rebuild *b, const struct rebuild_target *t, struct blkalign_error *reterr)
{
	uint64_t size_bytes = 0;

	for (uint32_t slot = 0; slot < b->view.geometry->members; slot++) {
		const struct dev *dev = b->view.members[slot].dev;

		if (dev && dev->size_bytes > size_bytes)
			size_bytes = dev->size_bytes;
	}
	return blkalign_error_set(reterr, -ENOENT, t->path, BLKALIGN_UNKNOWN,
				  "there is no such file or disk; `truncate -s %llu FILE` makes a file of the size of the other members",
				  (unsigned long long)size_bytes);
}

/* A target that carries this array's superblock, put together with the others: what is it there? */
static int classify(struct blkalign_rebuild *b, struct rebuild_target *t, struct blkalign_error *reterr)
{
	const struct blkalign_edge *edge = edge_to(b->node, t->path);
	const char *state = edge && edge->state ? edge->state : "in_sync";

	if (!edge || edge->slot >= b->view.geometry->members || b->view.members[edge->slot].dev == NULL)
		return 0; /* stale, spare, faulty: as if it were empty */
	if (b->view.members[edge->slot].valid_bytes < b->view.geometry->used_bytes) {
		t->told.how = BLKALIGN_REBUILD_GO_ON;
		t->told.slot = edge->slot;
		t->told.start_bytes = b->view.members[edge->slot].valid_bytes;
		return 0;
	}
	if (strcmp(state, "in_sync") != 0)
		return 0;
	return blkalign_error_set(reterr, -EINVAL, t->path, BLKALIGN_UNKNOWN,
				  "is a member of this array already, and in sync: give it with the members, without --onto");
}

static int look_at_targets(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, bool *ret_same,
			   struct blkalign_error *reterr)
{
	const char *uuid = blkalign_node_str(b->node, BLKALIGN_ATTR_MD_UUID);
	int r = 0;

	*ret_same = false;
	for (size_t i = 0; r >= 0 && i < b->target_count; i++) {
		struct rebuild_target *t = &b->targets[i];
		struct rebuild_candidate c;

		if (access(t->path, F_OK) < 0 && errno == ENOENT)
			return refuse_absent(b, t, reterr);
		r = rebuild_look(&o->source, t->path, uuid, &c, reterr);
		if (r < 0)
			return r;
		t->found = c.found;
		t->same_array = c.same_array;
		*ret_same |= c.same_array;
		if (t->found && !t->same_array && !o->force_overwrite)
			r = refuse_full(t, reterr);
		else
			t->told.overwrites = t->found;
	}
	return r;
}

/* Without the targets the array cannot be read: they are its members in sync, perhaps, and that is what is wrong. */
static void blame_targets(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, const struct paths *members,
			  struct blkalign_error *reterr)
{
	struct paths paths = *members;
	struct blkalign_error why = { 0 };
	int r;

	for (size_t i = 0; i < b->target_count; i++)
		paths.names[paths.count++] = b->targets[i].path;
	r = open_run(b, o, &paths, false, &why);
	if (r >= 0 && blkalign_node_kind(b->node) == BLKALIGN_KIND_LV)
		rebuild_find_images(b, &why);
	else
		for (size_t i = 0; r >= 0 && i < b->target_count; i++)
			r = classify(b, &b->targets[i], &why);
	if (why.code == -EINVAL && reterr)
		*reterr = why;
	close_run(b);
}

/* Once without the targets, to know the array; and once more with those that belong to it. */
static int find_targets(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, const struct paths *members,
			struct blkalign_error *reterr)
{
	struct paths paths = *members;
	bool same = false;
	int r = open_run(b, o, members, false, reterr), opened = r;

	b->volume = r >= 0 && blkalign_node_kind(b->node) == BLKALIGN_KIND_LV;
	if (r >= 0 && !b->volume)
		r = look_at_targets(b, o, &same, reterr);
	close_run(b);
	if (opened < 0)
		blame_targets(b, o, members, reterr);
	if (r < 0 || b->volume || !same)
		return r;
	for (size_t i = 0; i < b->target_count; i++)
		if (b->targets[i].same_array)
			paths.names[paths.count++] = b->targets[i].path;
	r = open_run(b, o, &paths, false, reterr);
	for (size_t i = 0; r >= 0 && i < b->target_count; i++)
		if (b->targets[i].same_array)
			r = classify(b, &b->targets[i], reterr);
	close_run(b);
	return r;
}

/* --- what speaks against it --- */

static int check_doubts(const struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, struct blkalign_error *reterr)
{
	uint64_t total = view_sync_bytes(&b->view), run = total;

	if (o->force || !b->view.geometry->parity || (!map_md_doubtful(b->view.md, 0, &run) && run == total))
		return 0;
	return blkalign_error_set(
		reterr, -EUCLEAN, blkalign_node_name(b->node), BLKALIGN_UNKNOWN,
		"was not stopped cleanly: parity may not fit the data, and what is computed from it may be wrong; save what "
		"matters with `copy` first, or say --force");
}

static bool is_taken(const struct blkalign_rebuild *b, uint32_t slot)
{
	for (size_t i = 0; i < b->target_count; i++)
		if (b->targets[i].told.slot == slot)
			return true;
	return false;
}

static int give_slot(struct blkalign_rebuild *b, struct rebuild_target *t, struct blkalign_error *reterr)
{
	for (uint32_t slot = 0; slot < b->view.geometry->members; slot++)
		if (!b->view.members[slot].dev && !is_taken(b, slot)) {
			t->told.slot = slot;
			return 0;
		}
	return blkalign_error_set(reterr, -EINVAL, t->path, BLKALIGN_UNKNOWN, "%s lacks no member that this could become",
				  blkalign_node_name(b->node));
}

static int check_survival(const struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	bool present[RAID_MEMBERS_MAX];
	const struct raid_geometry *g = b->view.geometry;

	if (!g->parity && raid_copies(g) < 2)
		return blkalign_error_set(reterr, -ENOTSUP, blkalign_node_name(b->node), BLKALIGN_UNKNOWN,
					  "%s has no redundancy: a member cannot be computed from the others", raid_level_name(g->level));
	for (uint32_t slot = 0; slot < g->members; slot++)
		present[slot] = b->view.members[slot].dev && !is_taken(b, slot);
	if (raid_survives(g, present))
		return 0;
	return blkalign_error_set(reterr, -EIO, blkalign_node_name(b->node), BLKALIGN_UNKNOWN,
				  "too many members are missing: what is left is not enough to compute the others");
}

static int check_size(const struct blkalign_rebuild *b, const struct rebuild_target *t, uint64_t size_bytes, struct blkalign_error *reterr)
{
	uint64_t need = 0;

	for (uint32_t slot = 0; slot < b->view.geometry->members; slot++)
		if (b->view.members[slot].dev && b->view.members[slot].data_offset_bytes + b->view.geometry->used_bytes > need)
			need = b->view.members[slot].data_offset_bytes + b->view.geometry->used_bytes;
	if (size_bytes >= need)
		return 0;
	return blkalign_error_set(reterr, -ENOSPC, t->path, BLKALIGN_UNKNOWN,
				  "is too small: it has %llu bytes, and a member of this array needs at least %llu",
				  (unsigned long long)size_bytes, (unsigned long long)need);
}

/* --- taking the members in --- */

/* A former member goes back to its slot, with what the bitmaps have recorded since it left. */
static int readd(struct blkalign_rebuild *b, struct rebuild_target *t)
{
	int r = BLKALIGN_ABSENT;

	for (uint32_t slot = 0; t->same_array && b->keep && r == BLKALIGN_ABSENT && slot < b->view.geometry->members; slot++) {
		if (b->view.members[slot].dev || is_taken(b, slot))
			continue;
		r = keep_lacking(b->keep, t->dev, NULL, slot, &t->lacks, &t->lacks_count);
		if (r != 0)
			continue;
		t->told.slot = slot;
		t->told.how = BLKALIGN_REBUILD_READD;
	}
	return r;
}

static int open_target(struct blkalign_rebuild *b, struct rebuild_target *t, bool dry_run, struct blkalign_error *reterr)
{
	int r = dry_run ? dev_open_file(t->path, &t->owned, reterr) : dev_open_file_exclusive(t->path, &t->owned, reterr);

	if (r < 0)
		return r;
	t->dev = t->owned;
	r = readd(b, t);
	if (r > 0)
		r = give_slot(b, t, reterr);
	return r < 0 ? r : check_size(b, t, t->owned->size_bytes, reterr);
}

static void use_member(struct blkalign_rebuild *b, struct rebuild_target *t)
{
	const struct map_md_member *m = &b->view.members[t->told.slot];

	t->dev = m->dev;
	t->data_offset_bytes = m->data_offset_bytes;
	t->told.start_bytes = m->valid_bytes;
}

static int by_offset(const void *a, const void *b)
{
	const struct byte_range *x = a, *y = b;

	return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

/* What any of them lacks: they are rebuilt together, row by row. */
static int join_ranges(struct blkalign_rebuild *b)
{
	size_t count = 0, joined = 0;

	for (size_t i = 0; i < b->target_count; i++)
		count += b->targets[i].lacks_count;
	b->ranges = calloc(count ? count : 1, sizeof(*b->ranges));
	if (!b->ranges)
		return -ENOMEM;
	for (size_t i = 0, at = 0; i < b->target_count; at += b->targets[i++].lacks_count)
		memcpy(b->ranges + at, b->targets[i].lacks, b->targets[i].lacks_count * sizeof(*b->ranges));
	qsort(b->ranges, count, sizeof(*b->ranges), by_offset);
	for (size_t i = 0; i < count; i++) {
		struct byte_range *last = joined ? &b->ranges[joined - 1] : NULL;
		uint64_t end = b->ranges[i].offset_bytes + b->ranges[i].length_bytes;

		if (!last || last->offset_bytes + last->length_bytes < b->ranges[i].offset_bytes)
			b->ranges[joined++] = b->ranges[i];
		else if (end > last->offset_bytes + last->length_bytes)
			last->length_bytes = end - last->offset_bytes;
	}
	b->range_count = joined;
	return 0;
}

/* Array bytes of raid10 lie on as many members as it has copies. */
static uint64_t share_bytes(const struct blkalign_rebuild *b, uint64_t sync_bytes)
{
	const struct raid_geometry *g = b->view.geometry;

	return g->level == RAID_10 ? (uint64_t)((double)sync_bytes * raid_copies(g) / g->members) : sync_bytes;
}

/* One that needs everything makes the pass over everything. */
static int plan_bytes(struct blkalign_rebuild *b)
{
	uint64_t lacking = 0;
	int r;

	b->by_bitmap = true;
	for (size_t i = 0; i < b->target_count; i++)
		b->by_bitmap &= b->targets[i].told.how == BLKALIGN_REBUILD_READD;
	r = b->by_bitmap ? join_ranges(b) : 0;
	for (size_t i = 0; r >= 0 && i < b->range_count; i++)
		lacking += b->ranges[i].length_bytes;
	for (size_t i = 0; i < b->target_count; i++) {
		struct blkalign_rebuild_target *t = &b->targets[i].told;

		if (!b->by_bitmap && t->how == BLKALIGN_REBUILD_READD)
			t->how = BLKALIGN_REBUILD_NEW;
		if (t->how != BLKALIGN_REBUILD_NEW)
			t->overwrites = NULL;
		t->rebuild_bytes = b->by_bitmap ? share_bytes(b, lacking) : b->view.geometry->used_bytes - t->start_bytes;
	}
	return r;
}

static int prepare_targets(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->target_count; i++) {
		struct rebuild_target *t = &b->targets[i];

		if (t->told.how == BLKALIGN_REBUILD_GO_ON)
			use_member(b, t);
		else
			r = open_target(b, t, o->dry_run, reterr);
	}
	return r < 0 ? r : plan_bytes(b);
}

/* From here on devices are written to. */
static int add_members(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->target_count; i++) {
		struct rebuild_target *t = &b->targets[i];
		struct map_md_member m = { .dev = t->dev };

		if (t->told.how == BLKALIGN_REBUILD_GO_ON)
			continue;
		r = keep_add_member(b->keep, t->dev, t->meta, t->told.slot, &t->data_offset_bytes, reterr);
		m.data_offset_bytes = t->data_offset_bytes;
		if (r >= 0)
			r = map_md_set_member(b->view.md, t->told.slot, &m);
	}
	b->view.members = map_md_members(b->view.md, NULL);
	return r;
}

static int open_array(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, const struct paths *members,
		      struct blkalign_error *reterr)
{
	struct paths paths = *members;
	const char *why;
	int r;

	for (size_t i = 0; i < b->target_count; i++)
		if (b->volume || b->targets[i].told.how == BLKALIGN_REBUILD_GO_ON)
			paths.names[paths.count++] = b->targets[i].path;
	r = open_run(b, o, &paths, !o->dry_run, reterr);
	if (r < 0 || o->dry_run)
		return r;
	b->keep = stack_keep(b->run->stack, b->node);
	why = run_why_not(b->run, b->node);
	if (b->keep && !why)
		return 0;
	return blkalign_error_set(reterr, -EROFS, blkalign_node_name(b->node), BLKALIGN_UNKNOWN, "%s", why ? why : "cannot be written");
}

static int prepare(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *o, const struct paths *members,
		   struct blkalign_error *reterr)
{
	int r = find_targets(b, o, members, reterr);

	if (r >= 0)
		r = open_array(b, o, members, reterr);
	if (r >= 0)
		r = check_doubts(b, o, reterr);
	if (r >= 0 && b->volume)
		r = rebuild_find_images(b, reterr);
	if (r >= 0)
		r = b->volume ? plan_bytes(b) : prepare_targets(b, o, reterr);
	if (r >= 0)
		r = check_survival(b, reterr);
	if (r >= 0 && !o->dry_run)
		r = add_members(b, reterr);
	return r < 0 ? r : rebuild_start(b, o, reterr);
}

/* --- beginning and end --- */

static int name_targets(struct blkalign_rebuild *b, const char *const *targets, size_t count, struct blkalign_error *reterr)
{
	if (!count || count > REBUILD_TARGETS_MAX)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "one or two targets can be rebuilt at a time");
	for (size_t i = 0; i < count; i++) {
		if (i && dev_same_file(targets[0], targets[i]))
			return blkalign_error_set(reterr, -EINVAL, targets[i], BLKALIGN_UNKNOWN, "is given twice");
		b->targets[i].path = strdup(targets[i]);
		if (!b->targets[i].path)
			return -ENOMEM;
		b->targets[i].told = (struct blkalign_rebuild_target){ .path = b->targets[i].path, .slot = BLKALIGN_SLOT_NONE };
		b->target_count++;
	}
	return 0;
}

void rebuild_stop(struct blkalign_rebuild *b)
{
	for (unsigned i = 0; b->workers && i < workers_count(b->workers); i++)
		rebuild_worker_done(&b->worker[i]);
	workers_stop(b->workers);
	b->workers = NULL;
}

static void free_all(struct blkalign_rebuild *b)
{
	for (size_t i = 0; i < b->target_count; i++) {
		dev_close(b->targets[i].owned);
		free(b->targets[i].path);
		free(b->targets[i].found);
		free(b->targets[i].lacks);
	}
	free(b->ranges);
	free(b);
}

int blkalign_rebuild_close(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	int r, closed;

	if (!b)
		return 0;
	r = b->workers && b->keep ? rebuild_checkpoint(b, reterr) : 0;
	rebuild_stop(b);
	closed = blkalign_run_close(b->run, r < 0 ? NULL : reterr);
	free_all(b);
	return r < 0 ? r : closed;
}

int blkalign_rebuild_open(const struct blkalign_rebuild_options *options, const char *const *members, size_t member_count,
			  const char *const *targets, size_t target_count, struct blkalign_rebuild **ret_rebuild,
			  struct blkalign_error *reterr)
{
	static const struct blkalign_rebuild_options none;
	struct blkalign_rebuild *b = calloc(1, sizeof(*b));
	struct paths *paths = calloc(1, sizeof(*paths));
	int r = b && paths ? name_targets(b, targets, target_count, reterr) : -ENOMEM;

	options = options ? options : &none;
	if (r >= 0)
		r = gather_members(members, member_count, b, paths, reterr);
	if (r >= 0)
		r = prepare(b, options, paths, reterr);
	free(paths);
	if (r < 0) {
		blkalign_rebuild_close(b, NULL);
		return r;
	}
	*ret_rebuild = b;
	return 0;
}

const struct blkalign_graph *blkalign_rebuild_graph(const struct blkalign_rebuild *b) { return blkalign_run_graph(b->run); }
struct blkalign_run *blkalign_rebuild_run(const struct blkalign_rebuild *b) { return b->run; }
const struct blkalign_node *blkalign_rebuild_node(const struct blkalign_rebuild *b) { return b->node; }
size_t blkalign_rebuild_targets(const struct blkalign_rebuild *b) { return b->target_count; }
const struct blkalign_rebuild_target *blkalign_rebuild_target(const struct blkalign_rebuild *b, size_t index)
{
	return &b->targets[index].told;
}
