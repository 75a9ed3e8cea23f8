/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/swap/swap.h"
#include "format/swap/swap_ondisk.h"

enum swap_kind { SWAP_OLD, SWAP_NEW, SWAP_HIBERNATION };

static const struct {
	char text[SWAP_SIGNATURE_BYTES + 1];
	uint8_t length;
	enum swap_kind kind;
} signatures[] = {
	{ "SWAP-SPACE", 10, SWAP_OLD },	      { "SWAPSPACE2", 10, SWAP_NEW },	    { "S1SUSPEND", 9, SWAP_HIBERNATION },
	{ "S2SUSPEND", 9, SWAP_HIBERNATION }, { "ULSUSPEND", 9, SWAP_HIBERNATION }, { "LINHIB0001", 10, SWAP_HIBERNATION },
};

static bool find_signature(const uint8_t *data, size_t size, uint64_t *ret_page_bytes, enum swap_kind *ret_kind)
{
	for (uint64_t page = SWAP_PAGE_MIN; page <= SWAP_PAGE_MAX && page <= size; page *= 2)
		for (size_t i = 0; i < ARRAY_SIZE(signatures); i++)
			if (!memcmp(data + page - SWAP_SIGNATURE_BYTES, signatures[i].text, signatures[i].length)) {
				*ret_page_bytes = page;
				*ret_kind = signatures[i].kind;
				return true;
			}
	return false;
}

/* 0 when neither byte order makes it a version 1 header. */
static uint32_t last_page(const struct swap_header_ondisk *h)
{
	if (load_le32(h->version) == 1)
		return load_le32(h->last_page);
	return load_be32(h->version) == 1 ? load_be32(h->last_page) : 0;
}

/* The header was not always there: bytes of a boot loader must not become a label. */
static bool header_is_clean(const struct swap_header_ondisk *h)
{
	static const uint8_t zero[8];

	return memcmp(h->padding + 128, zero, sizeof(zero)) == 0;
}

int swap_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct swap_header_ondisk h;
	struct fsgeom g;
	enum swap_kind kind;
	uint64_t page;
	uint32_t last;

	if (size < SWAP_PAGE_MIN || !find_signature(data, size, &page, &kind))
		return BLKALIGN_NOT_THIS;
	/* TuxOnIce leaves the swap signature in place; its own is at the very start. */
	if (!memcmp(data, SWAP_TUXONICE, 8))
		kind = SWAP_HIBERNATION;
	memcpy(&h, data + SWAP_HEADER_OFFSET, sizeof(h));
	last = last_page(&h);
	if (kind == SWAP_NEW && !last)
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes + SWAP_HEADER_OFFSET,
					  "swap header: its version or last page is wrong");

	fsgeom_init(&g, kind == SWAP_HIBERNATION ? "swsuspend" : "swap");
	g.block_bytes = page;
	if (kind != SWAP_OLD && last)
		g.size_bytes = ((uint64_t)last + 1) * page;
	if (kind != SWAP_OLD && header_is_clean(&h)) {
		fsgeom_set_uuid(&g, h.uuid);
		fsgeom_set_label(&g, h.label, sizeof(h.label));
	}
	*ret = g;
	return 0;
}

const struct fsgeom_format swap_format = {
	.name = "swap",
	.copies_bytes = { 0 },
	.copies = 1,
	.length_bytes = SWAP_PAGE_MAX,
	.decode = swap_decode,
};
