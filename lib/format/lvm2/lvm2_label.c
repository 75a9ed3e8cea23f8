/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything of a label lies within its one sector: lists that run on beyond it are refused. */
#include <inttypes.h>

#include "format/lvm2/lvm2.h"
#include "format/lvm2/lvm2_ondisk.h"

#define LABEL_SECTORS 4U

bool lvm2_id_valid(const char id[LVM2_ID_LENGTH])
{
	for (unsigned i = 0; i < LVM2_ID_LENGTH; i++) {
		char c = id[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '!' && c != '#')
			return false;
	}
	return true;
}

void lvm2_id_format(char ret[LVM2_ID_TEXT], const char id[LVM2_ID_LENGTH])
{
	static const uint8_t hyphen_before[] = { 6, 10, 14, 18, 22, 26 };
	unsigned at = 0, group = 0;

	for (unsigned i = 0; i < LVM2_ID_LENGTH; i++) {
		if (group < ARRAY_SIZE(hyphen_before) && i == hyphen_before[group]) {
			ret[at++] = '-';
			group++;
		}
		ret[at++] = id[i];
	}
	ret[at] = 0;
}

/* A list of (offset, size) pairs at *at, up to and with the zero pair that ends it. */
static int decode_areas(const uint8_t sector[512], size_t *at, const char *what, struct lvm2_areas *ret, struct blkalign_error *reterr)
{
	struct lvm2_areas areas = { 0 };

	for (;; *at += sizeof(struct lvm2_area_ondisk)) {
		struct lvm2_area_ondisk raw;

		if (!range_inside(*at, sizeof(raw), LVM2_SECTOR))
			return blkalign_error_set(reterr, -EPROTO, NULL, *at, "the list of %s areas does not end within the label sector",
						  what);
		memcpy(&raw, sector + *at, sizeof(raw));
		if (!le64_get(raw.offset_bytes) && !le64_get(raw.size_bytes))
			break;
		if (areas.count == LVM2_AREAS_MAX)
			return blkalign_error_set(reterr, -E2BIG, NULL, *at, "more than %u %s areas", LVM2_AREAS_MAX, what);
		areas.area[areas.count++] = (struct lvm2_area){ le64_get(raw.offset_bytes), le64_get(raw.size_bytes) };
	}
	*at += sizeof(struct lvm2_area_ondisk);
	*ret = areas;
	return 0;
}

/* Labels of before 2012 have no extension: the version reads as 0 there. */
static int decode_extension(const uint8_t sector[512], size_t at, struct lvm2_label *label, struct blkalign_error *reterr)
{
	struct lvm2_extension_ondisk raw;

	if (!range_inside(at, sizeof(raw), LVM2_SECTOR))
		return 0;
	memcpy(&raw, sector + at, sizeof(raw));
	label->extension_version = le32_get(raw.version);
	if (!label->extension_version)
		return 0;
	label->extension_flags = le32_get(raw.flags);
	at += sizeof(raw);
	return decode_areas(sector, &at, "boot loader", &label->bootloader, reterr);
}

static int decode_pv_header(const uint8_t sector[512], size_t at, struct lvm2_label *label, struct blkalign_error *reterr)
{
	struct lvm2_pv_header_ondisk raw;
	int r;

	if (at < sizeof(struct lvm2_label_ondisk) || !range_inside(at, sizeof(raw), LVM2_SECTOR))
		return blkalign_error_set(reterr, -EPROTO, NULL, 20,
					  "the label puts the physical volume header at byte %zu, outside of its sector", at);
	memcpy(&raw, sector + at, sizeof(raw));
	if (!lvm2_id_valid(raw.pv_id))
		return blkalign_error_set(reterr, -EPROTO, NULL, at, "the physical volume's id holds characters that no id has");
	memcpy(label->pv_id, raw.pv_id, LVM2_ID_LENGTH);
	label->device_size_bytes = le64_get(raw.device_size_bytes);
	at += sizeof(raw);
	r = decode_areas(sector, &at, "data", &label->data, reterr);
	if (r >= 0)
		r = decode_areas(sector, &at, "metadata", &label->metadata, reterr);
	if (r >= 0)
		r = decode_extension(sector, at, label, reterr);
	return r;
}

int lvm2_label_decode(const uint8_t sector[512], uint64_t sector_number, struct lvm2_label *ret_label, struct blkalign_error *reterr)
{
	struct lvm2_label_ondisk raw;
	struct lvm2_label label = { .sector = sector_number };
	int r;

	memcpy(&raw, sector, sizeof(raw));
	if (memcmp(raw.id, "LABELONE", 8) != 0 || memcmp(raw.type, "LVM2 001", 8) != 0)
		return BLKALIGN_NOT_THIS;
	/* A label that says it belongs elsewhere is a copy, as left by a partition that began later. */
	if (le64_get(raw.sector_number) != sector_number)
		return blkalign_error_set(reterr, -EPROTO, NULL, 8,
					  "the label says that it is in sector %" PRIu64 ", and is in sector %" PRIu64,
					  le64_get(raw.sector_number), sector_number);
	if (crc32_raw(LVM2_CRC_SEED, sector + 20, LVM2_SECTOR - 20) != le32_get(raw.checksum))
		return blkalign_error_set(reterr, -EBADMSG, NULL, 16, "the label's checksum is wrong");
	r = decode_pv_header(sector, le32_get(raw.pv_header_offset), &label, reterr);
	if (r < 0)
		return r;
	*ret_label = label;
	return 0;
}

int lvm2_label_read(struct dev *dev, struct lvm2_label *ret_label, struct blkalign_error *reterr)
{
	uint8_t sectors[LABEL_SECTORS][512];
	struct blkalign_error first_error = { 0 };
	struct lvm2_label label;
	size_t found = LABEL_SECTORS, count = dev->size_bytes / LVM2_SECTOR;
	int r, bad = BLKALIGN_NOT_THIS;

	if (count > LABEL_SECTORS)
		count = LABEL_SECTORS;
	if (!count)
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, 0, sectors, count * LVM2_SECTOR, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct lvm2_label other;

		r = lvm2_label_decode(sectors[i], i, &other, bad == BLKALIGN_NOT_THIS ? &first_error : NULL);
		if (r == 0 && found == LABEL_SECTORS) {
			found = i;
			label = other;
		} else if (r == 0 && memcmp(sectors[i] + 20, sectors[found] + 20, LVM2_SECTOR - 20) != 0) {
			label.another = true;
		} else if (r < 0 && bad == BLKALIGN_NOT_THIS) {
			bad = r;
			first_error.offset_bytes += i * LVM2_SECTOR;
		}
	}
	if (found < LABEL_SECTORS) {
		*ret_label = label;
		return 0;
	}
	if (bad < 0)
		return blkalign_error_set(reterr, bad, dev->name, first_error.offset_bytes, "%s", first_error.message);
	return BLKALIGN_NOT_THIS;
}
