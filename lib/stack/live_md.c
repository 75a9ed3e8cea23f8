/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* md arrays as sysfs shows them (Linux: drivers/md/md.c, raid5.c, md-bitmap.c). Offsets and sizes of members are there, superblocks are not needed. */
#include <stdio.h>

#include "raid/raid.h"
#include "stack/live.h"
#include "stack/md.h"

static const struct live_attr md_attrs[] = {
	{ BLKALIGN_ATTR_MD_LEVEL, "md/level", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_MD_LAYOUT, "md/layout", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_CHUNK, "md/chunk_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_MEMBERS, "md/raid_disks", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_METADATA, "md/metadata_version", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_MD_SYNC_ACTION, "md/sync_action", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_MD_SYNC_SPEED_MIN, "md/sync_speed_min", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_SYNC_SPEED_MAX, "md/sync_speed_max", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_STRIPE_CACHE, "md/stripe_cache_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_MISMATCH, "md/mismatch_cnt", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MD_COMPONENT, "md/component_size", LIVE_U64, 1024 },
	{ BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK, "md/logical_block_size", LIVE_U64, 1 },
};

static const struct live_attr bitmap_attrs[] = {
	{ BLKALIGN_ATTR_MD_BITMAP_CHUNK, "md/bitmap/chunksize", LIVE_U64, 1 },
};

/* --- members --- */

struct member {
	struct blkalign_node *node;
	uint32_t slot;
	uint64_t offset_bytes;
	uint64_t size_bytes;
	const char *state; /* static */
	bool takes_part;   /* its data area belongs to the map */
};
struct members {
	struct member *data;
	size_t count;
	size_t room;
};

/* Tokens of md/dev-X/state, the telling ones first (md.c: state_show). */
static void set_state(struct member *m, const char *text)
{
	static const struct {
		const char *token, *state;
		bool takes_part;
	} states[] = {
		{ "faulty", "faulty", false },	{ "journal", "journal", false }, { "replacement", "replacement", false },
		{ "in_sync", "in_sync", true }, { "spare", "spare", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		const char *at = strstr(text, states[i].token);

		/* "want_replacement" is not "replacement" */
		while (at && at > text && at[-1] != ',')
			at = strstr(at + 1, states[i].token);
		if (!at)
			continue;
		m->state = states[i].state;
		m->takes_part = states[i].takes_part;
		break;
	}
	if (m->state && !strcmp(m->state, "spare") && m->slot != BLKALIGN_SLOT_NONE) {
		m->state = "rebuilding";
		m->takes_part = true;
	}
	if (m->state && !m->takes_part && strcmp(m->state, "replacement") != 0)
		m->slot = BLKALIGN_SLOT_NONE;
}

static int member_u64(struct live *live, const struct live_dev *md, const char *name, const char *file, uint32_t unit, uint64_t *ret_bytes)
{
	_cleanup_free_ char *path = NULL;
	uint64_t value = 0;
	int r;

	if (asprintf(&path, "md/dev-%s/%s", name, file) < 0)
		return -ENOMEM;
	r = live_dev_u64(live, md, path, &value);
	if (r == 0 && u64_mul(value, unit, &value))
		*ret_bytes = value;
	return r < 0 ? r : 0;
}

static int read_member(struct live *live, const struct live_dev *md, const struct live_dev *lower, struct member *m)
{
	_cleanup_free_ char *path = NULL, *state = NULL;
	uint64_t slot = BLKALIGN_UNKNOWN;
	int r;

	*m = (struct member){ .node = lower->node, .offset_bytes = BLKALIGN_UNKNOWN, .size_bytes = BLKALIGN_UNKNOWN };
	r = member_u64(live, md, lower->name, "slot", 1, &slot);
	if (r == 0)
		r = member_u64(live, md, lower->name, "offset", 512, &m->offset_bytes);
	if (r == 0)
		r = member_u64(live, md, lower->name, "size", 1024, &m->size_bytes);
	if (r == 0 && asprintf(&path, "md/dev-%s/state", lower->name) < 0)
		return -ENOMEM;
	if (r < 0)
		return r;
	m->slot = slot < RAID_MEMBERS_MAX ? (uint32_t)slot : BLKALIGN_SLOT_NONE;
	r = live_dev_text(live, md, path, &state);
	if (r == 0)
		set_state(m, state);
	return r == -ENOMEM ? r : 0;
}

static int read_members(struct live *live, const struct live_dev *md, struct members *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < md->below.count; i++) {
		const struct live_dev *lower = &live->devs.data[md->below.data[i]];
		struct member m;

		if (!lower->node)
			continue;
		r = read_member(live, md, lower, &m);
		if (r == 0)
			r = live_md_bad_blocks(live, md, lower->name, lower->node);
		if (r == 0)
			r = vec_push(ret, m);
	}
	return r;
}

