/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The live host as a source: the parts of live*.c.
 *
 * First all block devices are listed (live_scan.c), then those that matter become nodes, lower ones first (live.c), each filled by the parts below,
 * and with root the layers read the devices themselves.
 */
#ifndef STACK_LIVE_H
#define STACK_LIVE_H

#include "stack/live_root.h"
#include "stack/stack.h"

#define LIVE_NONE SIZE_MAX

/** A block device of the kernel, found below /sys/class/block. */
struct live_dev {
	char *name;	    /* the kernel's, as sysfs spells it: "cciss!c0d0" */
	char *path;	    /* its folder: "sys/class/block/sda" */
	char *devices;	    /* the same without links: "sys/devices/pci0000:00/.../block/sda"; `path` when not known */
	char *devno;	    /* "8:0", or NULL */
	char *dm_name;	    /* or NULL */
	char *dm_uuid;	    /* or NULL */
	uint64_t partition; /* number; 0: no partition */
	VEC(size_t) below;  /* indexes of what it lies on: its disk, or its slaves */
	bool held;	    /* another device lies on it */
	bool in_use;	    /* mounted, or active swap */
	bool by_multipath;  /* a path of a multipath device: read through that */
	bool has_pages;	    /* sysfs shows VPD pages */
	bool selected;
	bool busy; /* its lower devices are being added */
	struct blkalign_node *node;
};

struct live {
	struct live_root root;
	struct stack *stack; /* owned */
	struct blkalign_graph *graph;
	VEC(struct live_dev) devs; /* sorted by name as strverscmp() does */
	size_t weird;		   /* attributes with contents that make no sense */
	size_t closed;		   /* devices that could not be opened for lack of permission */
	size_t without_node;	   /* devices that have no node below /dev */
};

/** Fill live->devs. 0, or negative errno with `reterr` (no /sys/class/block: -ENOENT). */
int live_scan(struct live *live, struct blkalign_error *reterr);
void live_dev_done(struct live_dev *dev);
/** Index of the device the kernel calls `name` ('/' and '!' are the same), or LIVE_NONE. */
size_t live_find(const struct live *live, const char *name);
/** Index by device mapper name, by "MAJOR:MINOR"; or LIVE_NONE. */
size_t live_find_dm(const struct live *live, const char *dm_name);
size_t live_find_devno(const struct live *live, const char *devno);
/** Contents of `file` below the device's folder, as live_text(). */
int live_dev_text(struct live *live, const struct live_dev *dev, const char *file, char **ret_text);

/** --- reading numbers --- */

/** How the text of an attribute becomes a value. */
enum live_format {
	LIVE_U64,  /* number times unit */
	LIVE_I64,  /* signed number times unit; 4294967295 is -1 */
	LIVE_BOOL, /* 0 or 1 */
	LIVE_STR,  /* the text */
};

struct live_attr {
	enum blkalign_attr attr;
	const char *file; /* below the device's folder */
	enum live_format format;
	uint32_t unit;
};

/** The number at the start of `text`, which must end or go on with white space: 0, or -EINVAL. */
int live_number(const char *text, uint64_t *ret_value);
/** Set the attributes of `table` that are there. Contents that make no sense become remarks. */
int live_set_attrs(struct live *live, struct live_dev *dev, const struct live_attr *table, size_t count);
/** The number in `file`, or BLKALIGN_ABSENT. */
int live_dev_u64(struct live *live, const struct live_dev *dev, const char *file, uint64_t *ret_value);

/** --- the parts: each sets what it knows of `dev->node`; 0 or negative errno --- */

/** Name and kind of the node. `ret_name` is freed by the caller. */
int live_node_name(const struct live_dev *dev, char **ret_name, enum blkalign_kind *ret_kind);
/** An LV that lvm2 does not show: uuid with a suffix, or a reserved name. */
bool live_dm_is_hidden(const struct live_dev *dev);
/** Size, queue limits, alignment. */
int live_queue(struct live *live, struct live_dev *dev);
/** Transport, bridge, vendor, model, serial. */
int live_identity(struct live *live, struct live_dev *dev);
/** What sysfs shows of the device's VPD pages. */
int live_pages(struct live *live, struct live_dev *dev);
/** The same for bytes that the device was asked for: a VPD page, READ CAPACITY(16), NVMe IDENTIFY of controller and namespace (4096 bytes each). */
int live_take_page(struct live *live, struct live_dev *dev, uint8_t code, const void *bytes, size_t length);
int live_take_capacity16(struct live *live, struct live_dev *dev, const void *bytes, size_t length);
int live_take_nvme(struct live *live, struct live_dev *dev, const void *ctrl_bytes, const void *ns_bytes);
/** Array facts, and the edges to the members with their offsets. */
int live_md(struct live *live, struct live_dev *dev);
/** What state an array is in, and the bad blocks that `member` (of sysfs name `name`) lists. */
int live_md_state(struct live *live, struct live_dev *md);
int live_md_bad_blocks(struct live *live, const struct live_dev *md, const char *name, struct blkalign_node *member);
/** Names and ids of a device mapper device. */
int live_dm(struct live *live, struct live_dev *dev);
/** Edges to slaves, whose offsets sysfs does not tell; only to devices that no other way down leads to. */
int live_slave_edges(struct live *live, struct live_dev *dev);
/** Kernel, tools, hypervisor: the host node. */
int live_host(struct live *live);
/** Mark devices in use (before nodes exist), and set mount points (when they do). */
int live_mounts(struct live *live, bool set);
/** Open the devices for the layers. */
int live_open_devices(struct live *live);
/** Ask the SCSI or NVMe device at `path` itself what sysfs does not show; only commands that read. */
int live_ask(struct live *live, struct live_dev *dev, const char *path);

#endif
