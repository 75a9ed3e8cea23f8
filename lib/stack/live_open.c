/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With permission: the devices themselves are opened for the layers. Only for this machine, never for a dumped tree. */
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stack/live.h"

/* Drives without a fixed medium wait for one, boot and RPMB partitions of eMMC hold no stack, zram is memory. */
static bool never_opened(const struct live_dev *dev)
{
	static const char *const patterns[] = { "sr[0-9]*", "fd[0-9]*", "zram[0-9]*", "ram[0-9]*", "mmcblk*boot[0-9]", "mmcblk*rpmb" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i], dev->name, 0))
			return true;
	return false;
}

/* Reading a suspended device mapper device would wait for its resumption. */
static bool is_suspended(struct live *live, const struct live_dev *dev)
{
	uint64_t suspended = 0;

	return dev->dm_name && live_dev_u64(live, dev, "dm/suspended", &suspended) == 0 && suspended;
}

/* What lies on a path of a multipath device or in a hidden LV is found again above: it would be reported twice. */
static bool worth_opening(struct live *live, const struct live_dev *dev)
{
	uint64_t size = blkalign_node_u64(dev->node, BLKALIGN_ATTR_SIZE);

	return size != BLKALIGN_UNKNOWN && size > 0 && !never_opened(dev) && !dev->by_multipath && !live_dm_is_hidden(dev) &&
	       !is_suspended(live, dev);
}

/* The node below /dev must be the device that sysfs speaks of. */
static bool is_same_device(const char *path, const struct live_dev *dev)
{
	char devno[32];
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return false;
	snprintf(devno, sizeof(devno), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return dev->devno && !strcmp(devno, dev->devno);
}

static int open_device(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ char *path = live_join("/dev", dev->name);
	struct blkalign_error error = { 0 };
	struct dev *opened;
	int r;

	if (!path)
		return -ENOMEM;
	for (char *c = path; *c; c++)
		if (*c == '!')
			*c = '/';
	if (!is_same_device(path, dev)) {
		live->without_node++;
		return 0;
	}
	r = dev_open_file(path, &opened, &error);
	if (r == -EACCES || r == -EPERM) {
		live->closed++;
		return 0;
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return r == -ENOMEDIUM || r == -ENXIO ? 0
						      : graph_remark(live->graph, "%s: %s", blkalign_node_name(dev->node), error.message);
	r = live_ask(live, dev, path);
	if (r < 0) {
		dev_close(opened);
		return r;
	}
	return stack_set_dev(live->stack, dev->node, opened);
}

int live_open_devices(struct live *live)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < live->devs.count; i++) {
		struct live_dev *dev = &live->devs.data[i];

		if (dev->node && worth_opening(live, dev))
			r = open_device(live, dev);
	}
	if (r == 0 && live->closed)
		r = graph_remark(
			live->graph,
			"%zu device(s) could not be opened for lack of permission: superblocks and what only the devices themselves "
			"tell are missing%s",
			live->closed, geteuid() ? " (run as root to see them)" : "");
	if (r == 0 && live->without_node)
		r = graph_remark(live->graph, "%zu device(s) have no node of their own below /dev: their superblocks were not read",
				 live->without_node);
	return r;
}