/* --- the map --- */

static int32_t level_number(const char *name)
{
	for (int32_t level = RAID_LINEAR; level <= RAID_10; level++)
		if (raid_level_name(level) && name && !strcmp(raid_level_name(level), name))
			return level;
	return INT32_MIN;
}

/* Absent members are as large as the array uses of each. */
static int geometry(const struct live_dev *md, const struct members *members, struct raid_geometry *ret)
{
	uint64_t count = blkalign_node_u64(md->node, BLKALIGN_ATTR_MD_MEMBERS),
		 layout = blkalign_node_u64(md->node, BLKALIGN_ATTR_MD_LAYOUT);
	uint64_t chunk = blkalign_node_u64(md->node, BLKALIGN_ATTR_MD_CHUNK),
		 used = blkalign_node_u64(md->node, BLKALIGN_ATTR_MD_COMPONENT);
	uint64_t sizes[RAID_MEMBERS_MAX];
	struct raid_shape shape = { .level = level_number(blkalign_node_str(md->node, BLKALIGN_ATTR_MD_LEVEL)), .component_bytes = sizes };

	if (shape.level == INT32_MIN || !count || count > RAID_MEMBERS_MAX || (layout != BLKALIGN_UNKNOWN && layout > UINT32_MAX))
		return -EINVAL;
	shape.members = (uint32_t)count;
	shape.layout = layout == BLKALIGN_UNKNOWN ? 0 : (uint32_t)layout;
	shape.chunk_bytes = chunk == BLKALIGN_UNKNOWN ? 0 : chunk;
	for (uint64_t i = 0; i < count; i++)
		sizes[i] = used == BLKALIGN_UNKNOWN ? 0 : used;
	for (size_t i = 0; i < members->count; i++)
		if (members->data[i].slot < count && members->data[i].takes_part && members->data[i].size_bytes != BLKALIGN_UNKNOWN)
			sizes[members->data[i].slot] = members->data[i].size_bytes;
	return raid_geometry_init(ret, &shape, NULL);
}

/* `g` is NULL when the geometry is not known. */
static int connect_members(struct live *live, const struct live_dev *md, const struct members *members, const struct raid_geometry *g)
{
	VEC(struct md_link) links = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < members->count; i++) {
		const struct member *m = &members->data[i];

		r = vec_push(&links, ((struct md_link){ m->node, m->offset_bytes, m->slot, m->state, m->takes_part }));
	}
	if (r == 0)
		r = md_connect(live->graph, md->node, links.data, links.count, g);
	vec_done(&links);
	return r == -ELOOP ? 0 : r; /* told; the host is shown all the same */
}

static int set_geometry(const struct live_dev *md, const struct raid_geometry *g)
{
	char layout[48];
	int r = 0;

	raid_layout_name(g->level, g->layout, layout);
	if (layout[0])
		r = graph_set_str(md->node, BLKALIGN_ATTR_MD_LAYOUT_NAME, layout, BLKALIGN_ORIGIN_COMPUTED);
	if (r == 0 && g->chunk_bytes && g->level != RAID_LINEAR && g->level != RAID_1)
		r = graph_set_u64(md->node, BLKALIGN_ATTR_MD_STRIPE, g->chunk_bytes * raid_data_members(g), BLKALIGN_ORIGIN_COMPUTED);
	return r == 0 ? md_set_overlap(md->node, g) : r;
}

static int map(struct live *live, const struct live_dev *md, const struct members *members)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	int r = geometry(md, members, &g);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return connect_members(live, md, members, NULL);
	r = connect_members(live, md, members, &g);
	return r == 0 ? set_geometry(md, &g) : r;
}

/* --- facts that take more than one file --- */

/* md/bitmap_type marks the type in use by brackets (6.18 and later); md/bitmap/location is "none", "file" or an offset. */
static int set_bitmap(struct live *live, struct live_dev *md)
{
	_cleanup_free_ char *location = NULL, *metadata = NULL, *type = NULL;
	const char *word;
	int r = live_dev_text(live, md, "md/bitmap_type", &type);

	if (r != -ENOMEM)
		r = live_dev_text(live, md, "md/bitmap/metadata", &metadata);
	if (r != -ENOMEM)
		r = live_dev_text(live, md, "md/bitmap/location", &location);
	if (r != 0)
		return r == -ENOMEM ? r : 0;
	if (type && strstr(type, "[llbitmap]"))
		word = "lockless";
	else if (!strcmp(location, "none"))
		word = "none";
	else if (!strcmp(location, "file"))
		word = "external";
	else
		word = metadata && !strcmp(metadata, "clustered") ? "clustered" : "internal";
	r = graph_set_str(md->node, BLKALIGN_ATTR_MD_BITMAP, word, BLKALIGN_ORIGIN_SYSFS);
	if (r < 0 || !strcmp(word, "none"))
		return r;
	return live_set_attrs(live, md, bitmap_attrs, ARRAY_SIZE(bitmap_attrs));
}

