/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Assembly: from devices to a graph. All policy is here: which content is believed, which members belong together, which copy is fresh.
 *
 * A stack is a graph plus an open device for each node that can be read. Nodes wait on a work list; each is probed once by the layers in
 * the order of layers.c. Layers that put several devices together (md, LVM) collect in probe() and build in assemble(), which runs
 * whenever the work list is empty, until no layer makes progress.
 */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <blkalign/source.h>

#include "dev/dev.h"
#include "graph/graph.h"

struct stack;

/** Outcome of layer.probe besides 0 (content recognised, no further layer is asked), BLKALIGN_NOT_THIS and negative errno. */
#define STACK_GO_ON 16 /* recognised and noted, but further layers shall look as well */

struct layer {
	const char *name;
	/**
	 * Look at `dev`, the content of `host`. Add nodes by stack_add() or remember what was seen. Damage that keeps the content from being understood is
	 * told by graph_remark() and is not a failure; negative errno is for -ENOMEM. -ELOOP and -E2BIG of the graph may be passed on: the stack tells
	 * them and goes on with the next device. Read errors: remark, BLKALIGN_NOT_THIS.
	 */
	int (*probe)(struct stack *stack, struct blkalign_node *host, struct dev *dev);
	/** Build nodes from what was collected; *ret_progress when a new node was added. NULL when nothing is collected. */
	int (*assemble)(struct stack *stack, bool *ret_progress);
	/** Free the layer's state. NULL when there is none. */
	void (*done)(void *state);
};

/** Ordered; the reason for the order is in layers.c. */
extern const struct layer *const stack_layers[];
extern const size_t stack_layers_count;

/** An empty stack; `graph` is taken over also on failure. */
int stack_new(struct blkalign_graph *graph, const struct blkalign_source_options *options, struct stack **ret_stack);
/** Frees the stack, closes its devices, and with it the graph unless it was taken. */
void stack_free(struct stack *stack);
static inline void stack_freep(struct stack **stack) { stack_free(*stack); }
#define _cleanup_stack_ _cleanup_(stack_freep)

struct blkalign_graph *stack_graph(const struct stack *stack);
/** Hand the graph to the caller. */
struct blkalign_graph *stack_take_graph(struct stack *stack);
const struct blkalign_source_options *stack_options(const struct stack *stack);

/** The state of a layer: a pointer that starts as NULL, kept per stack and given to layer.done. */
void **stack_state(struct stack *stack, const struct layer *layer);

/**
 * Add a node with its device and put it on the work list. `dev` (may be NULL: not readable) belongs to the stack from here, also on
 * failure. A node that exists already is not added again by callers: they look with graph_find() first and call stack_set_dev().
 */
int stack_add(struct stack *stack, enum blkalign_kind kind, const char *name, struct dev *dev, struct blkalign_node **ret_node);
/** Give an existing node a device and put it on the work list, unless it has one: then `dev` is closed. */
int stack_set_dev(struct stack *stack, struct blkalign_node *node, struct dev *dev);
/** The device that reads `node`'s bytes, or NULL. Owned by the stack. */
struct dev *stack_dev(const struct stack *stack, const struct blkalign_node *node);

/** `dev` is closed with the stack, before those that were there already. It belongs to the stack also on failure. */
int stack_own(struct stack *stack, struct dev *dev);

/** Probe and assemble until nothing new appears. */
int stack_run(struct stack *stack, struct blkalign_error *reterr);

/** A content node "what:host" on the whole of `host`, CONTENT set to `what`. */
int stack_add_content(struct stack *stack, enum blkalign_kind kind, const char *what, struct blkalign_node *host,
		      struct blkalign_node **ret_node);

struct keep;
struct raid_geometry;

