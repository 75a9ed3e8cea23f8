/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sg3_utils: the block limits page of sg_vpd and sg_inq, READ CAPACITY of sg_readcap. */
#include <stdio.h>

#include "snap/import_priv.h"

static const struct import_key limits[] = {
	{ "Optimal transfer length granularity", BLKALIGN_ATTR_VPD_B0_GRANULARITY, IMPORT_PLAIN, 1 },
	{ "Maximum transfer length", BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER, IMPORT_PLAIN, 1 },
	{ "Optimal transfer length", BLKALIGN_ATTR_VPD_B0_OPTIMAL, IMPORT_PLAIN, 1 },
	{ "Maximum prefetch transfer length", BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH, IMPORT_PLAIN, 1 },
	{ "Maximum prefetch length", BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH, IMPORT_PLAIN, 1 },
	{ "Maximum prefetch, xdread, xdwrite transfer length", BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH, IMPORT_PLAIN, 1 },
	{ "Vendor identification", BLKALIGN_ATTR_VENDOR, IMPORT_TEXT, 0 },
	{ "Product identification", BLKALIGN_ATTR_MODEL, IMPORT_TEXT, 0 },
	{ "Product revision level", BLKALIGN_ATTR_REVISION, IMPORT_TEXT, 0 },
};

/* The number behind "key=". */
static bool assigned(const char *line, const char *key, uint64_t *ret)
{
	const char *p = import_after(line, key);

	return p && import_number(&p, ret);
}

static bool capacity(struct import *in, const char *line)
{
	struct blkalign_node *node;
	uint64_t n, length;

	if (assigned(line, "Number of logical blocks=", &n) || assigned(line, "Number of blocks=", &n)) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_RC16_BLOCKS, n);
	} else if (assigned(line, "Logical block length=", &n)) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_RC16_LOGICAL, n);
		import_u64(in, import_current(in), BLKALIGN_ATTR_LOGICAL_BLOCK, n);
	} else if (assigned(line, "Logical blocks per physical block exponent=", &n)) {
		node = import_current(in);
		length = node ? blkalign_node_u64(node, BLKALIGN_ATTR_RC16_LOGICAL) : BLKALIGN_UNKNOWN;
		if (n < 16 && length != BLKALIGN_UNKNOWN && u64_mul(length, UINT64_C(1) << n, &n))
			import_u64(in, node, BLKALIGN_ATTR_RC16_PHYSICAL, n);
	} else if (assigned(line, "Lowest aligned LBA=", &n) || assigned(line, "Lowest aligned logical block address=", &n)) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_RC16_LOWEST_ALIGNED, n);
	} else if (assigned(line, "Device size: ", &n)) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_SIZE, n);
	} else {
		return false;
	}
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *rate = import_value(line, "Nominal rotation rate");
	uint64_t rpm;

	if (import_starts(line, "Block limits VPD page") || import_starts(line, "VPD INQUIRY: Block limits") ||
	    import_starts(line, "Read Capacity results") || import_starts(line, "standard INQUIRY"))
		return true;
	if (!going_on && !strstr(line, "transfer length") && !import_starts(line + strspn(line, " "), "Logical block"))
		return false;
	if (rate && import_number(&rate, &rpm)) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_VPD_B1_ROTATION, rpm);
		return true;
	}
	if (import_starts(line + strspn(line, " "), "Non-rotating medium")) {
		import_u64(in, import_current(in), BLKALIGN_ATTR_VPD_B1_ROTATION, 1);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (import_value(line, limits[i].key))
			return import_keys(in, import_current(in), &limits[i], 1, line);
	return capacity(in, line);
}

const struct import_reader import_reader_scsi = { "sg3_utils", line };
