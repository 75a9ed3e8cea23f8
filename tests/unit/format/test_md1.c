/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks that mdadm and a kernel wrote; expected values are what mdadm --examine prints. Hostile ones are made from them, checksum mended. */
#include "unit.h"

#include "format/md1/md1.h"

#define DEVICE (8 * MIB)

static uint8_t data[MD1_BYTES];
static struct md1_superblock sb;
static struct blkalign_error err;

static void load(const char *name)
{
	char path[512];
	FILE *f;

	memset(data, 0, sizeof(data));
	snprintf(path, sizeof(path), "%s/fuzz/corpus/md1/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(data, 1, 512, f), 512);
	fclose(f);
}

static void put(size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		data[at + i] = (uint8_t)(value >> 8 * i);
}

static int decode(void) { return md1_decode(data, sizeof(data), 4096, DEVICE, &sb, &err); }

static int mended(void)
{
	put(216, 4, md1_checksum(data, load_le32(data + 220)));
	return decode();
}

static void test_plain_fields(void **state)
{
	static const uint8_t uuid[16] = { 0x35, 0x3a, 0x38, 0x79, 0xee, 0x68, 0xf3, 0xf2, 0x0a, 0x02, 0x46, 0x24, 0x8b, 0xc3, 0xf5, 0x2b };
	static const uint8_t device_uuid[4] = { 0x63, 0xdc, 0x53, 0x17 };

	(void)state;
	load("raid1-badblocks");
	assert_int_equal(decode(), 0);
	assert_memory_equal(sb.array_uuid, uuid, 16);
	assert_memory_equal(sb.device_uuid, device_uuid, 4);
	assert_string_equal(sb.name, "lab:raid1-badblocks");
	assert_int_equal(sb.features, MD1_BAD_BLOCKS);
	assert_int_equal(sb.level, 1);
	assert_int_equal(sb.raid_disks, 2);
	assert_int_equal(sb.component_bytes, 7168 * KIB);
	assert_int_equal(sb.data_offset_bytes, 2048 * 512);
	assert_int_equal(sb.data_bytes, 14336 * 512);
	assert_int_equal(sb.badblocks_from_super_bytes, 16 * 512);
	assert_int_equal(sb.badblocks_bytes, 8 * 512);
	assert_int_equal(sb.events, 15);
	assert_int_equal(sb.role, 1);
	assert_int_equal(sb.resync_bytes, UINT64_MAX);
	assert_int_equal(sb.recovery_bytes, UINT64_MAX);
	assert_int_equal(sb.max_dev, 128);
	assert_int_equal(sb.oddities, 0);
}

static void test_features(void **state)
{
	(void)state;
	load("raid5-reshape");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.features, MD1_RESHAPE);
	assert_int_equal(sb.raid_disks, 4);
	assert_int_equal(sb.delta_disks, 1);
	assert_int_equal(sb.reshape_position_bytes, 1344 * KIB);
	assert_int_equal(sb.new_level, 5);
	assert_int_equal(sb.new_layout, 2);
	assert_int_equal(sb.chunk_bytes, 64 * KIB);
	assert_int_equal(sb.new_chunk_bytes, 64 * KIB);
	assert_int_equal(sb.oddities, MD1_ODD_DATA_BEYOND); /* its member has 12 MiB, this test says 8 */
	load("raid5-journal");
	assert_int_equal(md1_decode(data, sizeof(data), 4096, 16 * MIB, &sb, &err), 0);
	assert_int_equal(sb.features, MD1_JOURNAL);
	assert_int_equal(sb.role, MD1_ROLE_JOURNAL);
	assert_int_equal(sb.oddities, 0);
	load("raid5-ppl");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.features, MD1_MULTIPLE_PPLS);
	assert_int_equal(sb.ppl_from_super_bytes, 8 * 512);
	assert_int_equal(sb.ppl_bytes, 2048 * 512);
	assert_int_equal(sb.oddities, 0);
	load("raid0-original");
	assert_int_equal(md1_decode(data, sizeof(data), 4096, 14400 * KIB, &sb, &err), 0);
	assert_int_equal(sb.features, MD1_RAID0_LAYOUT);
	assert_int_equal(sb.layout, 1);
	assert_int_equal(sb.component_bytes, 0);
	load("raid1-replacement");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.features, MD1_REPLACEMENT | MD1_RECOVERY_OFFSET);
	assert_int_equal(sb.recovery_bytes, 4096 * 512);
	assert_int_equal(sb.role, 1);
	load("raid5-dirty-bitmap");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.bitmap_from_super_bytes, 8 * 512);
	assert_int_equal(sb.resync_bytes, 0);
	load("raid1-v10-bitmap");
	assert_int_equal(md1_decode(data, sizeof(data), 16368 * 512, DEVICE, &sb, &err), 0);
	assert_int_equal(sb.bitmap_from_super_bytes, -16 * 512);
	assert_int_equal(sb.badblocks_from_super_bytes, -8 * 512);
	assert_int_equal(sb.data_offset_bytes, 0);
	assert_int_equal(sb.oddities, 0);
}

