/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headers written by cryptsetup; the numbers are those of luksDump (golden/parts/NAME.txt). Checksums are mended with OpenSSL. */
#include <openssl/sha.h>

#include "image.h"

#include "format/luks/luks.h"

#define COPY_BYTES 16384U

static int read_image(struct image *image, struct luks_found *ret, struct blkalign_error *reterr)
{
	_cleanup_dev_ struct dev *dev = image_open(image);

	return luks_read(dev, ret, reterr);
}

static void mend(uint8_t *copy)
{
	memset(copy + 448, 0, 64);
	SHA256(copy, COPY_BYTES, copy + 448);
}

static void test_luks1(void **state)
{
	_cleanup_image_ struct image image;
	struct luks_found f;

	(void)state;
	image_golden(&image, "luks1");
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.header.version, 1);
	assert_int_equal(f.header.payload_offset_bytes, 4096 * 512);
	assert_int_equal(f.header.payload_bytes, BLKALIGN_UNKNOWN);
	assert_int_equal(f.header.sector_bytes, 512);
	assert_int_equal(f.header.key_bytes, 64);
	assert_string_equal(f.header.cipher, "aes-xts-plain64");
	assert_string_equal(f.header.uuid, "00000000-0000-4000-8000-000000000001");
	assert_int_equal(f.primary, LUKS_COPY_OK);
	assert_false(f.detached);
}

static void test_luks2(void **state)
{
	_cleanup_image_ struct image image;
	struct luks_found f;

	(void)state;
	image_golden(&image, "luks2");
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.header.version, 2);
	assert_int_equal(f.header.header_bytes, COPY_BYTES);
	assert_int_equal(f.header.payload_offset_bytes, 16777216);
	assert_int_equal(f.header.payload_bytes, BLKALIGN_UNKNOWN);
	assert_int_equal(f.header.sector_bytes, 4096);
	assert_int_equal(f.header.segments, 1);
	assert_string_equal(f.header.cipher, "aes-xts-plain64");
	assert_string_equal(f.header.uuid, "00000000-0000-4000-8000-000000000002");
	assert_string_equal(f.header.label, "My data");
	assert_int_equal(f.primary, LUKS_COPY_OK);
	assert_int_equal(f.secondary, LUKS_COPY_OK);
}

static void test_luks2_other_sizes(void **state)
{
	_cleanup_image_ struct image image, detached;
	struct luks_found f;

	(void)state;
	image_golden(&image, "luks2-512");
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.header.payload_offset_bytes, 4194304);
	assert_int_equal(f.header.sector_bytes, 512);
	assert_false(f.detached);
	image_golden(&detached, "luks2-detached");
	assert_int_equal(read_image(&detached, &f, NULL), 0);
	assert_int_equal(f.header.payload_offset_bytes, 0);
	assert_true(f.detached);
}

static void test_damaged_copies(void **state)
{
	_cleanup_image_ struct image image;
	struct luks_found f;
	struct blkalign_error error = { 0 };

	(void)state;
	image_golden(&image, "luks2");
	image_put(&image, 4096 + 20, "x", 1);
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.primary, LUKS_COPY_DAMAGED);
	assert_int_equal(f.secondary, LUKS_COPY_OK);
	assert_int_equal(f.header.payload_offset_bytes, 16777216);
	image_put(&image, 8, "\0\0\0\0\0\0\x12\x34", 8); /* the size too: the secondary must be searched for */
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.secondary, LUKS_COPY_OK);
	image_put(&image, COPY_BYTES + 4096, "x", 1);
	assert_int_equal(read_image(&image, &f, &error), -EBADMSG);
	assert_non_null(strstr(error.message, "header size"));
}

static void test_only_secondary_damaged(void **state)
{
	_cleanup_image_ struct image image;
	struct luks_found f;

	(void)state;
	image_golden(&image, "luks2");
	image_put(&image, COPY_BYTES + 4096, "x", 1);
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.primary, LUKS_COPY_OK);
	assert_int_equal(f.secondary, LUKS_COPY_DAMAGED);
	image_put(&image, COPY_BYTES, "xxxx", 4);
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.secondary, LUKS_COPY_ABSENT);
}

