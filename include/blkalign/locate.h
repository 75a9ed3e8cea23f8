/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Where bytes live: from a node down to the disks, and from a disk up to the nodes. Nothing is read but superblocks. */
#ifndef BLKALIGN_LOCATE_H
#define BLKALIGN_LOCATE_H

#include <blkalign/run.h>

#ifdef __cplusplus
extern "C" {
#endif

enum blkalign_role {
	BLKALIGN_ROLE_DATA,
	BLKALIGN_ROLE_COPY,	/**< data again, on a mirror */
	BLKALIGN_ROLE_P,	/**< parity of the stripe */
	BLKALIGN_ROLE_Q,	/**< the second parity */
	BLKALIGN_ROLE_METADATA, /**< no contents of the upper node, but its records */
	BLKALIGN_ROLE_UNUSED,	/**< it leaves these bytes alone */
	BLKALIGN_ROLE_UNKNOWN,	/**< one of several places, or of several meanings; `note` says more */
};
/** "data", "copy", "P", "Q", "metadata", "unused", "unknown". Static. */
BLKALIGN_API const char *blkalign_role_name(enum blkalign_role role);

/**
 * A piece of the answer. The pieces make a tree, depth first: a piece lies on (looking down) or is part of (looking up) what is said next below it with a depth of one
 * more. All bytes of one piece are treated alike by every layer in between.
 */
struct blkalign_location {
	uint32_t depth;			  /**< 0: what was asked about */
	const struct blkalign_node *node; /**< NULL: the member is missing */
	uint64_t offset_bytes;		  /**< on `node`; of parity, looking up: where its stripe begins; or BLKALIGN_UNKNOWN */
	uint64_t length_bytes;
	uint64_t above_bytes;	 /**< looking down: the first byte of the piece above it that lies here */
	enum blkalign_role role; /**< in the relation to the piece above it */
	uint32_t slot;		 /**< of the md array or area number; BLKALIGN_SLOT_NONE where there are none */
	uint32_t copy;		 /**< of mirrors: 0, 1, ... */
	const char *note;	 /**< what else is to be known: "not rebuilt yet", "bitmap", ... Static, or NULL */
};

/**
 * Where [offset, offset + length) of `node` lies on every device below it. *ret_locations is freed by the caller with free(). -ERANGE beyond the end of the node,
 * -E2BIG when there are more than 100,000 pieces.
 */
BLKALIGN_API int blkalign_locate(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, uint64_t length_bytes,
				 struct blkalign_location **ret_locations, size_t *ret_count, struct blkalign_error *reterr);
/** What byte `offset_bytes` of `node` is to every node that lies on it. Lengths say for how many bytes, at most, that goes on alike. Likewise. */
BLKALIGN_API int blkalign_locate_upward(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes,
					struct blkalign_location **ret_locations, size_t *ret_count, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