/** How a stack is run. All false: its contents are only read. */
struct stack_running {
	bool writable; /* images and disks are opened exclusively, and arrays keep their records; what cannot be written safely stays readable */
	bool cow;      /* writable on overlays that are thrown away; images and disks are opened O_RDONLY */
	bool force; /* dirty and degraded arrays give out computed data, and may be written; of arrays that lost too much the rest is read */
	const char *
		changed_group; /* name of a volume group whose metadata is to be changed: its volumes are only read. NULL: none. Must outlive the stack */
	struct dev_undo *undo; /* what is overwritten on images and disks is saved there first; NULL: nowhere. Must outlive the stack */
};
/** Before the first image is added. */
void stack_set_running(struct stack *stack, const struct stack_running *running);
/** As it was set; NULL when it was not: nothing of the stack is given to anybody but for looking at it. */
const struct stack_running *stack_running(const struct stack *stack);
/** It was asked for contents that can be written. */
bool stack_is_writable(const struct stack *stack);
/** The records of an md array that may be written; NULL for other nodes. */
struct keep *stack_keep(const struct stack *stack, const struct blkalign_node *node);
/** `keep` speaks for the array of `node`, whose device is set next; taken over, as `geometry` that it borrows. Also on failure. */
int stack_set_keep(struct stack *stack, const struct blkalign_node *node, struct keep *keep, struct raid_geometry *geometry);
/** An image of a RAID volume, and the volume that its records lie on. Borrowed; NULL: not there, or not to be filled. */
struct stack_leg {
	struct dev *data;
	struct dev *records;
};
/** The images of `node`, by slot, used or not; copied. */
int stack_set_legs(struct stack *stack, const struct blkalign_node *node, const struct stack_leg *legs, size_t count);
/** Image `slot` of a RAID volume; both NULL for other nodes. */
struct stack_leg stack_leg(const struct stack *stack, const struct blkalign_node *node, uint32_t slot);
/** Why a node of a writable stack is read-only all the same (a static or owned sentence), or NULL. After stack_run(). */
const char *stack_read_only_because(const struct stack *stack, const struct blkalign_node *node);
/** The node is not to be written; its device, if it has one, no longer takes writes. The first reason stays. Copied. */
int stack_set_read_only(struct stack *stack, const struct blkalign_node *node, const char *why);
/** Bring everything to the disks, and the arrays' records with it, uppermost first: clean where that is true. */
int stack_settle(struct stack *stack, struct blkalign_error *reterr);
/** Bring everything to the disks and close the arrays' records, uppermost first; then as stack_free(), also on failure. */
int stack_close(struct stack *stack, struct blkalign_error *reterr);

/** Add the image or raw disk at `path` to the stack, its topology assumed. */
int stack_add_image(struct stack *stack, const char *path, struct blkalign_error *reterr);
/** All of them, and each file or disk once. */
int stack_add_images(struct stack *stack, const char *const *paths, size_t count, struct blkalign_error *reterr);
/** dev_find_repeated(), told in remarks. */
int stack_find_repeated(struct stack *stack, const char *const *paths, size_t count, struct dev_repeated **ret);
/** As stack_add_image(), but reads that touch one of the `bad` ranges (see dev_open_bad_ranges()) fail. */
int stack_add_rescued(struct stack *stack, const char *path, const struct byte_range *bad, size_t bad_count, struct blkalign_error *reterr);

/** Tell when the image `dev` of `node` is empty, or a container (qcow2, VMDK, gzip, ...) instead of a disk's bytes. 0 or -ENOMEM. */
int stack_remark_image_format(struct stack *stack, const struct blkalign_node *node, struct dev *dev);

/** blkalign_read_host_devices() and blkalign_read_images() in one graph. */
int stack_read_devices_and_images(const struct blkalign_source_options *options, const char *const *devices, size_t device_count,
				  const char *const *images, size_t image_count, struct blkalign_graph **ret_graph,
				  struct blkalign_error *reterr);

/** The mark by which a file system, container or partition table is recognised, wherever on the device. */
struct stack_magic {
	uint64_t offset_bytes;
	uint64_t length_bytes;
	char type[40]; /* as libblkid names it */
};
/** All that libblkid knows, copies included, up to `max`. 0, -ENOMEM, -EIO. */
int stack_find_magics(struct dev *dev, struct stack_magic *magics, size_t max, size_t *ret_count);

struct lvm2_vg;
/** The text that a volume group was put together from: one of those that its PVs carry. */
struct stack_vg_text {
	const char *on;	     /* name of the node; owned by the graph */
	uint64_t area_bytes; /* where on that the metadata area begins */
	uint64_t seqno;
	uint32_t checksum;
};
/** Of the group with this id (without hyphens); false when no text of it was read. After stack_run(). */
bool stack_vg_text(struct stack *stack, const char *vg_id, struct stack_vg_text *ret);
/** Why a volume group is not to be changed by anybody but its owner (exported, shared, another system's), or NULL. Static. */
const char *stack_vg_refusal(const struct lvm2_vg *vg);

/** Partition name as the kernel forms it: "sda1", "nvme0n1p1", "disk.img1", "vg/lv1". */
void stack_partition_name(char *ret, size_t size, const char *disk, unsigned number);

#endif
