/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nvme id-ns, with and without -H (nvme-cli nvme-print-stdout.c). The fields count from 0; preferred sizes say nothing unless bit 4 of nsfeat is set. */
#include <stdio.h>

#include "snap/import_priv.h"

#define NSFEAT_OPTPERF 0x10U
#define LBADS_MAX      16U

static const struct import_key preferred[] = {
	{ "npwg", BLKALIGN_ATTR_NVME_NPWG, IMPORT_PLUS_ONE, 1 },
	{ "npwa", BLKALIGN_ATTR_NVME_NPWA, IMPORT_PLUS_ONE, 1 },
	{ "nows", BLKALIGN_ATTR_NVME_NOWS, IMPORT_PLUS_ONE, 1 },
};

static const struct import_key others[] = {
	{ "nawupf", BLKALIGN_ATTR_NVME_NAWUPF, IMPORT_PLUS_ONE, 1 },
	{ "awupf", BLKALIGN_ATTR_NVME_AWUPF, IMPORT_PLUS_ONE, 1 },
	{ "nabo", BLKALIGN_ATTR_NVME_NABO, IMPORT_PLAIN, 1 },
	{ "mn", BLKALIGN_ATTR_MODEL, IMPORT_TEXT, 0 },
};

static struct blkalign_node *namespace(struct import *in)
{
	struct blkalign_node *node = import_current(in);

	import_str(in, node, BLKALIGN_ATTR_TRANSPORT, "nvme");
	return node;
}

/* "lbaf  0 : ms:0   lbads:9  rp:0x2 (in use)", and with -H "LBA Format  0 : ... Data Size: 512 bytes ... (in use)" */
static bool format_in_use(struct import *in, const char *line)
{
	const char *shift = import_after(line, "lbads:"), *size = import_after(line, "Data Size:");
	uint64_t number;

	if (!shift && !size)
		return false;
	if (!strstr(line, "(in use)"))
		return true;
	if (shift && import_number(&shift, &number) && number >= 9 && number <= LBADS_MAX)
		number = UINT64_C(1) << number;
	else if (!size || !import_number(&size, &number))
		return true;
	import_u64(in, namespace(in), BLKALIGN_ATTR_NVME_LBA, number);
	import_u64(in, namespace(in), BLKALIGN_ATTR_LOGICAL_BLOCK, number);
	return true;
}

/* "/dev/nvme0n1  S4EW...  Some Drive 1TB  1  1.00 TB / 1.00 TB  4 KiB + 0 B  2B2QEXM7" of nvme list */
static bool list_row(struct import *in, const char *line)
{
	struct import_fields f;
	struct blkalign_node *node;
	uint64_t size;

	if (!import_starts(line, "/dev/nvme"))
		return false;
	import_split(&f, line, "");
	for (size_t i = 2; i < f.count; i++) {
		if (strcmp(f.at[i], "+") != 0 || !import_word_number(f.at[i - 2], &size) || size > 65536)
			continue;
		size *= strcmp(f.at[i - 1], "KiB") == 0 ? KIB : 1;
		node = import_device(in, f.at[0]);
		import_str(in, node, BLKALIGN_ATTR_TRANSPORT, "nvme");
		import_u64(in, node, BLKALIGN_ATTR_NVME_LBA, size);
		import_u64(in, node, BLKALIGN_ATTR_LOGICAL_BLOCK, size);
		return true;
	}
	return false;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *features = import_value(line, "nsfeat");

	if (import_starts(line, "NVME Identify Namespace") || import_starts(line, "NVME Identify Controller")) {
		import_heading(in, in->prompt_node);
		return true;
	}
	if (list_row(in, line))
		return true;
	if (features && import_number(&features, &in->state.fs.features))
		return true;
	if (!going_on && !import_value(line, "nows") && !import_value(line, "npwg") && !import_after(line, "lbads:"))
		return false;
	if ((in->state.fs.features & NSFEAT_OPTPERF) || !going_on)
		for (size_t i = 0; i < ARRAY_SIZE(preferred); i++)
			if (import_value(line, preferred[i].key))
				return import_keys(in, namespace(in), &preferred[i], 1, line);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (import_value(line, others[i].key))
			return import_keys(in, namespace(in), &others[i], 1, line);
	return format_in_use(in, line);
}

const struct import_reader import_reader_nvme = { "nvme", line };
