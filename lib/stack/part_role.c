/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a partition is for, as far as alignment cares: areas without a file system of their own cost nothing where they lie. */
#include "format/mbr/mbr.h"
#include "stack/table.h"

/* "reserved": areas that a firmware, boot loader or volume manager keeps to itself and rarely writes. */
static const struct {
	const char *guid;
	const char *role;
} roles[] = {
	{ "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "esp" },
	{ "21686148-6449-6e6f-744e-656564454649", "bios-boot" },
	{ "e3c9e316-0b5c-4db8-817d-f92df00215ae", "msr" },
	{ "9e1a2d38-c612-4316-aa26-8b49521e5a8b", "reserved" }, /* PowerPC PReP boot */
	{ "5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "reserved" }, /* Windows logical disk manager metadata */
	{ "6a945a3b-1dd2-11b2-99a6-080020736631", "reserved" }, /* Solaris, ZFS partition 9 */
	{ "024dee41-33e7-11d3-9d69-0008c781f39f", "reserved" }, /* MBR partition scheme */
	{ "2e0a753d-9e48-43b0-8337-b15192cb1b5e", "reserved" }, /* ChromeOS, for later use */
};

const char *part_role_gpt(const char *type_guid)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (strcmp(type_guid, roles[i].guid) == 0)
			return roles[i].role;
	return "data";
}

const char *part_role_mbr(uint8_t type)
{
	if (mbr_type_is_extended(type))
		return "extended";
	switch (type) {
	case MBR_TYPE_PROTECTIVE:
		return "protective";
	case 0xef:
		return "esp";
	case 0x41: /* PReP boot */
		return "reserved";
	default:
		return "data";
	}
}
