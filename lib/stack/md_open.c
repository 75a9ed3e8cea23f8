/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From chosen members to a device. An array that is being reshaped has a map for each of its shapes. */
#include "keep/keep.h"
#include "stack/md.h"

struct opening {
	struct stack *stack;
	const struct blkalign_node *node;
	const struct md_array *a;
	const struct md_replay *replay;
	VEC(struct byte_range *) moved; /* lists of bad ranges that count from another data offset */
};

static void opening_done(struct opening *o)
{
	for (size_t i = 0; i < o->moved.count; i++)
		free(o->moved.data[i]);
	vec_done(&o->moved);
}

/* Bad ranges as the new shape sees them, whose data area begins elsewhere. */
static int move_bad(struct opening *o, const struct md_member *m, struct map_md_member *to)
{
	struct byte_range *moved = calloc(m->bad_count, sizeof(*moved));

	if (!moved)
		return -ENOMEM;
	if (vec_push(&o->moved, moved) < 0) {
		free(moved);
		return -ENOMEM;
	}
	to->bad = moved;
	to->bad_count = 0;
	for (size_t i = 0; i < m->bad_count; i++) {
		uint64_t begin, end;

		if (!u64_add(m->bad[i].offset_bytes, m->data_offset_bytes, &begin) || !u64_add(begin, m->bad[i].length_bytes, &end) ||
		    end <= to->data_offset_bytes)
			continue;
		begin = begin > to->data_offset_bytes ? begin - to->data_offset_bytes : 0;
		moved[to->bad_count++] = (struct byte_range){ begin, end - to->data_offset_bytes - begin };
	}
	return 0;
}

/* What a log would write to the member, which is not written to. */
static int patch_member(struct opening *o, uint32_t slot, struct map_md_member *to)
{
	const struct md_patches *patches = o->replay->members && slot < o->replay->slots ? &o->replay->members[slot] : NULL;
	_cleanup_free_ struct map_patch *moved = NULL;
	struct dev *dev;
	int r;

	/* Who keeps the records replays to the member itself. */
	if (!patches || !patches->count || stack_keep(o->stack, o->node))
		return 0;
	moved = calloc(patches->count, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	for (size_t i = 0; i < patches->count; i++) {
		moved[i] = patches->data[i];
		if (!u64_add(moved[i].range.offset_bytes, to->data_offset_bytes, &moved[i].range.offset_bytes))
			return -EINVAL;
	}
	r = map_open_patched(to->dev, moved, patches->count, &dev);
	if (r == 0)
		r = stack_own(o->stack, dev);
	if (r == 0)
		to->dev = dev;
	return r;
}

/* A slot whose member is gone, or has less, may have a replacement that was being filled. */
static const struct md_member *best_of(const struct md_array *a, uint32_t slot)
{
	const struct md_member *m = slot < a->slots_count ? a->slots[slot] : NULL,
			       *replacer = slot < a->slots_count ? a->replacers[slot] : NULL;

	return replacer && (!m || replacer->recovery_bytes > m->recovery_bytes) ? replacer : m;
}

static int describe(struct opening *o, enum md_which_shape which, uint32_t slot, struct map_md_member *ret)
{
	const struct md_member *m = best_of(o->a, slot);
	int r = 0;

	*ret = (struct map_md_member){ .dev = NULL };
	if (!m || (which == MD_SHAPE_NEW && m->new_data_offset_bytes == BLKALIGN_UNKNOWN))
		return 0;
	*ret = (struct map_md_member){
		.dev = m->dev,
		.data_offset_bytes = which == MD_SHAPE_NEW ? m->new_data_offset_bytes : m->data_offset_bytes,
		.valid_bytes = m->recovery_bytes,
		.write_mostly = m->write_mostly,
		.bad = m->bad,
		.bad_count = m->bad_count,
	};
	if (m->bad_count && ret->data_offset_bytes != m->data_offset_bytes)
		r = move_bad(o, m, ret);
	return r < 0 ? r : patch_member(o, slot, ret);
}

/* `g` is taken over. */
static int open_map(struct opening *o, enum md_which_shape which, struct raid_geometry *g, struct dev **ret_dev)
{
	_cleanup_free_ struct map_md_member *members = calloc(g->members, sizeof(*members));
	const struct stack_running *running = stack_running(o->stack);
	struct keep *keep = stack_keep(o->stack, o->node);
	struct map_md md = {
		.geometry = g,
		.members = members,
		.doubtful = o->a->doubtful,
		.doubtful_count = o->a->doubtful_count,
		.use_doubtful = running && running->force,
		.guard = keep ? keep_guard(keep) : NULL,
	};
	int r = members ? 0 : -ENOMEM;

	if (keep && !o->a->never_synced)
		md.doubtful = keep_doubtful(keep, &md.doubtful_count);
	for (uint32_t i = 0; r >= 0 && i < g->members; i++)
		r = describe(o, which, i, &members[i]);
	if (r < 0) {
		raid_geometry_done(g);
		return r;
	}
	return map_open_md(blkalign_node_name(o->node), &md, ret_dev);
}

static int open_shape(struct opening *o, enum md_which_shape which, struct dev **ret_dev)
{
	struct raid_geometry g;
	int r = md_array_geometry(o->a, which, &g, NULL);

	return r < 0 ? r : open_map(o, which, &g, ret_dev);
}

/* Both halves of a reshape, below and above its position. */
static int open_reshaping(struct opening *o, struct dev **ret_dev)
{
	const struct md_member *f = o->a->freshest;
	struct dev *new = NULL, *old = NULL;
	uint64_t size;
	int r = open_shape(o, MD_SHAPE_NEW, &new);

	if (r == 0)
		r = stack_own(o->stack, new);
	if (r == 0)
		r = open_shape(o, MD_SHAPE_OLD, &old);
	if (r == 0)
		r = stack_own(o->stack, old);
	if (r < 0 || !new || !old)
		return r;
	size = new->size_bytes < old->size_bytes ? new->size_bytes : old->size_bytes;
	return map_open_reshaping(blkalign_node_name(o->node), f->reshape_backwards ? old : new, f->reshape_backwards ? new : old,
				  f->reshape_position_bytes, size, ret_dev);
}

/* Pages that only the write journal has lie over the whole array. */
static int patch_array(struct opening *o, struct dev **dev)
{
	const struct md_patches *patches = &o->replay->array;
	struct dev *below = *dev;
	int r;

	if (!patches->count)
		return 0;
	r = stack_own(o->stack, below);
	*dev = NULL;
	return r < 0 ? r : map_open_patched(below, patches->data, patches->count, dev);
}

int md_array_open(struct stack *stack, const struct blkalign_node *node, const struct md_array *a, const struct md_replay *replay,
		  struct dev **ret_dev)
{
	_cleanup_(opening_done) struct opening o = { .stack = stack, .node = node, .a = a, .replay = replay };
	int r = a->freshest->reshaping ? open_reshaping(&o, ret_dev) : open_shape(&o, MD_SHAPE_NEW, ret_dev);

	return r < 0 ? r : patch_array(&o, ret_dev);
}
