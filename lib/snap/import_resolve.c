/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows from all facts together: who lies on whom in bytes, which bridge a disk is behind, and which names mean one device. */
#include <stdio.h>

#include "snap/import_priv.h"

static uint32_t index_of(const struct blkalign_node *node) { return (uint32_t)blkalign_node_index(node); }

/* The one disk that can be behind the one bridge, or NULL. */
static struct blkalign_node *only_usb_disk(struct import *in)
{
	struct blkalign_node *usb = NULL, *any = NULL;
	size_t usbs = 0, disks = 0;

	for (size_t i = 0; i < blkalign_graph_size(in->graph); i++) {
		struct blkalign_node *node = graph_node(in->graph, i);
		const char *transport = blkalign_node_str(node, BLKALIGN_ATTR_TRANSPORT);

		if (blkalign_node_kind(node) != BLKALIGN_KIND_DISK || !import_starts(blkalign_node_name(node), "sd"))
			continue;
		disks++;
		any = node;
		if (transport && !strcmp(transport, "usb")) {
			usbs++;
			usb = node;
		}
	}
	return usbs == 1 ? usb : usbs == 0 && disks == 1 ? any : NULL;
}

static void place_bridge(struct import *in)
{
	struct blkalign_node *disk = in->usb_ids == 1 || (!in->usb_ids && in->usb_driver[0]) ? only_usb_disk(in) : NULL;

	if (!disk)
		return;
	import_str(in, disk, BLKALIGN_ATTR_TRANSPORT, "usb");
	import_str(in, disk, BLKALIGN_ATTR_USB_ID, in->usb_id);
	import_str(in, disk, BLKALIGN_ATTR_DRIVER, in->usb_driver);
}

static void spread_extents(struct import *in)
{
	for (size_t i = 0; i < blkalign_graph_size(in->graph) && blkalign_graph_size(in->groups); i++) {
		struct blkalign_node *node = graph_node(in->graph, i);
		const char *group = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME);
		const struct blkalign_node *found = group ? graph_find(in->groups, group) : NULL;

		if (found && !blkalign_node_value(node, BLKALIGN_ATTR_EXTENT))
			import_u64(in, node, BLKALIGN_ATTR_EXTENT, blkalign_node_u64(found, BLKALIGN_ATTR_EXTENT));
	}
}

/* Areas told in extents find their byte once group and volume are known. */
static void place_areas(struct import *in)
{
	for (size_t i = 0; i < in->areas.count; i++) {
		struct import_area *a = &in->areas.data[i];
		uint64_t extent = blkalign_node_u64(a->pv, BLKALIGN_ATTR_EXTENT), start = blkalign_node_u64(a->pv, BLKALIGN_ATTR_PE_START);
		uint64_t offset;

		if (extent != BLKALIGN_UNKNOWN && start != BLKALIGN_UNKNOWN && u64_mul(extent, a->first_extent, &offset) &&
		    u64_add(offset, start, &offset))
			a->edge.lower_offset_bytes = offset;
		import_connect(in, &a->edge);
	}
}

/* "vg--1-root" is volume root of group vg-1: single hyphens separate, doubled ones stand for one. */
static bool volume_of_mapper(const char *mapper, char *ret, size_t size)
{
	size_t n = 0;
	bool split = false;

	for (const char *p = mapper; *p && n + 1 < size; p++) {
		if (*p == '-' && p[1] == '-')
			p++;
		else if (*p == '-' && !split && n) {
			split = true;
			ret[n++] = '/';
			continue;
		}
		ret[n++] = *p;
	}
	ret[n] = '\0';
	return split && ret[n - 1] != '/';
}

static void same_volume(struct import *in, struct blkalign_node *node)
{
	char name[IMPORT_NAME_MAX];
	enum blkalign_kind kind = blkalign_node_kind(node);
	const char *mapper = blkalign_node_str(node, BLKALIGN_ATTR_DM_NAME);

	if (!mapper)
		mapper = blkalign_node_name(node);
	if ((kind != BLKALIGN_KIND_DM && kind != BLKALIGN_KIND_LV) || strchr(mapper, '/') || import_starts(mapper, "dm-") ||
	    !volume_of_mapper(mapper, name, sizeof(name)))
		return;
	if (kind == BLKALIGN_KIND_LV)
		import_same(in, node, import_node(in, kind, name));
	else
		import_same(in, node, graph_find(in->graph, name));
}

static void same_by_values(struct import *in)
{
	size_t count = blkalign_graph_size(in->graph); /* stand-ins made here need no look themselves */

	for (size_t i = 0; i < count && !in->error; i++) {
		struct blkalign_node *node = graph_node(in->graph, i);
		const char *number = blkalign_node_str(node, BLKALIGN_ATTR_DEVNO);

		if (number)
			import_same(in, node, import_node(in, BLKALIGN_KIND_DISK, number));
		same_volume(in, node);
	}
}

/*
 * A member belongs to one array, and a LUKS header opens as one mapping: two arrays on one member are one array under two names, and so
 * are the header and the mapping on one device.
 */
static int by_lower(const void *a, const void *b)
{
	const struct import_link *x = a, *y = b;
	uint32_t lx = index_of(x->edge.lower), ly = index_of(y->edge.lower);

	return lx != ly ? (lx < ly ? -1 : 1) : 0;
}

void import_resolve_sharing(struct import *in)
{
	struct blkalign_node *array = NULL, *crypt = NULL;
	const struct blkalign_node *lower = NULL;

	if (in->links.count)
		qsort(in->links.data, in->links.count, sizeof(*in->links.data), by_lower);
	for (size_t i = 0; i < in->links.count && !in->error; i++) {
		struct blkalign_node *upper = graph_node(in->graph, index_of(in->links.data[i].edge.upper));
		enum blkalign_kind kind = blkalign_node_kind(upper);

		if (in->links.data[i].edge.lower != lower)
			array = crypt = NULL;
		lower = in->links.data[i].edge.lower;
		if (kind == BLKALIGN_KIND_MD) {
			import_same(in, array, upper);
			array = upper;
		} else if (kind == BLKALIGN_KIND_CRYPT) {
			import_same(in, crypt, upper);
			crypt = upper;
		}
	}
}

void import_resolve_values(struct import *in)
{
	place_bridge(in);
	spread_extents(in);
	place_areas(in);
	same_by_values(in);
}
