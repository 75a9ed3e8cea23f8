/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks that mdadm and a kernel wrote; expected values are what mdadm --examine prints (the big-endian one: --metadata=0.swap). */
#include "unit.h"

#include "format/md0/md0.h"

#define AT (8 * MIB - 64 * KIB)

static uint8_t data[MD0_BYTES];
static struct md0_superblock sb;
static struct blkalign_error err;

static void load(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/md0/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(data, 1, sizeof(data), f), sizeof(data));
	fclose(f);
}

static void put(unsigned word, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		data[4 * word + i] = (uint8_t)(value >> 8 * i);
}

static int decode(void) { return md0_decode(data, sizeof(data), AT, &sb, &err); }

static int mended(void)
{
	put(38, md0_checksum(data, false));
	return decode();
}

static void test_fields(void **state)
{
	static const uint8_t uuid[16] = { 0x8e, 0xbb, 0xc3, 0x9a, 0x33, 0xa5, 0x48, 0xa2, 0xdd, 0xf9, 0x53, 0x39, 0x50, 0xab, 0x75, 0xf9 };

	(void)state;
	load("raid5-090-stale");
	assert_int_equal(decode(), 0);
	assert_false(sb.big_endian);
	assert_int_equal(sb.minor_version, 90);
	assert_memory_equal(sb.array_uuid, uuid, 16);
	assert_int_equal(sb.level, 5);
	assert_int_equal(sb.component_bytes, 8128 * KIB);
	assert_int_equal(sb.raid_disks, 4);
	assert_int_equal(sb.nr_disks, 3);
	assert_int_equal(sb.preferred_minor, 0);
	assert_int_equal(sb.state, MD0_CLEAN);
	assert_int_equal(sb.layout, 2);
	assert_int_equal(sb.chunk_bytes, 64 * KIB);
	assert_int_equal(sb.events, 24);
	assert_int_equal(sb.resync_bytes, UINT64_MAX);
	assert_int_equal(sb.self.number, 1);
	assert_int_equal(sb.self.raid_disk, 1);
	assert_int_equal(sb.self.state, MD0_DISK_ACTIVE | MD0_DISK_SYNC);
	assert_int_equal(sb.disks[0].state, MD0_DISK_REMOVED);
	assert_int_equal(sb.disks[3].raid_disk, 3);
	load("raid1-090-2-bitmap");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.state, MD0_CLEAN | MD0_BITMAP);
	assert_int_equal(sb.events, 20);
	load("linear-090-2");
	assert_int_equal(decode(), 0);
	assert_int_equal(sb.level, -1);
}

static void test_big_endian(void **state)
{
	static const uint8_t uuid[4] = { 0x8e, 0xbb, 0xc3, 0x9a };

	(void)state;
	load("raid5-big-endian");
	assert_int_equal(decode(), 0);
	assert_true(sb.big_endian);
	assert_memory_equal(sb.array_uuid, uuid, 4);
	assert_int_equal(sb.component_bytes, 8128 * KIB);
	assert_int_equal(sb.events, 19);
	assert_int_equal(sb.self.raid_disk, 0);
	assert_int_equal(md0_checksum(data, true), load_be32(data + 152));
	/* Only the magic swapped: neither order, and never taken for the wrong one. */
	load("raid5-090-stale");
	memcpy(data, "\xa9\x2b\x4e\xfc", 4);
	assert_int_not_equal(decode(), 0);
}

static void test_state_words(void **state)
{
	(void)state;
	load("raid5-090-stale");
	put(33, 0); /* not clean, checkpoint at these events */
	put(41, 24);
	put(42, 0);
	put(43, 1000);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.resync_bytes, 1000 * 512);
	put(43, UINT32_MAX);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.resync_bytes, UINT64_MAX);
	put(41, 23); /* checkpoint of other events */
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.resync_bytes, 0);
	put(40, 1);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.events, (UINT64_C(1) << 32) + 24);
	put(992 + 4, 6 | 1 << 6); /* Synology's error bit */
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.self.state, MD0_DISK_ACTIVE | MD0_DISK_SYNC | MD0_DISK_VENDOR_ERROR);
}

