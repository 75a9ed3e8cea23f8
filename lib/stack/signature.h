/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Superblocks that prove where something begins: those that a codec here decodes whole, not mere magic numbers. */
#ifndef STACK_SIGNATURE_H
#define STACK_SIGNATURE_H

#include "dev/dev.h"

struct signature {
	const char *type;      /* as libblkid names it: "ext4", "LVM2_member". Static. */
	uint64_t sector_bytes; /* smallest unit that a file system says it writes; BLKALIGN_UNKNOWN when it does not say */
};

/** What begins at byte `offset_bytes` of `dev`: 0, BLKALIGN_NOT_THIS (also when it cannot be read or lies outside), or -ENOMEM. */
int signature_at(struct dev *dev, uint64_t offset_bytes, struct signature *ret);

#endif
