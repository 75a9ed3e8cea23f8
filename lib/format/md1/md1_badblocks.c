/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log is an array of 64-bit words, sector << 10 | length, both in units of 512 << shift bytes; all ones ends it. */
#include <inttypes.h>

#include "format/md1/md1.h"

#define SHIFT_MAX	40U  /* beyond it no entry fits 64 bits of bytes */
#define ENTRY_UNITS_MAX 512U /* drivers/md/badblocks: BB_MAX_LEN */

static int damaged(struct blkalign_error *reterr, size_t entry, const char *what)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "md bad block log, entry %zu: %s", entry, what);
}

static int decode_entry(uint64_t word, unsigned shift, struct md1_bad_range *ret)
{
	uint64_t unit = UINT64_C(512) << shift, end;

	if (!u64_mul(word >> 10, unit, &ret->from_device_start_bytes) || !u64_mul(word & 0x3ff, unit, &ret->length_bytes) ||
	    !u64_add(ret->from_device_start_bytes, ret->length_bytes, &end))
		return -EOVERFLOW;
	return 0;
}

int md1_badblocks_decode(const void *data, size_t length, unsigned shift, struct md1_bad_range **ret_ranges, size_t *ret_count,
			 struct blkalign_error *reterr)
{
	_cleanup_free_ struct md1_bad_range *ranges = NULL;
	size_t count = 0, i = 0, words = length / 8;
	uint64_t end = 0;

	if (length > MD1_BADBLOCKS_BYTES || shift > SHIFT_MAX)
		return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN,
					  "md bad block log of %zu bytes in units of 512 << %u: beyond what is read", length, shift);
	ranges = calloc(words ? words : 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (; i < words; i++) {
		uint64_t word = load_le64((const uint8_t *)data + 8 * i);

		if (word == UINT64_MAX)
			break;
		if (!word)
			continue;
		if (decode_entry(word, shift, &ranges[count]) < 0 || !ranges[count].length_bytes)
			return damaged(reterr, i, "impossible range");
		if (ranges[count].from_device_start_bytes < end)
			return damaged(reterr, i, "overlaps the one before");
		end = ranges[count].from_device_start_bytes + ranges[count].length_bytes;
		count++;
	}
	*ret_count = count;
	*ret_ranges = count ? ranges : NULL;
	if (count)
		ranges = NULL;
	return 0;
}

int md1_badblocks_encode(const struct md1_bad_range *ranges, size_t count, unsigned shift, void *data, size_t length)
{
	size_t words = length / 8, used = 0;
	uint64_t unit;

	if (shift > SHIFT_MAX)
		return -EINVAL;
	unit = UINT64_C(512) << shift;
	memset(data, 0xff, length);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = ranges[i].from_device_start_bytes / unit, left = ranges[i].length_bytes / unit;

		if (ranges[i].from_device_start_bytes % unit || ranges[i].length_bytes % unit || at > UINT64_MAX >> 10 ||
		    left > (UINT64_MAX >> 10) - at)
			return -EINVAL;
		while (left) {
			uint64_t part = left < ENTRY_UNITS_MAX ? left : ENTRY_UNITS_MAX;

			if (used == words)
				return -ENOSPC;
			store_le((uint8_t *)data + 8 * used++, 8, at << 10 | part);
			at += part;
			left -= part;
		}
	}
	return 0;
}

int md1_badblocks_read(struct dev *dev, const struct md1_superblock *sb, struct md1_bad_range **ret_ranges, size_t *ret_count,
		       struct blkalign_error *reterr)
{
	_cleanup_free_ void *log = NULL;
	int64_t offset = sb->badblocks_from_super_bytes;
	uint64_t at = sb->super_bytes + (uint64_t)offset;
	int r;

	if (!(sb->features & MD1_BAD_BLOCKS) || !sb->badblocks_bytes) {
		*ret_ranges = NULL;
		*ret_count = 0;
		return 0;
	}
	if (sb->badblocks_bytes > MD1_BADBLOCKS_BYTES || (offset < 0 && (uint64_t)-offset > sb->super_bytes))
		return blkalign_error_set(reterr, -EBADMSG, dev->name, sb->super_bytes,
					  "md bad block log: %" PRIu64 " bytes at %" PRId64 " from the superblock", sb->badblocks_bytes,
					  offset);
	log = malloc(sb->badblocks_bytes);
	if (!log)
		return -ENOMEM;
	r = dev_read(dev, at, log, sb->badblocks_bytes, reterr);
	if (r < 0)
		return r;
	return md1_badblocks_decode(log, sb->badblocks_bytes, sb->badblocks_shift, ret_ranges, ret_count, reterr);
}