static void test_reshape(void **state)
{
	(void)state;
	load("raid5-090-stale");
	put(44, 3000);
	put(46, 6);
	put(47, 1);
	put(48, 18);
	put(49, 65536);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.reshape_position_bytes, 0);
	put(2, 91);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.reshape_position_bytes, 3000 * 512);
	assert_int_equal(sb.new_level, 6);
	assert_int_equal(sb.delta_disks, 1);
	assert_int_equal(sb.new_layout, 18);
	assert_int_equal(sb.new_chunk_bytes, 65536);
	put(44, UINT32_MAX);
	put(45, UINT32_MAX);
	assert_int_equal(mended(), 0);
	assert_int_equal(sb.reshape_position_bytes, UINT64_MAX);
}

static void refused(unsigned word, uint32_t value, const char *message)
{
	load("raid5-090-stale");
	memset(&sb, 0x5a, sizeof(sb));
	put(word, value);
	assert_int_equal(mended(), -EBADMSG);
	if (!strstr(err.message, message))
		fail_msg("word %u = %u says: %s", word, value, err.message);
	assert_int_equal(err.offset_bytes, AT);
	assert_int_equal(sb.events, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void test_refused(void **state)
{
	(void)state;
	refused(2, 92, "minor version");
	refused(10, 0, "number of members");
	refused(10, 28, "number of members");
	refused(10, INT32_MAX, "number of members");
	refused(65, 7, "chunk");
	refused(8, UINT32_MAX, "beyond the superblock");
	load("raid5-090-stale");
	data[700] ^= 1;
	assert_int_equal(decode(), -EBADMSG);
	assert_non_null(strstr(err.message, "checksum"));
	load("raid5-090-stale");
	assert_int_equal(md0_decode(data, sizeof(data) - 1, AT, &sb, &err), BLKALIGN_NOT_THIS);
	put(1, 1);
	assert_int_equal(mended(), BLKALIGN_NOT_THIS);
	data[0] ^= 1;
	assert_int_equal(mended(), BLKALIGN_NOT_THIS);
}

/* Alpha kernels stored the checksum folded to 16 bits. */
static void test_folded_checksum(void **state)
{
	uint32_t sum;

	(void)state;
	load("raid5-090-stale");
	sum = md0_checksum(data, false);
	sum = (sum & 0xffff) + (sum >> 16);
	put(38, (sum & 0xffff) + (sum >> 16));
	assert_int_equal(decode(), 0);
}

static void test_places_and_read(void **state)
{
	_cleanup_free_ uint8_t *disk = calloc(1, 8 * MIB + 60 * KIB);
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL;

	(void)state;
	assert_int_equal(md0_super_bytes(8 * MIB), AT);
	assert_int_equal(md0_super_bytes(8 * MIB + 64 * KIB - 1), AT);
	assert_int_equal(md0_super_bytes(128 * KIB), 64 * KIB);
	assert_int_equal(md0_super_bytes(128 * KIB - 1), UINT64_MAX);
	load("raid5-090-stale");
	memcpy(disk + AT, data, sizeof(data));
	assert_int_equal(dev_open_memory("m1", disk, 8 * MIB + 60 * KIB, false, &dev), 0);
	assert_int_equal(md0_read(dev, &sb, &err), 0);
	assert_int_equal(sb.super_bytes, AT);
	assert_int_equal(dev_open_fault(dev, AT + 100, 1, -EIO, &bad), 0);
	assert_int_equal(md0_read(bad, &sb, &err), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),		cmocka_unit_test(test_big_endian), cmocka_unit_test(test_state_words),
		cmocka_unit_test(test_reshape),		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_folded_checksum),
		cmocka_unit_test(test_places_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
