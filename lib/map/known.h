/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What a device said last of its own bytes, for those who ask about many pieces of it: to find where the data of a file ends takes time. Start with zeros. */
#ifndef MAP_KNOWN_H
#define MAP_KNOWN_H

#include "dev/dev.h"

struct known {
	uint64_t begin_bytes, end_bytes;
	bool zero;
};

/** Whether `dev` reads as zeros from `offset_bytes` on; *run_bytes is cut to where that may change. What nobody can say is data, however long. */
bool known_ask(struct known *known, struct dev *dev, uint64_t offset_bytes, uint64_t *run_bytes);

#endif
