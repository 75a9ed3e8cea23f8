/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields at and beyond what a format allows, checksums right. Expected outcomes follow from the formats' rules. */
#include "fs_image.h"

#include <openssl/sha.h>

#include "format/btrfs/btrfs.h"
#include "format/ext/ext.h"
#include "format/fat/fat.h"
#include "format/ntfs/ntfs.h"
#include "format/swap/swap.h"
#include "format/xfs/xfs.h"
#include "format/zfs/zfs_ondisk.h"

/* One piece of a golden image, zeros behind it. */
static void load(const char *piece, uint8_t *ret, size_t size)
{
	char path[512], *data;
	size_t length;

	fs_image_path(path, sizeof(path), piece);
	data = fs_image_slurp(path, &length);
	memset(ret, 0, size);
	memcpy(ret, data, length < size ? length : size);
	free(data);
}

static void put_be(uint8_t *p, uint64_t v, unsigned bytes)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static void put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

struct field {
	unsigned offset, bytes;
	uint64_t value;
	int expected;
};

static void test_xfs(void **state)
{
	static const struct field cases[] = {
		{ 0, 4, 0x58465343, BLKALIGN_NOT_THIS },
		{ 4, 4, 0, -EBADMSG },	      /* block size 0 */
		{ 4, 4, 8192, -EBADMSG },     /* against its logarithm */
		{ 102, 2, 256, -EBADMSG },    /* sector below 512 */
		{ 102, 2, 0xffff, -EBADMSG }, /* no power of two */
		{ 121, 1, 200, -EBADMSG },    /* shift beyond the type */
		{ 120, 1, 64, -EBADMSG },
		{ 8, 8, 0, -EBADMSG },		 /* no blocks */
		{ 8, 8, UINT64_MAX, -EBADMSG },	 /* more than its groups hold */
		{ 84, 4, 0, -EBADMSG },		 /* no blocks in a group */
		{ 88, 4, 0, -EBADMSG },		 /* no groups */
		{ 88, 4, UINT32_MAX, -EBADMSG }, /* groups beyond the size */
		{ 184, 4, UINT32_MAX, 0 },	 /* largest stripe unit: no overflow */
		{ 196, 4, UINT32_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t sb[512];
		struct fsgeom g;

		load("xfs-v4/0", sb, sizeof(sb)); /* version 4: no checksum to mend */
		put_be(sb + cases[i].offset, cases[i].value, cases[i].bytes);
		assert_int_equal(xfs_decode(sb, sizeof(sb), 0, &g, NULL), cases[i].expected);
		if (cases[i].offset == 184)
			assert_int_equal(g.stride_bytes, UINT64_C(0xffffffff) * 1024);
	}
}

/* Groups that hold 2^64 blocks and more, of 64 KiB. */
static void test_xfs_overflow(void **state)
{
	uint8_t sb[512];
	struct fsgeom g;
	struct blkalign_error err = { 0 };

	(void)state;
	load("xfs-v4/0", sb, sizeof(sb));
	put_be(sb + 4, 65536, 4);
	put_be(sb + 120, 16, 1);
	put_be(sb + 84, UINT32_MAX, 4);
	put_be(sb + 88, UINT32_MAX, 4);
	put_be(sb + 8, UINT64_C(0xfffffffe00000001), 8);
	assert_int_equal(xfs_decode(sb, sizeof(sb), 0, &g, &err), -EBADMSG);
	assert_non_null(strstr(err.message, "64 bits"));
}

static void test_btrfs(void **state)
{
	static const struct field cases[] = {
		{ 48, 8, 67108864, -EBADMSG }, /* says that it is the copy */
		{ 144, 4, 0, -EBADMSG },       /* sector sizes */
		{ 144, 4, 256, -EBADMSG },     { 144, 4, 65536, 0 },
		{ 144, 4, 131072, -EBADMSG },  { 148, 4, 12288, -EBADMSG }, /* node size: no power of two */
		{ 209, 8, UINT64_MAX - 1, 0 }, { 136, 8, UINT64_MAX, 0 },   /* devices */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t sb[4096];
		struct fsgeom g;

		load("btrfs-single/65536", sb, sizeof(sb));
		put_le(sb + cases[i].offset, cases[i].value, cases[i].bytes);
		put_le(sb, ~crc32c_raw(UINT32_MAX, sb + 32, sizeof(sb) - 32), 4);
		assert_int_equal(btrfs_decode(sb, sizeof(sb), 65536, &g, NULL), cases[i].expected);
	}
}

static void test_btrfs_notes(void **state)
{
	static const struct {
		uint8_t csum_type, devices;
		const char *note;
	} cases[] = {
		{ 3, 1, "its superblock checksum (blake2b) is not verified" },
		{ 77, 1, "its superblock checksum (of an unknown type) is not verified" },
		{ 1, 3, "one of 3 devices of a btrfs of 134217728 bytes; its checksum type is not verified" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t sb[4096];
		struct fsgeom g;

		load("btrfs-single/65536", sb, sizeof(sb));
		sb[196] = cases[i].csum_type;
		sb[136] = cases[i].devices;
		assert_int_equal(btrfs_decode(sb, sizeof(sb), 65536, &g, NULL), 0);
		assert_string_equal(g.note, cases[i].note);
	}
}

static void test_ext(void **state)
{
	static const struct field cases[] = {
		{ 0x38, 2, 0xef54, BLKALIGN_NOT_THIS },
		{ 0x18, 4, 6, 0 }, /* 64 KiB blocks, the most there are */
		{ 0x18, 4, 7, BLKALIGN_NOT_THIS },
		{ 0x18, 4, 0xffffffff, BLKALIGN_NOT_THIS },
		{ 0x04, 4, 0, BLKALIGN_NOT_THIS },	    /* no blocks */
		{ 0x14, 4, 0xffffffff, BLKALIGN_NOT_THIS }, /* first block beyond the last */
		{ 0x164, 2, 0xffff, 0 },
		{ 0x170, 4, 0xffffffff, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t sb[1024];
		struct fsgeom g;

		load("ext4-nocsum/1024", sb, sizeof(sb));
		put_le(sb + cases[i].offset, cases[i].value, cases[i].bytes);
		assert_int_equal(ext_decode(sb, sizeof(sb), 1024, &g, NULL), cases[i].expected);
	}
}

/* A size of 2^64 bytes and more. */
static void test_ext_overflow(void **state)
{
	uint8_t sb[1024];
	struct fsgeom g = { .type = "untouched" };
	struct blkalign_error err = { 0 };

	(void)state;
	load("ext4-nocsum/1024", sb, sizeof(sb));
	sb[0x60] |= 0x80; /* 64bit */
	put_le(sb + 0x150, 0xffffffff, 4);
	assert_int_equal(ext_decode(sb, sizeof(sb), 1024, &g, &err), -EBADMSG);
	assert_string_equal(g.type, "untouched");
	assert_int_equal(err.offset_bytes, 1024);
}

static void test_ntfs(void **state)
{
	static const struct field cases[] = {
		{ 3, 1, 'X', BLKALIGN_NOT_THIS },
		{ 14, 2, 1, BLKALIGN_NOT_THIS }, /* reserved sectors: FAT */
		{ 11, 2, 0, -EBADMSG },
		{ 11, 2, 768, -EBADMSG },
		{ 11, 2, 8192, -EBADMSG },
		{ 13, 1, 0, -EBADMSG },
		{ 13, 1, 0xf4, 0 }, /* 2^12 sectors of 512: 2 MiB, the largest */
		{ 13, 1, 0xf3, -EBADMSG },
		{ 13, 1, 0xf0, -EBADMSG },
		{ 13, 1, 3, -EBADMSG },
		{ 40, 8, UINT64_MAX, -EBADMSG }, /* sectors: overflow */
		{ 48, 8, UINT64_MAX, -EBADMSG }, /* file table beyond the end */
		{ 56, 8, UINT64_MAX, -EBADMSG },
		{ 64, 1, 0, 0 }, /* record sizes that are not read: no label, but the rest holds */
		{ 64, 1, 0xe1, 0 },
		{ 64, 1, 64, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t boot[512];
		struct fsgeom g;

		load("ntfs-4k/0", boot, sizeof(boot));
		put_le(boot + 48, 4, 8); /* so that a larger cluster does not move the file table out of the volume */
		put_le(boot + 56, 2, 8);
		put_le(boot + cases[i].offset, cases[i].value, cases[i].bytes);
		assert_int_equal(ntfs_decode(boot, sizeof(boot), 0, &g, NULL), cases[i].expected);
		if (cases[i].offset == 64)
			assert_int_equal(g.record_length_bytes, 0);
	}
}

/* Attributes that lead out of the record, or nowhere. */
static void test_ntfs_record(void **state)
{
	uint8_t good[1024], record[1024];
	unsigned attr, name = 0;
	struct fsgeom g;

	(void)state;
	load("ntfs-4k/19456", good, sizeof(good));
	for (attr = load_le16(good + 20); load_le32(good + attr) != 0xffffffff; attr += load_le32(good + attr + 4))
		if (load_le32(good + attr) == 0x60)
			name = attr;
	assert_true(name > 0);
	for (size_t length = 0; length <= 0xffff; length = length * 2 + 1) {
		memcpy(record, good, sizeof(record));
		put_le(record + name + 16, length, 4);
		fsgeom_init(&g, "ntfs");
		ntfs_decode_record(record, sizeof(record), &g);
		memcpy(record, good, sizeof(record));
		put_le(record + name + 20, length, 2);
		ntfs_decode_record(record, sizeof(record), &g);
		memcpy(record, good, sizeof(record));
		put_le(record + 4, length, 2);
		put_le(record + 6, 0xffff, 2);
		ntfs_decode_record(record, sizeof(record), &g);
	}
	memcpy(record, good, sizeof(record));
	put_le(record + name + 4, 0, 4); /* an attribute of no length: the walk must end */
	put_le(record + name, 0x10, 4);
	fsgeom_init(&g, "ntfs");
	ntfs_decode_record(record, sizeof(record), &g);
	assert_string_equal(g.label, "");
	put_le(record, 0x44414142, 4); /* "BAAD" */
	ntfs_decode_record(record, sizeof(record), &g);
	assert_string_equal(g.label, "");
}

/* The name lies across the end of a 512-byte sector, where two of its bytes are in the update array. */
static void test_ntfs_fixup(void **state)
{
	static const uint8_t head[] = { 'F', 'I', 'L', 'E', 48, 0, 3, 0 };
	uint8_t record[1024] = { 0 }, *attr = record + 464;
	struct fsgeom g;

	(void)state;
	memcpy(record, head, sizeof(head));
	put_le(record + 20, 464, 2);
	put_le(record + 48, 0x7777, 2); /* update number, then what belongs to the ends of the two sectors */
	put_le(record + 50, 'Z', 2);
	put_le(record + 52, 0, 2);
	put_le(attr, 0x60, 4);
	put_le(attr + 4, 80, 4);
	put_le(attr + 16, 48, 4);
	put_le(attr + 20, 24, 2);
	for (unsigned i = 0; i < 24; i++)
		attr[24 + 2 * i] = (uint8_t)('a' + i);
	put_le(record + 510, 0x7777, 2);
	fsgeom_init(&g, "ntfs");
	ntfs_decode_record(record, sizeof(record), &g);
	assert_string_equal(g.label, "abcdefghijkZmnopqrstuvwx");
}

static void test_fat(void **state)
{
	static const struct field cases[] = {
		{ 11, 2, 256, BLKALIGN_NOT_THIS },
		{ 11, 2, 1000, BLKALIGN_NOT_THIS },
		{ 11, 2, 8192, BLKALIGN_NOT_THIS },
		{ 13, 1, 0, BLKALIGN_NOT_THIS },
		{ 13, 1, 3, BLKALIGN_NOT_THIS },
		{ 14, 2, 0, BLKALIGN_NOT_THIS },      /* no boot sector of its own */
		{ 14, 2, 0xffff, BLKALIGN_NOT_THIS }, /* data beyond the end */
		{ 16, 1, 0, BLKALIGN_NOT_THIS },
		{ 21, 1, 0xf1, BLKALIGN_NOT_THIS },
		{ 21, 1, 0xf0, 0 },
		{ 22, 2, 0xffff, BLKALIGN_NOT_THIS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t boot[512];
		struct fsgeom g;

		load("fat16/0", boot, sizeof(boot));
		put_le(boot + cases[i].offset, cases[i].value, cases[i].bytes);
		assert_int_equal(fat_decode(boot, sizeof(boot), 0, &g, NULL), cases[i].expected);
	}
}

/* libblkid's word on boot sectors with one field after another changed to values around the limits. */
static void test_fat_against_blkid(void **state)
{
	static const unsigned offsets[] = { 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 32, 33, 36, 37, 48, 54, 82, 510 };
	static const uint8_t values[] = { 0, 1, 2, 3, 0x7f, 0x80, 0xf0, 0xff };
	static const char *const images[] = { "fat12", "fat32" };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(images); k++) {
		int fd = fs_image_new(images[k]);
		_cleanup_dev_ struct dev *dev = fs_image_dev(fd);

		for (size_t i = 0; i < ARRAY_SIZE(offsets) * ARRAY_SIZE(values); i++) {
			off_t at = offsets[i / ARRAY_SIZE(values)];
			struct fsgeom_result r;
			uint8_t old;

			assert_int_equal(pread(fd, &old, 1, at), 1);
			assert_int_equal(pwrite(fd, &values[i % ARRAY_SIZE(values)], 1, at), 1);
			assert_int_equal(fsgeom_probe(dev, &(const struct fsgeom_format *){ &fat_format }, 1, &r), 0);
			/* Ours may refuse what does not fit on the volume, where libblkid's 32-bit sums wrap; never the other way round. */
			if (r.outcome == 0) {
				struct fs_blkid b = fs_blkid_ask(fd, true);

				assert_string_equal(b.type, "vfat");
				assert_string_equal(r.geom.uuid, b.uuid);
				/* Root entries of FAT32 are none; where there are, the kernel counts them and libblkid does not. */
				if (k == 0 || (at != 17 && at != 18))
					assert_string_equal(r.geom.label, b.label);
			}
			assert_int_equal(pwrite(fd, &old, 1, at), 1);
		}
		close(fd);
	}
}

/* What else a root directory holds: libblkid's word again. */
static void test_fat_entries(void **state)
{
	static const struct {
		uint8_t first, attributes, cluster;
	} entries[] = {
		{ 0xe5, 0x08, 0 }, /* deleted */
		{ 'L', 0x0f, 0 },  /* part of a long name */
		{ 'D', 0x10, 2 },  /* directory */
		{ 'F', 0x20, 3 },  /* file */
		{ 'E', 0x20, 0 },  /* empty file */
		{ 'V', 0x18, 0 },  /* neither label nor directory */
	};
	int fd = fs_image_new("fat16");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	off_t root = 67584;
	uint8_t label[32] = { 0x05, 'A', 'B', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', 0x08 };

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(entries); i++) {
		struct fsgeom_result r;

		/* The label moves down as entries come before it. */
		assert_int_equal(pwrite(fd, label, sizeof(label), root + 32 * (off_t)i), sizeof(label));
		assert_int_equal(fsgeom_probe(dev, &(const struct fsgeom_format *){ &fat_format }, 1, &r), 0);
		assert_string_equal(r.geom.label, "\xe5"
						  "AB");
		assert_string_equal(r.geom.label, fs_blkid_ask(fd, false).label);
		if (i < ARRAY_SIZE(entries)) {
			uint8_t entry[32] = { entries[i].first, [11] = entries[i].attributes, [26] = entries[i].cluster };

			assert_int_equal(pwrite(fd, entry, sizeof(entry), root + 32 * (off_t)i), sizeof(entry));
		}
	}
	close(fd);
}

/* BitLocker To Go looks like FAT32 and is none. */
static void test_fat_bitlocker(void **state)
{
	static const uint8_t id[16] = "\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01";
	uint8_t boot[512];
	struct fsgeom g;

	(void)state;
	load("fat32/0", boot, sizeof(boot));
	assert_int_equal(fat_decode(boot, sizeof(boot), 0, &g, NULL), 0);
	memcpy(boot + 424, id, sizeof(id));
	assert_int_equal(fat_decode(boot, sizeof(boot), 0, &g, NULL), BLKALIGN_NOT_THIS);
}

/* Other file systems behind a FAT-like sector; and none of the signatures at all. */
static void test_fat_signatures(void **state)
{
	static const struct {
		const char *type;
		uint8_t signature;
		int expected;
	} cases[] = {
		{ "FAT     ", 0, 0 },
		{ "MSDOS5.0", 0, 0 },
		{ "xxxxxxxx", 0x55, 0 },
		{ "JFS     ", 0x55, BLKALIGN_NOT_THIS },
		{ "HPFS    ", 0x55, BLKALIGN_NOT_THIS },
		{ "xxxxxxxx", 0, BLKALIGN_NOT_THIS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t boot[512];
		struct fsgeom g;

		load("fat16/0", boot, sizeof(boot));
		memcpy(boot + 54, cases[i].type, 8);
		boot[510] = cases[i].signature;
		assert_int_equal(fat_decode(boot, sizeof(boot), 0, &g, NULL), cases[i].expected);
	}
}

static void test_swap(void **state)
{
	static const struct field cases[] = {
		{ 1024, 4, 2, -EBADMSG }, /* unknown version */
		{ 1028, 4, 0, -EBADMSG }, /* no pages */
		{ 1028, 4, UINT32_MAX, 0 },
		{ 4086, 1, 'X', BLKALIGN_NOT_THIS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t page[4096] = { 0 };
		struct fsgeom g;

		load("swap-4096/1024", page + 1024, 512);
		memcpy(page + 4086, "SWAPSPACE2", 10);
		put_le(page + cases[i].offset, cases[i].value, cases[i].bytes);
		assert_int_equal(swap_decode(page, sizeof(page), 0, &g, NULL), cases[i].expected);
		if (cases[i].expected == 0)
			assert_int_equal(g.size_bytes, UINT64_C(0x100000000) * 4096);
	}
}

/* A boot loader in the header's padding: its bytes are no label. */
static void test_swap_dirty(void **state)
{
	int fd = fs_image_new("swap-4096");
	_cleanup_dev_ struct dev *dev = fs_image_dev(fd);
	struct fsgeom_result r;

	(void)state;
	assert_int_equal(pwrite(fd, "x", 1, 1024 + 44 + 128), 1);
	assert_int_equal(fsgeom_probe(dev, &(const struct fsgeom_format *){ &swap_format }, 1, &r), 0);
	assert_int_equal(r.outcome, 0);
	assert_string_equal(r.geom.label, "");
	assert_string_equal(r.geom.label, fs_blkid_ask(fd, false).label);
	close(fd);
}

/* Sizes of pairs and lengths of names and strings that lead out of the list. */
static void test_zfs_list(void **state)
{
	static const unsigned offsets[] = { 12, 20, 24, 32, 36, 44, 48, 56, 64, 68, 72 };
	static const uint32_t values[] = { 0, 1, 11, 12, 19, 20, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff };
	uint8_t *phys = malloc(ZFS_PHYS_BYTES); /* of just that size, so that the sanitizer sees each byte read beyond */
	struct fsgeom g;

	(void)state;
	assert_non_null(phys);
	for (size_t i = 0; i < ARRAY_SIZE(offsets) * ARRAY_SIZE(values); i++) {
		int r;

		load("zfs-raidz/16384", phys, ZFS_PHYS_BYTES);
		put_be(phys + offsets[i / ARRAY_SIZE(values)], values[i % ARRAY_SIZE(values)], 4);
		r = zfs_decode(phys, ZFS_PHYS_BYTES, ZFS_PHYS_OFFSET, &g, NULL);
		assert_true(r == BLKALIGN_NOT_THIS || r == -EBADMSG);
	}
	/* A name longer than the list can be. */
	load("zfs-raidz/16384", phys, ZFS_PHYS_BYTES);
	phys[0] = 0;
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, ZFS_PHYS_OFFSET, &g, NULL), BLKALIGN_NOT_THIS);
	free(phys);
}

/* The label of another place: a copied disk image whose first label was moved does not verify. */
static void test_zfs_moved(void **state)
{
	int fd = fs_image_new("zfs-single");
	uint8_t *phys = malloc(ZFS_PHYS_BYTES);
	struct fsgeom g;

	(void)state;
	assert_non_null(phys);
	assert_int_equal(pread(fd, phys, ZFS_PHYS_BYTES, 16384), ZFS_PHYS_BYTES);
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, 16384, &g, NULL), 0);
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, 278528, &g, NULL), -EBADMSG);
	assert_int_equal(pread(fd, phys, ZFS_PHYS_BYTES, 278528), ZFS_PHYS_BYTES);
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, 278528, &g, NULL), 0);
	free(phys);
	close(fd);
}

