/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks, bitmaps and logs that kernels wrote: stored again with the same values, not a byte differs; what changes is what was named. */
#include "keep/images.h"

#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "format/mdbitmap/mdbitmap.h"
#include "format/ppl/ppl.h"

static struct images images;
static struct blkalign_error err;

/* The superblock of an image in any of the three places; false for 0.90. */
static bool find1(unsigned image, struct md1_superblock *sb)
{
	for (unsigned minor = 0; minor < 3; minor++) {
		uint64_t at = md1_super_bytes(minor, images.size[image]);

		if (at != UINT64_MAX && md1_decode(images.data[image] + at, MD1_BYTES, at, images.size[image], sb, &err) == 0)
			return true;
	}
	return false;
}

static void unchanged1(const struct md1_superblock *sb, const uint8_t *found)
{
	uint8_t raw[MD1_BYTES];

	memcpy(raw, found, sizeof(raw));
	md1_put_state(raw, sb->events, sb->resync_bytes, sb->updated_seconds);
	md1_put_features(raw, sb->features, ~sb->features);
	if (sb->features & MD1_RECOVERY_OFFSET)
		md1_put_recovery(raw, sb->recovery_bytes);
	for (uint32_t i = 0; i < sb->max_dev; i++)
		assert_true(md1_put_role(raw, i, sb->roles[i]));
	assert_false(md1_put_role(raw, sb->max_dev, 0));
	md1_seal(raw);
	assert_int_equal(md1_stored_bytes(raw), 256 + 2 * sb->max_dev);
	assert_memory_equal(raw, found, sizeof(raw));
}

static void unchanged0(const uint8_t *found, uint64_t at)
{
	struct md0_superblock sb;
	uint8_t raw[MD0_BYTES];

	assert_int_equal(md0_decode(found, MD0_BYTES, at, &sb, &err), 0);
	memcpy(raw, found, sizeof(raw));
	md0_put_state(raw, sb.big_endian, sb.events, sb.resync_bytes, sb.updated_seconds);
	for (uint32_t i = 0; i < MD0_DISKS_MAX; i++)
		md0_put_disk(raw, sb.big_endian, i, &sb.disks[i]);
	md0_put_disk(raw, sb.big_endian, MD0_SELF, &sb.self);
	md0_seal(raw, sb.big_endian);
	assert_memory_equal(raw, found, sizeof(raw));
}

static void test_unchanged(void **state)
{
	static const char *const cases[] = { "raid1-crash-bitmap", "raid5-10-crash-bitmap", "raid10-crash-bitmap", "raid5-ppl-crash",
					     "raid1-stale",	   "raid5-midrecovery",	    "raid5-midresync",	   "raid1-badblocks",
					     "raid1-replacing",	   "raid5-090-crash",	    "raid5-090-stale",	   "raid1-090-2-bitmap" };

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		images_load(&images, cases[c], 'm');
		for (unsigned i = 0; i < images.count; i++) {
			struct md1_superblock sb;
			uint64_t at = md0_super_bytes(images.size[i]);

			if (find1(i, &sb))
				unchanged1(&sb, images.data[i] + sb.super_bytes);
			else
				unchanged0(images.data[i] + at, at);
		}
		images_done(&images);
	}
}

/* The field of kernel 6.19, and a pad that nobody knows, survive. */
static void test_kept(void **state)
{
	struct md1_superblock sb, after;
	uint8_t *raw;

	(void)state;
	images_load(&images, "raid1-stale", 'm');
	assert_true(find1(0, &sb));
	raw = images.data[0] + sb.super_bytes;
	raw[225] = 0x10; /* logical block size 4096 */
	raw[250] = 7;
	md1_put_state(raw, sb.events + 3, 1 * MIB, 0x123456);
	md1_put_role(raw, 1, MD1_ROLE_FAULTY);
	md1_put_recovery(raw, 3 * MIB);
	md1_seal(raw);
	assert_int_equal(md1_decode(raw, MD1_BYTES, sb.super_bytes, images.size[0], &after, &err), 0);
	assert_int_equal(after.events, sb.events + 3);
	assert_int_equal(after.resync_bytes, 1 * MIB);
	assert_int_equal(after.updated_seconds, 0x123456);
	assert_int_equal(after.roles[1], MD1_ROLE_FAULTY);
	assert_int_equal(after.recovery_bytes, 3 * MIB);
	assert_int_equal(after.features, sb.features | MD1_RECOVERY_OFFSET);
	assert_int_equal(after.logical_block_bytes, 4096);
	assert_int_equal(raw[250], 7);
	assert_string_equal(after.name, sb.name);
	images_done(&images);
}

