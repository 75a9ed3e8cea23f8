/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/vpd.h"

#define HEADER_BYTES 4U

/* The page inside the buffer: what lies behind its own length is not part of it. */
struct page {
	const uint8_t *bytes;
	size_t length; /* with header */
	const char *name;
};

/* Failures return a constant: so an optimising compiler sees that `*ret` is filled wherever 0 is returned. */
static int open_page(const void *buf, size_t len, uint8_t code, const char *name, size_t least, struct page *ret,
		     struct blkalign_error *reterr)
{
	struct page page = { .bytes = buf, .name = name };

	if (len < HEADER_BYTES) {
		blkalign_error_set(reterr, -EBADMSG, name, 0, "page of %zu bytes is too short for its header", len);
		return -EBADMSG;
	}
	if (page.bytes[1] != code)
		return BLKALIGN_NOT_THIS;
	page.length = HEADER_BYTES + load_be16(page.bytes + 2);
	if (page.length > len) {
		blkalign_error_set(reterr, -EBADMSG, name, 2, "page says %zu bytes but %zu are there", page.length, len);
		return -EBADMSG;
	}
	if (page.length < least) {
		blkalign_error_set(reterr, -EBADMSG, name, 2, "page of %zu bytes, at least %zu are needed", page.length, least);
		return -EBADMSG;
	}
	*ret = page;
	return 0;
}

static uint64_t page_u8(const struct page *page, size_t at) { return at < page->length ? page->bytes[at] : BLKALIGN_UNKNOWN; }
static uint64_t page_be16(const struct page *page, size_t at)
{
	return range_inside(at, 2, page->length) ? load_be16(page->bytes + at) : BLKALIGN_UNKNOWN;
}
static uint64_t page_be32(const struct page *page, size_t at)
{
	return range_inside(at, 4, page->length) ? load_be32(page->bytes + at) : BLKALIGN_UNKNOWN;
}

int topo_vpd_b0_decode(const void *buf, size_t len, struct topo_vpd_b0 *ret, struct blkalign_error *reterr)
{
	struct page page;
	uint64_t alignment;
	int r = open_page(buf, len, 0xb0, "VPD page B0", 16, &page, reterr);

	if (r)
		return r;
	alignment = page_be32(&page, 32);
	if (alignment != BLKALIGN_UNKNOWN)
		alignment = alignment & 0x80000000 ? alignment & 0x7fffffff : BLKALIGN_UNKNOWN;
	*ret = (struct topo_vpd_b0){
		.granularity_blocks = page_be16(&page, 6),
		.max_transfer_blocks = page_be32(&page, 8),
		.opt_transfer_blocks = page_be32(&page, 12),
		.max_prefetch_blocks = page_be32(&page, 16),
		.max_unmap_blocks = page_be32(&page, 20),
		.unmap_granularity_blocks = page_be32(&page, 28),
		.unmap_alignment_blocks = alignment,
	};
	return 0;
}

int topo_vpd_b1_decode(const void *buf, size_t len, struct topo_vpd_b1 *ret, struct blkalign_error *reterr)
{
	struct page page;
	int r = open_page(buf, len, 0xb1, "VPD page B1", 6, &page, reterr);

	if (r)
		return r;
	*ret = (struct topo_vpd_b1){
		.rotation_rpm = page_be16(&page, 4),
		.form_factor = page_u8(&page, 7) == BLKALIGN_UNKNOWN ? BLKALIGN_UNKNOWN : page_u8(&page, 7) & 0xf,
		.zoned = page_u8(&page, 8) == BLKALIGN_UNKNOWN ? BLKALIGN_UNKNOWN : page_u8(&page, 8) >> 4 & 3,
	};
	return 0;
}

int topo_vpd_b2_decode(const void *buf, size_t len, struct topo_vpd_b2 *ret, struct blkalign_error *reterr)
{
	struct page page;
	int r = open_page(buf, len, 0xb2, "VPD page B2", 7, &page, reterr);

	if (r)
		return r;
	*ret = (struct topo_vpd_b2){
		.unmap = page.bytes[5] & 0x80,
		.reads_zeroes = (page.bytes[5] >> 2 & 7) == 1,
		.provisioning = page.bytes[6] & 7,
	};
	return 0;
}

int topo_vpd_80_decode(const void *buf, size_t len, struct topo_vpd_80 *ret, struct blkalign_error *reterr)
{
	struct page page;
	struct topo_vpd_80 serial = { { 0 } };
	int r = open_page(buf, len, 0x80, "VPD page 80", HEADER_BYTES, &page, reterr);

	if (r)
		return r;
	topo_text_trimmed(serial.serial, sizeof(serial.serial), page.bytes + HEADER_BYTES, page.length - HEADER_BYTES);
	*ret = serial;
	return 0;
}

