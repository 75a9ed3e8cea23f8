/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a table to nodes. Where the live host made the nodes already, they are annotated: what the kernel uses is the truth about this host, and a table that
 * disagrees is remarked.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stack/table.h"

const uint32_t table_units[4] = { 512, 4096, 2048, 1024 };

void table_done(struct table *table)
{
	strbuf_done(&table->note);
	vec_done(&table->parts);
}

void table_say(struct table *table, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (table->note.length)
		strbuf_add(&table->note, "; ");
	strbuf_add(&table->note, text);
}

/* --- what is odd about the entries --- */

/* Entries that do not fit outweigh a backup that is not there: a device that was cut off has both. */
static const char *state_beyond(const char *state)
{
	bool less = strcmp(state, "ok") == 0 || strncmp(state, "backup-", strlen("backup-")) == 0;

	return less ? "beyond-device" : state;
}

/* Cut to the device as the kernel does (block/partitions/core.c, blk_add_partition); false when nothing is left. */
static bool part_on_device(struct table *t, struct table_part *p, uint64_t device_bytes)
{
	if (!p->length_bytes) {
		table_say(t, "entry %u is empty or ends before it begins", p->number);
		return false;
	}
	if (p->number > TABLE_PARTITIONS_MAX) {
		table_say(t, "entry %u is beyond the %u that Linux makes devices of", p->number, TABLE_PARTITIONS_MAX);
		return false;
	}
	if (range_inside(p->start_bytes, p->length_bytes, device_bytes))
		return true;
	t->state = state_beyond(t->state);
	table_say(t, "entry %u covers bytes %" PRIu64 " to %" PRIu64 ", but the device ends at byte %" PRIu64, p->number, p->start_bytes,
		  p->start_bytes + p->length_bytes, device_bytes);
	if (p->start_bytes >= device_bytes)
		return false;
	p->length_bytes = device_bytes - p->start_bytes;
	return true;
}

#define ODD_ENTRIES_SAID 8U

static void drop_odd_entries(struct table *t, uint64_t device_bytes)
{
	size_t kept = 0, odd = 0;

	for (size_t i = 0; i < t->parts.count; i++) {
		struct table_part p = t->parts.data[i];
		size_t length = t->note.length;
		bool keep = part_on_device(t, &p, device_bytes);

		if (t->note.length != length && odd++ >= ODD_ENTRIES_SAID) { /* a hostile table has thousands */
			t->note.length = length;
			t->note.text[length] = '\0';
		}
		if (keep)
			t->parts.data[kept++] = p;
	}
	if (odd > ODD_ENTRIES_SAID)
		table_say(t, "%zu more entries are odd", odd - ODD_ENTRIES_SAID);
	t->parts.count = kept;
}

static bool is_container(const struct table_part *p) { return strcmp(p->role, "extended") == 0; }

static int by_start(const void *a, const void *b)
{
	const struct table_part *const *x = a, *const *y = b;

	return (*x)->start_bytes < (*y)->start_bytes ? -1 : (*x)->start_bytes > (*y)->start_bytes;
}

/* Said once: the first pair tells it. */
static int say_overlap(struct table *t)
{
	_cleanup_free_ const struct table_part **sorted = calloc(t->parts.count + 1, sizeof(const struct table_part *));
	const struct table_part *furthest = NULL;
	size_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < t->parts.count; i++)
		if (!is_container(&t->parts.data[i]))
			sorted[n++] = &t->parts.data[i];
	qsort(sorted, n, sizeof(const struct table_part *), by_start);
	for (size_t i = 0; i < n; i++) {
		if (furthest && sorted[i]->start_bytes < furthest->start_bytes + furthest->length_bytes) {
			table_say(t, "partitions %u and %u overlap", furthest->number, sorted[i]->number);
			return 0;
		}
		furthest = sorted[i];
	}
	if (n && t->first_usable_bytes != BLKALIGN_UNKNOWN && sorted[0]->start_bytes < t->first_usable_bytes)
		table_say(t, "partition %u starts at byte %" PRIu64 ", before the first usable byte %" PRIu64, sorted[0]->number,
			  sorted[0]->start_bytes, t->first_usable_bytes);
	return 0;
}

/* --- nodes --- */

static bool lies_on(const struct blkalign_node *node, const struct blkalign_node *host, uint64_t *ret_offset)
{
	for (size_t i = 0; i < blkalign_node_edges(node); i++)
		if (blkalign_node_edge(node, i)->lower == host) {
			*ret_offset = blkalign_node_edge(node, i)->lower_offset_bytes;
			return true;
		}
	return false;
}

