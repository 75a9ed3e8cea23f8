/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partition tables. The MBR decides what is looked for, as in the kernel: an entry of type 0xEE means GPT and nothing else, no such entry means that a GPT
 * found is a leftover.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/gpt/gpt.h"
#include "format/mbr/mbr.h"
#include "stack/layers.h"
#include "stack/table.h"

#define MD_END_SUPERBLOCK_BYTES (128 * KIB) /* md 0.90 and 1.0 keep at most this much at the end of a member */

static const struct blkalign_node *first_lower(const struct blkalign_node *node)
{
	return blkalign_node_edges(node) ? blkalign_node_edge(node, 0)->lower : NULL;
}

/* Partitions inside partitions occur (an image written to a partition); a third level does not, and would let a hostile disk grow without end. */
static bool holds_tables(const struct blkalign_node *host)
{
	enum blkalign_kind kind = blkalign_node_kind(host);
	const struct blkalign_node *lower = first_lower(host);

	if (kind == BLKALIGN_KIND_PARTITION)
		return lower && blkalign_node_kind(lower) != BLKALIGN_KIND_PARTITION;
	return kind == BLKALIGN_KIND_DISK || kind == BLKALIGN_KIND_MD || kind == BLKALIGN_KIND_LV || kind == BLKALIGN_KIND_DM ||
	       kind == BLKALIGN_KIND_BCACHE;
}

/* What nothing says is inherited from below; 512 when nobody knows. */
static uint32_t logical_block(const struct blkalign_node *node)
{
	uint64_t bytes = BLKALIGN_UNKNOWN;

	for (; node && bytes == BLKALIGN_UNKNOWN; node = first_lower(node))
		bytes = blkalign_node_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK);
	return bytes >= 512 && bytes <= 4096 && is_power_of_2(bytes) ? (uint32_t)bytes : 512;
}

/*
 * A member with its superblock at the end begins with the array's first byte. When whole disks are taken for members although partitions were meant, the
 * table of the first member shows through the array: it was made for a device of the member's size and not of the array's.
 */
static bool fits_member(const struct table *t, uint64_t member_bytes, uint64_t array_bytes)
{
	uint64_t end = 0;

	if (t->made_for_bytes != BLKALIGN_UNKNOWN)
		return t->made_for_bytes == member_bytes;
	for (size_t i = 0; i < t->parts.count; i++)
		if (t->parts.data[i].start_bytes + t->parts.data[i].length_bytes > end)
			end = t->parts.data[i].start_bytes + t->parts.data[i].length_bytes;
	/* A mirror is a little smaller than its members: there only what reaches beyond it is not its own. */
	return end <= member_bytes && member_bytes - end < MD_END_SUPERBLOCK_BYTES && (end > array_bytes || array_bytes > member_bytes);
}

static void say_member_table(struct table *t, const struct blkalign_node *array, uint64_t array_bytes)
{
	const char *metadata = blkalign_node_str(array, BLKALIGN_ATTR_MD_METADATA);

	if (!metadata || (strcmp(metadata, "0.90") != 0 && strcmp(metadata, "1.0") != 0))
		return;
	for (size_t i = 0; i < blkalign_node_edges(array); i++) {
		const struct blkalign_node *member = blkalign_node_edge(array, i)->lower;
		uint64_t member_bytes = blkalign_node_u64(member, BLKALIGN_ATTR_SIZE);

		if (member_bytes == BLKALIGN_UNKNOWN || member_bytes == array_bytes || !fits_member(t, member_bytes, array_bytes))
			continue;
		t->state = "member-table";
		table_say(t,
			  "the table was made for a device of %" PRIu64 " bytes, the size of the member %s and not of the array (%" PRIu64
			  " bytes): it is the member's own, seen through an array with metadata %s",
			  member_bytes, blkalign_node_name(member), array_bytes, metadata);
		return;
	}
}

static bool same_place(const struct table_part *p, const struct mbr_partition *m)
{
	return p->start_bytes == m->start_bytes && p->length_bytes == m->length_bytes;
}

/* A hybrid MBR repeats some of the GPT's partitions; one that the GPT does not have is in danger from every tool that obeys the GPT. */
static void say_hybrid(struct table *t, const struct mbr_table *mbr)
{
	for (size_t i = 0; i < mbr->partitions.count; i++) {
		const struct mbr_partition *m = &mbr->partitions.data[i];
		bool found = false;

		if (m->type == MBR_TYPE_PROTECTIVE)
			continue;
		for (size_t k = 0; k < t->parts.count && !found; k++)
			found = same_place(&t->parts.data[k], m);
		if (found)
			table_say(t, "hybrid MBR: its entry %u repeats a GPT partition", m->number);
		else
			table_say(t, "hybrid MBR: its entry %u (bytes %" PRIu64 " to %" PRIu64 ") is no partition of the GPT, which rules",
				  m->number, m->start_bytes, m->start_bytes + m->length_bytes);
	}
}