static void hex_text(char *ret, size_t size, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < length && n + 2 < size; i++) {
		ret[n++] = digits[bytes[i] >> 4];
		ret[n++] = digits[bytes[i] & 15];
	}
	ret[n] = 0;
}

enum { NAME_T10 = 1, NAME_EUI64 = 2, NAME_NAA = 3, NAME_STRING = 8 };

/* One designator: byte 0 code set, byte 1 association and type, byte 3 length. */
static void add_name(struct topo_vpd_83 *names, const uint8_t *designator)
{
	uint8_t type = designator[1] & 0xf, association = designator[1] >> 4 & 3;
	bool binary = (designator[0] & 0xf) == 1;
	struct topo_name *name = &names->names[names->count];

	if (association || (type != NAME_T10 && type != NAME_EUI64 && type != NAME_NAA && type != NAME_STRING))
		return;
	if (names->count == TOPO_NAMES_MAX)
		return;
	name->type = type;
	if (binary)
		hex_text(name->text, sizeof(name->text), designator + 4, designator[3]);
	else
		topo_text_trimmed(name->text, sizeof(name->text), designator + 4, designator[3]);
	names->count++;
}

int topo_vpd_83_decode(const void *buf, size_t len, struct topo_vpd_83 *ret, struct blkalign_error *reterr)
{
	struct page page;
	struct topo_vpd_83 names = { .count = 0 };
	int r = open_page(buf, len, 0x83, "VPD page 83", HEADER_BYTES, &page, reterr);

	if (r)
		return r;
	for (size_t at = HEADER_BYTES; at < page.length; at += 4U + page.bytes[at + 3]) {
		if (!range_inside(at, 4, page.length) || !range_inside(at + 4, page.bytes[at + 3], page.length))
			return blkalign_error_set(reterr, -EBADMSG, page.name, at, "a designator reaches beyond the page's %zu bytes",
						  page.length);
		add_name(&names, page.bytes + at);
	}
	*ret = names;
	return 0;
}

#define PAGE_89_IDENTIFY      60U
#define COMMAND_IDENTIFY_DISK 0xecU

int topo_vpd_89_decode(const void *buf, size_t len, struct topo_vpd_89 *ret, struct blkalign_error *reterr)
{
	struct page page;
	struct topo_vpd_89 ata = { .has_identify = false };
	int r = open_page(buf, len, 0x89, "VPD page 89", PAGE_89_IDENTIFY + TOPO_ATA_IDENTIFY_BYTES, &page, reterr);

	if (r)
		return r;
	topo_text_trimmed(ata.sat_vendor, sizeof(ata.sat_vendor), page.bytes + 8, 8);
	topo_text_trimmed(ata.sat_product, sizeof(ata.sat_product), page.bytes + 16, 16);
	topo_text_trimmed(ata.sat_revision, sizeof(ata.sat_revision), page.bytes + 32, 4);
	if (page.bytes[56] == COMMAND_IDENTIFY_DISK) {
		r = topo_identify_ata_decode(page.bytes + PAGE_89_IDENTIFY, TOPO_ATA_IDENTIFY_BYTES, &ata.identify, reterr);
		if (r < 0)
			return r;
		ata.has_identify = r == 0;
	}
	*ret = ata;
	return 0;
}

int topo_capacity16_decode(const void *buf, size_t len, struct topo_capacity16 *ret, struct blkalign_error *reterr)
{
	const uint8_t *bytes = buf;
	const char *name = "READ CAPACITY(16)";
	struct topo_capacity16 capacity;
	uint64_t last;

	if (len < 16)
		return blkalign_error_set(reterr, -EBADMSG, name, 0, "%zu bytes, at least 16 are needed", len);
	last = load_be64(bytes);
	capacity.logical_bytes = load_be32(bytes + 8);
	if (!capacity.logical_bytes)
		capacity.logical_bytes = 512;
	if (!is_power_of_2(capacity.logical_bytes) || capacity.logical_bytes < 512 || capacity.logical_bytes > MIB)
		return blkalign_error_set(reterr, -EBADMSG, name, 8, "logical blocks of %u bytes", capacity.logical_bytes);
	if (!u64_add(last, 1, &capacity.blocks) || capacity.blocks > INT64_MAX / capacity.logical_bytes)
		return blkalign_error_set(reterr, -EBADMSG, name, 0, "last block %llu is beyond any drive", (unsigned long long)last);
	capacity.physical_exponent = bytes[13] & 0xf;
	capacity.physical_bytes = (uint64_t)capacity.logical_bytes << capacity.physical_exponent;
	capacity.provisioned = bytes[14] & 0x80;
	capacity.lowest_aligned_lba = load_be16(bytes + 14) & 0x3fff;
	*ret = capacity;
	return 0;
}
