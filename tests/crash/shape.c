/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays made from nothing, small enough that all their crash states can be gone through. Field places: the kernel's md_p.h, md-bitmap.h, raid5-ppl.c. */
#include "crash.h"
#include "format/md0/md0.h"
#include "format/md1/md1.h"

#define EVENTS	     20U
#define PPL_SECTORS  256U	   /* the least that holds a record of the kernel's */
#define DATA_OFFSET  (16U * 1024U) /* of 1.1 and 1.2, without a parity log */
#define BITMAP_CHUNK 4096U

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static void put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* The xor of sectors is none. */
static uint64_t word_of(uint64_t first, unsigned at) { return at ? (first + 1) * (0x9e3779b97f4a7c15 + 2 * at) : first; }

void sector_fill(uint8_t *data, uint64_t sector, uint32_t tag)
{
	uint64_t first = sector | (uint64_t)tag << 40;

	for (unsigned i = 0; i < SECTOR; i += 8)
		put(data + i, 8, word_of(first, i));
}

uint32_t sector_tag(const uint8_t *data, uint64_t sector)
{
	uint64_t first = load_le64(data);

	for (unsigned i = 8; i < SECTOR; i += 8)
		if (load_le64(data + i) != word_of(first, i))
			return TAG_GARBAGE;
	return (first & UINT64_C(0xffffffffff)) == sector ? (uint32_t)(first >> 40) : TAG_GARBAGE;
}

void shape_geometry(const struct shape *shape, struct raid_geometry *ret)
{
	uint64_t components[MEMBERS_MAX];
	struct raid_shape s = { .level = shape->level,
				.layout = shape->layout,
				.chunk_bytes = shape->chunk_bytes,
				.members = shape->members,
				.component_bytes = components };

	for (uint32_t i = 0; i < shape->members; i++)
		components[i] = shape->component_bytes;
	if (raid_geometry_init(ret, &s, NULL) < 0)
		abort();
}

static bool is_version(const struct shape *shape, const char *metadata) { return strcmp(shape->metadata, metadata) == 0; }

static bool data_is_behind(const struct shape *shape) { return is_version(shape, "1.1") || is_version(shape, "1.2"); }

uint64_t shape_data_offset(const struct shape *shape)
{
	if (!data_is_behind(shape))
		return 0;
	return DATA_OFFSET + (shape->record == RECORD_PPL ? PPL_SECTORS * SECTOR : 0);
}

size_t shape_member_bytes(const struct shape *shape)
{
	return data_is_behind(shape) ? (size_t)(shape_data_offset(shape) + shape->component_bytes) : 128 * KIB;
}

static uint64_t super_offset(const struct shape *shape)
{
	if (is_version(shape, "0.90"))
		return shape_member_bytes(shape) - 65536;
	if (is_version(shape, "1.0"))
		return shape_member_bytes(shape) - 8192;
	return is_version(shape, "1.1") ? 0 : 4096;
}

/* --- records --- */

static int64_t bitmap_from_super(const struct shape *shape) { return is_version(shape, "1.0") ? -4096 : 4096; }

static void make_bitmap(const struct shape *shape, const struct raid_geometry *g, uint8_t *at)
{
	memset(at, 0, 4096);
	put(at, 4, 0x6d746962);
	put(at + 4, 4, 4);
	memcpy(at + 8, uuid, 16);
	put(at + 24, 8, EVENTS - shape->behind);
	put(at + 32, 8, shape->missing ? EVENTS - 4 : EVENTS - shape->behind);
	put(at + 40, 8, (shape->level == RAID_10 ? g->array_bytes : shape->component_bytes) / SECTOR);
	put(at + 52, 4, BITMAP_CHUNK);
	put(at + 56, 4, 5);
	put(at + 64, 4, 8);
}

static uint32_t crc32c(const uint8_t *data, size_t length) { return ~crc32c_raw(UINT32_MAX, data, length); }

static void make_ppl(uint8_t *at)
{
	memset(at, 0, PPL_SECTORS * SECTOR);
	memset(at, 0xff, 512);
	put(at + 512, 4, crc32c(uuid, 16));
	put(at + 532, 4, crc32c(at, 4096));
}