static int annotate(struct blkalign_node *node, const struct table_part *p)
{
	int r = graph_set_u64(node, BLKALIGN_ATTR_PART_NUMBER, p->number, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_PART_TYPE, p->type, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_PART_ROLE, p->role, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && p->id[0])
		r = graph_set_str(node, BLKALIGN_ATTR_PART_ID, p->id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && p->name[0])
		r = graph_set_str(node, BLKALIGN_ATTR_PART_NAME, p->name, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* The container has no device: what it holds are the logical partitions, which lie on the disk. */
static int open_part(struct dev *dev, const char *name, const struct table_part *p, struct dev **ret)
{
	*ret = NULL;
	return is_container(p) ? 0 : dev_open_slice(name, dev, p->start_bytes, p->length_bytes, ret);
}

static int add_part(struct stack *stack, struct blkalign_node *host, struct dev *dev, const char *name, const struct table_part *p)
{
	struct blkalign_node *node;
	struct dev *slice;
	int r = open_part(dev, name, p, &slice);

	if (r >= 0)
		r = stack_add(stack, BLKALIGN_KIND_PARTITION, name, slice, &node);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, p->length_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_connect_linear(stack_graph(stack), node, host, p->start_bytes, p->length_bytes);
	return r < 0 ? r : annotate(node, p);
}

static int update_part(struct stack *stack, struct blkalign_node *node, struct blkalign_node *host, struct dev *dev, uint64_t known_bytes,
		       const struct table_part *p)
{
	struct dev *slice;
	int r;

	if (known_bytes != BLKALIGN_UNKNOWN && known_bytes != p->start_bytes)
		return graph_remark(stack_graph(stack),
				    "%s: the kernel has it at byte %" PRIu64 " of %s, the table on the disk at byte %" PRIu64,
				    blkalign_node_name(node), known_bytes, blkalign_node_name(host), p->start_bytes);
	if (known_bytes == BLKALIGN_UNKNOWN) {
		r = graph_connect_linear(stack_graph(stack), node, host, p->start_bytes, p->length_bytes);
		if (r < 0)
			return r;
	}
	r = annotate(node, p);
	if (r < 0 || is_container(p))
		return r;
	r = open_part(dev, blkalign_node_name(node), p, &slice);
	return r < 0 ? r : stack_set_dev(stack, node, slice);
}

static int make_part(struct stack *stack, struct blkalign_node *host, struct dev *dev, const struct table_part *p)
{
	_cleanup_free_ char *name = NULL;
	size_t size = strlen(blkalign_node_name(host)) + 16;
	struct blkalign_node *known;
	uint64_t known_bytes;

	name = malloc(size);
	if (!name)
		return -ENOMEM;
	stack_partition_name(name, size, blkalign_node_name(host), p->number);
	known = graph_find(stack_graph(stack), name);
	if (known && lies_on(known, host, &known_bytes))
		return update_part(stack, known, host, dev, known_bytes, p);
	return add_part(stack, host, dev, name, p);
}

static int set_table(struct blkalign_node *host, const struct table *t)
{
	int r = graph_set_str(host, BLKALIGN_ATTR_TABLE_TYPE, t->type, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_u64(host, BLKALIGN_ATTR_TABLE_UNIT, t->unit_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(host, BLKALIGN_ATTR_TABLE_STATE, t->state, BLKALIGN_ORIGIN_COMPUTED);
	if (r >= 0 && t->note.length)
		r = graph_set_str(host, BLKALIGN_ATTR_TABLE_NOTE, strbuf_text(&t->note), BLKALIGN_ORIGIN_COMPUTED);
	if (r >= 0 && t->id[0])
		r = graph_set_str(host, BLKALIGN_ATTR_TABLE_ID, t->id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && t->first_usable_bytes != BLKALIGN_UNKNOWN)
		r = graph_set_u64(host, BLKALIGN_ATTR_TABLE_FIRST_USABLE, t->first_usable_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && strcmp(t->state, "ok") != 0)
		r = graph_remark(graph_of(host), "%s: partition table: %s: %s", blkalign_node_name(host), t->state, strbuf_text(&t->note));
	return r;
}

int table_make_nodes(struct stack *stack, struct blkalign_node *host, struct dev *dev, struct table *table)
{
	int r;

	drop_odd_entries(table, dev->size_bytes);
	r = say_overlap(table);
	if (r < 0 || table->note.failed)
		return -ENOMEM;
	r = set_table(host, table);
	for (size_t i = 0; r >= 0 && i < table->parts.count; i++)
		r = make_part(stack, host, dev, &table->parts.data[i]);
	return r;
}