static void test_places(void **state)
{
	(void)state;
	assert_int_equal(md1_super_bytes(1, DEVICE), 0);
	assert_int_equal(md1_super_bytes(2, DEVICE), 4096);
	assert_int_equal(md1_super_bytes(0, DEVICE), 16368 * 512);
	/* Sizes that are no multiple of 8 sectors, or of a sector. */
	assert_int_equal(md1_super_bytes(0, DEVICE + 7 * 512), 16368 * 512);
	assert_int_equal(md1_super_bytes(0, DEVICE - 512), 16360 * 512);
	assert_int_equal(md1_super_bytes(0, DEVICE + 8 * 512 + 511), 16376 * 512);
	assert_int_equal(md1_super_bytes(0, 24 * 512), 8 * 512);
	assert_int_equal(md1_super_bytes(0, 24 * 512 - 1), UINT64_MAX);
	assert_int_equal(md1_super_bytes(3, DEVICE), UINT64_MAX);
}

/* A member whose size changed since: found all the same by magic and checksum, and said. */
static void test_read_moved(void **state)
{
	static uint8_t disk[64 * 1024];
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL;

	(void)state;
	load("raid1-v10-bitmap");
	memcpy(disk + md1_super_bytes(0, sizeof(disk)), data, 512);
	assert_int_equal(dev_open_memory("disk", disk, sizeof(disk), false, &dev), 0);
	assert_int_equal(md1_read(dev, 0, &sb, &err), 0);
	assert_int_equal(sb.stored_super_bytes, 16368 * 512);
	assert_int_equal(sb.super_bytes, 57344);
	assert_true(sb.oddities & MD1_ODD_SUPER_OFFSET);
	assert_true(sb.oddities & MD1_ODD_DATA_BEYOND);
	assert_int_equal(md1_read(dev, 1, &sb, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(md1_read(dev, 2, &sb, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(dev_open_fault(dev, 57344, 512, -EIO, &bad), 0);
	assert_int_equal(md1_read(bad, 0, &sb, &err), -EIO);
	assert_int_equal(err.offset_bytes, 57344);
	assert_int_equal(md1_read(bad, 2, &sb, &err), BLKALIGN_NOT_THIS);
}

static void test_logical_block_of_new_kernels(void **state)
{
	(void)state;
	load("raid1-badblocks");
	put(224, 4, 4096);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.logical_block_bytes, 4096);
	assert_int_equal(sb.oddities, 0);
	put(224, 4, 700);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.oddities, MD1_ODD_LOGICAL_BLOCK);
	put(224, 4, 0);
	put(228, 4, 1);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.oddities, MD1_ODD_PADDING);
}

static void test_vendor_role(void **state)
{
	(void)state;
	load("raid1-badblocks");
	put(256 + 2, 2, 0x8001);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.role, 1);
	assert_int_equal(sb.oddities, MD1_ODD_VENDOR_ROLE);
}

static void test_not_this(void **state)
{
	(void)state;
	load("raid1-badblocks");
	assert_int_equal(md1_decode(data, 255, 4096, DEVICE, &sb, &err), BLKALIGN_NOT_THIS);
	put(4, 4, 2);
	assert_int_equal(mended(), BLKALIGN_NOT_THIS);
	load("raid1-badblocks");
	data[0] ^= 1;
	assert_int_equal(decode(), BLKALIGN_NOT_THIS);
	memset(data, 0, 4);
	memcpy(data, "\xde\x11\xde\x11", 4); /* a DDF header */
	assert_int_equal(decode(), BLKALIGN_NOT_THIS);
}

