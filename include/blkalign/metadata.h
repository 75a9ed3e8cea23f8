/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The texts in which LVM2 describes its volume groups: where each lies on the disks, which of them is believed, and what is left of earlier ones.
 *
 * A metadata area is a header and a ring of texts. The header names the text that counts; those before it stay until the ring has come round.
 */
#ifndef BLKALIGN_METADATA_H
#define BLKALIGN_METADATA_H

#include <blkalign/run.h>

#ifdef __cplusplus
extern "C" {
#endif

enum blkalign_metadata_state {
	BLKALIGN_METADATA_USED,		 /**< named by its area's header, and what the volume group was put together from */
	BLKALIGN_METADATA_SAME,		 /**< likewise named, and equal to it */
	BLKALIGN_METADATA_OUTDATED,	 /**< likewise named, with another sequence number: that of a text elsewhere is higher */
	BLKALIGN_METADATA_CONTRADICTING, /**< likewise named, with the same sequence number and another content */
	BLKALIGN_METADATA_FOREIGN,	 /**< likewise named, but the group does not list this PV */
	BLKALIGN_METADATA_UNCOMMITTED,	 /**< written, or begun to be, after the one that is named, and never named itself */
	BLKALIGN_METADATA_OLDER,	 /**< left over from before */
	BLKALIGN_METADATA_LOOSE,	 /**< the area's header is damaged, or empty: nothing says which text counts */
	BLKALIGN_METADATA_TORN,		 /**< not whole: its end is overwritten or cannot be read, or its checksum or grammar is wrong */
};
/** "used", "same", "outdated", ... Static. */
BLKALIGN_API const char *blkalign_metadata_state_name(enum blkalign_metadata_state state);

/** A metadata area. */
struct blkalign_metadata_area {
	const struct blkalign_node *node; /**< the disk, partition, array or volume that it lies on */
	uint64_t offset_bytes;		  /**< there */
	uint64_t size_bytes;		  /**< with its header */
	const char *damage;		  /**< why its header is not believed; NULL: it is */
	bool ignored;			  /**< by its own header: lvm2 writes no texts to it */
	bool assumed;			  /**< no label is there that names it: it was looked for where lvm2 puts it */
	uint64_t committed_bytes;	  /**< where on the node the text begins that its header names, or BLKALIGN_UNKNOWN */
	uint64_t unreadable_sectors512;	  /**< that texts may lie in */
	bool more;			  /**< texts than are listed: more than 65,536 */
};

/** A text. Strings are raw bytes from disk: escape before printing. */
struct blkalign_metadata_text {
	const struct blkalign_metadata_area *area;
	uint64_t offset_bytes; /**< of its first byte, on the area's node */
	uint64_t size_bytes;   /**< of what is there of it, with the NUL at the end of one that is whole */
	bool wraps;	       /**< it goes on at the beginning of the ring */
	uint32_t checksum;     /**< LVM2's CRC of these bytes */
	enum blkalign_metadata_state state;
	const char *why; /**< of those that are torn: what is wrong; else NULL */
	const char *vg_name;
	const char *vg_uuid; /**< as lvm2 prints it */
	uint64_t seqno;
	const char *description; /**< the command that wrote it; NULL when not known, as the next */
	const char *host;	 /**< where that ran */
	uint64_t unix_time;	 /**< when; or BLKALIGN_UNKNOWN */
};

struct blkalign_metadata;

/** All areas of all PVs in the stack, and all texts in them, by sequence number. What cannot be read is left out, and counted. 0, -ENOMEM. */
BLKALIGN_API int blkalign_metadata_find(struct blkalign_run *run, struct blkalign_metadata **ret_metadata, struct blkalign_error *reterr);
/** Before the stack is closed. NULL is accepted. */
BLKALIGN_API void blkalign_metadata_free(struct blkalign_metadata *metadata);

/** Areas, in the order of the graph. */
BLKALIGN_API size_t blkalign_metadata_areas(const struct blkalign_metadata *metadata);
BLKALIGN_API const struct blkalign_metadata_area *blkalign_metadata_area(const struct blkalign_metadata *metadata, size_t index);
/** Texts, by name and id of the group, then sequence number, then place. */
BLKALIGN_API size_t blkalign_metadata_texts(const struct blkalign_metadata *metadata);
BLKALIGN_API const struct blkalign_metadata_text *blkalign_metadata_text(const struct blkalign_metadata *metadata, size_t index);
/** The bytes as they are on disk, without the NUL at the end, of torn ones what is there; freed by the caller with free(). Not terminated. */
BLKALIGN_API int blkalign_metadata_read(const struct blkalign_metadata *metadata, const struct blkalign_metadata_text *text,
					char **ret_text, size_t *ret_length, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
