/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/md0/md0.h"
#include "format/md0/md0_ondisk.h"

struct words {
	const uint8_t *data;
	bool big_endian;
};

static uint32_t word(struct words w, unsigned number)
{
	return w.big_endian ? load_be32(w.data + 4 * (size_t)number) : load_le32(w.data + 4 * (size_t)number);
}

/* Two words that make one number, stored as the machine stores 64 bits. */
static uint64_t pair(struct words w, unsigned number)
{
	uint64_t first = word(w, number), second = word(w, number + 1);

	return w.big_endian ? first << 32 | second : second << 32 | first;
}

uint32_t md0_checksum(const void *data, bool big_endian)
{
	struct words w = { data, big_endian };
	uint64_t sum = 0;

	for (unsigned i = 0; i < MD0_WORDS; i++)
		if (i != MD0_W_CSUM)
			sum += word(w, i);
	return (uint32_t)((sum & UINT32_MAX) + (sum >> 32));
}

/* Alpha kernels stored the sum folded to 16 bits; folding both sides accepts either. */
static uint32_t fold(uint32_t v)
{
	v = (v & 0xffff) + (v >> 16);
	return (v & 0xffff) + (v >> 16);
}

static int damaged(struct blkalign_error *reterr, uint64_t super_bytes, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, super_bytes, "md superblock 0.90: %s (%" PRIu64 ")", what, found);
}

static struct md0_disk decode_disk(struct words w, unsigned at)
{
	return (struct md0_disk){
		.number = word(w, at),
		.major = word(w, at + 1),
		.minor = word(w, at + 2),
		.raid_disk = word(w, at + 3),
		.state = word(w, at + 4),
	};
}

/* Printed as four words, so the bytes of the printed form depend on no byte order. */
static void decode_uuid(struct words w, uint8_t ret[16])
{
	static const unsigned numbers[4] = { MD0_W_UUID0, MD0_W_UUID1, MD0_W_UUID1 + 1, MD0_W_UUID1 + 2 };

	for (unsigned i = 0; i < 16; i++)
		ret[i] = (uint8_t)(word(w, numbers[i / 4]) >> (24 - i % 4 * 8));
}

static void decode_generic(struct words w, struct md0_superblock *sb)
{
	sb->minor_version = word(w, MD0_W_MINOR);
	decode_uuid(w, sb->array_uuid);
	sb->created_seconds = word(w, MD0_W_CTIME);
	sb->level = (int32_t)word(w, MD0_W_LEVEL);
	sb->component_bytes = (uint64_t)word(w, MD0_W_SIZE_KIB) * 1024;
	sb->nr_disks = word(w, MD0_W_NR_DISKS);
	sb->raid_disks = word(w, MD0_W_RAID_DISKS);
	sb->preferred_minor = word(w, MD0_W_MD_MINOR);
	sb->updated_seconds = word(w, MD0_W_UTIME);
	sb->state = word(w, MD0_W_STATE);
	sb->layout = word(w, MD0_W_LAYOUT);
	sb->chunk_bytes = word(w, MD0_W_CHUNK);
	sb->events = pair(w, MD0_W_EVENTS);
	for (unsigned i = 0; i < MD0_DISKS_MAX; i++)
		sb->disks[i] = decode_disk(w, MD0_W_DISKS + i * MD0_DISK_WORDS);
	sb->self = decode_disk(w, MD0_W_THIS_DISK);
}

/* The checkpoint counts only when it was taken at these very events. */
static uint64_t resync_point(struct words w, const struct md0_superblock *sb)
{
	if (sb->state & MD0_CLEAN)
		return UINT64_MAX;
	if (pair(w, MD0_W_CP_EVENTS) != sb->events)
		return 0;
	return word(w, MD0_W_RECOVERY_CP) == UINT32_MAX ? UINT64_MAX : (uint64_t)word(w, MD0_W_RECOVERY_CP) * 512;
}

static void decode_reshape(struct words w, struct md0_superblock *sb)
{
	if (sb->minor_version != 91)
		return;
	if (!u64_mul(pair(w, MD0_W_RESHAPE_POSITION), 512, &sb->reshape_position_bytes))
		sb->reshape_position_bytes = UINT64_MAX; /* all ones: no reshape after all */
	sb->new_level = (int32_t)word(w, MD0_W_NEW_LEVEL);
	sb->delta_disks = (int32_t)word(w, MD0_W_DELTA_DISKS);
	sb->new_layout = word(w, MD0_W_NEW_LAYOUT);
	sb->new_chunk_bytes = word(w, MD0_W_NEW_CHUNK);
}

static int check(const struct md0_superblock *sb, struct blkalign_error *reterr)
{
	if (sb->minor_version != 90 && sb->minor_version != 91)
		return damaged(reterr, sb->super_bytes, "unknown minor version", sb->minor_version);
	if (!sb->raid_disks || sb->raid_disks > MD0_DISKS_MAX)
		return damaged(reterr, sb->super_bytes, "impossible number of members", sb->raid_disks);
	if (sb->chunk_bytes % 512)
		return damaged(reterr, sb->super_bytes, "the chunk is no multiple of 512 bytes", sb->chunk_bytes);
	if (sb->level >= 1 && sb->component_bytes > sb->super_bytes)
		return damaged(reterr, sb->super_bytes, "the component size goes beyond the superblock", sb->component_bytes);
	return 0;
}

int md0_decode(const void *data, size_t length, uint64_t super_bytes, struct md0_superblock *ret, struct blkalign_error *reterr)
{
	struct md0_superblock sb = { .super_bytes = super_bytes };
	struct words w = { .data = data };
	int r;

	if (length < MD0_BYTES)
		return BLKALIGN_NOT_THIS;
	w.big_endian = load_be32(data) == MD0_MAGIC;
	if (word(w, MD0_W_MAGIC) != MD0_MAGIC || word(w, MD0_W_MAJOR) != 0)
		return BLKALIGN_NOT_THIS;
	if (fold(md0_checksum(data, w.big_endian)) != fold(word(w, MD0_W_CSUM)))
		return damaged(reterr, super_bytes, "the checksum is wrong; stored", word(w, MD0_W_CSUM));
	sb.big_endian = w.big_endian;
	decode_generic(w, &sb);
	sb.resync_bytes = resync_point(w, &sb);
	decode_reshape(w, &sb);
	r = check(&sb, reterr);
	if (r < 0)
		return r;
	*ret = sb;
	return 0;
}