static void refused(size_t at, unsigned width, uint64_t value, const char *message)
{
	load("raid5-dirty-bitmap");
	memset(&sb, 0x5a, sizeof(sb));
	put(at, width, value);
	if (at != 220)
		put(216, 4, md1_checksum(data, load_le32(data + 220)));
	assert_int_equal(decode(), -EBADMSG);
	if (!strstr(err.message, message))
		fail_msg("byte %zu = %lu says: %s", at, value, err.message);
	assert_int_equal(sb.events, UINT64_C(0x5a5a5a5a5a5a5a5a)); /* untouched */
}

static void test_hostile_refused(void **state)
{
	(void)state;
	refused(220, 4, 1921, "too many roles");
	refused(220, 4, 0x80000000, "too many roles");
	refused(220, 4, UINT32_MAX, "too many roles");
	refused(220, 4, 0, "checksum");
	refused(92, 4, 0, "number of members");
	refused(92, 4, INT32_MAX, "number of members");
	refused(80, 8, UINT64_MAX / 2, "component size");
	refused(128, 8, UINT64_MAX, "data area");
	refused(128, 8, UINT64_MAX / 512, "data area");
	load("raid5-dirty-bitmap");
	data[300] ^= 1;
	assert_int_equal(decode(), -EBADMSG);
	load("raid5-dirty-bitmap");
	assert_int_equal(md1_decode(data, 511, 4096, DEVICE, &sb, &err), -EBADMSG);
}

static void odd(size_t at, unsigned width, uint64_t value, uint32_t oddity)
{
	load("raid5-dirty-bitmap");
	put(at, width, value);
	assert_int_equal(mended(), 0);
	if (sb.oddities != oddity)
		fail_msg("byte %zu = %lx: oddities 0x%x, expected 0x%x", at, value, sb.oddities, oddity);
}

static void test_hostile_odd(void **state)
{
	(void)state;
	odd(160, 4, 128, MD1_ODD_DEV_NUMBER);
	assert_int_equal(sb.role, MD1_ROLE_SPARE);
	odd(160, 4, UINT32_MAX, MD1_ODD_DEV_NUMBER);
	odd(144, 8, 16, MD1_ODD_SUPER_OFFSET);
	odd(144, 8, UINT64_MAX, MD1_ODD_SUPER_OFFSET);
	odd(128, 8, 8, MD1_ODD_DATA_BEYOND | MD1_ODD_OVERLAP);
	odd(136, 8, 20000, MD1_ODD_DATA_BEYOND);
	odd(96, 4, (uint32_t)-100, MD1_ODD_OVERLAP);
	odd(96, 4, INT32_MAX, MD1_ODD_OVERLAP);
	odd(96, 4, 3000, MD1_ODD_OVERLAP);
	odd(8, 4, 1 | 1 << 13, MD1_ODD_FEATURES);
	odd(8, 4, 1 | MD1_PPL, MD1_ODD_FEATURES);
	odd(8, 4, MD1_PPL | MD1_MULTIPLE_PPLS, MD1_ODD_FEATURES);
	odd(12, 4, 1, MD1_ODD_PADDING);
	/* Reshape fields count with the feature bit only. */
	odd(112, 4, (uint32_t)-5000, 0);
	put(8, 4, 1 | MD1_RESHAPE);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.oddities, MD1_ODD_RESHAPE);
	odd(104, 8, UINT64_MAX, 0);
	put(8, 4, 1 | MD1_RESHAPE);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.oddities, MD1_ODD_RESHAPE);
	odd(152, 8, UINT64_MAX, 0);
	put(8, 4, 1 | MD1_RECOVERY_OFFSET);
	put(152, 8, 14337);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.oddities, MD1_ODD_RECOVERY);
	odd(186, 2, UINT16_MAX, MD1_ODD_OVERLAP);
	/* Levels and chunks are the geometry's business. */
	odd(72, 4, 77, 0);
	assert_int_equal(sb.level, 77);
	odd(72, 4, (uint32_t)-10, 0);
	assert_int_equal(sb.level, -10);
	odd(88, 4, UINT32_MAX, 0);
	assert_int_equal(sb.chunk_bytes, UINT32_MAX * UINT64_C(512));
	odd(200, 8, UINT64_MAX, 0);
	assert_int_equal(sb.events, UINT64_MAX);
}

