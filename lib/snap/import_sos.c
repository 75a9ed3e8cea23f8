/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sosreport: each file below sos_commands/ is the output of one command and named after it ("fdisk_-l_.dev.sda": blanks became underscores, slashes
 * dots; sos, sos/report/plugins/__init__.py: _mangle_command).
 */
#include <dirent.h>
#include <stdio.h>

#include "snap/import_priv.h"
#include "snap/snap.h"

#define FILES_MAX 5000U

static const char *const folders[] = { "block",	     "lvm2", "md",	 "devicemapper", "filesys", "xfs",  "ata",    "scsi", "nvme",
				       "cryptsetup", "usb",  "hardware", "kernel",	 "udisks",  "ext4", "parted", "mdadm" };

static const struct {
	const char *path, *command;
} files[] = {
	{ "proc/mdstat", "cat /proc/mdstat" },
	{ "proc/partitions", "cat /proc/partitions" },
	{ "uname", "uname -a" },
	{ "installed-debs", "dpkg -l" },
	{ "installed-rpms", "rpm -qa" },
};

/* The command line from a file's name; tools whose own names hold an underscore keep it. */
static void command_of(const char *name, char *ret, size_t size)
{
	static const char *const underscored[] = { "sg_vpd", "sg_inq", "sg_readcap", "xfs_info" };
	size_t from = 0;
	bool path = false;

	snprintf(ret, size, "%s", name);
	for (size_t i = 0; i < ARRAY_SIZE(underscored); i++)
		if (import_starts(name, underscored[i]))
			from = strlen(underscored[i]);
	for (char *p = ret + from; *p; p++) {
		if (*p == '_') {
			*p = ' ';
			path = import_starts(p + 1, ".dev.");
		} else if (*p == '.' && path) {
			*p = '/';
		}
	}
}

/* What cannot be read is left out: a report is a heap of optional parts. */
static void read_file(struct import *in, const char *path, const char *command)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = snap_read_text(path, &text, &length, NULL);

	if (r == -ENOMEM)
		in->error = r;
	if (r < 0 || in->error)
		return;
	in->tool[0] = '\0';
	in->arg_count = in->arg_next = 0;
	in->prompt_node = NULL;
	import_command(in, command);
	import_read(in, text, length);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void read_folder(struct import *in, const char *root, const char *folder, size_t *budget)
{
	char path[4096], command[512];
	struct dirent **names = NULL;
	int n;

	snprintf(path, sizeof(path), "%s/sos_commands/%s", root, folder);
	n = scandir(path, &names, NULL, by_name);
	for (int i = 0; i < n; i++) {
		char file[4096 + 256];

		if (names[i]->d_name[0] != '.' && *budget) {
			(*budget)--;
			snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
			command_of(names[i]->d_name, command, sizeof(command));
			read_file(in, file, command);
		}
		free(names[i]);
	}
	free(names);
}

/* --- what sysfs said --- */

static void adopt_values(struct import *in, struct blkalign_node *to, const struct blkalign_node *from)
{
	for (unsigned a = 0; a < BLKALIGN_ATTR_COUNT && !in->error; a++) {
		const struct blkalign_value *v = blkalign_node_value(from, (enum blkalign_attr)a);
		int r = v ? import_copy_value(to, (enum blkalign_attr)a, v) : 0;

		if (r < 0)
			in->error = r;
		in->facts += v != NULL;
	}
}

static struct blkalign_node *adopted(struct import *in, const struct blkalign_node *node)
{
	struct blkalign_node *host;

	if (blkalign_node_kind(node) != BLKALIGN_KIND_HOST)
		return import_node(in, blkalign_node_kind(node), blkalign_node_name(node));
	if (!in->error)
		in->error = graph_host(in->graph, &host);
	return in->error ? NULL : host;
}

/* Said last, so that it goes before what was printed. */
static void adopt(struct import *in, const struct blkalign_graph *base)
{
	for (size_t i = 0; i < blkalign_graph_size(base) && !in->error; i++) {
		const struct blkalign_node *from = blkalign_graph_node(base, i);
		struct blkalign_node *to = adopted(in, from);

		if (!to)
			return;
		graph_set_kind(to, blkalign_node_kind(from));
		adopt_values(in, to, from);
		for (size_t k = 0; k < blkalign_node_edges(from); k++) {
			struct blkalign_edge edge = *blkalign_node_edge(from, k);

			edge.upper = to;
			edge.lower = adopted(in, edge.lower);
			import_connect(in, &edge);
		}
	}
}

int import_sosreport(const char *path, const struct blkalign_graph *base, struct blkalign_graph *graph, struct blkalign_error *reterr)
{
	struct import in;
	size_t budget = FILES_MAX;

	import_begin(&in);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		read_folder(&in, path, folders[i], &budget);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, files[i].path);
		read_file(&in, file, files[i].command);
	}
	if (base)
		adopt(&in, base);
	return import_finish(&in, graph, reterr);
}
