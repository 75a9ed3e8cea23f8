/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Superblocks that prove where something begins. Not identification (libblkid does that): few formats, each hard to mistake. */
#ifndef STACK_SIGNATURE_H
#define STACK_SIGNATURE_H

#include "dev/dev.h"

struct signature {
	const char *name;      /* "an ext superblock", for a sentence. Static. */
	uint32_t sector_bytes; /* the sector that a FAT, exFAT or NTFS boot sector counts in; else 0 */
};

/** True when something known begins at byte `offset_bytes` of `dev`. Unreadable or outside counts as nothing. */
bool signature_at(struct dev *dev, uint64_t offset_bytes, struct signature *ret);

#endif
