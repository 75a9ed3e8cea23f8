/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What partitions are for. The words are parted's flags and types, MBR type numbers, sgdisk's codes, GUIDs and util-linux' type names. */
#include <strings.h>

#include "snap/import_priv.h"

static const struct {
	const char *word;
	const char *role;
} roles[] = {
	{ "5", "extended" },
	{ "f", "extended" },
	{ "85", "extended" },
	{ "extended", "extended" },
	{ "ee", "protective" },
	{ "ef", "esp" },
	{ "esp", "esp" },
	{ "EF00", "esp" },
	{ "C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "esp" },
	{ "EFI System", "esp" },
	{ "bios_grub", "bios-boot" },
	{ "EF02", "bios-boot" },
	{ "21686148-6449-6E6F-744E-656564454649", "bios-boot" },
	{ "BIOS boot", "bios-boot" },
	{ "msftres", "msr" },
	{ "0C01", "msr" },
	{ "E3C9E316-0B5C-4DB8-817D-F92DF00215AE", "msr" },
	{ "Microsoft reserved", "msr" },
};

void import_role(struct import *in, struct blkalign_node *partition, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcasecmp(roles[i].word, word)) {
			import_str(in, partition, BLKALIGN_ATTR_PART_ROLE, roles[i].role);
			return;
		}
	if (partition && !blkalign_node_str(partition, BLKALIGN_ATTR_PART_ROLE))
		import_str(in, partition, BLKALIGN_ATTR_PART_ROLE, "data");
}
