/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables written by sgdisk and fdisk; the numbers are those that the tools print (golden/parts/NAME.txt). Checksums are mended with zlib. */
#include <zlib.h>

#include "image.h"

#include "format/gpt/gpt.h"

#define SIZE_64M (UINT64_C(64) << 20)

static int read_image(struct image *image, uint32_t unit, struct gpt_table *ret)
{
	_cleanup_dev_ struct dev *dev = image_open(image);

	return gpt_read(dev, unit, ret, NULL);
}

static void put32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void put64(uint8_t *at, uint64_t v)
{
	put32(at, (uint32_t)v);
	put32(at + 4, (uint32_t)(v >> 32));
}

static void mend_header(uint8_t *h)
{
	put32(h + 16, 0);
	put32(h + 16, (uint32_t)crc32(0, h, load_le32(h + 12) <= 512 ? load_le32(h + 12) : 92));
}

static void test_512(void **state)
{
	static const struct {
		uint32_t number;
		uint64_t first, last;
		const char *type;
	} rows[] = { { 1, 34, 2047, "21686148-6449-6e6f-744e-656564454649" },
		     { 2, 2048, 18431, "c12a7328-f81f-11d2-ba4b-00a0c93ec93b" },
		     { 3, 18432, 34815, "e3c9e316-0b5c-4db8-817d-f92df00215ae" },
		     { 5, 34816, 100000, "a19d880f-05fc-4d3b-a006-743f0f84911e" } };
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;
	char guid[37];

	(void)state;
	image_golden(&image, "gpt-512");
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.primary.state, GPT_COPY_OK);
	assert_int_equal(t.backup.state, GPT_COPY_OK);
	assert_int_equal(t.backup.offset_bytes, SIZE_64M - 512);
	assert_int_equal(t.choice, GPT_CHOICE_PRIMARY);
	assert_false(t.differ);
	assert_int_equal(t.primary.header.first_usable_bytes, 34 * 512);
	assert_int_equal(t.primary.header.usable_end_bytes, (131038 + 1) * 512);
	gpt_guid_format(guid, t.primary.header.disk_guid);
	assert_string_equal(guid, "00000000-0000-4000-8000-000000000000");
	assert_int_equal(t.entries.count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct gpt_entry *e = &t.entries.data[i];

		assert_int_equal(e->number, rows[i].number);
		assert_int_equal(e->start_bytes, rows[i].first * 512);
		assert_int_equal(e->length_bytes, (rows[i].last - rows[i].first + 1) * 512);
		assert_string_equal(e->type_guid, rows[i].type);
	}
	assert_string_equal(t.entries.data[3].unique_guid, "00000000-0000-4000-8000-000000000005");
	assert_string_equal(t.entries.data[3].name, "Dätä 🖴");
}

static void test_4096(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t, other;

	(void)state;
	image_golden(&image, "gpt-4096");
	assert_int_equal(read_image(&image, 4096, &t), 0);
	assert_int_equal(t.primary.state, GPT_COPY_OK);
	assert_int_equal(t.backup.state, GPT_COPY_OK);
	assert_int_equal(t.backup.offset_bytes, SIZE_64M - 4096);
	assert_int_equal(t.entries.count, 2);
	assert_int_equal(t.entries.data[0].start_bytes, 256 * 4096);
	assert_int_equal(t.entries.data[1].length_bytes, 7809 * 4096);
	assert_int_equal(read_image(&image, 512, &other), BLKALIGN_NOT_THIS);
	assert_int_equal(other.primary.state, GPT_COPY_ABSENT);
	assert_int_equal(other.backup.state, GPT_COPY_ABSENT);
}

static void test_damaged_primary(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;

	(void)state;
	image_golden(&image, "gpt-512");
	image_put(&image, 512 + 40, "x", 1);
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.primary.state, GPT_COPY_DAMAGED);
	assert_non_null(strstr(t.primary.reason, "header checksum"));
	assert_int_equal(t.choice, GPT_CHOICE_BACKUP);
	assert_int_equal(t.entries.count, 4);
}

