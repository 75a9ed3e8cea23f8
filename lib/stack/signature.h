/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Superblocks that prove where something begins: those that a codec here decodes whole, not mere magic numbers. */
#ifndef STACK_SIGNATURE_H
#define STACK_SIGNATURE_H

#include "dev/dev.h"

struct signature {
	const char *type;	     /* as libblkid names it: "ext4", "LVM2_member". Static. */
	uint64_t size_bytes;	     /* that a file system believes it has; BLKALIGN_UNKNOWN when it does not say */
	uint64_t device_block_bytes; /* logical block that FAT and NTFS were made for; BLKALIGN_UNKNOWN for others */
};

/** What begins at byte `offset_bytes` of `dev`: 0, BLKALIGN_NOT_THIS (also when it cannot be read or lies outside), or -ENOMEM. */
int signature_at(struct dev *dev, uint64_t offset_bytes, struct signature *ret);

#endif
