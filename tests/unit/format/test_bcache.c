/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks written by make-bcache; the numbers are those that it prints (golden/parts/NAME.txt). */
#include <isa-l/crc64.h>

#include "image.h"

#include "format/bcache/bcache.h"

static void golden(const char *name, struct bcache_super *ret)
{
	_cleanup_image_ struct image image;
	_cleanup_dev_ struct dev *dev = NULL;

	image_golden(&image, name);
	dev = image_open(&image);
	assert_int_equal(bcache_read(dev, ret, NULL), 0);
}

static void test_backing(void **state)
{
	struct bcache_super s;
	char uuid[37];

	(void)state;
	golden("bcache-backing", &s);
	assert_int_equal(s.role, BCACHE_BACKING);
	assert_int_equal(s.version, 1);
	assert_int_equal(s.data_offset_bytes, 16 * 512);
	assert_int_equal(s.block_bytes, 8 * 512);
	assert_int_equal(s.state, BCACHE_DETACHED);
	uuid_format(uuid, s.set_uuid);
	assert_string_equal(uuid, "00000000-0000-4000-8000-000000000001");
	golden("bcache-backing-offset", &s);
	assert_int_equal(s.version, 4);
	assert_int_equal(s.data_offset_bytes, 2048 * 512);
}

static void test_cache(void **state)
{
	struct bcache_super s;

	(void)state;
	golden("bcache-cache", &s);
	assert_int_equal(s.role, BCACHE_CACHE);
	assert_int_equal(s.version, 0);
	assert_int_equal(s.buckets, 256);
	assert_int_equal(s.bucket_bytes, 512 * 512);
	assert_int_equal(s.data_offset_bytes, 512 * 512); /* first bucket 1 */
}

static void super(const char *name, uint8_t ret[BCACHE_SUPER_BYTES])
{
	_cleanup_image_ struct image image;

	image_golden(&image, name);
	image_get(&image, BCACHE_SUPER_BYTES, ret, BCACHE_SUPER_BYTES);
}

/* Change a field (little endian), mend the checksum, decode. */
static int changed(const char *name, size_t at, size_t width, uint64_t value)
{
	uint8_t raw[BCACHE_SUPER_BYTES];
	struct bcache_super s;
	uint64_t crc;

	super(name, raw);
	for (size_t i = 0; i < width; i++)
		raw[at + i] = (uint8_t)(value >> 8 * i);
	crc = crc64_ecma_norm(0, raw + 8, 200 + 8 * (size_t)load_le16(raw + 206) % 2056);
	for (size_t i = 0; i < 8; i++)
		raw[i] = (uint8_t)(crc >> 8 * i);
	return bcache_decode(raw, sizeof(raw), &s, NULL);
}

static void test_hostile(void **state)
{
	(void)state;
	assert_int_equal(changed("bcache-cache", 192, 2, 8), 0);
	assert_int_equal(changed("bcache-cache", 8, 8, 16), -EBADMSG);			  /* own place */
	assert_int_equal(changed("bcache-cache", 16, 8, 2), -ENOTSUP);			  /* version */
	assert_int_equal(changed("bcache-cache", 16, 8, 7), -ENOTSUP);			  //
	assert_int_equal(changed("bcache-cache", 184, 8, 127), -EBADMSG);		  /* buckets */
	assert_int_equal(changed("bcache-cache", 184, 8, UINT64_MAX), -EBADMSG);	  //
	assert_int_equal(changed("bcache-cache", 192, 2, 0), -EBADMSG);			  /* block */
	assert_int_equal(changed("bcache-cache", 194, 2, 0), -EBADMSG);			  /* bucket */
	assert_int_equal(changed("bcache-cache", 194, 2, 513), -EBADMSG);		  //
	assert_int_equal(changed("bcache-cache", 204, 2, 256), -EBADMSG);		  /* first bucket */
	assert_int_equal(changed("bcache-cache", 206, 2, 257), -EBADMSG);		  /* journal buckets */
	assert_int_equal(changed("bcache-backing-offset", 184, 8, 15), -EBADMSG);	  /* data offset */
	assert_int_equal(changed("bcache-backing-offset", 184, 8, UINT64_MAX), -EBADMSG); //
}

static void test_large_buckets(void **state)
{
	(void)state;
	assert_int_equal(changed("bcache-cache", 16, 8, 5), 0);		/* a version with features, none set */
	assert_int_equal(changed("bcache-cache", 128, 8, 2), 0);	/* of a version that has none: not looked at */
	assert_int_equal(changed("bcache-cache", 194, 2, 9), -EBADMSG); /* 9 sectors */
}

static void test_not_bcache(void **state)
{
	uint8_t raw[BCACHE_SUPER_BYTES];
	struct bcache_super s;

	(void)state;
	super("bcache-backing", raw);
	assert_int_equal(bcache_decode(raw, 2000, &s, NULL), BLKALIGN_NOT_THIS);
	raw[0] ^= 1;
	assert_int_equal(bcache_decode(raw, sizeof(raw), &s, NULL), -EBADMSG);
	raw[24] ^= 1;
	assert_int_equal(bcache_decode(raw, sizeof(raw), &s, NULL), BLKALIGN_NOT_THIS);
}

static void test_read_errors(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *tiny = NULL;
	struct bcache_super s;
	uint8_t bytes[512] = { 0 };

	(void)state;
	image_golden(&image, "bcache-backing");
	dev = image_open(&image);
	assert_int_equal(dev_open_fault(dev, 5000, 1, -EIO, &bad), 0);
	assert_int_equal(bcache_read(bad, &s, NULL), -EIO);
	assert_int_equal(dev_open_memory("tiny", bytes, sizeof(bytes), false, &tiny), 0);
	assert_int_equal(bcache_read(tiny, &s, NULL), BLKALIGN_NOT_THIS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backing),	      cmocka_unit_test(test_cache),	 cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_large_buckets), cmocka_unit_test(test_not_bcache), cmocka_unit_test(test_read_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
