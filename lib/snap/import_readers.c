/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The imports as rows of the table of readers. */
#include <stdio.h>
#include <sys/stat.h>

#include "snap/import.h"
#include "snap/snap.h"

typedef int (*import_function)(const char *text, size_t length, struct blkalign_graph *graph, struct blkalign_error *reterr);

static int import_file(const char *path, const char *source, import_function import, struct blkalign_graph **ret_graph,
		       struct blkalign_error *reterr)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new(source);
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = graph ? snap_read_text(path, &text, &length, reterr) : -ENOMEM;

	if (r >= 0)
		r = import(text, length, graph, reterr);
	if (r == BLKALIGN_NOT_THIS)
		r = blkalign_error_set(reterr, -EBADMSG, path, BLKALIGN_UNKNOWN, "holds nothing that can be read as %s", source);
	if (r < 0)
		return r;
	*ret_graph = graph;
	graph = NULL;
	return 0;
}

/* --- lsblk --- */

static bool recognise_lsblk(const struct snap_probe *probe)
{
	const char *p = probe->head + strspn(probe->head, " \t\r\n");

	return *p == '{' && strstr(p, "\"blockdevices\"");
}

static int read_lsblk(const struct blkalign_source_options *options, const char *const *paths, size_t count,
		      struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	(void)options;
	(void)count;
	return import_file(paths[0], "lsblk", import_lsblk, ret_graph, reterr);
}

const struct snap_reader import_lsblk_reader = { .name = "lsblk", .recognise = recognise_lsblk, .read = read_lsblk };

/* --- text --- */

/* One fragment that is understood is enough; prose may come first, but not more than the head. */
static bool recognise_text(const struct snap_probe *probe)
{
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	if (!snap_looks_like_text(probe))
		return false;
	graph = graph_new("text");
	return graph && import_text(probe->head, probe->head_length, graph, NULL) == 0;
}

static int read_text(const struct blkalign_source_options *options, const char *const *paths, size_t count,
		     struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	(void)options;
	(void)count;
	return import_file(paths[0], "text", import_text, ret_graph, reterr);
}

const struct snap_reader import_text_reader = { .name = "text", .recognise = recognise_text, .read = read_text };

/* --- sosreport --- */

static bool recognise_sosreport(const struct snap_probe *probe)
{
	char path[4096];
	struct stat st;

	if (!probe->directory)
		return false;
	snprintf(path, sizeof(path), "%s/sos_commands", probe->path);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A report holds what parts of sysfs were collected; without any, the printed output stands alone. */
static int read_sosreport(const struct blkalign_source_options *options, const char *const *paths, size_t count,
			  struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("sosreport"), *base = NULL;
	struct blkalign_source_options dumped = { .sysroot = paths[0], .no_superblocks = true };
	int r;

	(void)options;
	(void)count;
	if (!graph)
		return -ENOMEM;
	r = blkalign_read_host(&dumped, &base, reterr);
	if (r == -ENOMEM)
		return r;
	r = import_sosreport(paths[0], base, graph, reterr);
	if (r == BLKALIGN_NOT_THIS)
		r = blkalign_error_set(reterr, -EBADMSG, paths[0], BLKALIGN_UNKNOWN, "holds no output that is understood");
	if (r < 0)
		return r;
	*ret_graph = graph;
	graph = NULL;
	return 0;
}

const struct snap_reader import_sosreport_reader = { .name = "sosreport", .recognise = recognise_sosreport, .read = read_sosreport };
