/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live host: which devices matter, in which order they become nodes, and what comes after that. */
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "stack/live.h"

static void live_done(struct live *live)
{
	for (size_t i = 0; i < live->devs.count; i++)
		live_dev_done(&live->devs.data[i]);
	vec_done(&live->devs);
	live_root_close(&live->root);
	stack_free(live->stack);
}

/* --- which devices --- */

/* Kernels make these ahead of any use. */
static bool is_idle_template(struct live *live, const struct live_dev *dev)
{
	_cleanup_free_ char *file = NULL;

	if (dev->held || dev->in_use)
		return false;
	if (!fnmatch("loop[0-9]*", dev->name, 0))
		return live_dev_text(live, dev, "loop/backing_file", &file) != 0;
	return !fnmatch("ram[0-9]*", dev->name, 0) || !fnmatch("zram[0-9]*", dev->name, 0);
}

/* Without a size: a drive without a medium, an array that does not run. "hidden": a path of an NVMe multipath namespace. */
static bool matters(struct live *live, const struct live_dev *dev)
{
	uint64_t size = 0, hidden = 0;
	int r = live_dev_u64(live, dev, "size", &size);

	if (r == 0 && !size && !dev->held)
		return false;
	if (live_dev_u64(live, dev, "hidden", &hidden) == 0 && hidden)
		return false;
	return !is_idle_template(live, dev);
}

static void select_all(struct live *live)
{
	for (size_t i = 0; i < live->devs.count; i++)
		live->devs.data[i].selected = matters(live, &live->devs.data[i]);
}

/* One pass from each end is not enough for arbitrary orders; each pass selects at least one device or is the last. */
static void select_above(struct live *live)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < live->devs.count; i++) {
			struct live_dev *dev = &live->devs.data[i];

			for (size_t k = 0; !dev->selected && k < dev->below.count; k++)
				if (live->devs.data[dev->below.data[k]].selected)
					changed = dev->selected = true;
		}
	}
}

static void select_below(struct live *live)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < live->devs.count; i++)
			for (size_t k = 0; live->devs.data[i].selected && k < live->devs.data[i].below.count; k++) {
				struct live_dev *below = &live->devs.data[live->devs.data[i].below.data[k]];

				changed = changed || !below->selected;
				below->selected = true;
			}
	}
}

