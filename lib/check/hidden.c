/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "check/hidden.h"

/* A real table holds 128 partitions. */
#define PARTITIONS_LOOKED_AT 256

/* The start that the file system on the partition remembers; false when it remembers none. Logical drives count from their own boot record. */
static bool remembered(const struct blkalign_node *partition, const struct blkalign_node **ret_fs, uint64_t *ret_sectors)
{
	const struct blkalign_node *fs = blkalign_node_uppers(partition) ? blkalign_node_upper(partition, 0) : NULL;
	uint64_t sectors = fs ? blkalign_node_u64(fs, BLKALIGN_ATTR_FS_HIDDEN_SECTORS) : 0;
	uint64_t number = blkalign_node_u64(partition, BLKALIGN_ATTR_PART_NUMBER);

	if (!is_set(sectors) || blkalign_node_kind(partition) != BLKALIGN_KIND_PARTITION)
		return false;
	if (attr_is(below(partition), BLKALIGN_ATTR_TABLE_TYPE, "dos") && (!is_set(number) || number > 4))
		return false;
	*ret_fs = fs;
	*ret_sectors = sectors;
	return true;
}

/* The unit that makes the remembered sector the partition's start, or 0. */
static uint64_t unit_of(const struct blkalign_node *partition, uint64_t sectors)
{
	uint64_t start = blkalign_node_edge(partition, 0)->lower_offset_bytes;

	if (start == BLKALIGN_UNKNOWN || start % sectors)
		return 0;
	return start / sectors == 512 || start / sectors == 4096 ? start / sectors : 0;
}

const char *hidden_of_partition(struct check *c, const struct blkalign_node *partition)
{
	const struct blkalign_node *fs;
	uint64_t sectors;

	if (!remembered(partition, &fs, &sectors) || unit_of(partition, sectors))
		return "";
	return report_text(c->report, "; %s was made for a partition at sector %" PRIu64 " (hidden sectors), so it was moved or cloned",
			   check_name(c, fs), sectors);
}

const char *hidden_in_table(struct check *c, const struct blkalign_node *disk, uint64_t unit_bytes)
{
	for (size_t i = 0; i < blkalign_node_uppers(disk) && i < PARTITIONS_LOOKED_AT; i++) {
		const struct blkalign_node *partition = blkalign_node_upper(disk, i), *fs;
		uint64_t sectors;

		if (remembered(partition, &fs, &sectors) && unit_of(partition, sectors) == unit_bytes)
			return report_text(c->report, "; %s was made for a start at sector %" PRIu64 " in that unit (hidden sectors)",
					   check_name(c, fs), sectors);
	}
	return "";
}
