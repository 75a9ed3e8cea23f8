/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_SWAP_SWAP_ONDISK_H
#define FORMAT_SWAP_SWAP_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define SWAP_HEADER_OFFSET   1024U
#define SWAP_SIGNATURE_BYTES 10U
#define SWAP_PAGE_MIN	     4096U
#define SWAP_PAGE_MAX	     65536U
#define SWAP_TUXONICE	     "\xed\xc3\x02\xe9\x98\x56\xe5\x0c" /* at byte 0 */

struct swap_header_ondisk {
	uint8_t version[4]; /* these three in the byte order of the machine that wrote them */
	uint8_t last_page[4];
	uint8_t bad_pages[4];
	uint8_t uuid[16];
	uint8_t label[16];
	uint8_t padding[468];
};
static_assert(offsetof(struct swap_header_ondisk, uuid) == 12, "swap header");
static_assert(offsetof(struct swap_header_ondisk, padding) == 44, "swap header");
static_assert(sizeof(struct swap_header_ondisk) == 512, "swap header");

#endif