static void test_higher_sequence_number_wins(void **state)
{
	_cleanup_image_ struct image image;
	uint8_t copy[COPY_BYTES];
	struct luks_found f;
	uint64_t seqid;

	(void)state;
	image_golden(&image, "luks2");
	image_get(&image, COPY_BYTES, copy, sizeof(copy));
	seqid = load_be64(copy + 16);
	copy[16 + 7] = (uint8_t)(seqid + 1);
	memcpy(copy + 24, "newer", sizeof("newer"));
	mend(copy);
	image_put(&image, COPY_BYTES, copy, sizeof(copy));
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.header.seqid, seqid + 1);
	assert_string_equal(f.header.label, "newer");
}

static void test_copy_that_lies_about_its_place(void **state)
{
	_cleanup_image_ struct image image;
	uint8_t copy[COPY_BYTES];
	struct luks_found f;

	(void)state;
	image_golden(&image, "luks2");
	image_get(&image, COPY_BYTES, copy, sizeof(copy));
	copy[256 + 6] = 0; /* header offset */
	mend(copy);
	image_put(&image, COPY_BYTES, copy, sizeof(copy));
	assert_int_equal(read_image(&image, &f, NULL), 0);
	assert_int_equal(f.secondary, LUKS_COPY_DAMAGED);
}

static void test_read_errors(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *worse = NULL;
	struct luks_found f;
	struct blkalign_error error = { 0 };

	(void)state;
	image_golden(&image, "luks2");
	dev = image_open(&image);
	assert_int_equal(dev_open_fault(dev, 0, 4096, -EIO, &bad), 0);
	assert_int_equal(luks_read(bad, &f, NULL), 0);
	assert_int_equal(f.primary, LUKS_COPY_UNREADABLE);
	assert_int_equal(f.secondary, LUKS_COPY_OK);
	assert_int_equal(dev_open_fault(dev, 0, 65536, -EIO, &worse), 0);
	assert_int_equal(luks_read(worse, &f, &error), -EIO);
	assert_int_equal(error.code, -EIO);
}

static void test_sizes_of_4_gib(void **state)
{
	static const char *const sizes[] = { "\0\0\0\1\0\0\0\0",   "\0\0\0\0\0\0\0\0",	 "\xff\xff\xff\xff\xff\xff\xff\xff",
					     "\0\0\0\0\0\0\x20\0", "\0\0\0\0\0\x80\0\0", "\0\0\0\0\0\0\x50\0" };
	_cleanup_image_ struct image image;
	uint8_t head[4096];

	(void)state;
	image_golden(&image, "luks2");
	image_get(&image, 0, head, sizeof(head));
	assert_int_equal(luks2_claimed_bytes(head, sizeof(head)), COPY_BYTES);
	assert_int_equal(luks2_claimed_bytes(head, sizeof(head) - 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		memcpy(head + 8, sizes[i], 8);
		assert_int_equal(luks2_claimed_bytes(head, sizeof(head)), 0);
	}
	memcpy(head + 8, "\0\0\0\0\0\x40\0\0", 8);
	assert_int_equal(luks2_claimed_bytes(head, sizeof(head)), LUKS2_HEADER_MAX_BYTES);
}

static int json(const char *text, struct luks_header *ret)
{
	*ret = (struct luks_header){ .payload_bytes = BLKALIGN_UNKNOWN };
	return luks2_decode_json(text, strlen(text) + 1, ret, NULL);
}

#define SEGMENT(offset, size, rest) "{\"type\":\"crypt\",\"offset\":" offset ",\"size\":" size rest "}"
#define SEGMENTS(list)		    "{\"segments\":{" list "}}"

static void test_json(void **state)
{
	static const char *const refused[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"segments\":[]}",
		SEGMENTS(""),
		SEGMENTS("\"0\":7"),
		SEGMENTS("\"0\":" SEGMENT("4096", "\"dynamic\"", "")), /* a number where a string belongs */
		SEGMENTS("\"0\":" SEGMENT("\"-1\"", "\"dynamic\"", "")),
		SEGMENTS("\"0\":" SEGMENT("\"\"", "\"dynamic\"", "")),
		SEGMENTS("\"0\":" SEGMENT("\"18446744073709551616\"", "\"dynamic\"", "")),
		SEGMENTS("\"0\":" SEGMENT("\"100\"", "\"dynamic\"", "")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"all\"", "")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"sector_size\":0")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"sector_size\":-512")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"sector_size\":3000")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"sector_size\":8192")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"sector_size\":\"512\"")),
		SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"dynamic\"", ",\"flags\":[\"backup-final\"]")),
	};
	struct luks_header h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(json(refused[i], &h), -EBADMSG);
	assert_int_equal(json(SEGMENTS("\"0\":" SEGMENT("\"4096\"", "\"8192\"", "")), &h), 0);
	assert_int_equal(h.payload_offset_bytes, 4096);
	assert_int_equal(h.payload_bytes, 8192);
	assert_int_equal(h.sector_bytes, 512);
	assert_int_equal(luks2_decode_json("{}", 2, &h, NULL), -EBADMSG); /* not terminated */
}

