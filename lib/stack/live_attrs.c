/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of sysfs that are one number or word in one file. */
#include <ctype.h>
#include <inttypes.h>

#include "stack/live.h"

#define WEIRD_REMARKS_MAX 20

static const struct live_attr own_attrs[] = {
	{ BLKALIGN_ATTR_SIZE, "size", LIVE_U64, 512 },
	{ BLKALIGN_ATTR_READ_ONLY, "ro", LIVE_BOOL, 1 },
	{ BLKALIGN_ATTR_ALIGNMENT_OFFSET, "alignment_offset", LIVE_I64, 1 },
};

/* A partition has no queue of its own. */
static const struct live_attr queue_attrs[] = {
	{ BLKALIGN_ATTR_LOGICAL_BLOCK, "queue/logical_block_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_PHYSICAL_BLOCK, "queue/physical_block_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MINIMUM_IO, "queue/minimum_io_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_OPTIMAL_IO, "queue/optimal_io_size", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_MAX_TRANSFER, "queue/max_sectors_kb", LIVE_U64, 1024 },
	{ BLKALIGN_ATTR_MAX_HW_TRANSFER, "queue/max_hw_sectors_kb", LIVE_U64, 1024 },
	{ BLKALIGN_ATTR_READ_AHEAD, "queue/read_ahead_kb", LIVE_U64, 1024 },
	{ BLKALIGN_ATTR_ROTATIONAL, "queue/rotational", LIVE_BOOL, 1 },
	{ BLKALIGN_ATTR_ZONED, "queue/zoned", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_BOUNDARY, "queue/chunk_sectors", LIVE_U64, 512 },
	{ BLKALIGN_ATTR_DISCARD_GRANULARITY, "queue/discard_granularity", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_NR_REQUESTS, "queue/nr_requests", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_REMOVABLE, "removable", LIVE_BOOL, 1 },
};

/* Whole disks are left out: from 6.1 on the kernel prints their alignment_offset in this file (block/genhd.c, disk_discard_alignment_show). */
static const struct live_attr partition_attrs[] = {
	{ BLKALIGN_ATTR_PART_NUMBER, "partition", LIVE_U64, 1 },
	{ BLKALIGN_ATTR_DISCARD_ALIGNMENT, "discard_alignment", LIVE_U64, 1 },
};

int live_number(const char *text, uint64_t *ret_value)
{
	uint64_t value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

/* A partition of a disk with inconsistent limits shows the kernel's int -1 as unsigned (block/partitions/core.c). */
static int signed_number(const char *text, uint32_t unit, int64_t *ret_value)
{
	bool negative = text[0] == '-';
	uint64_t value;

	if (live_number(text + negative, &value) < 0 || !u64_mul(value, unit, &value) || value > INT64_MAX)
		return -EINVAL;
	if (!negative && value == UINT32_MAX) {
		negative = true;
		value = 1;
	}
	*ret_value = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

static int set_number(struct live_dev *dev, const struct live_attr *a, const char *text)
{
	uint64_t value;
	int64_t with_sign;

	if (a->format == LIVE_I64) {
		if (signed_number(text, a->unit, &with_sign) < 0)
			return -EINVAL;
		return graph_set_i64(dev->node, a->attr, with_sign, BLKALIGN_ORIGIN_SYSFS);
	}
	if (live_number(text, &value) < 0 || !u64_mul(value, a->unit, &value) || value == BLKALIGN_UNKNOWN)
		return -EINVAL;
	if (a->format == LIVE_U64)
		return graph_set_u64(dev->node, a->attr, value, BLKALIGN_ORIGIN_SYSFS);
	return value <= 1 ? graph_set_bool(dev->node, a->attr, value, BLKALIGN_ORIGIN_SYSFS) : -EINVAL;
}

static int weird(struct live *live, const struct live_dev *dev, const char *file, const char *text)
{
	if (live->weird++ >= WEIRD_REMARKS_MAX)
		return 0;
	return graph_remark(live->graph, "%s: %s holds \"%.64s\", which makes no sense there: taken as unknown",
			    blkalign_node_name(dev->node), file, text);
}

static int set_attr(struct live *live, struct live_dev *dev, const struct live_attr *a)
{
	_cleanup_free_ char *text = NULL;
	int r = live_dev_text(live, dev, a->file, &text);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	if (a->format == LIVE_STR)
		return graph_set_str(dev->node, a->attr, text, BLKALIGN_ORIGIN_SYSFS);
	r = set_number(dev, a, text);
	return r == -EINVAL ? weird(live, dev, a->file, text) : r;
}

int live_set_attrs(struct live *live, struct live_dev *dev, const struct live_attr *table, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = set_attr(live, dev, &table[i]);
	return r;
}

int live_dev_u64(struct live *live, const struct live_dev *dev, const char *file, uint64_t *ret_value)
{
	_cleanup_free_ char *text = NULL;
	int r = live_dev_text(live, dev, file, &text);

	if (r != 0)
		return r == -ENOMEM ? r : BLKALIGN_ABSENT;
	return live_number(text, ret_value) < 0 ? BLKALIGN_ABSENT : 0;
}

static int remark_unsigned(struct live *live, const struct live_dev *dev)
{
	if (!dev->partition || blkalign_node_i64(dev->node, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0) != -1)
		return 0;
	return graph_remark(live->graph, "%s: alignment_offset of 4294967295 is the kernel's -1: the limits of its disk are inconsistent",
			    blkalign_node_name(dev->node));
}

int live_queue(struct live *live, struct live_dev *dev)
{
	int r = live_set_attrs(live, dev, own_attrs, ARRAY_SIZE(own_attrs));

	if (r == 0 && dev->devno)
		r = graph_set_str(dev->node, BLKALIGN_ATTR_DEVNO, dev->devno, BLKALIGN_ORIGIN_SYSFS);
	if (r == 0 && dev->partition)
		r = live_set_attrs(live, dev, partition_attrs, ARRAY_SIZE(partition_attrs));
	else if (r == 0)
		r = live_set_attrs(live, dev, queue_attrs, ARRAY_SIZE(queue_attrs));
	return r == 0 ? remark_unsigned(live, dev) : r;
}
