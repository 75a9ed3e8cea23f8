/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The binary parts, as lvm2's _text_write() (lib/format_text/format-text.c, text_label.c) fills them. */
#include "format/lvm2/lvm2.h"
#include "format/lvm2/lvm2_ondisk.h"

#define EXTENSION_VERSION	   2U
#define LOCATION_IGNORED	   1U
#define PUT(p, type, field, value) store_le((uint8_t *)(p) + offsetof(struct type, field), sizeof(((struct type *)0)->field), value)

uint32_t lvm2_checksum(const void *data, size_t length) { return crc32_raw(LVM2_CRC_SEED, data, length); }

static void put_text(uint8_t *p, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		p[i] = (uint8_t)text[i];
}

/* A list of pairs and the zero pair behind it. */
static bool put_areas(uint8_t sector[512], size_t *at, const struct lvm2_areas *areas)
{
	size_t bytes = ((size_t)areas->count + 1) * sizeof(struct lvm2_area_ondisk);

	if (areas->count > LVM2_AREAS_MAX || !range_inside(*at, bytes, LVM2_SECTOR))
		return false;
	for (unsigned i = 0; i < areas->count; i++) {
		uint8_t *p = sector + *at + i * sizeof(struct lvm2_area_ondisk);

		PUT(p, lvm2_area_ondisk, offset_bytes, areas->area[i].offset_bytes);
		PUT(p, lvm2_area_ondisk, size_bytes, areas->area[i].size_bytes);
	}
	*at += bytes;
	return true;
}

static bool put_extension(uint8_t sector[512], size_t *at, const struct lvm2_label *label)
{
	uint32_t version = label->extension_version ? label->extension_version : EXTENSION_VERSION;

	if (!range_inside(*at, sizeof(struct lvm2_extension_ondisk), LVM2_SECTOR))
		return false;
	PUT(sector + *at, lvm2_extension_ondisk, version, version < EXTENSION_VERSION ? EXTENSION_VERSION : version);
	PUT(sector + *at, lvm2_extension_ondisk, flags, label->extension_flags);
	*at += sizeof(struct lvm2_extension_ondisk);
	return put_areas(sector, at, &label->bootloader);
}

int lvm2_label_encode(const struct lvm2_label *label, uint8_t ret_sector[512])
{
	uint8_t *pv = ret_sector + sizeof(struct lvm2_label_ondisk);
	size_t at = sizeof(struct lvm2_label_ondisk) + sizeof(struct lvm2_pv_header_ondisk);

	memset(ret_sector, 0, LVM2_SECTOR);
	put_text(ret_sector, "LABELONE", 8);
	PUT(ret_sector, lvm2_label_ondisk, sector_number, label->sector);
	PUT(ret_sector, lvm2_label_ondisk, pv_header_offset, sizeof(struct lvm2_label_ondisk));
	put_text(ret_sector + offsetof(struct lvm2_label_ondisk, type), "LVM2 001", 8);
	memcpy(pv, label->pv_id, LVM2_ID_LENGTH);
	PUT(pv, lvm2_pv_header_ondisk, device_size_bytes, label->device_size_bytes);
	if (!put_areas(ret_sector, &at, &label->data) || !put_areas(ret_sector, &at, &label->metadata) ||
	    !put_extension(ret_sector, &at, label))
		return -E2BIG;
	PUT(ret_sector, lvm2_label_ondisk, checksum, lvm2_checksum(ret_sector + 20, LVM2_SECTOR - 20));
	return 0;
}

static void put_location(uint8_t *p, const struct lvm2_location *l)
{
	PUT(p, lvm2_location_ondisk, offset_bytes, l->size_bytes ? l->offset_bytes : 0);
	PUT(p, lvm2_location_ondisk, size_bytes, l->size_bytes);
	PUT(p, lvm2_location_ondisk, checksum, l->size_bytes ? l->checksum : 0);
	PUT(p, lvm2_location_ondisk, flags, l->ignored ? LOCATION_IGNORED : 0);
}

void lvm2_mda_encode(const struct lvm2_mda *mda, uint8_t ret_header[512])
{
	uint8_t *locations = ret_header + offsetof(struct lvm2_mda_ondisk, locations);

	memset(ret_header, 0, LVM2_SECTOR);
	put_text(ret_header + offsetof(struct lvm2_mda_ondisk, magic), LVM2_MDA_MAGIC, 16);
	PUT(ret_header, lvm2_mda_ondisk, version, 1);
	PUT(ret_header, lvm2_mda_ondisk, start_bytes, mda->offset_bytes);
	PUT(ret_header, lvm2_mda_ondisk, size_bytes, mda->size_bytes);
	put_location(locations, &mda->committed);
	put_location(locations + sizeof(struct lvm2_location_ondisk), &mda->precommitted);
	PUT(ret_header, lvm2_mda_ondisk, checksum, lvm2_checksum(ret_header + 4, LVM2_SECTOR - 4));
}

/* In the ring, counted from its begin behind the header. */
static uint64_t next_offset(const struct lvm2_mda *mda)
{
	uint64_t ring = mda->size_bytes - LVM2_SECTOR, end;

	if (!mda->committed.size_bytes)
		return 0;
	end = (mda->committed.offset_bytes - LVM2_SECTOR + mda->committed.size_bytes) % ring;
	end = round_up_u64(end, LVM2_SECTOR);
	return ring - end < LVM2_SECTOR || end >= ring ? 0 : end;
}

int lvm2_mda_room(const struct lvm2_mda *mda, const char *text, size_t length, struct lvm2_room *ret_room)
{
	uint64_t ring = mda->size_bytes - LVM2_SECTOR, offset = next_offset(mda);
	uint64_t most = ring / 2 < LVM2_SECTOR ? 0 : ring / 2 - LVM2_SECTOR;

	if (!length || length > most || length > LVM2_TEXT_MAX)
		return -ENOSPC;
	*ret_room = (struct lvm2_room){
		.location = { .offset_bytes = LVM2_SECTOR + offset, .size_bytes = length, .checksum = lvm2_checksum(text, length) },
		.first_bytes = ring - offset < length ? ring - offset : length,
	};
	return 0;
}