/* Of the segments of a running re-encryption the lowest that is no backup counts. */
static void test_json_of_reencryption(void **state)
{
	struct luks_header h;

	(void)state;
	assert_int_equal(json(SEGMENTS("\"2\":" SEGMENT("\"1024\"", "\"dynamic\"", ",\"flags\":[\"backup-previous\"]") //
				       ",\"1\":" SEGMENT("\"8192\"", "\"dynamic\"", "")				       //
				       ",\"0\":" SEGMENT("\"4096\"", "\"4096\"", ",\"flags\":[\"in-reencryption\"]")),
			      &h),
			 0);
	assert_int_equal(h.payload_offset_bytes, 4096);
	assert_int_equal(h.segments, 3);
}

static void test_json_bombs(void **state)
{
	size_t size = 4 << 20;
	char *text = malloc(size + 1);
	struct luks_header h;

	(void)state;
	memset(text, '[', size);
	text[size] = '\0';
	assert_int_equal(json(text, &h), -EBADMSG);
	text[LUKS_JSON_DEPTH_MAX + 1] = '\0'; /* few, but too deep */
	assert_int_equal(json(text, &h), -EBADMSG);
	for (size_t i = 0; i < size; i++)
		text[i] = i % 3 == 0 ? '{' : i % 3 == 1 ? '}' : ',';
	text[0] = '[';
	assert_int_equal(json(text, &h), -EBADMSG);
	free(text);
}

static void test_not_luks(void **state)
{
	uint8_t bytes[8192] = "LUKS\xba\xbe";
	struct luks_header h;

	(void)state;
	for (size_t size = 0; size < 8; size++)
		assert_int_equal(luks_decode(bytes, size, &h, NULL), BLKALIGN_NOT_THIS);
	assert_int_equal(luks_decode(bytes, sizeof(bytes), &h, NULL), -ENOTSUP); /* version 0 */
	bytes[7] = 1;
	assert_int_equal(luks_decode(bytes, 500, &h, NULL), -EBADMSG);
	assert_int_equal(luks_decode(bytes, sizeof(bytes), &h, NULL), -EBADMSG); /* no key */
	bytes[0] = 'X';
	assert_int_equal(luks_decode(bytes, sizeof(bytes), &h, NULL), BLKALIGN_NOT_THIS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_luks1),
		cmocka_unit_test(test_luks2),
		cmocka_unit_test(test_luks2_other_sizes),
		cmocka_unit_test(test_damaged_copies),
		cmocka_unit_test(test_only_secondary_damaged),
		cmocka_unit_test(test_higher_sequence_number_wins),
		cmocka_unit_test(test_copy_that_lies_about_its_place),
		cmocka_unit_test(test_read_errors),
		cmocka_unit_test(test_sizes_of_4_gib),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_of_reencryption),
		cmocka_unit_test(test_json_bombs),
		cmocka_unit_test(test_not_luks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
