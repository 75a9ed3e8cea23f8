/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <isa-l/crc64.h>

#include "format/bcache/bcache.h"
#include "format/bcache/bcache_ondisk.h"

#define FLAGS_STATE_SHIFT	  61
#define INCOMPAT_BUCKET_HIGH	  1U /* bucket_sectors512_high holds the upper half */
#define INCOMPAT_BUCKET_LOG	  2U /* bucket_sectors512 is a logarithm */
#define DEFAULT_DATA_SECTORS512	  16U
#define BUCKETS_MIN		  (1U << 7)
#define BUCKET_MAX_SECTORS512_LOG 22U /* 2 GiB; the kernel's fields end far below */

static const uint8_t magic[16] = { 0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81 };

static int damaged(struct blkalign_error *reterr, const char *what)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BCACHE_SUPER_BYTES, "bcache superblock: %s", what);
}

static bool role_of(uint64_t version, enum bcache_role *ret_role, bool *ret_offset_stored, bool *ret_features)
{
	*ret_offset_stored = version == 4 || version == 6;
	*ret_features = version == 5 || version == 6;
	*ret_role = version == 1 || *ret_offset_stored ? BCACHE_BACKING : BCACHE_CACHE;
	return version <= 6 && version != 2;
}

static uint64_t bucket_sectors(const struct bcache_ondisk *raw, bool features)
{
	uint64_t incompat = features ? le64_get(raw->feature_incompat) : 0;
	uint64_t low = le16_get(raw->bucket_sectors512);

	if (incompat & INCOMPAT_BUCKET_LOG)
		return low <= BUCKET_MAX_SECTORS512_LOG ? UINT64_C(1) << low : 0;
	return incompat & INCOMPAT_BUCKET_HIGH ? low | (uint64_t)le16_get(raw->bucket_sectors512_high) << 16 : low;
}

static int decode_cache(const struct bcache_ondisk *raw, struct bcache_super *s, struct blkalign_error *reterr)
{
	uint64_t total;

	s->buckets = le64_get(raw->buckets_or_data_offset);
	if (!is_power_of_2(s->bucket_bytes) || s->bucket_bytes < s->block_bytes)
		return damaged(reterr, "impossible bucket size");
	if (s->buckets < BUCKETS_MIN || !u64_mul(s->buckets, s->bucket_bytes, &total) || le16_get(raw->first_bucket) >= s->buckets)
		return damaged(reterr, "impossible number of buckets");
	s->data_offset_bytes = le16_get(raw->first_bucket) * s->bucket_bytes;
	return 0;
}

static int decode_backing(const struct bcache_ondisk *raw, struct bcache_super *s, bool offset_stored, struct blkalign_error *reterr)
{
	uint64_t sectors512 = offset_stored ? le64_get(raw->buckets_or_data_offset) : DEFAULT_DATA_SECTORS512;

	s->state = (enum bcache_state)(le64_get(raw->flags) >> FLAGS_STATE_SHIFT & 3);
	if (sectors512 < DEFAULT_DATA_SECTORS512 || !u64_mul(sectors512, 512, &s->data_offset_bytes))
		return damaged(reterr, "impossible data offset");
	return 0;
}

static int check(const struct bcache_ondisk *raw, const uint8_t *buffer, struct blkalign_error *reterr)
{
	uint64_t end = offsetof(struct bcache_ondisk, journal) + sizeof(le64) * (uint64_t)le16_get(raw->journal_buckets);
	size_t begin = offsetof(struct bcache_ondisk, offset_sectors512);

	if (le16_get(raw->journal_buckets) > BCACHE_JOURNAL_BUCKETS)
		return damaged(reterr, "too many journal buckets");
	if (crc64_ecma_norm(0, buffer + begin, end - begin) != le64_get(raw->csum))
		return damaged(reterr, "wrong checksum");
	if (le64_get(raw->offset_sectors512) != BCACHE_SUPER_SECTOR512)
		return damaged(reterr, "it says that it lies somewhere else");
	return 0;
}

int bcache_decode(const uint8_t *buffer, size_t size, struct bcache_super *ret, struct blkalign_error *reterr)
{
	struct bcache_super s = { 0 };
	struct bcache_ondisk raw;
	bool offset_stored, features;
	int r;

	if (size < sizeof(raw) || memcmp(buffer + offsetof(struct bcache_ondisk, magic), magic, sizeof(magic)) != 0)
		return BLKALIGN_NOT_THIS;
	memcpy(&raw, buffer, sizeof(raw));
	r = check(&raw, buffer, reterr);
	if (r < 0)
		return r;
	s.version = le64_get(raw.version);
	if (!role_of(s.version, &s.role, &offset_stored, &features))
		return blkalign_error_set(reterr, -ENOTSUP, NULL, BCACHE_SUPER_BYTES, "bcache superblock of an unknown version");
	s.block_bytes = le16_get(raw.block_sectors512) * 512U;
	s.bucket_bytes = bucket_sectors(&raw, features) * 512;
	if (!is_power_of_2(s.block_bytes))
		return damaged(reterr, "impossible block size");
	r = s.role == BCACHE_CACHE ? decode_cache(&raw, &s, reterr) : decode_backing(&raw, &s, offset_stored, reterr);
	if (r < 0)
		return r;
	memcpy(s.uuid, raw.uuid, sizeof(s.uuid));
	memcpy(s.set_uuid, raw.set_uuid, sizeof(s.set_uuid));
	memcpy(s.label, raw.label, sizeof(raw.label));
	*ret = s;
	return 0;
}

int bcache_read(struct dev *dev, struct bcache_super *ret, struct blkalign_error *reterr)
{
	uint8_t buffer[BCACHE_SUPER_BYTES];
	int r;

	if (!range_inside(BCACHE_SUPER_BYTES, sizeof(buffer), dev->size_bytes))
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, BCACHE_SUPER_BYTES, buffer, sizeof(buffer), reterr);
	return r < 0 ? r : bcache_decode(buffer, sizeof(buffer), ret, reterr);
}
