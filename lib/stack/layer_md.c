/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* md: collects members as they are found, and puts arrays together when no more come. */
#include <inttypes.h>

#include "format/mbr/mbr.h"
#include "stack/layers.h"
#include "stack/md.h"

#define END_SUPERBLOCK_GRAIN (64 * KIB) /* 0.90 superblocks lie on multiples of this on their device */

struct collected {
	VEC(struct md_member *) members; /* in order of discovery */
	VEC(struct md_member *) waiting; /* of them, not yet in an array */
	size_t seen;			 /* members at the last assembly */
};

static struct collected *collected(struct stack *stack)
{
	void **state = stack_state(stack, &layer_md);

	if (!*state)
		*state = calloc(1, sizeof(struct collected));
	return *state;
}

static void done(void *state)
{
	struct collected *c = state;

	for (size_t i = 0; i < c->members.count; i++)
		md_member_free(c->members.data[i]);
	vec_done(&c->members);
	vec_done(&c->waiting);
	free(c);
}

/* --- a whole disk, or its last partition? --- */

/*
 * A partition that ends where its disk ends has its end superblock where the disk's would be, when it begins on the grain. So the table tells whether the question
 * arises at all; a protective entry stands for partitions of its own table.
 */
static bool covered_by_partition(const struct md_member *m)
{
	uint64_t unit = blkalign_node_u64(m->host, BLKALIGN_ATTR_LOGICAL_BLOCK);
	uint8_t sector[MBR_SECTOR_BYTES];
	struct mbr_sector mbr;

	if (unit == BLKALIGN_UNKNOWN || unit > 65536)
		unit = 512;
	if (dev_read(m->dev, 0, sector, sizeof(sector), NULL) < 0 || mbr_decode(sector, sizeof(sector), &mbr) != 0)
		return false;
	for (size_t i = 0; i < mbr.count; i++) {
		const struct mbr_entry *e = &mbr.entries[i];
		uint64_t start = e->start_lba * unit;

		if (e->type == MBR_TYPE_PROTECTIVE || mbr_type_is_extended(e->type))
			return true;
		if (start % END_SUPERBLOCK_GRAIN == 0 && start <= m->super_bytes && m->super_bytes - start < e->count_lba * unit)
			return true;
	}
	return false;
}

static bool same_superblock(const struct md_member *disk, const struct md_member *part)
{
	const struct blkalign_edge *edge;

	if (blkalign_node_kind(part->host) != BLKALIGN_KIND_PARTITION || !blkalign_node_edges(part->host))
		return false;
	edge = blkalign_node_edge(part->host, 0);
	return edge->lower == disk->host && edge->lower_offset_bytes != BLKALIGN_UNKNOWN && disk->super_bytes >= edge->lower_offset_bytes &&
	       disk->super_bytes - edge->lower_offset_bytes == part->super_bytes;
}

/* The partition's superblock was accepted, so its size fits; then it is the partition's. */
static int settle_disk(struct stack *stack, struct collected *c, size_t index, bool *ret_dropped)
{
	struct md_member *disk = c->waiting.data[index];

	for (size_t i = 0; i < c->waiting.count; i++) {
		const struct md_member *part = c->waiting.data[i];

		if (!same_superblock(disk, part))
			continue;
		*ret_dropped = true;
		return graph_remark(stack_graph(stack),
				    "%s: the md superblock %s at byte %" PRIu64
				    " is also that of its partition %s, whose size fits: taken for the partition's",
				    blkalign_node_name(disk->host), disk->metadata, disk->super_bytes, blkalign_node_name(part->host));
	}
	disk->maybe_partition = false;
	return graph_remark(stack_graph(stack),
			    "%s: is taken whole as a member (md superblock %s at byte %" PRIu64 "): no partition of it fits the superblock",
			    blkalign_node_name(disk->host), disk->metadata, disk->super_bytes);
}

static int settle_disks(struct stack *stack, struct collected *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->waiting.count; i++) {
		bool dropped = false;
		int r = c->waiting.data[i]->maybe_partition ? settle_disk(stack, c, i, &dropped) : 0;

		if (r < 0)
			return r;
		if (dropped)
			c->waiting.data[i]->dev = NULL;
	}
	for (size_t i = 0; i < c->waiting.count; i++)
		if (c->waiting.data[i]->dev)
			c->waiting.data[kept++] = c->waiting.data[i];
	c->waiting.count = kept;
	return 0;
}

