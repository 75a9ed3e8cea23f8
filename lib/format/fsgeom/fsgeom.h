/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What a file system, swap area or pool member says of itself that matters for alignment, in one host struct for all formats.
 *
 * A format is a row: where its superblocks lie, how many bytes to read there, and a function that decodes them. Types, labels and
 * UUIDs are spelled as libblkid spells them.
 */
#ifndef FORMAT_FSGEOM_FSGEOM_H
#define FORMAT_FSGEOM_FSGEOM_H

#include "dev/dev.h"

#define FSGEOM_LABEL_MAX  512U
#define FSGEOM_COPIES_MAX 3U
/** The longest superblock and label record of all formats. */
#define FSGEOM_READ_MAX (112U << 10)

/** Numbers that the format does not have are BLKALIGN_UNKNOWN; hints that nobody gave are 0. Texts are raw bytes, "" when absent. */
struct fsgeom {
	const char *type;	      /* static: "ext4", "xfs", "zfs_member", ... */
	uint64_t size_bytes;	      /* of this device, as the format believes */
	uint64_t block_bytes;	      /* block, cluster or swap page */
	uint64_t sector_bytes;	      /* smallest unit that the format writes */
	uint64_t stride_bytes;	      /* one member's part of a stripe, as told at mkfs time */
	uint64_t stripe_bytes;	      /* a whole stripe */
	uint64_t log_stride_bytes;    /* XFS log stripe unit */
	uint64_t hidden_sectors;      /* NTFS and FAT: start of the partition in sector_bytes */
	uint64_t data_offset_bytes;   /* where clusters or allocatable space begin */
	uint64_t record_offset_bytes; /* where the label lies when it is not in the superblock; see decode_record */
	uint64_t record_length_bytes; /* 0: nowhere else */
	char uuid[37];
	char label[FSGEOM_LABEL_MAX];
	char note[160]; /* what the numbers do not tell: several devices, a checksum that was not verified */
};

struct fsgeom_format {
	const char *name;			  /* for messages */
	uint64_t copies_bytes[FSGEOM_COPIES_MAX]; /* offsets of the superblock and its copies; the first is the one to believe */
	size_t copies;
	size_t length_bytes; /* of one copy, at most; cut where the device ends */
	/**
	 * Decode the superblock `data`, which was read at byte `place_bytes` of the device. 0; BLKALIGN_NOT_THIS; -EBADMSG when the signature is
	 * there but the rest contradicts it, with the offset on the device and the reason in `reterr`.
	 */
	int (*decode)(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);
	/** Take the label from the record that decode() pointed at; NULL when the format has none. A record of another kind changes nothing. */
	void (*decode_record)(const uint8_t *data, size_t size, struct fsgeom *geom);
};

/** Outcome of one format on one device. */
struct fsgeom_result {
	int outcome;		       /* as decode() returns, or the errno of the read */
	uint64_t place_bytes;	       /* the copy that `geom` comes from */
	struct fsgeom geom;	       /* when outcome is 0 */
	struct blkalign_error primary; /* why the first copy was not used: code is 0 when it was, else -EBADMSG or the read error */
};

/**
 * Try all `formats` on `dev`. Further copies are looked at only when the first has the signature and is damaged, or cannot be read: where even the
 * signature is gone, the copies are what an older file system left behind. Fills results[0..count). 0 or -ENOMEM.
 */
int fsgeom_probe(struct dev *dev, const struct fsgeom_format *const *formats, size_t count, struct fsgeom_result *results);

/* --- for the codecs --- */

/** All numbers unknown, all texts empty. */
void fsgeom_init(struct fsgeom *geom, const char *type);
/** Up to the first NUL, without trailing white space. */
void fsgeom_set_label(struct fsgeom *geom, const void *text, size_t length);
/** The same of UTF-16LE, see utf8_from_utf16le(). */
void fsgeom_set_label_utf16le(struct fsgeom *geom, const uint8_t *text, size_t length_bytes);
/** The usual form; all zero means none. */
void fsgeom_set_uuid(struct fsgeom *geom, const uint8_t uuid[16]);
void fsgeom_note(struct fsgeom *geom, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
