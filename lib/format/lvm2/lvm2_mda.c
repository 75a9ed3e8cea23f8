/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A metadata area is a header sector and a ring: a text that does not fit before the end of the area goes on right behind the header.
 */
#include <inttypes.h>

#include "format/lvm2/lvm2.h"
#include "format/lvm2/lvm2_ondisk.h"

#define LOCATION_IGNORED 1U

/* An area that is ignored, or that no group uses yet, has offset 0: the list ends there for lvm2 too. */
static int decode_location(const struct lvm2_location_ondisk *raw, uint64_t area_bytes, struct lvm2_location *ret,
			   struct blkalign_error *reterr)
{
	struct lvm2_location l = {
		.offset_bytes = le64_get(raw->offset_bytes),
		.size_bytes = le64_get(raw->size_bytes),
		.checksum = le32_get(raw->checksum),
		.ignored = le32_get(raw->flags) & LOCATION_IGNORED,
	};

	if (!l.offset_bytes)
		l.size_bytes = 0;
	else if (l.offset_bytes < LVM2_SECTOR || l.offset_bytes >= area_bytes || !l.size_bytes || l.size_bytes > area_bytes - LVM2_SECTOR)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
					  "a metadata text of %" PRIu64 " bytes at %" PRIu64
					  " does not lie in the ring of its area of %" PRIu64 " bytes",
					  l.size_bytes, l.offset_bytes, area_bytes);
	else if (l.size_bytes > LVM2_TEXT_MAX)
		return blkalign_error_set(reterr, -E2BIG, NULL, BLKALIGN_UNKNOWN,
					  "a metadata text of %" PRIu64 " bytes is larger than the %" PRIu64 " bytes that are read",
					  l.size_bytes, LVM2_TEXT_MAX);
	*ret = l;
	return 0;
}

static int decode_header(const struct lvm2_mda_ondisk *raw, struct lvm2_mda *mda, struct blkalign_error *reterr)
{
	int r = decode_location(&raw->locations[0], mda->size_bytes, &mda->committed, reterr);

	if (r < 0)
		return r;
	/* What a writer left behind must not keep the committed text from being read. */
	if (mda->committed.offset_bytes && decode_location(&raw->locations[1], mda->size_bytes, &mda->precommitted, NULL) < 0)
		mda->precommitted = (struct lvm2_location){ 0 };
	return 0;
}

int lvm2_mda_decode(const uint8_t header[512], uint64_t offset_bytes, uint64_t device_size_bytes, struct lvm2_mda *ret_mda,
		    struct blkalign_error *reterr)
{
	struct lvm2_mda_ondisk raw;
	struct lvm2_mda mda = { .offset_bytes = offset_bytes };
	int r;

	memcpy(&raw, header, sizeof(raw));
	if (memcmp(raw.magic, LVM2_MDA_MAGIC, sizeof(raw.magic)) != 0)
		return blkalign_error_set(reterr, -EPROTO, NULL, offset_bytes, "no metadata area begins where the label puts one");
	if (crc32_raw(LVM2_CRC_SEED, header + 4, LVM2_SECTOR - 4) != le32_get(raw.checksum))
		return blkalign_error_set(reterr, -EBADMSG, NULL, offset_bytes, "the checksum of the metadata area's header is wrong");
	if (le32_get(raw.version) != 1)
		return blkalign_error_set(reterr, -EPROTO, NULL, offset_bytes, "the metadata area has version %" PRIu32 ", known is 1",
					  le32_get(raw.version));
	if (le64_get(raw.start_bytes) != offset_bytes)
		return blkalign_error_set(reterr, -EPROTO, NULL, offset_bytes,
					  "the metadata area says that it begins at byte %" PRIu64 ", and begins at byte %" PRIu64,
					  le64_get(raw.start_bytes), offset_bytes);
	mda.size_bytes = le64_get(raw.size_bytes);
	if (mda.size_bytes < LVM2_MDA_MIN_BYTES || mda.size_bytes > LVM2_MDA_MAX_BYTES ||
	    !range_inside(offset_bytes, mda.size_bytes, device_size_bytes))
		return blkalign_error_set(reterr, -EPROTO, NULL, offset_bytes,
					  "a metadata area of %" PRIu64 " bytes: expected 4 KiB to 1 GiB that lie on the device",
					  mda.size_bytes);
	r = decode_header(&raw, &mda, reterr);
	if (r < 0)
		return r;
	*ret_mda = mda;
	return 0;
}

int lvm2_mda_read(struct dev *dev, uint64_t offset_bytes, struct lvm2_mda *ret_mda, struct blkalign_error *reterr)
{
	uint8_t header[512];
	int r = dev_read(dev, offset_bytes, header, sizeof(header), reterr);

	return r < 0 ? r : lvm2_mda_decode(header, offset_bytes, dev->size_bytes, ret_mda, reterr);
}

static int read_ring(struct dev *dev, const struct lvm2_mda *mda, char *text, struct blkalign_error *reterr)
{
	const struct lvm2_location *l = &mda->committed;
	uint64_t first = mda->size_bytes - l->offset_bytes;
	struct dev_request parts[2] = {
		{ .dev = dev,
		  .op = DEV_READ,
		  .offset_bytes = mda->offset_bytes + l->offset_bytes,
		  .length_bytes = l->size_bytes,
		  .buffer = text },
		{ .dev = dev, .op = DEV_READ, .offset_bytes = mda->offset_bytes + LVM2_SECTOR, .buffer = text + first },
	};

	if (l->size_bytes <= first)
		return dev_run(parts, 1, reterr);
	parts[0].length_bytes = first;
	parts[1].length_bytes = l->size_bytes - first;
	return dev_run(parts, 2, reterr);
}

int lvm2_text_read(struct dev *dev, const struct lvm2_mda *mda, char **ret_text, size_t *ret_length, struct blkalign_error *reterr)
{
	const struct lvm2_location *l = &mda->committed;
	_cleanup_free_ char *text = NULL;
	size_t length = l->size_bytes;
	int r;

	if (!length || l->ignored)
		return BLKALIGN_ABSENT;
	text = malloc(length);
	if (!text)
		return -ENOMEM;
	r = read_ring(dev, mda, text, reterr);
	if (r < 0)
		return r;
	if (crc32_raw(LVM2_CRC_SEED, text, length) != l->checksum)
		return blkalign_error_set(reterr, -EBADMSG, dev->name, mda->offset_bytes + l->offset_bytes,
					  "the checksum of the metadata text is wrong");
	while (length && !text[length - 1])
		length--;
	*ret_text = text;
	*ret_length = length;
	text = NULL;
	return 0;
}
