/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The geometry of an array, of which a reshape has two. */
#include "stack/md.h"

/* linear and raid0 go as far as each member does; their superblocks say nothing about absent ones. */
static int component_sizes(const struct md_array *a, int32_t level, uint32_t members, uint64_t *ret, struct blkalign_error *reterr)
{
	const struct md_member *f = a->freshest;

	for (uint32_t i = 0; i < members; i++) {
		if (level != RAID_LINEAR && level != RAID_0)
			ret[i] = f->component_bytes;
		else if (i < a->slots_count && a->slots[i])
			ret[i] = a->slots[i]->data_bytes;
		else
			return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
						  "the size of the missing member of slot %u is not recorded", i);
	}
	return 0;
}

int md_array_geometry(const struct md_array *a, enum md_which_shape which, struct raid_geometry *ret, struct blkalign_error *reterr)
{
	const struct md_member *f = a->freshest;
	bool new = f->reshaping &&which == MD_SHAPE_NEW;
	int64_t members = (int64_t)f->raid_disks - (f->reshaping && !new ? f->delta_disks : 0);
	uint64_t sizes[RAID_MEMBERS_MAX];
	struct raid_shape shape = {
		.level = new ? f->new_level : f->level,
		.layout = new ? f->new_layout : f->layout,
		.chunk_bytes = new ? f->new_chunk_bytes : f->chunk_bytes,
		.members = (uint32_t)members,
		.component_bytes = sizes,
	};
	int r;

	if (members < 1 || members > RAID_MEMBERS_MAX)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "%lld members are not possible", (long long)members);
	r = component_sizes(a, shape.level, shape.members, sizes, reterr);
	return r < 0 ? r : raid_geometry_init(ret, &shape, reterr);
}

static bool is_present(const struct md_array *a, uint32_t slot)
{
	const struct md_member *m = slot < a->slots_count ? a->slots[slot] : NULL,
			       *replacer = slot < a->slots_count ? a->replacers[slot] : NULL;

	return (m && m->recovery_bytes == UINT64_MAX) || (replacer && replacer->recovery_bytes == UINT64_MAX);
}

/* In one shape. */
static int survives(const struct md_array *a, enum md_which_shape which, bool *ret)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	bool present[RAID_MEMBERS_MAX];
	int r = md_array_geometry(a, which, &g, NULL);

	*ret = false;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (uint32_t i = 0; i < g.members; i++)
		present[i] = is_present(a, i);
	*ret = raid_survives(&g, present);
	return 0;
}

int md_array_survives(const struct md_array *a, bool *ret)
{
	int r = survives(a, MD_SHAPE_NEW, ret);

	return r < 0 || !*ret || !a->freshest->reshaping ? r : survives(a, MD_SHAPE_OLD, ret);
}