static void make_super_1(const struct shape *shape, uint32_t slot, uint8_t *image)
{
	uint8_t *sb = image + super_offset(shape);

	put(sb, 4, 0xa92b4efc);
	put(sb + 4, 4, 1);
	put(sb + 8, 4, shape->record == RECORD_BITMAP ? MD1_BITMAP : shape->record == RECORD_PPL ? MD1_PPL : 0);
	memcpy(sb + 16, uuid, 16);
	memcpy(sb + 32, "host:crash", 10);
	put(sb + 64, 8, 1000000000);
	put(sb + 72, 4, (uint32_t)shape->level);
	put(sb + 76, 4, shape->layout);
	put(sb + 80, 8, shape->component_bytes / SECTOR);
	put(sb + 88, 4, shape->chunk_bytes / SECTOR);
	put(sb + 92, 4, shape->members);
	if (shape->record == RECORD_BITMAP)
		put(sb + 96, 4, (uint64_t)(bitmap_from_super(shape) / (int64_t)SECTOR));
	if (shape->record == RECORD_PPL) {
		put(sb + 96, 2, 8);
		put(sb + 98, 2, PPL_SECTORS);
	}
	put(sb + 128, 8, shape_data_offset(shape) / SECTOR);
	put(sb + 136, 8, shape->component_bytes / SECTOR);
	put(sb + 144, 8, super_offset(shape) / SECTOR);
	put(sb + 160, 4, slot);
	memset(sb + 168, (int)(0x40 + slot), 16);
	put(sb + 192, 8, 1000000000);
	put(sb + 200, 8, EVENTS - shape->behind);
	put(sb + 208, 8, UINT64_MAX);
	put(sb + 220, 4, 128);
	for (uint32_t i = 0; i < 128; i++)
		put(sb + 256 + 2 * (size_t)i, 2, i < shape->members && shape_has(shape, i) ? i : MD1_ROLE_SPARE);
	put(sb + 216, 4, md1_checksum(sb, 128));
}

static void make_super_0(const struct shape *shape, uint32_t slot, uint8_t *image)
{
	uint8_t *sb = image + super_offset(shape);
	uint32_t present = 0;

	for (uint32_t i = 0; i < shape->members; i++)
		present += shape_has(shape, i);
	put(sb, 4, 0xa92b4efc);
	put(sb + 8, 4, 90);
	memcpy(sb + 20, uuid, 4);
	memcpy(sb + 52, uuid + 4, 12);
	put(sb + 24, 4, 1000000000);
	put(sb + 28, 4, (uint32_t)shape->level);
	put(sb + 32, 4, shape->component_bytes / 1024);
	put(sb + 36, 4, present);
	put(sb + 40, 4, shape->members);
	put(sb + 128, 4, 1000000000);
	put(sb + 132, 4, 1 | (shape->record == RECORD_BITMAP ? 1U << 8 : 0));
	put(sb + 136, 4, present);
	put(sb + 140, 4, present);
	put(sb + 156, 4, EVENTS - shape->behind);
	put(sb + 256, 4, shape->layout);
	put(sb + 260, 4, shape->chunk_bytes);
	for (uint32_t i = 0; i < shape->members; i++) {
		uint8_t *disk = sb + 512 + 128 * (size_t)i;

		put(disk, 4, i);
		put(disk + 12, 4, i);
		put(disk + 16, 4, shape_has(shape, i) ? 6 : 9);
	}
	memcpy(sb + 3968, sb + 512 + 128 * (size_t)slot, 20);
	put(sb + 152, 4, md0_checksum(sb, false));
}

/* --- data --- */

static void make_data(const struct shape *shape, const struct raid_geometry *g, uint8_t *const *images)
{
	uint64_t offset = shape_data_offset(shape);

	for (uint64_t sector = 0; sector < g->array_bytes / SECTOR; sector++)
		for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
			struct raid_place place;

			if (raid_locate(g, sector * SECTOR, copy, &place) < 0)
				abort();
			sector_fill(images[place.slot] + offset + place.device_bytes, sector, 0);
		}
	if (shape_has_parity(shape))
		for (uint64_t sector = 0; sector < shape->component_bytes / SECTOR; sector++)
			parity_make(shape, g, images, sector);
}

void shape_make(const struct shape *shape, uint8_t *const *images)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };

	shape_geometry(shape, &g);
	for (uint32_t slot = 0; slot < shape->members; slot++)
		memset(images[slot], 0, shape_member_bytes(shape));
	make_data(shape, &g, images);
	for (uint32_t slot = 0; slot < shape->members; slot++) {
		uint8_t *super = images[slot] + super_offset(shape);

		if (!shape_has(shape, slot)) {
			memset(images[slot], 0, shape_member_bytes(shape));
			continue;
		}
		if (is_version(shape, "0.90"))
			make_super_0(shape, slot, images[slot]);
		else
			make_super_1(shape, slot, images[slot]);
		if (shape->record == RECORD_BITMAP)
			make_bitmap(shape, &g, super + bitmap_from_super(shape));
		if (shape->record == RECORD_PPL)
			make_ppl(super + 4096);
	}
}
