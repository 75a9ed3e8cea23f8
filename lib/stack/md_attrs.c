/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "stack/md.h"

/* --- names --- */

static bool all_digits(const char *text) { return *text && strspn(text, "0123456789") == strlen(text); }

/* "data" and "host:data" are /dev/md/data, "host:0" is /dev/md0; 0.90 keeps a number only. Without a name there is still the UUID. */
void md_array_name(const struct md_member *f, char ret[64])
{
	const char *colon = strchr(f->name, ':'), *name = colon ? colon + 1 : f->name;

	if (f->preferred_minor != BLKALIGN_UNKNOWN)
		snprintf(ret, 64, "md%" PRIu64, f->preferred_minor);
	else if (all_digits(name))
		snprintf(ret, 64, "md%s", name);
	else if (!strncmp(name, "md", 2) && all_digits(name + 2))
		snprintf(ret, 64, "%s", name);
	else if (*name)
		snprintf(ret, 64, "md/%s", name);
	else
		snprintf(ret, 64, "md/%02x%02x%02x%02x", f->array_uuid[0], f->array_uuid[1], f->array_uuid[2], f->array_uuid[3]);
}

/* --- setting what is not known yet: the running kernel's word comes first --- */

static int set_u64(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value)
{
	return blkalign_node_value(node, attr) ? 0 : graph_set_u64(node, attr, value, BLKALIGN_ORIGIN_ONDISK);
}

static int set_str(struct blkalign_node *node, enum blkalign_attr attr, const char *value)
{
	return blkalign_node_value(node, attr) ? 0 : graph_set_str(node, attr, value, BLKALIGN_ORIGIN_ONDISK);
}

static int set_computed(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value)
{
	return blkalign_node_value(node, attr) ? 0 : graph_set_u64(node, attr, value, BLKALIGN_ORIGIN_COMPUTED);
}

/* --- words --- */

static void add_word(struct strbuf *text, const char *word) { strbuf_printf(text, "%s%s", text->length ? "," : "", word); }

static int set_extras(struct blkalign_node *node, const struct md_array *a)
{
	static const char *const words[] = { "bad-blocks",   "ppl",	 "journal",	 "reshape",   "replacement",
					     "write-mostly", "failfast", "vendor-error", "big-endian" };
	bool seen[ARRAY_SIZE(words)] = { false };
	_cleanup_strbuf_ struct strbuf text = { 0 };

	for (size_t i = 0; i < a->count; i++) {
		const struct md_member *m = a->members[i];
		const bool has[ARRAY_SIZE(words)] = { m->bad_count > 0, m->ppl,	     m->journal,      m->reshaping, m->replacement,
						      m->write_mostly,	m->failfast, m->vendor_error, m->big_endian };

		for (size_t w = 0; w < ARRAY_SIZE(words); w++)
			seen[w] = seen[w] || has[w];
	}
	for (size_t w = 0; w < ARRAY_SIZE(words); w++)
		if (seen[w])
			add_word(&text, words[w]);
	if (text.failed)
		return -ENOMEM;
	return text.length ? set_str(node, BLKALIGN_ATTR_MD_EXTRAS, strbuf_text(&text)) : 0;
}

void md_uuid_text(const uint8_t u[16], char ret[36])
{
	snprintf(ret, 36, "%02x%02x%02x%02x:%02x%02x%02x%02x:%02x%02x%02x%02x:%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6],
		 u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static int set_identity(struct blkalign_node *node, const struct md_member *f)
{
	char uuid[36];
	int r;

	md_uuid_text(f->array_uuid, uuid);
	r = set_str(node, BLKALIGN_ATTR_MD_UUID, uuid);
	if (r >= 0 && f->name[0])
		r = set_str(node, BLKALIGN_ATTR_MD_NAME, f->name);
	if (r >= 0)
		r = set_str(node, BLKALIGN_ATTR_MD_METADATA, f->metadata);
	return r;
}

static int set_shape(struct blkalign_node *node, const struct md_member *f)
{
	char layout[48], number[32];
	const char *level = raid_level_name(f->level);
	int r;

	raid_layout_name(f->level, f->layout, layout);
	snprintf(number, sizeof(number), "level %" PRId32, f->level);
	r = set_str(node, BLKALIGN_ATTR_MD_LEVEL, level ? level : number);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_LAYOUT, f->stored_layout);
	if (r >= 0 && layout[0] && !(f->level == RAID_0 && f->layout == RAID0_UNRECORDED))
		r = set_str(node, BLKALIGN_ATTR_MD_LAYOUT_NAME, layout);
	if (r >= 0 && f->chunk_bytes)
		r = set_u64(node, BLKALIGN_ATTR_MD_CHUNK, f->chunk_bytes);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_MEMBERS, f->raid_disks);
	if (r >= 0 && f->component_bytes && f->level > 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_COMPONENT, f->component_bytes);
	return r;
}