static void test_name_not_terminated(void **state)
{
	(void)state;
	load("raid1-badblocks");
	memset(data + 32, 0x1b, 32);
	assert_int_equal(mended(), 0);
	assert_int_equal(strlen(sb.name), 32);
}

static void test_oddities_have_texts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MD1_ODDITIES; i++)
		assert_true(strlen(md1_oddity_text(i)) > 10);
}

static void words(uint8_t *log, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned b = 0; b < 8; b++)
			log[8 * i + b] = (uint8_t)(values[i] >> 8 * b);
}

/* sysfs of the kernel that made it: "4000 16" and "9000 3". */
static void test_badblocks(void **state)
{
	_cleanup_free_ uint8_t *disk = calloc(1, DEVICE);
	_cleanup_free_ struct md1_bad_range *ranges = NULL;
	_cleanup_dev_ struct dev *dev = NULL;
	const uint64_t log[3] = { UINT64_C(4000) << 10 | 16, UINT64_C(9000) << 10 | 3, UINT64_MAX };
	size_t count = 99;

	(void)state;
	load("raid1-badblocks");
	assert_int_equal(decode(), 0);
	words(disk + 4096 + 16 * 512, log, 3);
	assert_int_equal(dev_open_memory("m1", disk, DEVICE, false, &dev), 0);
	assert_int_equal(md1_badblocks_read(dev, &sb, &ranges, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(ranges[0].from_device_start_bytes, 4000 * 512);
	assert_int_equal(ranges[0].length_bytes, 16 * 512);
	assert_int_equal(ranges[1].from_device_start_bytes, 9000 * 512);
	assert_int_equal(ranges[1].length_bytes, 3 * 512);
	sb.badblocks_from_super_bytes = -8192;
	assert_int_equal(md1_badblocks_read(dev, &sb, &(struct md1_bad_range *){ NULL }, &count, &err), -EBADMSG);
	sb.badblocks_from_super_bytes = DEVICE;
	assert_int_equal(md1_badblocks_read(dev, &sb, &(struct md1_bad_range *){ NULL }, &count, &err), -ERANGE);
	sb.features = 0;
	count = 99;
	assert_int_equal(md1_badblocks_read(dev, &sb, &(struct md1_bad_range *){ NULL }, &count, &err), 0);
	assert_int_equal(count, 0);
}

static void bad_log(uint64_t first, uint64_t second, unsigned shift)
{
	struct md1_bad_range *ranges = NULL;
	size_t count = 99;
	uint8_t log[16];

	words(log, (const uint64_t[2]){ first, second }, 2);
	assert_int_equal(md1_badblocks_decode(log, 16, shift, &ranges, &count, &err), -EBADMSG);
	assert_null(ranges);
	assert_int_equal(count, 99);
}

static void test_badblocks_hostile(void **state)
{
	static uint8_t big[MD1_BADBLOCKS_BYTES + 8];
	struct md1_bad_range *ranges = NULL;
	size_t count = 99;

	(void)state;
	bad_log(UINT64_C(4000) << 10 | 16, UINT64_C(4010) << 10 | 1, 0);
	bad_log(UINT64_C(4000) << 10 | 16, UINT64_C(10) << 10 | 1, 0);
	bad_log(UINT64_C(4000) << 10, UINT64_MAX, 0);
	bad_log(UINT64_C(1) << 60 | 1, UINT64_MAX, 20);
	bad_log(1 << 10 | 1, UINT64_MAX, 41);
	bad_log(1 << 10 | 1, UINT64_MAX, 64);
	bad_log(1 << 10 | 1, UINT64_MAX, 255);
	assert_int_equal(md1_badblocks_decode(big, sizeof(big), 0, &ranges, &count, &err), -EBADMSG);
	memset(big, 0xff, sizeof(big));
	assert_int_equal(md1_badblocks_decode(big, MD1_BADBLOCKS_BYTES, 0, &ranges, &count, &err), 0);
	assert_null(ranges);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_fields),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_read_moved),
		cmocka_unit_test(test_logical_block_of_new_kernels),
		cmocka_unit_test(test_vendor_role),
		cmocka_unit_test(test_not_this),
		cmocka_unit_test(test_hostile_refused),
		cmocka_unit_test(test_hostile_odd),
		cmocka_unit_test(test_name_not_terminated),
		cmocka_unit_test(test_oddities_have_texts),
		cmocka_unit_test(test_badblocks),
		cmocka_unit_test(test_badblocks_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
