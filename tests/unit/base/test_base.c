/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit.h"

#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/base.h"

static void test_checked_arithmetic(void **state)
{
	uint64_t r = 7;

	(void)state;
	assert_true(u64_add(UINT64_MAX - 1, 1, &r));
	assert_int_equal(r, UINT64_MAX);
	assert_false(u64_add(UINT64_MAX, 1, &r));
	assert_false(u64_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &r));
	assert_int_equal(r, UINT64_MAX);
	assert_true(range_inside(10, 0, 10));
	assert_false(range_inside(10, 1, 10));
	assert_false(range_inside(1, UINT64_MAX, 10));
	assert_int_equal(round_up_u64(4097, 4096), 8192);
	assert_int_equal(round_up_u64(UINT64_MAX, 4096), 0);
	assert_int_equal(gcd_u64(3670016, 4194304), 524288);
}

/* Check values from the catalogue of parametrised CRC algorithms: CRC-32/ISO-HDLC, CRC-32/JAMCRC and CRC-32C over "123456789". */
static void test_crc(void **state)
{
	(void)state;
	assert_int_equal(crc32_zlib("123456789", 9), 0xcbf43926);
	assert_int_equal(crc32_raw(0xffffffff, "123456789", 9), 0x340bc6d9);
	assert_int_equal(~crc32c_raw(0xffffffff, "123456789", 9), 0xe3069283);
}

static void test_byte_order(void **state)
{
	static const uint8_t b[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	assert_int_equal(load_le16(b), 0x0201);
	assert_int_equal(load_le32(b), 0x04030201);
	assert_true(load_le64(b) == UINT64_C(0x0807060504030201));
	assert_int_equal(load_be16(b), 0x0102);
	assert_int_equal(load_be32(b), 0x01020304);
	assert_true(load_be64(b) == UINT64_C(0x0102030405060708));
}

static void test_store(void **state)
{
	uint8_t bytes[] = { 9, 9, 9, 9, 9 };

	(void)state;
	store_le(bytes + 1, 3, 0x8877665544332211);
	assert_memory_equal(bytes, ((uint8_t[]){ 9, 0x11, 0x22, 0x33, 9 }), sizeof(bytes));
}

static void test_ranges(void **state)
{
	struct byte_range ranges[] = { { 30, 10 }, { 8, 4 }, { 0, 5 }, { 12, 3 }, { 32, 20 }, { 33, 1 }, { 90, UINT64_MAX } };
	const struct byte_range tidy[] = { { 0, 5 }, { 8, 7 }, { 30, 22 }, { 90, UINT64_MAX } };
	const uint64_t ats[] = { 0, 4, 5, 8, 14, 15, 51, 52, UINT64_MAX - 1, UINT64_MAX };
	const size_t behind[] = { 0, 0, 1, 1, 1, 2, 2, 3, 3, 4 };
	size_t count = ranges_tidy(ranges, ARRAY_SIZE(ranges));

	(void)state;
	assert_int_equal(count, ARRAY_SIZE(tidy));
	assert_memory_equal(ranges, tidy, sizeof(tidy));
	assert_int_equal(range_end(&ranges[1]), 15);
	for (size_t i = 0; i < ARRAY_SIZE(ats); i++)
		assert_int_equal(ranges_behind(ranges, count, ats[i]), behind[i]);
	assert_int_equal(ranges_behind(NULL, 0, 1), 0);
	assert_int_equal(ranges_tidy(NULL, 0), 0);
}

static void test_escape(void **state)
{
	char out[64];

	(void)state;
	assert_string_equal(blkalign_escape(out, sizeof(out), "plain"), "plain");
	assert_string_equal(blkalign_escape(out, sizeof(out), "a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
	assert_string_equal(blkalign_escape(out, sizeof(out), "gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(blkalign_escape(out, sizeof(out),
					    "\xe2\x80\xae"
					    "x"),
			    "\\xe2\\x80\\xaex");
	assert_string_equal(blkalign_escape(out, sizeof(out), "\xc0\xaf"), "\\xc0\\xaf");
	assert_string_equal(blkalign_escape(out, sizeof(out), "\\"), "\\x5c");
	assert_string_equal(blkalign_escape(out, 6, "abc\x1b"), "abc");
}

static void test_join(void **state)
{
	char out[8];

	(void)state;
	assert_string_equal(text_join(out, sizeof(out), "vg", "/", "lv"), "vg/lv");
	assert_string_equal(text_join(out, sizeof(out), "group", "/", "volume"), "group/v");
	assert_string_equal(text_join(out, 1, "x", "", ""), "");
}

static void test_format_bytes(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), 1048576, 0), "1 MiB");
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), 3670016, 0), "3584 KiB");
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), 33553920, 0), "33553920 B");
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), 0, 0), "0 B");
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), BLKALIGN_UNKNOWN, 0), "-");
	assert_string_equal(blkalign_format_bytes(out, sizeof(out), UINT64_C(3000592982016), 1), "2.7 TiB");
}

static void test_arena_and_strbuf(void **state)
{
	struct arena *a = arena_new();
	struct strbuf b = { 0 };

	(void)state;
	assert_non_null(a);
	for (int i = 0; i < 1000; i++) {
		char *s = arena_printf(a, "string %d", i);

		assert_non_null(s);
		assert_int_equal((uintptr_t)s % sizeof(uint64_t), 0);
	}
	arena_free(a);
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&b, "%d,", i);
	strbuf_add_u64(&b, 0);
	strbuf_add_u64(&b, UINT64_MAX);
	assert_string_equal(b.text + b.length - 21, "018446744073709551615");
	assert_false(b.failed);
	assert_int_equal(b.length, strlen(b.text));
	strbuf_done(&b);
	assert_string_equal(strbuf_text(&b), "");
}

/* libcrypto has one of its own, too slow for a table. */
static void test_siphash(void **state)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
	size_t eight = 8, got = 0;
	const OSSL_PARAM params[] = { OSSL_PARAM_construct_size_t("size", &eight), OSSL_PARAM_construct_end() };
	struct sipkey key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	uint8_t bytes[64], out[8];

	(void)state;
	assert_non_null(mac);
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	for (size_t length = 0; length < sizeof(bytes); length++) {
		EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);

		assert_int_equal(EVP_MAC_init(ctx, bytes, 16, params), 1);
		assert_int_equal(EVP_MAC_update(ctx, bytes, length), 1);
		assert_int_equal(EVP_MAC_final(ctx, out, &got, sizeof(out)), 1);
		assert_int_equal(siphash(&key, bytes, length), load_le64(out));
		EVP_MAC_CTX_free(ctx);
	}
	EVP_MAC_free(mac);
}

/* Expected bytes: python3, str.encode("utf-16-le") and str.encode(). */
static void test_utf16(void **state)
{
	static const uint8_t text[] = { 'a', 0, 0xe4, 0, 0xac, 0x20, 0x3d, 0xd8, 0xbe, 0xdc, 0x3d, 0xd8, 'b', 0, 0, 0, 'c', 0 };
	char ret[32], small[5];

	(void)state;
	utf8_from_utf16le(ret, sizeof(ret), text, sizeof(text));
	assert_string_equal(ret, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe\xef\xbf\xbd"
				 "b");
	utf8_from_utf16le(small, sizeof(small), text, sizeof(text));
	assert_string_equal(small, "a\xc3\xa4"); /* the next one has no room: it is not cut in the middle */
	utf8_from_utf16le(ret, sizeof(ret), text, 1);
	assert_string_equal(ret, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_checked_arithmetic),
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_byte_order),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_format_bytes),
		cmocka_unit_test(test_arena_and_strbuf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
