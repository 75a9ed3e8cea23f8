/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/ntfs/ntfs.h"
#include "format/ntfs/ntfs_ondisk.h"

/* The last two bytes of each 512 were replaced by the update number when the record was written; the true ones are in its array. */
static void undo_fixups(uint8_t *record, size_t size, const struct ntfs_record_ondisk *head)
{
	size_t array = le16_get(head->fixup_offset), count = le16_get(head->fixup_count);

	for (size_t i = 1; i < count; i++) {
		size_t saved = array + 2 * i, place = i * NTFS_FIXUP_STRIDE - 2;

		if (saved + 2 > size || place + 2 > size)
			return;
		memcpy(record + place, record + saved, 2);
	}
}

void ntfs_decode_record(const uint8_t *data, size_t size, struct fsgeom *geom)
{
	uint8_t record[NTFS_RECORD_MAX];
	struct ntfs_record_ondisk head;
	struct ntfs_attr_ondisk attr;

	if (size < sizeof(head) || size > sizeof(record) || memcmp(data, "FILE", 4) != 0)
		return;
	memcpy(&head, data, sizeof(head));
	memcpy(record, data, size);
	undo_fixups(record, size, &head);
	/* An attribute is at least as long as its header, so the walk ends. */
	for (uint64_t at = le16_get(head.attrs_offset); range_inside(at, sizeof(attr), size); at += le32_get(attr.length)) {
		memcpy(&attr, record + at, sizeof(attr));
		if (le32_get(attr.type) == NTFS_ATTR_END || le32_get(attr.length) < sizeof(attr))
			return;
		if (le32_get(attr.type) != NTFS_ATTR_VOLUME_NAME)
			continue;
		if (!attr.non_resident && range_inside(at + le16_get(attr.value_offset), le32_get(attr.value_length), size))
			fsgeom_set_label_utf16le(geom, record + at + le16_get(attr.value_offset), le32_get(attr.value_length));
		return;
	}
}
