/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words are stored one by one into the bytes as they were read, in the byte order of the machine that made the array. */
#include "format/md0/md0.h"
#include "format/md0/md0_ondisk.h"

static void put_word(void *raw, bool big_endian, unsigned number, uint32_t value)
{
	uint8_t *p = (uint8_t *)raw + 4 * (size_t)number;

	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (big_endian ? 24 - 8 * i : 8 * i));
}

static uint32_t get_word(const void *raw, bool big_endian, unsigned number)
{
	const uint8_t *p = (const uint8_t *)raw + 4 * (size_t)number;

	return big_endian ? load_be32(p) : load_le32(p);
}

static void put_pair(void *raw, bool big_endian, unsigned number, uint64_t value)
{
	put_word(raw, big_endian, number + big_endian, (uint32_t)value);
	put_word(raw, big_endian, number + !big_endian, (uint32_t)(value >> 32));
}

void md0_put_state(void *raw, bool big_endian, uint64_t events, uint64_t resync_bytes, uint64_t updated_seconds)
{
	uint32_t state = get_word(raw, big_endian, MD0_W_STATE) & ~(uint32_t)MD0_CLEAN, checkpoint = UINT32_MAX;

	if (resync_bytes == UINT64_MAX)
		state |= MD0_CLEAN;
	else
		checkpoint = resync_bytes / 512 < UINT32_MAX ? (uint32_t)(resync_bytes / 512) : 0;
	put_word(raw, big_endian, MD0_W_STATE, state);
	put_pair(raw, big_endian, MD0_W_EVENTS, events);
	/* A checkpoint counts at these very events; one of 0 says the same at any, and the kernel leaves the words alone then. */
	if (checkpoint)
		put_pair(raw, big_endian, MD0_W_CP_EVENTS, events);
	put_word(raw, big_endian, MD0_W_RECOVERY_CP, checkpoint);
	put_word(raw, big_endian, MD0_W_UTIME, (uint32_t)updated_seconds);
}

void md0_put_disk(void *raw, bool big_endian, uint32_t index, const struct md0_disk *disk)
{
	unsigned at = index == MD0_SELF ? MD0_W_THIS_DISK : MD0_W_DISKS + index * MD0_DISK_WORDS;

	put_word(raw, big_endian, at, disk->number);
	put_word(raw, big_endian, at + 1, disk->major);
	put_word(raw, big_endian, at + 2, disk->minor);
	put_word(raw, big_endian, at + 3, disk->raid_disk);
	put_word(raw, big_endian, at + 4, disk->state);
}

void md0_put_counts(void *raw, bool big_endian, const struct md0_counts *counts)
{
	put_word(raw, big_endian, MD0_W_NR_DISKS, counts->present);
	put_word(raw, big_endian, MD0_W_ACTIVE, counts->active);
	put_word(raw, big_endian, MD0_W_ACTIVE + 1, counts->active + counts->spare);
	put_word(raw, big_endian, MD0_W_ACTIVE + 2, counts->failed);
	put_word(raw, big_endian, MD0_W_ACTIVE + 3, counts->spare);
}

void md0_seal(void *raw, bool big_endian) { put_word(raw, big_endian, MD0_W_CSUM, md0_checksum(raw, big_endian)); }
