/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The driver of the text imports: cuts text into lines and offers each to the reader at work, then to the others. Prompts between outputs are
 * read for the command and its device, because many tools do not repeat it.
 */
#include <stdio.h>

#include "snap/import_priv.h"

/* Ordered: those whose lines carry a mark of their own first, those that take weaker signs last. */
static const struct import_reader *const readers[] = {
	&import_reader_sysfs,	 &import_reader_kernel_log,  &import_reader_warnings,  &import_reader_fdisk,
	&import_reader_sfdisk,	 &import_reader_parted,	     &import_reader_gdisk,     &import_reader_mdadm,
	&import_reader_mdstat,	 &import_reader_lvm_display, &import_reader_lvm_table, &import_reader_lsblk_table,
	&import_reader_blockdev, &import_reader_scsi,	     &import_reader_drive,     &import_reader_nvme,
	&import_reader_luks,	 &import_reader_ext,	     &import_reader_xfs,       &import_reader_blkid,
	&import_reader_dmsetup,	 &import_reader_usb,	     &import_reader_host,      &import_reader_lsblk_pairs,
	&import_reader_mounts,	 &import_reader_zfs,
};

static const char *const tools[] = {
	"fdisk",     "sfdisk",	   "cfdisk",	"parted",  "gdisk",    "sgdisk",   "mdadm",	"pvs",	      "pvdisplay", "lvs",
	"lvdisplay", "vgs",	   "vgdisplay", "lsblk",   "blockdev", "sg_vpd",   "sg_inq",	"sg_readcap", "hdparm",	   "smartctl",
	"nvme",	     "cryptsetup", "dumpe2fs",	"tune2fs", "xfs_info", "mkfs.xfs", "mkfs.ext4", "mkfs.ext3",  "mkfs.ext2", "mke2fs",
	"mkswap",    "blkid",	   "dmsetup",	"lsusb",   "cat",      "grep",	   "dmesg",	"uname",      "pvcreate",  "vgcreate",
	"lvcreate",  "rpm",	   "dpkg",	"head",	   "tail",     "mkfs",	   "zdb",	"xfs_growfs", "mount",	   "ls",
};

static const char *base_name(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

static bool known_tool(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i], word))
			return true;
	return false;
}

static void start_command(struct import *in, const struct import_fields *f, size_t first)
{
	in->reader = NULL;
	in->node = in->prompt_node = NULL;
	in->arg_count = in->arg_next = 0;
	snprintf(in->tool, sizeof(in->tool), "%s", base_name(f->at[first]));
	for (size_t i = first + 1; i < f->count && in->arg_count < IMPORT_ARGS_MAX; i++) {
		if (strchr("|>;&", f->at[i][0]))
			break;
		snprintf(in->args[in->arg_count], sizeof(in->args[0]), "%s", f->at[i]);
		in->arg_count++;
	}
	for (size_t i = 0, seen = 0; i < in->arg_count; i++) {
		if (!import_starts(in->args[i], "/dev/") && !import_is_image(in->args[i]))
			continue;
		in->prompt_node = ++seen == 1 ? import_device(in, in->args[i]) : NULL;
	}
}

/* The word of the command itself, past sudo and its options and past VARIABLE=value; f->count when there is none. */
static size_t command_word(const struct import_fields *f, size_t at)
{
	if (at < f->count && !strcmp(f->at[at], "sudo"))
		for (at++; at < f->count && f->at[at][0] == '-';)
			at++;
	while (at < f->count && strchr(f->at[at], '=') && f->at[at][0] >= 'A' && f->at[at][0] <= 'Z')
		at++;
	return at < f->count && known_tool(base_name(f->at[at])) ? at : f->count;
}

bool import_command(struct import *in, const char *line)
{
	struct import_fields f;
	size_t at;

	import_split(&f, line, "");
	at = command_word(&f, 0);
	if (at == f.count)
		return false;
	start_command(in, &f, at);
	return true;
}

static bool ends_prompt(const char *word)
{
	size_t n = strlen(word);

	return n && strchr("#$%>", word[n - 1]);
}

/* Without a prompt a line is a command when nothing but arguments follows the tool's name. */
static bool bare_command(const struct import_fields *f, size_t at)
{
	bool sudo = at > 0;

	if (f->count == at + 1)
		return true;
	return sudo || (f->at[at + 1][0] == '-' && f->at[at + 1][1]) || f->at[at + 1][0] == '/';
}

bool import_prompt(struct import *in, const char *line)
{
	struct import_fields f;
	size_t at;

	import_split(&f, line, "");
	for (size_t i = 0; i < f.count && i < 4; i++) {
		if (!ends_prompt(f.at[i]))
			continue;
		at = command_word(&f, i + 1);
		if (at < f.count) {
			start_command(in, &f, at);
			return true;
		}
	}
	at = command_word(&f, 0);
	if (at == f.count || !bare_command(&f, at))
		return false;
	start_command(in, &f, at);
	return true;
}

void import_heading(struct import *in, struct blkalign_node *node)
{
	memset(&in->state, 0, sizeof(in->state));
	in->node = node;
}

static bool offer(struct import *in, const char *line)
{
	if (in->reader && in->reader->line(in, line, true))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i]->line(in, line, false)) {
			in->reader = readers[i];
			return true;
		}
	return false;
}

/* "/dev/sda:" alone on a line is how mdadm, hdparm and others say what follows. */
static bool device_heading(struct import *in, const char *line)
{
	size_t n = strlen(line);
	struct blkalign_node *node;
	char name[IMPORT_NAME_MAX];

	while (n && line[n - 1] == ' ')
		n--;
	if (n < 2 || n >= IMPORT_NAME_MAX || line[n - 1] != ':' || memchr(line, ' ', n))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n - 1, line);
	if (line[0] != '/' && !import_is_image(name))
		return false;
	node = import_device(in, name);
	in->reader = NULL;
	import_heading(in, node);
	return node != NULL;
}

void import_read(struct import *in, const char *text, size_t length)
{
	const char *end = text + length;
	char line[IMPORT_LINE_MAX];

	in->reader = NULL;
	in->node = NULL;
	while (!in->error && import_next_line(&text, end, line))
		if (!import_prompt(in, line) && !device_heading(in, line))
			offer(in, line);
}

int import_text(const char *text, size_t length, struct blkalign_graph *graph, struct blkalign_error *reterr)
{
	struct import in;

	import_begin(&in);
	import_read(&in, text, length);
	return import_finish(&in, graph, reterr);
}
