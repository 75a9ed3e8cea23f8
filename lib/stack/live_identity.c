/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a disk is attached, and who made it.
 *
 * The transport is read from the folders that lead to the device in sysfs: each bus leaves its own kind of name there. The driver that answers
 * for what the disk reports is the nearest one above the LUN: usb-storage, uas, ahci, mpt3sas.
 */
#include <fnmatch.h>

#include "stack/live.h"

/* Matched against each folder from the device upwards; the first row that matches any folder wins. */
static const struct {
	const char *pattern;
	const char *transport;
} transports[] = {
	{ "usb[0-9]*", "usb" },	      { "session[0-9]*", "iscsi" }, { "rport-*", "fc" },      { "end_device-*", "sas" },
	{ "ata[0-9]*", "sata" },      { "nvme-subsys*", "nvme" },   { "nvme[0-9]*", "nvme" }, { "mmc_host", "mmc" },
	{ "vbd-*", "xen" },	      { "vmbus_*", "vmbus" },	    { "VMBUS:*", "vmbus" },   { "fw[0-9]*", "firewire" },
	{ "virtio[0-9]*", "virtio" }, { "loop[0-9]*", "loop" },	    { "nbd[0-9]*", "nbd" },   { "rbd[0-9]*", "rbd" },
	{ "host[0-9]*", "scsi" },
};

static bool path_has(const char *devices, const char *pattern)
{
	_cleanup_free_ char *copy = strdup(devices);
	char *rest = copy;

	for (const char *part; copy && (part = strsep(&rest, "/"));)
		if (!fnmatch(pattern, part, 0))
			return true;
	return false;
}

static const char *transport_of(const char *devices)
{
	for (size_t i = 0; i < ARRAY_SIZE(transports); i++)
		if (path_has(devices, transports[i].pattern))
			return transports[i].transport;
	return NULL;
}

/* Cut the last folder off; false at the end of the way. */
static bool parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !strcmp(path, "sys/devices"))
		return false;
	*slash = '\0';
	return true;
}

/* The disk drivers themselves say nothing about the way to the disk. */
static bool is_disk_driver(const char *driver) { return !strcmp(driver, "sd") || !strcmp(driver, "sr") || !strcmp(driver, "mmcblk"); }

static int set_driver(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ char *path = strdup(dev->devices);

	if (!path)
		return -ENOMEM;
	while (parent(path)) {
		_cleanup_free_ char *link = live_join(path, "driver"), *driver = NULL;
		int r = link ? live_link_name(&live->root, link, &driver) : -ENOMEM;

		if (r == -ENOMEM)
			return r;
		if (r == 0 && !is_disk_driver(driver))
			return graph_set_str(dev->node, BLKALIGN_ATTR_DRIVER, driver, BLKALIGN_ORIGIN_SYSFS);
	}
	return 0;
}

static int text_of(struct live *live, const char *folder, const char *file, char **ret_text)
{
	_cleanup_free_ char *path = live_join(folder, file);

	return path ? live_text(&live->root, path, ret_text) : -ENOMEM;
}

/* The nearest folder with idVendor is the bridge; hubs are further up. */
static int set_usb_id(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ char *path = strdup(dev->devices);

	if (!path)
		return -ENOMEM;
	while (parent(path)) {
		_cleanup_free_ char *vendor = NULL, *product = NULL, *id = NULL;
		int r = text_of(live, path, "idVendor", &vendor);

		if (r == 0)
			r = text_of(live, path, "idProduct", &product);
		if (r == 0 && asprintf(&id, "%s:%s", vendor, product) < 0)
			r = -ENOMEM;
		if (r == 0)
			return graph_set_str(dev->node, BLKALIGN_ATTR_USB_ID, id, BLKALIGN_ORIGIN_SYSFS);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

/* Where identity strings lie: SCSI and NVMe behind "device", virtio and device nodes' own in the block folder. */
static const struct live_attr identity_attrs[] = {
	{ BLKALIGN_ATTR_VENDOR, "device/vendor", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_MODEL, "device/name", LIVE_STR, 1 }, /* mmc */
	{ BLKALIGN_ATTR_MODEL, "device/model", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_REVISION, "device/rev", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_REVISION, "device/firmware_rev", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_SERIAL, "serial", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_SERIAL, "device/serial", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_WWN, "device/wwid", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_WWN, "wwid", LIVE_STR, 1 },
};

/* Of virtio devices "device" is the bus device: its vendor is a PCI number, no maker. */
static const struct live_attr virtio_attrs[] = {
	{ BLKALIGN_ATTR_SERIAL, "serial", LIVE_STR, 1 },
};

static const struct live_attr loop_attrs[] = {
	{ BLKALIGN_ATTR_BACKING_FILE, "loop/backing_file", LIVE_STR, 1 },
	{ BLKALIGN_ATTR_BACKING_OFFSET, "loop/offset", LIVE_U64, 1 },
};

static int set_identity(struct live *live, struct live_dev *dev, const char *transport)
{
	if (transport && !strcmp(transport, "loop"))
		return live_set_attrs(live, dev, loop_attrs, ARRAY_SIZE(loop_attrs));
	if (transport && !strcmp(transport, "virtio") && !path_has(dev->devices, "host[0-9]*"))
		return live_set_attrs(live, dev, virtio_attrs, ARRAY_SIZE(virtio_attrs));
	return live_set_attrs(live, dev, identity_attrs, ARRAY_SIZE(identity_attrs));
}

int live_identity(struct live *live, struct live_dev *dev)
{
	const char *transport = transport_of(dev->devices);
	int r = 0;

	if (transport)
		r = graph_set_str(dev->node, BLKALIGN_ATTR_TRANSPORT, transport, BLKALIGN_ORIGIN_SYSFS);
	if (r == 0)
		r = set_driver(live, dev);
	if (r == 0 && transport && !strcmp(transport, "usb"))
		r = set_usb_id(live, dev);
	if (r == 0)
		r = set_identity(live, dev, transport);
	if (r == 0 && !live->root.foreign) {
		_cleanup_free_ char *path = live_join("/dev", blkalign_node_name(dev->node));

		r = path ? graph_set_str(dev->node, BLKALIGN_ATTR_DEVPATH, path, BLKALIGN_ORIGIN_SYSFS) : -ENOMEM;
	}
	return r;
}