/* The same superblock as a big-endian machine would have written it: every word swapped, 64-bit fields in the other order. */
static void test_big_endian(void **state)
{
	struct md0_superblock sb;
	uint8_t raw[MD0_BYTES], *found;
	uint64_t at;

	(void)state;
	images_load(&images, "raid5-090-crash", 'm');
	at = md0_super_bytes(images.size[0]);
	found = images.data[0] + at;
	for (unsigned i = 0; i < MD0_BYTES; i++)
		raw[i] = found[i ^ 3];
	for (unsigned word = 39; word <= 41; word += 2) {
		uint8_t low[4];

		memcpy(low, raw + 4 * word, 4);
		memcpy(raw + 4 * word, raw + 4 * word + 4, 4);
		memcpy(raw + 4 * word + 4, low, 4);
	}
	assert_int_equal(md0_decode(raw, MD0_BYTES, at, &sb, &err), 0);
	assert_true(sb.big_endian);
	memcpy(found, raw, MD0_BYTES);
	unchanged0(found, at);
	md0_put_state(raw, true, UINT64_C(0x500000007), 64 * KIB, 5);
	md0_seal(raw, true);
	assert_int_equal(md0_decode(raw, MD0_BYTES, at, &sb, &err), 0);
	assert_int_equal(sb.events, UINT64_C(0x500000007));
	assert_int_equal(sb.resync_bytes, 64 * KIB);
	md0_put_state(raw, true, 8, UINT64_MAX, 5);
	md0_seal(raw, true);
	assert_int_equal(md0_decode(raw, MD0_BYTES, at, &sb, &err), 0);
	assert_int_equal(sb.resync_bytes, UINT64_MAX);
	/* 32 bits of sectors: what lies beyond is recorded as nothing. */
	md0_put_state(raw, true, 9, 3 * 1024 * GIB, 5);
	md0_seal(raw, true);
	assert_int_equal(md0_decode(raw, MD0_BYTES, at, &sb, &err), 0);
	assert_int_equal(sb.resync_bytes, 0);
	images_done(&images);
}

static void test_new_member(void **state)
{
	struct md1_new_member member = { 5, { 1, 2, 3 }, 4096, 2 * MIB, 5 * MIB };
	struct md1_superblock sb, after;
	uint8_t *raw;

	(void)state;
	images_load(&images, "raid1-badblocks", 'm');
	assert_true(find1(1, &sb));
	raw = images.data[1] + sb.super_bytes;
	raw[184] = MD1_DEV_WRITE_MOSTLY;
	md1_put_member(raw, &member);
	md1_seal(raw);
	assert_int_equal(md1_decode(raw, MD1_BYTES, sb.super_bytes, images.size[1], &after, &err), 0);
	assert_int_equal(after.features, 0);
	assert_int_equal(after.dev_number, 5);
	assert_int_equal(after.devflags, 0);
	assert_int_equal(after.data_offset_bytes, 2 * MIB);
	assert_int_equal(after.data_bytes, 5 * MIB);
	assert_memory_equal(after.device_uuid, member.device_uuid, 16);
	assert_memory_equal(after.array_uuid, sb.array_uuid, 16);
	assert_int_equal(after.badblocks_bytes, sb.badblocks_bytes);
	images_done(&images);
}

/* The log that a kernel wrote, read and written again. */
static void test_badblocks(void **state)
{
	struct md1_bad_range range = { 0, 513 * 512 };
	struct md1_bad_range *ranges, *again;
	struct md1_superblock sb;
	uint8_t log[4096], *found;
	size_t count, count_again;

	(void)state;
	images_load(&images, "raid1-badblocks", 'm');
	for (unsigned i = 0; i < images.count; i++) {
		assert_true(find1(i, &sb));
		if (!(sb.features & MD1_BAD_BLOCKS))
			continue;
		found = images.data[i] + sb.super_bytes + sb.badblocks_from_super_bytes;
		assert_int_equal(md1_badblocks_decode(found, 4096, sb.badblocks_shift, &ranges, &count, &err), 0);
		assert_true(count > 0);
		assert_int_equal(md1_badblocks_encode(ranges, count, sb.badblocks_shift, log, sizeof(log)), 0);
		assert_memory_equal(log, found, sizeof(log));
		free(ranges);
	}
	images_done(&images);
	assert_int_equal(md1_badblocks_encode(&range, 1, 0, log, sizeof(log)), 0);
	assert_int_equal(md1_badblocks_decode(log, sizeof(log), 0, &again, &count_again, &err), 0);
	assert_int_equal(count_again, 2);
	assert_int_equal(again[0].length_bytes, 512 * 512);
	assert_int_equal(again[1].from_device_start_bytes, 512 * 512);
	assert_int_equal(again[1].length_bytes, 512);
	free(again);
	assert_int_equal(md1_badblocks_encode(&range, 1, 0, log, 8), -ENOSPC);
	assert_int_equal(md1_badblocks_encode(&range, 1, 3, log, sizeof(log)), -EINVAL);
	range = (struct md1_bad_range){ UINT64_MAX / 512 * 512, 512 };
	assert_int_equal(md1_badblocks_encode(&range, 1, 0, log, sizeof(log)), -EINVAL);
}

