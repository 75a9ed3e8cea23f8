/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The graph: a stack is a graph of devices, and a device has a size, facts, and a map to the devices below it.
 *
 * Nodes are devices and contents (a file system is a node on the device that holds it). An edge leads from a node down to a device it
 * lies on and says where. A graph is built by one of the sources in source.h and is not changed afterwards; reading it from several threads is safe.
 * Everything a graph hands out lives until blkalign_graph_free().
 */
#ifndef BLKALIGN_GRAPH_H
#define BLKALIGN_GRAPH_H

#include <stddef.h>

#include <blkalign/attr.h>
#include <blkalign/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_graph;
struct blkalign_node;

enum blkalign_kind {
	BLKALIGN_KIND_HOST, /**< the machine itself: kernel and tool versions; no edges */
	BLKALIGN_KIND_DISK, /**< drive, LUN, loop device or image file */
	BLKALIGN_KIND_PARTITION,
	BLKALIGN_KIND_MD,      /**< md array */
	BLKALIGN_KIND_PV,      /**< LVM physical volume label on a device; its byte 0 is the device's, extents begin at pe_start */
	BLKALIGN_KIND_LV,      /**< LVM logical volume */
	BLKALIGN_KIND_DM,      /**< device mapper device that is no LV and no LUKS mapping */
	BLKALIGN_KIND_CRYPT,   /**< LUKS container: its byte 0 is the payload's */
	BLKALIGN_KIND_BCACHE,  /**< bcache backing or cache device: its byte 0 is the data's */
	BLKALIGN_KIND_CONTENT, /**< file system, swap, zfs member or any other signature */
};

/**
 * One piece of a node's map.
 *
 * The bytes [upper_offset_bytes, upper_offset_bytes + length_bytes) of the node form a segment, stored on `stripes` data areas in turn, `chunk_bytes` on
 * each. This edge is one area (`slot`) of segment `segment`; the segment's data begins on `lower` at lower_offset_bytes. So byte x of the node is, on
 * the area that holds it, at lower_offset_bytes + (r / (stripes * chunk)) * chunk + r % chunk, with r = x - upper_offset_bytes; with stripes = 1
 * simply at lower_offset_bytes + r. Mirrors and parity members are further areas of the same segment.
 * Offsets that nobody knows are BLKALIGN_UNKNOWN.
 *
 * raid10 is told as its stripe tells it: exact where the near copies divide the members and there are no offset copies, also for the first of far copies.
 * Otherwise the row on the area is another one; where the byte lies within a chunk is right in all cases. During a reshape the edges of an
 * md array are those of its new shape.
 */
struct blkalign_edge {
	const struct blkalign_node *upper;
	const struct blkalign_node *lower;
	uint64_t upper_offset_bytes;
	uint64_t lower_offset_bytes;
	uint64_t length_bytes; /**< bytes of the node in this segment */
	uint64_t chunk_bytes;  /**< 0 when stripes is 1 */
	uint32_t stripes;      /**< data areas, at least 1 */
	uint32_t segment;
	uint32_t slot;	   /**< md role or LVM area number; BLKALIGN_SLOT_NONE for spares, journals, stale members */
	const char *state; /**< NULL, or "in_sync", "spare", "faulty", "stale", "journal", "replacement", "rebuilding", "metadata" */
};

#define BLKALIGN_SLOT_NONE UINT32_MAX

/** NULL is accepted. */
BLKALIGN_API void blkalign_graph_free(struct blkalign_graph *graph);

/** Number of nodes. */
BLKALIGN_API size_t blkalign_graph_size(const struct blkalign_graph *graph);
/** Node number `index`, in the order of discovery: lower devices come before what lies on them. */
BLKALIGN_API const struct blkalign_node *blkalign_graph_node(const struct blkalign_graph *graph, size_t index);
/** The node of this name, or NULL. */
BLKALIGN_API const struct blkalign_node *blkalign_graph_find(const struct blkalign_graph *graph, const char *name);
/** The host node, or NULL when the source knows no host (image files). */
BLKALIGN_API const struct blkalign_node *blkalign_graph_host(const struct blkalign_graph *graph);
/** How the graph came to be: "live", "images", "snapshot", "lsblk", ... Static. */
BLKALIGN_API const char *blkalign_graph_source(const struct blkalign_graph *graph);

/** Sentences about what could not be read, and why (no permission, damaged copy). Raw text, escape before printing. */
BLKALIGN_API size_t blkalign_graph_remarks(const struct blkalign_graph *graph);
BLKALIGN_API const char *blkalign_graph_remark(const struct blkalign_graph *graph, size_t index);

/**
 * Unique name: the kernel's for devices ("sda1", "md0"), the file name for images, "VG/LV" for logical volumes, "what:device" for contents
 * ("ext4:md0", "pv:sda1", "luks:sdb"). Raw bytes.
 */
BLKALIGN_API const char *blkalign_node_name(const struct blkalign_node *node);
BLKALIGN_API enum blkalign_kind blkalign_node_kind(const struct blkalign_node *node);
/** "disk", "partition", "md", ... Static. */
BLKALIGN_API const char *blkalign_kind_name(enum blkalign_kind kind);
BLKALIGN_API int blkalign_kind_parse(const char *name, enum blkalign_kind *ret_kind);
BLKALIGN_API size_t blkalign_node_index(const struct blkalign_node *node);

/** NULL when the attribute is not known. */
BLKALIGN_API const struct blkalign_value *blkalign_node_value(const struct blkalign_node *node, enum blkalign_attr attr);
/** The value of a U64 or BOOL attribute, BLKALIGN_UNKNOWN when not known. */
BLKALIGN_API uint64_t blkalign_node_u64(const struct blkalign_node *node, enum blkalign_attr attr);
/** The value of an I64 attribute; `fallback` when not known. */
BLKALIGN_API int64_t blkalign_node_i64(const struct blkalign_node *node, enum blkalign_attr attr, int64_t fallback);
/** The value of a STR attribute, NULL when not known. */
BLKALIGN_API const char *blkalign_node_str(const struct blkalign_node *node, enum blkalign_attr attr);

/** Edges down, sorted by segment, then slot. */
BLKALIGN_API size_t blkalign_node_edges(const struct blkalign_node *node);
BLKALIGN_API const struct blkalign_edge *blkalign_node_edge(const struct blkalign_node *node, size_t index);
/** Nodes that lie on this one, each once. */
BLKALIGN_API size_t blkalign_node_uppers(const struct blkalign_node *node);
BLKALIGN_API const struct blkalign_node *blkalign_node_upper(const struct blkalign_node *node, size_t index);

/** A place below a node: which device, and which byte of it. */
struct blkalign_place {
	const struct blkalign_node *node;
	uint64_t offset_bytes;		  /**< or BLKALIGN_UNKNOWN */
	const struct blkalign_edge *edge; /**< the edge that led here */
	uint32_t depth;			  /**< 1 for the devices directly below */
};

/**
 * Where byte `offset_bytes` of `node` lies on every device below it, directly or further down, in depth-first order. In a striped segment each area is listed
 * with the place of the row that holds the byte (the phase within a chunk is the same on all). Returns 0, -ELOOP for graphs
 * deeper than 64, -E2BIG beyond 1,000,000 places, -ENOMEM. `*ret_places` is freed by the caller with free().
 */
BLKALIGN_API int blkalign_node_places(const struct blkalign_node *node, uint64_t offset_bytes, struct blkalign_place **ret_places,
				      size_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