static void test_damaged_entries(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;

	(void)state;
	image_golden(&image, "gpt-512");
	image_put(&image, 1024 + 3000, "x", 1);
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.primary.state, GPT_COPY_DAMAGED);
	assert_non_null(strstr(t.primary.reason, "entries"));
	assert_int_equal(t.choice, GPT_CHOICE_BACKUP);
}

static void test_both_damaged(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;

	(void)state;
	image_golden(&image, "gpt-512");
	image_put(&image, 512 + 40, "x", 1);
	image_put(&image, SIZE_64M - 512, "x", 1);
	assert_int_equal(read_image(&image, 512, &t), BLKALIGN_NOT_THIS);
	assert_int_equal(t.choice, GPT_CHOICE_NONE);
	assert_int_equal(t.backup.state, GPT_COPY_ABSENT);
}

static void test_unreadable(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t = { 0 };
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *bad_entries = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	dev = image_open(&image);
	assert_int_equal(dev_open_fault(dev, SIZE_64M - 512, 512, -EIO, &bad), 0);
	assert_int_equal(gpt_read(bad, 512, &t, NULL), 0);
	assert_int_equal(t.backup.state, GPT_COPY_UNREADABLE);
	assert_int_equal(t.primary.state, GPT_COPY_OK);
	gpt_table_done(&t);
	assert_int_equal(dev_open_fault(dev, 2048, 1, -EIO, &bad_entries), 0);
	assert_int_equal(gpt_read(bad_entries, 512, &t, NULL), 0);
	assert_int_equal(t.primary.state, GPT_COPY_UNREADABLE);
	assert_int_equal(t.choice, GPT_CHOICE_BACKUP);
}

/* A disk that gives the sectors of the primary's entries once and never again. */
struct dying {
	struct dev dev;
	struct dev *below;
	unsigned reads;
};

static void dying_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct dying *d = (struct dying *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];

		q->result = q->offset_bytes == 1024 && d->reads++ ? -EIO
								  : dev_read(d->below, q->offset_bytes, q->buffer, q->length_bytes, NULL);
	}
}

static void test_unreadable_the_second_time(void **state)
{
	static const struct dev_ops ops = { .kind = "dying", .run = dying_run };
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t = { 0 };
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	dev = image_open(&image);
	bad = dev_new(sizeof(struct dying), &ops, "dying", dev->size_bytes, 1);
	((struct dying *)bad)->below = dev;
	assert_int_equal(gpt_read(bad, 512, &t, NULL), 0);
	assert_int_equal(((struct dying *)bad)->reads, 2);
	assert_int_equal(t.primary.state, GPT_COPY_UNREADABLE);
	assert_int_equal(t.choice, GPT_CHOICE_BACKUP);
	assert_int_equal(t.entries.count, 4);
}

/* The bridge hides the last sector: the backup is gone, and what the primary says of its place still tells how much is hidden. */
static void test_lost_last_sector(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;

	(void)state;
	image_golden(&image, "gpt-4tb");
	image_resize(&image, UINT64_C(7814037167) * 512);
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.backup.state, GPT_COPY_ABSENT);
	assert_int_equal(t.backup.offset_bytes, UINT64_C(7814037167) * 512);
	assert_non_null(strstr(t.backup.reason, "beyond the end"));
}

static void test_grown_device(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;

	(void)state;
	image_golden(&image, "gpt-512");
	image_resize(&image, SIZE_64M * 2);
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.backup.state, GPT_COPY_OK);
	assert_int_equal(t.backup.offset_bytes, SIZE_64M - 512);
}

static void test_copies_that_differ(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;
	uint8_t header[512];

	(void)state;
	image_golden(&image, "gpt-512");
	image_get(&image, SIZE_64M - 512, header, sizeof(header));
	header[56] ^= 1; /* disk GUID */
	mend_header(header);
	image_put(&image, SIZE_64M - 512, header, sizeof(header));
	assert_int_equal(read_image(&image, 512, &t), 0);
	assert_int_equal(t.backup.state, GPT_COPY_OK);
	assert_true(t.differ);
	assert_int_equal(t.choice, GPT_CHOICE_PRIMARY);
}