/* md/uuid (6.1 and later) has the hyphens of a UUID; mdadm writes the same digits as four words with colons, and so do we everywhere. */
static int set_uuid(struct live *live, struct live_dev *md)
{
	_cleanup_free_ char *uuid = NULL;
	char words[8 * 4 + 3 + 1];
	size_t out = 0;
	int r = live_dev_text(live, md, "md/uuid", &uuid);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	for (const char *c = uuid; *c && out < sizeof(words) - 1; c++) {
		if (*c == '-')
			continue;
		if (out % 9 == 8)
			words[out++] = ':';
		words[out++] = *c;
	}
	words[out] = '\0';
	return out == sizeof(words) - 1 ? graph_set_str(md->node, BLKALIGN_ATTR_MD_UUID, words, BLKALIGN_ORIGIN_SYSFS) : 0;
}

/* "none" when nothing is running */
static int set_sync_speed(struct live *live, struct live_dev *md)
{
	uint64_t speed = 0;
	int r = live_dev_u64(live, md, "md/sync_speed", &speed);

	return r == 0 ? graph_set_u64(md->node, BLKALIGN_ATTR_MD_SYNC_SPEED, speed, BLKALIGN_ORIGIN_SYSFS) : r == -ENOMEM ? r : 0;
}

static int set_present(struct live_dev *md, const struct members *members)
{
	uint64_t present = 0;

	for (size_t i = 0; i < members->count; i++)
		present += members->data[i].state && !strcmp(members->data[i].state, "in_sync");
	return graph_set_u64(md->node, BLKALIGN_ATTR_MD_MEMBERS_PRESENT, present, BLKALIGN_ORIGIN_SYSFS);
}

static int set_missing(struct live_dev *md, const struct members *members)
{
	uint64_t slots = blkalign_node_u64(md->node, BLKALIGN_ATTR_MD_MEMBERS), filled = 0;

	for (size_t i = 0; i < members->count; i++)
		filled += members->data[i].takes_part && members->data[i].slot != BLKALIGN_SLOT_NONE;
	if (slots == BLKALIGN_UNKNOWN || !members->count || filled > slots)
		return 0;
	return graph_set_u64(md->node, BLKALIGN_ATTR_MD_MISSING, slots - filled, BLKALIGN_ORIGIN_SYSFS);
}

/* What all members list. */
static int sum_bad(struct live_dev *md, const struct members *members)
{
	uint64_t ranges = 0, bytes = 0;
	int r;

	for (size_t i = 0; i < members->count; i++) {
		const struct blkalign_node *node = members->data[i].node;

		if (!blkalign_node_value(node, BLKALIGN_ATTR_MD_BAD_RANGES))
			continue;
		ranges += blkalign_node_u64(node, BLKALIGN_ATTR_MD_BAD_RANGES);
		if (!u64_add(bytes, blkalign_node_u64(node, BLKALIGN_ATTR_MD_BAD_BYTES), &bytes))
			return 0;
	}
	if (!ranges)
		return 0;
	r = graph_set_u64(md->node, BLKALIGN_ATTR_MD_BAD_RANGES, ranges, BLKALIGN_ORIGIN_SYSFS);
	return r < 0 ? r : graph_set_u64(md->node, BLKALIGN_ATTR_MD_BAD_BYTES, bytes, BLKALIGN_ORIGIN_SYSFS);
}

int live_md(struct live *live, struct live_dev *md)
{
	struct members members = { 0 };
	int r = live_set_attrs(live, md, md_attrs, ARRAY_SIZE(md_attrs));

	if (r == 0)
		r = live_md_state(live, md);
	if (r == 0)
		r = set_bitmap(live, md);
	if (r == 0)
		r = set_sync_speed(live, md);
	if (r == 0)
		r = set_uuid(live, md);
	if (r == 0)
		r = read_members(live, md, &members);
	if (r == 0)
		r = set_present(md, &members);
	if (r == 0)
		r = set_missing(md, &members);
	if (r == 0)
		r = sum_bad(md, &members);
	if (r == 0)
		r = map(live, md, &members);
	vec_done(&members);
	return r;
}
