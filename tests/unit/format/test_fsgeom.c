/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real superblocks against what their own tools and libblkid read from them, then damaged and hostile ones. */
#include "fs_image.h"

#include "format/btrfs/btrfs.h"
#include "format/ext/ext.h"
#include "format/fat/fat.h"
#include "format/ntfs/ntfs.h"
#include "format/swap/swap.h"
#include "format/xfs/xfs.h"
#include "format/zfs/zfs.h"

static const struct fsgeom_format *const all[] = { &ext_format,	 &xfs_format, &btrfs_format, &swap_format,
						   &ntfs_format, &fat_format, &zfs_format };

/* The one format that takes the image, or NULL. */
static const struct fsgeom_format *probe(struct dev *dev, struct fsgeom_result *ret)
{
	struct fsgeom_result results[ARRAY_SIZE(all)];
	const struct fsgeom_format *found = NULL;

	assert_int_equal(fsgeom_probe(dev, all, ARRAY_SIZE(all), results), 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (results[i].outcome == 0) {
			assert_null(found);
			found = all[i];
			*ret = results[i];
		}
	return found;
}

static void assert_number(uint64_t value, const char *expected)
{
	assert_int_equal(value, strcmp(expected, "-") ? strtoull(expected, NULL, 10) : BLKALIGN_UNKNOWN);
}

static void check_tools(char *const row[FS_COLUMNS])
{
	int fd = fs_image_new(row[FS_NAME]);
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fsgeom_result r;

	if (!probe(dev, &r))
		fail_msg("%s: not recognised", row[FS_NAME]);
	assert_string_equal(r.geom.type, row[FS_TYPE]);
	assert_number(r.geom.size_bytes, row[FS_SIZE]);
	assert_number(r.geom.block_bytes, row[FS_BLOCK]);
	assert_number(r.geom.sector_bytes, row[FS_SECTOR]);
	assert_number(r.geom.stride_bytes, row[FS_STRIDE]);
	assert_number(r.geom.stripe_bytes, row[FS_STRIPE]);
	assert_number(r.geom.log_stride_bytes, row[FS_LOG_STRIDE]);
	assert_number(r.geom.hidden_sectors, row[FS_HIDDEN]);
	assert_number(r.geom.data_offset_bytes, row[FS_DATA_OFFSET]);
	assert_string_equal(r.geom.uuid, row[FS_UUID]);
	assert_string_equal(r.geom.label, strcmp(row[FS_LABEL], "-") ? row[FS_LABEL] : "");
	close(fd);
}

static void check_blkid(char *const row[FS_COLUMNS])
{
	int fd = fs_image_new(row[FS_NAME]);
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fs_blkid b = fs_blkid_ask(fd, false);
	struct fsgeom_result r;

	assert_non_null(probe(dev, &r));
	assert_string_equal(r.geom.type, b.type);
	assert_string_equal(r.geom.uuid, b.uuid);
	assert_string_equal(r.geom.label, b.label);
	/* libblkid calls the sector a block where there is one. */
	if (*b.block)
		assert_int_equal(r.geom.sector_bytes != BLKALIGN_UNKNOWN ? r.geom.sector_bytes : r.geom.block_bytes, atoi(b.block));
	close(fd);
}

static void test_tools(void **state)
{
	(void)state;
	assert_true(fs_image_rows(check_tools) >= 28);
}

static void test_blkid(void **state)
{
	(void)state;
	assert_true(fs_image_rows(check_blkid) >= 28);
}

static void test_zfs_spare(void **state)
{
	int fd = fs_image_new("zfs-spare");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fsgeom_result r;

	(void)state;
	assert_ptr_equal(probe(dev, &r), &zfs_format);
	assert_string_equal(r.geom.type, "zfs_member");
	assert_int_equal(r.geom.sector_bytes, BLKALIGN_UNKNOWN);
	assert_string_equal(r.geom.label, "");
	close(fd);
}

static void test_notes(void **state)
{
	static const struct {
		const char *image, *note;
	} cases[] = {
		{ "btrfs-single", "" },
		{ "btrfs-sha256", "" },
		{ "btrfs-xxhash", "its superblock checksum (xxhash64) is not verified" },
		{ "btrfs-two", "one of 2 devices of a btrfs of 402653184 bytes" },
		{ "zfs-single", "" },
		{ "zfs-mirror", "one of 2 devices of a ZFS mirror" },
		{ "zfs-raidz", "one of 3 devices of a ZFS raidz" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = fs_image_new(cases[i].image);
		_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
		struct fsgeom_result r;

		assert_non_null(probe(dev, &r));
		assert_string_equal(r.geom.note, cases[i].note);
		close(fd);
	}
}

/* A byte that only the checksum covers. */
static void test_checksums(void **state)
{
	static const struct {
		const char *image;
		const struct fsgeom_format *format;
		off_t damage;
		uint64_t place_bytes;
	} cases[] = {
		{ "ext4-raid6", &ext_format, 1024 + 0x170, 1024 },
		{ "xfs-default", &xfs_format, 184 + 3, 0 },
		{ "xfs-raid6", &xfs_format, 4095, 0 },
		{ "btrfs-single", &btrfs_format, 65536 + 2000, 65536 },
		{ "btrfs-sha256", &btrfs_format, 65536 + 2000, 65536 },
		{ "zfs-single", &zfs_format, 16384 + 100000, 16384 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = fs_image_new(cases[i].image);
		_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
		struct fsgeom_result r;

		fs_image_damage(fd, cases[i].damage);
		assert_int_equal(fsgeom_probe(dev, &cases[i].format, 1, &r), 0);
		assert_int_equal(r.primary.code, -EBADMSG);
		assert_int_equal(r.primary.offset_bytes, cases[i].place_bytes);
		assert_non_null(strstr(r.primary.message, "checksum"));
		assert_int_equal(r.outcome, cases[i].format->copies > 1 ? 0 : -EBADMSG);
		assert_int_equal(r.place_bytes, cases[i].format->copies_bytes[cases[i].format->copies - 1]);
		close(fd);
	}
}

/* Both copies gone bad; and the copy alone, its primary wiped, which means that something else lives here now. */
static void test_copies(void **state)
{
	const struct fsgeom_format *format = &btrfs_format;
	static const uint8_t zero[4096];
	int fd = fs_image_new("btrfs-single");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fsgeom_result r;

	(void)state;
	fs_image_damage(fd, 65536 + 2000);
	fs_image_damage(fd, 67108864 + 2000);
	assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
	assert_int_equal(r.outcome, -EBADMSG);
	fs_image_damage(fd, 67108864 + 2000);
	assert_int_equal(pwrite(fd, zero, sizeof(zero), 65536), sizeof(zero));
	assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
	assert_int_equal(r.outcome, BLKALIGN_NOT_THIS);
	close(fd);
}

/* One bad sector must not hide what lies elsewhere. */
static void test_read_errors(void **state)
{
	int fd = fs_image_new("btrfs-single");
	_cleanup_dev_ struct dev *file = fs_image_dev(fd), *bad = NULL;
	struct fsgeom_result results[ARRAY_SIZE(all)];

	(void)state;
	assert_int_equal(dev_open_fault(file, 1024, 512, -EIO, &bad), 0);
	assert_int_equal(fsgeom_probe(bad, all, ARRAY_SIZE(all), results), 0);
	assert_int_equal(results[0].outcome, -EIO);
	assert_int_equal(results[0].primary.offset_bytes, 1024);
	assert_int_equal(results[2].outcome, 0);
	dev_close(bad);
	assert_int_equal(dev_open_fault(file, 65536, 512, -EIO, &bad), 0);
	assert_int_equal(fsgeom_probe(bad, &all[2], 1, results), 0);
	assert_int_equal(results[0].outcome, 0);
	assert_int_equal(results[0].place_bytes, 67108864);
	assert_int_equal(results[0].primary.code, -EIO);
	close(fd);
}

static void test_label_unreadable(void **state)
{
	int fd = fs_image_new("ntfs-4k");
	_cleanup_dev_ struct dev *file = fs_image_dev(fd), *bad = NULL;
	struct fsgeom_result r;

	(void)state;
	assert_int_equal(dev_open_fault(file, 4 * 4096, 8192, -EIO, &bad), 0);
	assert_int_equal(fsgeom_probe(bad, &(const struct fsgeom_format *){ &ntfs_format }, 1, &r), 0);
	assert_int_equal(r.outcome, 0);
	assert_string_equal(r.geom.label, "");
	assert_string_equal(r.geom.note, "its label could not be read");
	close(fd);
}

/* Devices of every size up to a page, and some around each superblock: short reads, never beyond the end. */
static void test_short(void **state)
{
	static const char *const images[] = { "ext4-raid6", "xfs-raid6", "btrfs-single", "swap-65536", "ntfs-4k", "fat32", "zfs-single" };
	static const uint64_t full[] = { 2048, 4096, 65536 + 4096, 65536, 512, 512, 131072 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		int fd = fs_image_new(images[i]);
		_cleanup_dev_ struct dev *file = fs_image_dev(fd);

		for (uint64_t size = 0; size < full[i] + 1; size += size < 1024 || size + 512 > full[i] ? 1 : 509) {
			_cleanup_dev_ struct dev *slice = NULL;
			struct fsgeom_result r;

			assert_int_equal(dev_open_slice("short", file, 0, size, &slice), 0);
			if (size < full[i])
				assert_null(probe(slice, &r));
			else if (i != 4)
				assert_non_null(probe(slice, &r));
		}
		close(fd);
	}
}

/* ext2, ext3, ext4, ext4dev or jbd: libblkid's word on every combination of the features that decide. */
static void test_ext_names(void **state)
{
	static const struct {
		off_t offset;
		uint32_t bit;
	} bits[] = { { 0x5c, 4 },    { 0x60, 2 }, { 0x60, 4 },	  { 0x60, 8 }, { 0x60, 0x10 },
		     { 0x60, 0x40 }, { 0x64, 1 }, { 0x64, 0x10 }, { 0x160, 4 } };
	int fd = fs_image_new("ext4-nocsum");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	const struct fsgeom_format *format = &ext_format;

	(void)state;
	for (uint32_t set = 0; set < 1U << ARRAY_SIZE(bits); set++) {
		uint8_t sb[1024];
		struct fs_blkid b;
		struct fsgeom_result r;

		assert_int_equal(pread(fd, sb, sizeof(sb), 1024), sizeof(sb));
		memset(sb + 0x5c, 0, 12);
		memset(sb + 0x160, 0, 4);
		for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
			if (set & 1U << i)
				sb[bits[i].offset] |= (uint8_t)bits[i].bit;
		assert_int_equal(pwrite(fd, sb, sizeof(sb), 1024), sizeof(sb));
		b = fs_blkid_ask(fd, true);
		assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
		assert_string_equal(r.outcome == 0 ? r.geom.type : "", b.type);
	}
	close(fd);
}

static void test_swap_kinds(void **state)
{
	static const struct {
		const char *signature, *type;
	} cases[] = { { "SWAP-SPACE", "swap" },
		      { "S1SUSPEND\0", "swsuspend" },
		      { "S2SUSPEND\0", "swsuspend" },
		      { "ULSUSPEND\0", "swsuspend" },
		      { "LINHIB0001", "swsuspend" } };
	uint8_t big_endian[12] = { 0, 0, 0, 1, 0, 0, 3, 0xff };
	const struct fsgeom_format *format = &swap_format;
	int fd = fs_image_new("swap-4096");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fsgeom_result r;

	(void)state;
	assert_int_equal(pwrite(fd, big_endian, sizeof(big_endian), 1024), sizeof(big_endian));
	assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
	assert_int_equal(r.geom.size_bytes, 4 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fs_blkid b;

		assert_int_equal(pwrite(fd, cases[i].signature, 10, 4086), 10);
		assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
		b = fs_blkid_ask(fd, false);
		assert_string_equal(r.geom.type, cases[i].type);
		assert_string_equal(b.type, cases[i].type);
		assert_string_equal(r.geom.uuid, b.uuid);
	}
	assert_int_equal(pwrite(fd, "\xed\xc3\x02\xe9\x98\x56\xe5\x0c", 8, 0), 8);
	assert_int_equal(pwrite(fd, "SWAPSPACE2", 10, 4086), 10);
	assert_int_equal(fsgeom_probe(dev, &format, 1, &r), 0);
	assert_string_equal(r.geom.type, "swsuspend");
	assert_string_equal(fs_blkid_ask(fd, false).type, "swsuspend");
	close(fd);
}

static void test_utf16(void **state)
{
	static const struct {
		const char *utf16;
		size_t length;
		const char *utf8;
	} cases[] = {
		{ "a\0\xe4\0\xac\x20", 6, "a\xc3\xa4\xe2\x82\xac" }, /* a, U+00E4, U+20AC */
		{ "\x3d\xd8\x00\xde", 4, "\xf0\x9f\x98\x80" },	     /* U+1F600 */
		{ "\x3d\xd8", 2, "\xef\xbf\xbd" },		     /* cut surrogate pair */
		{ "\x00\xde"
		  "a\0",
		  4,
		  "\xef\xbf\xbd"
		  "a" },		     /* low half alone */
		{ "a\0b", 3, "a" },	     /* odd length */
		{ "x\0 \0\0\0y\0", 8, "x" }, /* ends at the NUL, blanks cut */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fsgeom g;

		fsgeom_init(&g, "ntfs");
		fsgeom_set_label_utf16le(&g, (const uint8_t *)cases[i].utf16, cases[i].length);
		assert_string_equal(g.label, cases[i].utf8);
	}
}

/* Longer than any label may be: cut, not beyond the array, and no half character. */
static void test_label_long(void **state)
{
	uint8_t text[4096];
	struct fsgeom g;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i += 2) {
		text[i] = 0xac;
		text[i + 1] = 0x20;
	}
	fsgeom_init(&g, "ntfs");
	fsgeom_set_label_utf16le(&g, text, sizeof(text));
	assert_int_equal(strlen(g.label) % 3, 0);
	assert_true(strlen(g.label) < FSGEOM_LABEL_MAX);
	memset(text, 'x', sizeof(text));
	fsgeom_set_label(&g, text, sizeof(text));
	assert_int_equal(strlen(g.label), FSGEOM_LABEL_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tools),	    cmocka_unit_test(test_blkid),
		cmocka_unit_test(test_zfs_spare),   cmocka_unit_test(test_notes),
		cmocka_unit_test(test_checksums),   cmocka_unit_test(test_copies),
		cmocka_unit_test(test_read_errors), cmocka_unit_test(test_label_unreadable),
		cmocka_unit_test(test_short),	    cmocka_unit_test(test_ext_names),
		cmocka_unit_test(test_swap_kinds),  cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_label_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