/* By device number, so that every link below /dev works. */
static size_t find_by_path(const struct live *live, const char *path)
{
	char devno[32];
	struct stat st;

	if (live->root.foreign || stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return LIVE_NONE;
	snprintf(devno, sizeof(devno), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return live_find_devno(live, devno);
}

static size_t find_by_node_name(const struct live *live, const char *name)
{
	for (size_t i = 0; i < live->devs.count; i++) {
		_cleanup_free_ char *node = NULL;
		enum blkalign_kind kind;

		if (live->devs.data[i].dm_name && live_node_name(&live->devs.data[i], &node, &kind) == 0 && !strcmp(node, name))
			return i;
	}
	return LIVE_NONE;
}

static size_t find_named(const struct live *live, const char *name)
{
	const char *bare = !strncmp(name, "/dev/", 5) ? name + 5 : name;
	size_t found = find_by_path(live, name);

	if (found == LIVE_NONE)
		found = live_find(live, bare);
	if (found == LIVE_NONE)
		found = live_find_dm(live, !strncmp(bare, "mapper/", 7) ? bare + 7 : bare);
	return found != LIVE_NONE ? found : find_by_node_name(live, bare);
}

static int select_named(struct live *live, const char *const *names, size_t count, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < count; i++) {
		size_t found = find_named(live, names[i]);

		if (found == LIVE_NONE)
			return blkalign_error_set(reterr, -ENODEV, names[i], BLKALIGN_UNKNOWN,
						  "is neither a file nor a block device of this machine");
		live->devs.data[found].selected = true;
	}
	select_above(live);
	select_below(live);
	return 0;
}

/* --- nodes, lower ones first --- */

static int fill(struct live *live, struct live_dev *dev)
{
	int r = live_queue(live, dev);
	uint64_t start = 0;

	if (r < 0)
		return r;
	if (dev->dm_uuid || dev->dm_name)
		return live_dm(live, dev);
	if (dev->partition) {
		struct blkalign_node *disk = dev->below.count ? live->devs.data[dev->below.data[0]].node : NULL;

		r = live_dev_u64(live, dev, "start", &start);
		if (!disk || r < 0)
			return r < 0 ? r : 0;
		if (r > 0 || !u64_mul(start, 512, &start))
			start = BLKALIGN_UNKNOWN;
		r = graph_connect_linear(live->graph, dev->node, disk, start, blkalign_node_u64(dev->node, BLKALIGN_ATTR_SIZE));
		if (r != -ELOOP)
			return r;
		return graph_remark(live->graph, "%s is a partition of %s according to sysfs, which would be a circle: left out",
				    blkalign_node_name(dev->node), blkalign_node_name(disk));
	}
	if (blkalign_node_kind(dev->node) == BLKALIGN_KIND_MD)
		return live_md(live, dev);
	r = live_identity(live, dev);
	return r == 0 ? live_pages(live, dev) : r;
}

static int make(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ char *name = NULL;
	enum blkalign_kind kind;
	int r = live_node_name(dev, &name, &kind);

	if (r == 0)
		r = graph_add(live->graph, kind, name, &dev->node);
	if (r == 0)
		r = fill(live, dev);
	/* LUKS finds its container by this edge; LVs get theirs from the metadata of their group, or afterwards. */
	if (r == 0 && kind == BLKALIGN_KIND_CRYPT)
		r = live_slave_edges(live, dev);
	return r;
}

static int build(struct live *live, size_t index, unsigned depth)
{
	struct live_dev *dev = &live->devs.data[index];
	int r = 0;

	if (dev->node || !dev->selected)
		return 0;
	if (dev->busy || depth > GRAPH_DEPTH_MAX)
		return graph_remark(live->graph, "%s: the slaves that sysfs lists lead in a circle or too deep: cut off there", dev->name);
	dev->busy = true;
	for (size_t i = 0; r == 0 && i < dev->below.count; i++)
		r = build(live, dev->below.data[i], depth + 1);
	dev->busy = false;
	return r == 0 && !dev->node ? make(live, dev) : r;
}

static int build_all(struct live *live)
{
	int r = live_host(live);

	for (size_t i = 0; r == 0 && i < live->devs.count; i++)
		r = build(live, i, 1);
	return r == 0 ? live_mounts(live, true) : r;
}

/* --- the rest --- */

/* What a layer cannot do with a device must not keep us from telling the rest. */
static int run_layers(struct live *live)
{
	struct blkalign_error error = { 0 };
	bool closed = live->root.foreign || stack_options(live->stack)->no_superblocks;
	int r = closed ? 0 : live_open_devices(live);

	if (r == 0)
		r = stack_run(live->stack, &error);
	if (r < 0 && r != -ENOMEM)
		r = graph_remark(live->graph, "%s", error.message[0] ? error.message : strerror(-r));
	return r;
}

static int finish(struct live *live)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < live->devs.count; i++)
		if (live->devs.data[i].node && !live->devs.data[i].partition)
			r = live_slave_edges(live, &live->devs.data[i]);
	if (r == 0 && live->root.refused)
		r = graph_remark(live->graph, "%zu file(s) of the system could not be read for lack of permission, the first being %s",
				 live->root.refused, live->root.first_refused);
	if (r == 0 && live->root.failed)
		r = graph_remark(live->graph, "%zu file(s) of the system could not be read because of errors, the first being %s",
				 live->root.failed, live->root.first_failed);
	return r == 0 ? graph_sort(live->graph) : r;
}

/* `names` NULL: all devices. */
static int read_devices(struct live *live, const char *const *names, size_t count, struct blkalign_error *reterr)
{
	int r = live_scan(live, reterr);

	if (r == 0)
		r = live_mounts(live, false);
	if (r == 0 && names)
		r = select_named(live, names, count, reterr);
	else if (r == 0)
		select_all(live);
	return r == 0 ? build_all(live) : r;
}

int stack_read_devices_and_images(const struct blkalign_source_options *options, const char *const *devices, size_t device_count,
				  const char *const *images, size_t image_count, struct blkalign_graph **ret_graph,
				  struct blkalign_error *reterr)
{
	_cleanup_(live_done) struct live live = { .root.fd = -1 };
	int r = live_root_open(options ? options->sysroot : NULL, &live.root, reterr);

	if (r < 0)
		return r;
	r = stack_new(graph_new("live"), options, &live.stack);
	if (r < 0)
		return r;
	live.graph = stack_graph(live.stack);
	r = read_devices(&live, devices, device_count, reterr);
	if (r == 0)
		r = stack_add_images(live.stack, images, image_count, reterr);
	if (r == 0)
		r = run_layers(&live);
	if (r == 0)
		r = finish(&live);
	if (r < 0)
		return r;
	*ret_graph = stack_take_graph(live.stack);
	return 0;
}

int blkalign_read_host_devices(const struct blkalign_source_options *options, const char *const *names, size_t count,
			       struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	return stack_read_devices_and_images(options, names, count, NULL, 0, ret_graph, reterr);
}

int blkalign_read_host(const struct blkalign_source_options *options, struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	return stack_read_devices_and_images(options, NULL, 0, NULL, 0, ret_graph, reterr);
}
