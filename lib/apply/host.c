/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <blkalign/source.h>

#include "apply/host.h"

bool host_is_block(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode);
}

/* --- the same devices --- */

static const struct blkalign_node *find_device(const struct blkalign_graph *live, dev_t devno)
{
	char number[32];

	snprintf(number, sizeof(number), "%u:%u", major(devno), minor(devno));
	for (size_t i = 0; i < blkalign_graph_size(live); i++) {
		const char *its = blkalign_node_str(blkalign_graph_node(live, i), BLKALIGN_ATTR_DEVNO);

		if (its && !strcmp(its, number))
			return blkalign_graph_node(live, i);
	}
	return NULL;
}

int host_pair(const struct blkalign_graph *graph, const struct blkalign_graph *live, struct plan_twin **ret, size_t *ret_count)
{
	struct plan_twin *twins = calloc(blkalign_graph_size(graph) + 1, sizeof(*twins));
	size_t count = 0;

	if (!twins)
		return -ENOMEM;
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(graph, i);
		const char *path = blkalign_node_edges(n) ? NULL : blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH);
		struct stat st;

		if (!path || stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
			continue;
		twins[count] = (struct plan_twin){ .node = n, .live = find_device(live, st.st_rdev) };
		count += twins[count].live != NULL;
	}
	*ret = twins;
	*ret_count = count;
	return 0;
}

/* --- the devices of a group --- */

static const char *carrier_of(const struct blkalign_node *n, const char *vg)
{
	const char *name = blkalign_node_kind(n) == BLKALIGN_KIND_PV ? blkalign_node_str(n, BLKALIGN_ATTR_VG_NAME) : NULL;

	return name && !strcmp(name, vg) && below(n) ? blkalign_node_str(below(n), BLKALIGN_ATTR_DEVPATH) : NULL;
}

static int collect(const struct blkalign_graph *graph, const char *vg, char **paths, size_t *count)
{
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const char *path = carrier_of(blkalign_graph_node(graph, i), vg);

		if (!path)
			continue;
		paths[*count] = strdup(path);
		if (!paths[*count])
			return -ENOMEM;
		++*count;
	}
	return 0;
}

int host_find_group(const struct blkalign_source_options *source, const char *vg, char ***ret_paths, size_t *ret_count,
		    struct blkalign_error *reterr)
{
	struct blkalign_graph *graph = NULL;
	int r = blkalign_read_host(source, &graph, reterr);

	*ret_count = 0;
	if (r < 0)
		return r;
	*ret_paths = calloc(blkalign_graph_size(graph) + 1, sizeof(char *));
	r = *ret_paths ? collect(graph, vg, *ret_paths, ret_count) : -ENOMEM;
	blkalign_graph_free(graph);
	if (r < 0 || *ret_count)
		return r;
	return blkalign_error_set(reterr, -ENOENT, vg, BLKALIGN_UNKNOWN,
				  "there is no volume group of this name on the devices of this machine%s; give its devices or image files",
				  geteuid() ? ", as far as they can be read without root" : "");
}
