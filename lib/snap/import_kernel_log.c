/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of the kernel log: what the SCSI disk driver says of sizes and hints (drivers/scsi/sd.c), what stacking says of alignment
 * (block/blk-settings.c, drivers/md/dm-table.c). They are kept word for word on the node, and read for the numbers.
 */
#include <stdio.h>

#include "snap/import_priv.h"

/* "[sda]" */
static struct blkalign_node *bracketed(struct import *in, const char *line, const char **ret_behind)
{
	char name[IMPORT_NAME_MAX];
	const char *p = line;

	while ((p = strchr(p, '['))) {
		size_t n = strcspn(p, "]");

		if (n > 2 && n < 16 && p[n] == ']' && import_starts(p + 1, "sd") && p[3] >= 'a' && p[3] <= 'z') {
			snprintf(name, sizeof(name), "%.*s", (int)n - 1, p + 1);
			*ret_behind = p + n + 1 + strspn(p + n + 1, " ");
			return import_device(in, name);
		}
		p++;
	}
	return NULL;
}

static void message(struct import *in, struct blkalign_node *node, const char *line)
{
	import_message(in, node, BLKALIGN_ATTR_KERNEL_MESSAGES, line);
}

/* A hint that was thrown away leaves 0 in the limits. The text gives it in bytes or in logical blocks. */
static void rejected(struct import *in, struct blkalign_node *node, uint64_t number, const char *unit, const char *line)
{
	uint64_t logical = blkalign_node_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK), most;
	const char *limit = import_after(line, "> dev_max (");

	if (import_starts(unit, "bytes"))
		number = logical == BLKALIGN_UNKNOWN || !logical ? number / 512 : number / logical;
	import_u64(in, node, BLKALIGN_ATTR_VPD_B0_OPTIMAL, number);
	if (limit && import_number(&limit, &most))
		import_u64(in, node, BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER, most);
	if (!blkalign_node_value(node, BLKALIGN_ATTR_OPTIMAL_IO))
		import_u64(in, node, BLKALIGN_ATTR_OPTIMAL_IO, 0);
}

static bool hint(struct import *in, struct blkalign_node *node, const char *text, const char *line)
{
	const char *optimal = import_after(text, "Optimal transfer size "), *minimum = import_after(text, "Preferred minimum I/O size ");
	const char *p = optimal ? optimal : minimum, *physical;
	uint64_t number, block;

	if (!p || !import_number(&p, &number))
		return false;
	p += strspn(p, " ");
	message(in, node, line);
	physical = import_after(p, "not a multiple of physical block size (");
	if (physical && import_number(&physical, &block))
		import_u64(in, node, BLKALIGN_ATTR_PHYSICAL_BLOCK, block);
	if (optimal && strcmp(p, "bytes") == 0)
		import_u64(in, node, BLKALIGN_ATTR_OPTIMAL_IO, number);
	else if (optimal)
		rejected(in, node, number, p, line);
	else if (strcmp(p, "bytes") == 0)
		import_u64(in, node, BLKALIGN_ATTR_MINIMUM_IO, number);
	return true;
}

/* "[sda] 7814037168 512-byte logical blocks: ..." and "[sda] 4096-byte physical blocks" */
static bool disk_line(struct import *in, const char *line)
{
	const char *p;
	struct blkalign_node *node = strstr(line, "[sd") ? bracketed(in, line, &p) : NULL;
	uint64_t number, block;

	if (!node)
		return false;
	if (hint(in, node, p, line))
		return true;
	if (!import_number(&p, &number))
		return false;
	if (import_starts(p, "-byte physical blocks")) {
		import_u64(in, node, BLKALIGN_ATTR_PHYSICAL_BLOCK, number);
		return true;
	}
	p += strspn(p, " ");
	if (!import_number(&p, &block) || !import_starts(p, "-byte logical blocks"))
		return false;
	import_u64(in, node, BLKALIGN_ATTR_LOGICAL_BLOCK, block);
	if (u64_mul(number, block, &number))
		import_u64(in, node, BLKALIGN_ATTR_SIZE, number);
	return true;
}

static struct blkalign_node *word_device(struct import *in, const char *p)
{
	char name[IMPORT_NAME_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " ,"), p);
	return import_device(in, name);
}

/*
 * "device-mapper: table: 253:0: adding target device sdb1 caused an alignment inconsistency: physical_block_size=4096, logical_block_size=512,
 * alignment_offset=0, start=33553920": the sizes are the target's, start is the target's place on it in bytes.
 */
static bool inconsistency(struct import *in, const char *line)
{
	const char *target = import_after(line, "adding target device "), *table = import_after(line, "device-mapper: table: "), *p;
	struct blkalign_node *lower, *upper = NULL;
	uint64_t major, minor, number;
	char name[32];

	if (!target || !strstr(line, "caused an alignment inconsistency"))
		return false;
	lower = word_device(in, target);
	message(in, lower, line);
	if ((p = import_after(line, "physical_block_size=")) && import_number(&p, &number))
		import_u64(in, lower, BLKALIGN_ATTR_PHYSICAL_BLOCK, number);
	if ((p = import_after(line, "logical_block_size=")) && import_number(&p, &number))
		import_u64(in, lower, BLKALIGN_ATTR_LOGICAL_BLOCK, number);
	if ((p = import_after(line, "alignment_offset=")) && import_number(&p, &number) && number <= INT32_MAX)
		import_i64(in, lower, BLKALIGN_ATTR_ALIGNMENT_OFFSET, (int64_t)number);
	if (table && import_number(&table, &major) && *table++ == ':' && import_number(&table, &minor) && minor < MIB) {
		snprintf(name, sizeof(name), "dm-%u", (unsigned)minor);
		upper = import_device(in, name);
		snprintf(name, sizeof(name), "%u:%u", (unsigned)(major % MIB), (unsigned)minor);
		import_str(in, upper, BLKALIGN_ATTR_DEVNO, name);
		message(in, upper, line);
	}
	if ((p = import_after(line, "start=")) && import_number(&p, &number))
		import_connect_linear(in, upper, lower, number, BLKALIGN_UNKNOWN);
	return true;
}

static bool is_kernel_line(const char *line)
{
	return line[0] == '[' || strstr(line, "kernel:") || line[0] == ' ' || strstr(line, "XFS (") || strstr(line, "md");
}

/* Lines that are only kept. */
static bool remark(struct import *in, const char *line)
{
	const char *device = import_after(line, "Warning: Device "), *xfs = import_after(line, "XFS ("), *end;
	const char *table = strstr(line, ": unknown partition table"), *md = import_after(line, "md: ");
	char name[IMPORT_NAME_MAX];

	if (!is_kernel_line(line))
		return false;
	if (device && strstr(device, " is misaligned")) {
		message(in, word_device(in, device), line);
		return true;
	}
	if (table) {
		const char *start = table;

		while (start > line && start[-1] != ' ')
			start--;
		message(in, word_device(in, start + strspn(start, " ")), line);
		return true;
	}
	if (md && strstr(md, " does not have a valid v")) {
		message(in, word_device(in, md), line);
		return true;
	}
	if (!xfs || !(strstr(xfs, "stripe") || strstr(xfs, "sunit")) || !(end = strchr(xfs, ')')))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(end - xfs), xfs);
	message(in, import_device(in, name), line);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	(void)going_on;
	return disk_line(in, line) || inconsistency(in, line) || remark(in, line);
}

const struct import_reader import_reader_kernel_log = { "kernel log", line };