static void test_bitmap(void **state)
{
	struct mdbitmap_range *ranges;
	struct mdbitmap bitmap, after;
	uint8_t raw[MDBITMAP_BYTES], *found, *bits;
	size_t count;

	(void)state;
	images_load(&images, "raid1-crash-bitmap", 'm');
	found = images.data[0] + 8192;
	assert_int_equal(mdbitmap_decode(found, MDBITMAP_BYTES, &bitmap, &err), 0);
	memcpy(raw, found, sizeof(raw));
	mdbitmap_put_events(raw, bitmap.events, bitmap.events_cleared);
	assert_memory_equal(raw, found, sizeof(raw));
	mdbitmap_put_events(raw, 77, 66);
	assert_int_equal(mdbitmap_decode(raw, MDBITMAP_BYTES, &after, &err), 0);
	assert_int_equal(after.events, 77);
	assert_int_equal(after.events_cleared, 66);
	assert_int_equal(mdbitmap_stored_bytes(&bitmap), 256 + 14);
	/* Writes to sectors 2000 to 2299 and 13001, 128 sectors to a bit. */
	bits = found + MDBITMAP_BYTES;
	assert_int_equal(mdbitmap_ranges(&bitmap, bits, 0, &ranges, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(ranges[0].offset_bytes, 15 * 64 * KIB);
	assert_int_equal(ranges[0].length_bytes, 3 * 64 * KIB);
	assert_int_equal(ranges[1].offset_bytes, 101 * 64 * KIB);
	assert_int_equal(ranges[1].length_bytes, 64 * KIB);
	free(ranges);
	assert_int_equal(mdbitmap_ranges(&bitmap, bits, 17, &ranges, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(ranges[0].offset_bytes, 17 * 64 * KIB);
	free(ranges);
	images_done(&images);
}

/* Every other bit of a large bitmap: an answer of bounded size that covers every set bit. */
static void test_many_ranges(void **state)
{
	struct mdbitmap bitmap = { .version = MDBITMAP_NORMAL, .chunk_bytes = 4096, .chunks = 1 << 20, .sync_bytes = 4 * GIB - 512 };
	struct mdbitmap_range *ranges;
	uint8_t *bits = malloc(1 << 17);
	size_t count;

	(void)state;
	assert_non_null(bits);
	memset(bits, 0, 1 << 17);
	assert_int_equal(mdbitmap_ranges(&bitmap, bits, 0, &ranges, &count), 0);
	assert_int_equal(count, 0);
	memset(bits, 0xff, 1 << 17);
	assert_int_equal(mdbitmap_ranges(&bitmap, bits, 0, &ranges, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(ranges[0].length_bytes, bitmap.sync_bytes);
	free(ranges);
	memset(bits, 0xaa, 1 << 17);
	bits[1 << 16] = 0;
	bits[(1 << 16) + 1] = 0;
	assert_int_equal(mdbitmap_ranges(&bitmap, bits, 0, &ranges, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(ranges[0].offset_bytes, 4096);
	assert_int_equal(ranges[0].length_bytes, (UINT64_C(4096) << 19) - 4096);
	assert_int_equal(ranges[1].offset_bytes, 4096 * ((UINT64_C(1) << 19) + 17));
	assert_int_equal(ranges[1].offset_bytes + ranges[1].length_bytes, bitmap.sync_bytes);
	free(ranges);
	free(bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged),   cmocka_unit_test(test_kept),      cmocka_unit_test(test_big_endian),
		cmocka_unit_test(test_new_member),  cmocka_unit_test(test_badblocks), cmocka_unit_test(test_bitmap),
		cmocka_unit_test(test_many_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