static int set_counts(struct blkalign_node *node, const struct md_array *a)
{
	const struct md_member *f = a->freshest;
	uint64_t features = 0;
	uint32_t present = 0;
	int r;

	for (uint32_t i = 0; i < a->slots_count; i++)
		present += a->slots[i] != NULL;
	for (size_t i = 0; i < a->count; i++)
		if (a->members[i]->fate == MD_FATE_USED || a->members[i]->fate == MD_FATE_SPARE)
			features |= a->members[i]->features;
	r = set_u64(node, BLKALIGN_ATTR_MD_MEMBERS_PRESENT, present);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_EVENTS, f->events);
	if (r >= 0 && f->features != BLKALIGN_UNKNOWN)
		r = set_u64(node, BLKALIGN_ATTR_MD_FEATURES, features);
	if (r >= 0)
		r = set_str(node, BLKALIGN_ATTR_MD_BITMAP, f->bitmap);
	if (r >= 0 && f->bitmap_chunk_bytes)
		r = set_u64(node, BLKALIGN_ATTR_MD_BITMAP_CHUNK, f->bitmap_chunk_bytes);
	if (r >= 0 && f->logical_block_bytes)
		r = set_u64(node, BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK, f->logical_block_bytes);
	return r;
}

/* --- block sizes: the largest of the members' and of what the superblock keeps --- */

/* Partitions and the like have the block sizes of what they lie on. */
static uint64_t block_of(const struct blkalign_node *node, enum blkalign_attr attr)
{
	uint64_t v = blkalign_node_u64(node, attr);

	while (v == BLKALIGN_UNKNOWN && blkalign_node_edges(node)) {
		node = blkalign_node_edge(node, 0)->lower;
		v = blkalign_node_u64(node, attr);
	}
	return v;
}

static int set_block(struct blkalign_node *node, const struct md_array *a, enum blkalign_attr attr)
{
	uint64_t largest = a->freshest->logical_block_bytes;
	bool known = false;

	for (uint32_t i = 0; i < a->slots_count; i++) {
		uint64_t v = a->slots[i] ? block_of(a->slots[i]->host, attr) : BLKALIGN_UNKNOWN;

		if (v == BLKALIGN_UNKNOWN)
			continue;
		known = true;
		if (v > largest)
			largest = v;
	}
	return known ? set_computed(node, attr, largest) : 0;
}

int md_set_overlap(struct blkalign_node *node, const struct raid_geometry *g)
{
	if (g->level != RAID_10 || blkalign_node_value(node, BLKALIGN_ATTR_MD_OVERLAPS))
		return 0;
	return graph_set_bool(node, BLKALIGN_ATTR_MD_OVERLAPS, raid_overlaps_itself(g), BLKALIGN_ORIGIN_COMPUTED);
}

int md_array_annotate(struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	int r = set_identity(node, a->freshest);

	if (r >= 0)
		r = set_shape(node, a->freshest);
	if (r >= 0)
		r = set_counts(node, a);
	if (r >= 0)
		r = set_extras(node, a);
	if (r >= 0 && g)
		r = md_set_overlap(node, g);
	if (r >= 0 && g && g->chunk_bytes && g->level != RAID_LINEAR)
		r = set_computed(node, BLKALIGN_ATTR_MD_STRIPE, g->chunk_bytes * raid_data_members(g));
	if (r >= 0)
		r = set_block(node, a, BLKALIGN_ATTR_LOGICAL_BLOCK);
	if (r >= 0)
		r = set_block(node, a, BLKALIGN_ATTR_PHYSICAL_BLOCK);
	return r;
}
