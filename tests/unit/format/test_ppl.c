/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs that a kernel wrote, as they were when the power went; and logs that nobody should have written. */
#include "unit.h"

#include "format/ppl/ppl.h"

#define AREA (1 * MIB)

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static uint8_t area[AREA];
static struct ppl_header header;
static struct blkalign_error err;

static void put(size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		area[at + i] = (uint8_t)(value >> 8 * i);
}

static void mend(void)
{
	put(532, 4, 0);
	put(532, 4, ppl_checksum(area, PPL_HEADER_BYTES));
}

static int decode(void) { return ppl_decode(area, PPL_HEADER_BYTES, ppl_signature(uuid), &header, &err); }

/* The check value of CRC-32C: of "123456789". */
static void test_checksum(void **state)
{
	(void)state;
	assert_int_equal(ppl_checksum("123456789", 9), 0xe3069283);
	assert_int_equal(ppl_checksum("", 0), 0);
}

/* The header of a member of raid5-ppl-crash, byte for byte. */
static void test_kernels_header(void **state)
{
	char path[512];
	uint8_t again[PPL_HEADER_BYTES];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/fuzz/corpus/ppl/kernel", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(area, 1, PPL_HEADER_BYTES, f), PPL_HEADER_BYTES);
	fclose(f);
	assert_int_equal(ppl_decode(area, PPL_HEADER_BYTES, load_le32(area + 512), &header, &err), 0);
	assert_true(header.entries_count > 0);
	ppl_encode(&header, load_le32(area + 512), again);
	assert_memory_equal(again, area, PPL_HEADER_BYTES);
	area[600] ^= 1;
	assert_int_equal(ppl_decode(area, PPL_HEADER_BYTES, load_le32(area + 512), &header, &err), BLKALIGN_NOT_THIS);
	area[600] ^= 1;
	assert_int_equal(ppl_decode(area, PPL_HEADER_BYTES, load_le32(area + 512) + 1, &header, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(ppl_decode(area, PPL_HEADER_BYTES - 1, load_le32(area + 512), &header, &err), BLKALIGN_NOT_THIS);
}

static void empty(uint64_t generation, size_t at)
{
	struct ppl_header h = { .generation = generation };

	ppl_encode(&h, ppl_signature(uuid), area + at);
}

static void test_hostile(void **state)
{
	(void)state;
	empty(1, 0);
	assert_int_equal(decode(), 0);
	put(528, 4, PPL_ENTRIES_MAX);
	mend();
	assert_int_equal(decode(), 0);
	put(528, 4, PPL_ENTRIES_MAX + 1);
	mend();
	assert_int_equal(decode(), -EBADMSG);
	put(528, 4, 1);
	put(536, 8, UINT64_MAX / 512);
	mend();
	assert_int_equal(decode(), 0);
	put(536, 8, UINT64_MAX / 512 + 1);
	mend();
	assert_int_equal(decode(), -EBADMSG);
	put(536, 8, 0);
	put(544, 4, 513);
	mend();
	assert_int_equal(decode(), -EBADMSG);
}

static void one_entry(uint64_t generation, size_t at, uint32_t parity_bytes)
{
	struct ppl_header h = { .generation = generation, .entries_count = 1, .entries = { { 0, parity_bytes, parity_bytes, 0, 0 } } };

	ppl_encode(&h, ppl_signature(uuid), area + at);
}

static int find_in(uint64_t size_bytes, bool many, uint64_t *at)
{
	_cleanup_dev_ struct dev *dev = NULL;

	assert_int_equal(dev_open_memory("log", area, AREA, false, &dev), 0);
	return ppl_read(dev, 0, size_bytes, many, ppl_signature(uuid), &header, at, &err);
}

static int find(bool many, uint64_t *at) { return find_in(AREA, many, at); }

/* The newest is the last one before the generation drops. */
static void test_walk(void **state)
{
	uint64_t at;

	(void)state;
	memset(area, 0, sizeof(area));
	assert_int_equal(find(true, &at), BLKALIGN_NOT_THIS);
	one_entry(5, 0, 8192);
	assert_int_equal(find(true, &at), 0);
	assert_int_equal(at, 0);
	one_entry(6, 12288, 4096);
	one_entry(4, 20480, 4096);
	assert_int_equal(find(true, &at), 0);
	assert_int_equal(at, 12288);
	assert_int_equal(header.generation, 6);
	assert_int_equal(find(false, &at), 0);
	assert_int_equal(at, 0);
	one_entry(6, 20480, 0xfffffe00);
	assert_int_equal(find(true, &at), 0);
	assert_int_equal(at, 20480);
	assert_int_equal(find_in(12288 + 4095, true, &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(find_in(4095, true, &at), BLKALIGN_NOT_THIS);
}

/* What cannot be read may be the newest: nobody guesses. */
static void test_unreadable(void **state)
{
	_cleanup_dev_ struct dev *memory = NULL, *bad = NULL;
	uint64_t at;

	(void)state;
	memset(area, 0, sizeof(area));
	one_entry(5, 0, 4096);
	assert_int_equal(dev_open_memory("log", area, AREA, false, &memory), 0);
	assert_int_equal(dev_open_fault(memory, 8192, 512, -EIO, &bad), 0);
	assert_int_equal(ppl_read(bad, 0, AREA, true, ppl_signature(uuid), &header, &at, &err), -EIO);
	assert_int_equal(ppl_read(bad, 0, AREA, false, ppl_signature(uuid), &header, &at, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checksum), cmocka_unit_test(test_kernels_header), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_walk),	 cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
