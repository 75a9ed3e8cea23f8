/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hdparm -I and smartctl -i: what the drive's IDENTIFY data says of its sectors, whatever the bridge makes of it. */
#include <stdio.h>

#include "snap/import_priv.h"

static const struct import_key names[] = {
	{ "Model Number", BLKALIGN_ATTR_MODEL, IMPORT_TEXT, 0 },
	{ "Device Model", BLKALIGN_ATTR_MODEL, IMPORT_TEXT, 0 },
	{ "Product", BLKALIGN_ATTR_MODEL, IMPORT_TEXT, 0 },
	{ "Vendor", BLKALIGN_ATTR_VENDOR, IMPORT_TEXT, 0 },
	{ "Serial Number", BLKALIGN_ATTR_SERIAL, IMPORT_TEXT, 0 },
	{ "Serial number", BLKALIGN_ATTR_SERIAL, IMPORT_TEXT, 0 },
	{ "Firmware Revision", BLKALIGN_ATTR_REVISION, IMPORT_TEXT, 0 },
	{ "Firmware Version", BLKALIGN_ATTR_REVISION, IMPORT_TEXT, 0 },
};

static bool is_start(const char *line)
{
	return import_starts(line, "=== START OF INFORMATION SECTION") || import_starts(line, "ATA device, with") ||
	       import_starts(line, "Model Family:") || import_starts(line, "Device Model:") || import_value(line, "Model Number") ||
	       import_starts(line, "Sector Size");
}

static void set_sectors(struct import *in, uint64_t logical, uint64_t physical)
{
	import_u64(in, import_current(in), BLKALIGN_ATTR_ATA_LOGICAL, logical);
	import_u64(in, import_current(in), BLKALIGN_ATTR_ATA_PHYSICAL, physical);
}

/* "Sector Sizes:     512 bytes logical, 4096 bytes physical" and "Sector Size:      512 bytes logical/physical" */
static bool smart_sectors(struct import *in, const char *line)
{
	const char *both = import_value(line, "Sector Sizes"), *one = import_value(line, "Sector Size"), *p;
	uint64_t logical, physical;

	if (both && import_number(&both, &logical) && (p = strchr(both, ','))) {
		p += 1 + strspn(p + 1, " ");
		if (import_number(&p, &physical))
			set_sectors(in, logical, physical);
		return true;
	}
	if (!one || !import_number(&one, &logical))
		return both || one;
	set_sectors(in, logical, logical);
	return true;
}

/* hdparm's offset is that of sector 0 within its physical sector; the first aligned one follows from it. */
static void set_offset(struct import *in, uint64_t bytes)
{
	struct blkalign_node *node = import_current(in);
	uint64_t logical = node ? blkalign_node_u64(node, BLKALIGN_ATTR_ATA_LOGICAL) : 0,
		 physical = node ? blkalign_node_u64(node, BLKALIGN_ATTR_ATA_PHYSICAL) : 0;

	if (!logical || logical == BLKALIGN_UNKNOWN || physical == BLKALIGN_UNKNOWN || bytes >= physical || bytes % logical)
		return;
	import_u64(in, node, BLKALIGN_ATTR_ATA_OFFSET, (physical - bytes) % physical / logical);
}

static bool hdparm_sectors(struct import *in, const char *line)
{
	static const char *const keys[] = { "Logical/Physical Sector size", "Logical  Sector size", "Logical Sector size",
					    "Physical Sector size", "Logical Sector-0 offset" };
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *p = import_value(line, keys[i]);

		if (!p || !import_number(&p, &bytes))
			continue;
		if (i <= 2)
			import_u64(in, import_current(in), BLKALIGN_ATTR_ATA_LOGICAL, bytes);
		if (i == 0 || i == 3)
			import_u64(in, import_current(in), BLKALIGN_ATTR_ATA_PHYSICAL, bytes);
		if (i == 4)
			set_offset(in, bytes);
		return true;
	}
	return false;
}

/* SCSI drives as smartctl shows them. */
static bool scsi_sectors(struct import *in, const char *line)
{
	static const struct import_key keys[] = {
		{ "Logical block size", BLKALIGN_ATTR_RC16_LOGICAL, IMPORT_PLAIN, 1 },
		{ "Physical block size", BLKALIGN_ATTR_RC16_PHYSICAL, IMPORT_PLAIN, 1 },
		{ "Lowest aligned LBA", BLKALIGN_ATTR_RC16_LOWEST_ALIGNED, IMPORT_PLAIN, 1 },
	};

	return import_keys(in, import_current(in), keys, ARRAY_SIZE(keys), line);
}

static bool medium(struct import *in, const char *line)
{
	const char *rate = import_value(line, "Rotation Rate"), *capacity = import_value(line, "User Capacity");
	uint64_t number;

	if (!rate)
		rate = import_value(line, "Nominal Media Rotation Rate");
	if (rate) {
		if (import_starts(rate, "Solid State"))
			import_u64(in, import_current(in), BLKALIGN_ATTR_VPD_B1_ROTATION, 1);
		else if (import_number(&rate, &number) && number > 1)
			import_u64(in, import_current(in), BLKALIGN_ATTR_VPD_B1_ROTATION, number);
		return true;
	}
	if (capacity && import_grouped_number(capacity, &number))
		import_u64(in, import_current(in), BLKALIGN_ATTR_SIZE, number);
	return capacity != NULL;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (!going_on && !is_start(line) && !hdparm_sectors(in, line))
		return false;
	return smart_sectors(in, line) || hdparm_sectors(in, line) || scsi_sectors(in, line) || medium(in, line) ||
	       import_keys(in, import_current(in), names, ARRAY_SIZE(names), line) || is_start(line);
}

const struct import_reader import_reader_drive = { "hdparm", line };