/* The same label as a big-endian machine seals it. */
static void test_zfs_big_endian(void **state)
{
	uint8_t *phys = malloc(ZFS_PHYS_BYTES), sha[SHA256_DIGEST_LENGTH];
	struct fsgeom g;

	(void)state;
	assert_non_null(phys);
	load("zfs-single/16384", phys, ZFS_PHYS_BYTES);
	put_be(phys + ZFS_PHYS_BYTES - 40, ZFS_CHECKSUM_MAGIC, 8);
	put_be(phys + ZFS_PHYS_BYTES - 32, 16384, 8);
	SHA256(phys, ZFS_PHYS_BYTES, sha);
	memcpy(phys + ZFS_PHYS_BYTES - 32, sha, sizeof(sha));
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, 16384, &g, NULL), 0);
	assert_string_equal(g.label, "single");
	phys[ZFS_PHYS_BYTES - 1] ^= 1;
	assert_int_equal(zfs_decode(phys, ZFS_PHYS_BYTES, 16384, &g, NULL), -EBADMSG);
	free(phys);
}

/* Numbers out of bounds are not believed one by one; the label stays one. */
static void test_zfs_numbers(void **state)
{
	uint8_t list[4096], *p;
	struct fsgeom g;

	(void)state;
	load("zfs-single/16384", list, sizeof(list));
	p = memmem(list, sizeof(list), "asize", 5);
	assert_non_null(p);
	put_be(p + 16, UINT64_MAX, 8);
	p = memmem(list, sizeof(list), "ashift", 6);
	assert_non_null(p);
	put_be(p + 16, 17, 8);
	fsgeom_init(&g, "zfs_member");
	assert_true(zfs_decode_list(list + 4, sizeof(list) - 4, &g));
	assert_int_equal(g.size_bytes, BLKALIGN_UNKNOWN);
	assert_int_equal(g.sector_bytes, BLKALIGN_UNKNOWN);
	put_be(p + 16, 16, 8);
	assert_true(zfs_decode_list(list + 4, sizeof(list) - 4, &g));
	assert_int_equal(g.sector_bytes, 65536);
	put_be(p + 16, 8, 8);
	fsgeom_init(&g, "zfs_member");
	assert_true(zfs_decode_list(list + 4, sizeof(list) - 4, &g));
	assert_int_equal(g.sector_bytes, BLKALIGN_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xfs),
		cmocka_unit_test(test_xfs_overflow),
		cmocka_unit_test(test_btrfs),
		cmocka_unit_test(test_btrfs_notes),
		cmocka_unit_test(test_ext),
		cmocka_unit_test(test_ext_overflow),
		cmocka_unit_test(test_ntfs),
		cmocka_unit_test(test_ntfs_record),
		cmocka_unit_test(test_ntfs_fixup),
		cmocka_unit_test(test_fat),
		cmocka_unit_test(test_fat_against_blkid),
		cmocka_unit_test(test_fat_entries),
		cmocka_unit_test(test_fat_bitlocker),
		cmocka_unit_test(test_fat_signatures),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_swap_dirty),
		cmocka_unit_test(test_zfs_list),
		cmocka_unit_test(test_zfs_moved),
		cmocka_unit_test(test_zfs_big_endian),
		cmocka_unit_test(test_zfs_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