/* --- the layer --- */

/* A data area that covers its superblock makes the array look like a member of itself. */
static bool is_own_superblock(const struct md_member *m)
{
	const char *uuid = blkalign_node_kind(m->host) == BLKALIGN_KIND_MD ? blkalign_node_str(m->host, BLKALIGN_ATTR_MD_UUID) : NULL;
	char text[36];

	md_uuid_text(m->array_uuid, text);
	return uuid && !strcmp(uuid, text);
}

static int probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	_cleanup_md_member_ struct md_member *m = NULL;
	struct collected *c = collected(stack);
	bool go_on;
	int r = c ? md_member_read(stack, host, dev, &m) : -ENOMEM;

	if (r != 0)
		return r;
	if (is_own_superblock(m))
		return graph_remark(stack_graph(stack), "%s: shows the md superblock of its own members: their data area covers it",
				    blkalign_node_name(host));
	m->order = c->members.count;
	m->maybe_partition = m->maybe_partition && blkalign_node_kind(host) != BLKALIGN_KIND_PARTITION && covered_by_partition(m);
	go_on = m->maybe_partition;
	if (vec_push(&c->members, m) < 0)
		return -ENOMEM;
	r = vec_push(&c->waiting, m);
	m = NULL;
	if (r < 0)
		return r;
	return go_on ? STACK_GO_ON : 0;
}

/* Arrays apart from each other, the members of each in order of discovery. */
static int compare(const void *a, const void *b)
{
	const struct md_member *x = *(struct md_member *const *)a, *y = *(struct md_member *const *)b;
	int by_uuid = memcmp(x->array_uuid, y->array_uuid, sizeof(x->array_uuid));

	if (by_uuid)
		return by_uuid;
	if (x->created_seconds != y->created_seconds)
		return x->created_seconds < y->created_seconds ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool same_array(const struct md_member *x, const struct md_member *y)
{
	return !memcmp(x->array_uuid, y->array_uuid, sizeof(x->array_uuid)) && x->created_seconds == y->created_seconds;
}

static int add_group(struct stack *stack, struct md_member **members, size_t count, bool incomplete_too, bool *ret_added)
{
	_cleanup_md_array_ struct md_array array = { 0 };
	int r = md_choose(members, count, &array);

	if (r < 0)
		return r;
	*ret_added = incomplete_too || md_array_complete(&array);
	return *ret_added ? md_array_add(stack, &array) : 0;
}

/* Build every group that may be built; its members wait no longer. */
static int add_groups(struct stack *stack, struct collected *c, bool incomplete_too, bool *ret_progress)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < c->waiting.count; i = end) {
		bool added = false;
		int r;

		for (end = i + 1; end < c->waiting.count && same_array(c->waiting.data[i], c->waiting.data[end]);)
			end++;
		r = add_group(stack, &c->waiting.data[i], end - i, incomplete_too, &added);
		if (r < 0)
			return r;
		*ret_progress = *ret_progress || added;
		for (size_t k = i; !added && k < end; k++)
			c->waiting.data[kept++] = c->waiting.data[k];
	}
	c->waiting.count = kept;
	return 0;
}

/*
 * Arrays with a member missing wait until no new members have come since the last time: the missing one may lie on another array or on a
 * logical volume that is put together in the same round.
 */
static int assemble(struct stack *stack, bool *ret_progress)
{
	struct collected *c = collected(stack);
	bool more;
	int r;

	if (!c)
		return -ENOMEM;
	if (!c->waiting.count)
		return 0;
	more = c->seen != c->members.count;
	c->seen = c->members.count;
	r = settle_disks(stack, c);
	if (r < 0)
		return r;
	qsort(c->waiting.data, c->waiting.count, sizeof(*c->waiting.data), compare);
	r = add_groups(stack, c, !more, ret_progress);
	*ret_progress = *ret_progress || more;
	return r;
}

const struct layer layer_md = { .name = "md", .probe = probe, .assemble = assemble, .done = done };