/* One field of the primary changed and the checksum mended; the backup destroyed. */
static void expect_refused(size_t at, size_t width, uint64_t value)
{
	_cleanup_image_ struct image image;
	_cleanup_gpt_table_ struct gpt_table t;
	uint8_t header[512];

	image_golden(&image, "gpt-512");
	image_get(&image, 512, header, sizeof(header));
	if (width == 4)
		put32(header + at, (uint32_t)value);
	else
		put64(header + at, value);
	mend_header(header);
	image_put(&image, 512, header, sizeof(header));
	image_put(&image, SIZE_64M - 512, "x", 1);
	assert_int_equal(read_image(&image, 512, &t), BLKALIGN_NOT_THIS);
	assert_int_equal(t.primary.state, GPT_COPY_DAMAGED);
}

static void test_hostile_headers(void **state)
{
	static const uint32_t sizes[] = { 0, 91, 513, UINT32_MAX }, entry_sizes[] = { 0, 1, 64, 127, 129, 384, 8192, 1U << 31 };
	static const uint32_t counts[] = { 0, GPT_ENTRIES_MAX + 1, UINT32_MAX };
	static const uint64_t tables[] = { 0, 1, 131072, UINT64_MAX, UINT64_MAX / 512 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		expect_refused(12, 4, sizes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(entry_sizes); i++)
		expect_refused(84, 4, entry_sizes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		expect_refused(80, 4, counts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		expect_refused(72, 8, tables[i]);
	expect_refused(24, 8, 2);	   /* my LBA */
	expect_refused(48, 8, UINT64_MAX); /* last usable */
	expect_refused(80, 4, 120);	   /* then the CRC of the entries does not cover what it says */
}

static void test_entry_caps(void **state)
{
	uint8_t header[512];
	struct gpt_header h;
	const char *reason;
	_cleanup_image_ struct image image;

	(void)state;
	image_golden(&image, "gpt-512");
	image_get(&image, 512, header, sizeof(header));
	put32(header + 80, GPT_ENTRIES_MAX);
	put32(header + 84, 4096);
	mend_header(header);
	assert_int_equal(gpt_decode_header(header, sizeof(header), 512, &h, &reason), 0);
	assert_int_equal(h.entry_count, GPT_ENTRIES_MAX);
	assert_int_equal(gpt_decode_header(header, 511, 512, &h, &reason), BLKALIGN_NOT_THIS);
}

static void test_hostile_entries(void **state)
{
	uint8_t raw[128] = { 1 };
	struct gpt_entry e;

	(void)state;
	put64(raw + 32, 100);
	put64(raw + 40, 99); /* last before first */
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), 0);
	assert_int_equal(e.length_bytes, 0);
	put64(raw + 40, UINT64_MAX);
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), 0);
	assert_int_equal(e.length_bytes, 0);
	put64(raw + 32, UINT64_MAX);
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), 0);
	assert_int_equal(e.start_bytes, BLKALIGN_UNKNOWN);
	memset(raw + 56, 0xff, 72); /* 36 times U+FFFF: three bytes each */
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), 0);
	assert_int_equal(strlen(e.name), 108);
	memset(raw + 56, 0xd8, 72); /* halves of pairs */
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), 0);
	assert_memory_equal(e.name, "\xef\xbf\xbd", 3);
	raw[0] = 0;
	assert_int_equal(gpt_decode_entry(raw, sizeof(raw), 512, 1, &e), BLKALIGN_ABSENT);
}

static void test_tiny_devices(void **state)
{
	static const size_t sizes[] = { 0, 1, 511, 1024, 1535 };
	uint8_t bytes[2048] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_dev_ struct dev *dev = NULL;
		struct gpt_table t;

		assert_int_equal(dev_open_memory("tiny", bytes, sizes[i], false, &dev), 0);
		assert_int_equal(gpt_read(dev, 512, &t, NULL), BLKALIGN_NOT_THIS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_512),
		cmocka_unit_test(test_4096),
		cmocka_unit_test(test_damaged_primary),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_both_damaged),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_unreadable_the_second_time),
		cmocka_unit_test(test_lost_last_sector),
		cmocka_unit_test(test_grown_device),
		cmocka_unit_test(test_copies_that_differ),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_entry_caps),
		cmocka_unit_test(test_hostile_entries),
		cmocka_unit_test(test_tiny_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
