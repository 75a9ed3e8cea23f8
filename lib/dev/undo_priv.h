/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The undo log's format (doc/undo.md), and what its parts know of each other. */
#ifndef DEV_UNDO_PRIV_H
#define DEV_UNDO_PRIV_H

#include <pthread.h>

#include "dev/dev_priv.h"
#include "dev/marks.h"

#define UNDO_SECTOR_BYTES      512U /* what a disk writes whole or not at all: the unit of checksums of new bytes */
#define UNDO_HEADER_BYTES      4096U
#define UNDO_HEAD_BYTES	       64U
#define UNDO_ENTRY_BYTES       32U
#define UNDO_PIECE_BYTES       ((uint32_t)MIB) /* the most that an entry describes */
#define UNDO_BODY_MAX_BYTES    ((uint32_t)(16 * MIB))
#define UNDO_DEVICES_MAX       2048U
#define UNDO_NAME_MAX_BYTES    4096U
#define UNDO_PURPOSE_MAX_BYTES 1024U

enum undo_kind {
	UNDO_DEVICE = 1, /* the next device number, its size, name and identity */
	UNDO_OLD = 2,	 /* bytes as they were; no two of a device overlap */
	UNDO_NEW = 3,	 /* CRC32C of each sector as it was going to be written */
	UNDO_LOST = 4,	 /* the old bytes could not be read: there is nothing to put back */
};

struct undo_entry {
	enum undo_kind kind;
	uint32_t device;
	uint64_t offset_bytes; /* on the device */
	uint64_t length_bytes; /* UNDO_DEVICE: its size */
	uint64_t payload_at;   /* in the log */
	uint32_t payload_bytes;
};

struct undo_device {
	uint64_t size_bytes;
	char *name;
	char *identity; /* of the disk, "" when nobody knows */
	struct marks logged;
};

/** A log as read: every record before end_bytes is whole. */
struct undo_log {
	uint8_t id[16];
	char purpose[UNDO_PURPOSE_MAX_BYTES + 1];
	VEC(struct undo_device) devices;
	VEC(struct undo_entry) entries;
	uint64_t end_bytes;
	uint64_t next_sequence;
};

struct dev_undo {
	int fd;
	char *path;
	pthread_mutex_t lock; /* one batch at a time is logged and written */
	struct undo_log log;
	int broken;    /* the log could not be written: nothing is written through it any more */
	bool appended; /* since it was opened */
};

/** A record that is being put together. */
struct undo_draft {
	struct strbuf entries;
	struct strbuf payload;
	uint32_t count;
};
void undo_draft_add(struct undo_draft *draft, const struct undo_entry *entry, const void *payload);
void undo_draft_done(struct undo_draft *draft);
#define _cleanup_undo_draft_ _cleanup_(undo_draft_done)
/** Append the draft durably, and empty it. Whatever fails here fails for good: granules are marked before they are in the log. */
int undo_commit(struct dev_undo *undo, struct undo_draft *draft);
/** The number of a device, recorded when it is new. */
int undo_find_device(struct dev_undo *undo, const struct dev *below, uint32_t *ret_number, struct blkalign_error *reterr);

/** CRC32C of a part of this log. */
uint32_t undo_crc(const uint8_t id[16], const void *data, size_t length);
/** The first block of a log. */
void undo_encode_header(uint8_t ret[UNDO_HEADER_BYTES], const uint8_t id[16], const char *purpose);
void undo_encode_head(uint8_t ret[UNDO_HEAD_BYTES], const struct undo_log *log, uint32_t entries, const uint8_t *body, uint64_t body_bytes);
void undo_encode_entry(uint8_t ret[UNDO_ENTRY_BYTES], const struct undo_entry *entry);

/**
 * Read and check a whole log. A record that was being written when the machine stopped, the last one, is left out: its write never began. -EBADMSG for
 * anything else that is not as it was written, -ENOTSUP for entries of a later version.
 */
int undo_log_read(struct dev *file, struct undo_log *ret, struct blkalign_error *reterr);
void undo_log_done(struct undo_log *log);
#define _cleanup_undo_log_ _cleanup_(undo_log_done)

/** dev_undo_apply() on a log that was read. */
int undo_log_apply(struct dev *file, const struct undo_log *log, struct dev *const *devs, size_t count, uint64_t *ret_bytes,
		   struct blkalign_error *reterr);

/** Name and identity of a device as the log knows it; both are the caller's. -ENOMEM. */
int undo_identify(const struct dev *dev, char **ret_name, char **ret_identity);
/** Whether a logged device is this one. */
bool undo_is_same(const struct undo_device *device, uint64_t size_bytes, const char *name, const char *identity);

#endif