static int probe_gpt(struct stack *stack, struct blkalign_node *host, struct dev *dev, enum table_trust trust, const struct mbr_table *mbr)
{
	_cleanup_table_ struct table t = { 0 };
	int r = table_read_gpt(dev, logical_block(host), trust, &t);

	if (r < 0 || !t.type)
		return r;
	if (r == BLKALIGN_NOT_THIS) {
		r = mbr ? table_make_nodes(stack, host, dev, &t) : 0;
		return r < 0 ? r : BLKALIGN_NOT_THIS;
	}
	if (mbr)
		say_hybrid(&t, mbr);
	say_member_table(&t, host, dev->size_bytes);
	return table_make_nodes(stack, host, dev, &t);
}

static int probe_mbr(struct stack *stack, struct blkalign_node *host, struct dev *dev, enum table_trust trust)
{
	_cleanup_table_ struct table t = { 0 };
	bool empty;
	int r = table_read_mbr(dev, logical_block(host), trust, &t);

	if (r)
		return r == -ENOMEM ? r : BLKALIGN_NOT_THIS;
	empty = !t.parts.count;
	if (empty && !t.id[0])
		return BLKALIGN_NOT_THIS; /* boot code without a table */
	say_member_table(&t, host, dev->size_bytes);
	r = table_make_nodes(stack, host, dev, &t);
	return r < 0 ? r : empty ? STACK_GO_ON : 0;
}

/* A GPT that nothing announces is a leftover, or its protective MBR was wiped: the kernel ignores it in both cases, and whoever misses partitions wants to know. */
static int remark_unannounced_gpt(struct stack *stack, const struct blkalign_node *host, struct dev *dev)
{
	_cleanup_gpt_table_ struct gpt_table g = { 0 };
	int r;

	if (blkalign_node_kind(host) != BLKALIGN_KIND_DISK)
		return 0;
	r = gpt_read(dev, logical_block(host), &g, NULL);
	if (r || g.primary.state != GPT_COPY_OK || g.backup.state != GPT_COPY_OK)
		return r < 0 ? r : 0;
	return graph_remark(stack_graph(stack),
			    "%s: holds a valid GPT that no protective MBR announces, so the kernel ignores it: an old table, or a lost MBR",
			    blkalign_node_name(host));
}

static int probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	enum table_trust trust = blkalign_node_kind(host) == BLKALIGN_KIND_PARTITION ? TABLE_BEYOND_DOUBT : TABLE_USUAL;
	_cleanup_mbr_table_ struct mbr_table mbr = { 0 };
	struct blkalign_error error = { 0 };
	int r;

	if (!holds_tables(host))
		return BLKALIGN_NOT_THIS;
	r = mbr_read(dev, logical_block(host), &mbr, &error);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		/* The sector that would say is gone: a GPT that checks is the only table that still can be known. */
		r = probe_gpt(stack, host, dev, trust, NULL);
		return r ? r : graph_remark(stack_graph(stack), "%s: %s", blkalign_node_name(host), error.message);
	}
	if (r == 0 && mbr.protective)
		return probe_gpt(stack, host, dev, trust, &mbr);
	if (r == 0)
		r = probe_mbr(stack, host, dev, trust);
	if (r >= 0 && remark_unannounced_gpt(stack, host, dev) < 0)
		return -ENOMEM;
	return r;
}

const struct layer layer_table = { .name = "table", .probe = probe };

/* Asked last, of disks on which nothing was found: the start may have been overwritten, while the backup at the end still says what was there. */
static int probe_lost(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	_cleanup_gpt_table_ struct gpt_table g = { 0 };
	int r;

	if (blkalign_node_kind(host) != BLKALIGN_KIND_DISK || blkalign_node_value(host, BLKALIGN_ATTR_TABLE_TYPE))
		return BLKALIGN_NOT_THIS;
	r = gpt_read(dev, logical_block(host), &g, NULL);
	if (r != 0 || g.choice != GPT_CHOICE_BACKUP)
		return r < 0 ? r : BLKALIGN_NOT_THIS;
	r = graph_remark(stack_graph(stack),
			 "%s: nothing is found at its start, but a valid backup GPT with %zu partitions lies at byte %" PRIu64
			 ": the start was overwritten; gdisk can restore the table from it",
			 blkalign_node_name(host), g.entries.count, g.backup.offset_bytes);
	return r < 0 ? r : BLKALIGN_NOT_THIS;
}

const struct layer layer_table_lost = { .name = "lost table", .probe = probe_lost };
