/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found in rings that are torn, cannot be read in parts, end in the middle of a sector, or hold nothing but beginnings. */
#include "lvm2_image.h"

#define RING_BYTES 16384U
#define TEXT                                                                                                                               \
	"vg {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa\"\nseqno = %u\nstatus = [\"READ\"]\nextent_size = 8\n"                        \
	"physical_volumes {\npv0 {\nid = \"bbbbbb-bbbb-bbbb-bbbb-bbbb-bbbb-bbbbbb\"\nstatus = []\npe_start = 2048\npe_count = "            \
	"1\n}\n}\n}\n"                                                                                                                     \
	"contents = \"Text Format Volume Group\"\nversion = 1\ndescription = \"%0*u\"\ncreation_host = \"here\"\ncreation_time = 17\n"

static uint8_t area[RING_BYTES];

/* A text of `length` bytes and its NUL, at `at` of the area and around its end. */
static void put(size_t at, unsigned seqno, unsigned length)
{
	char *text = malloc(length + 512);
	int bare = snprintf(text, length + 512, TEXT, seqno, 1, 0);

	snprintf(text, length + 512, TEXT, seqno, (int)length - bare + 1, 0);
	assert_int_equal(strlen(text), length);
	for (unsigned i = 0; i <= length; i++, at++) {
		if (at == RING_BYTES)
			at = 512;
		area[at] = (uint8_t)text[i];
	}
	free(text);
}

static int search(size_t size, const char *pv_id, const struct byte_range *bad, size_t bad_count, struct lvm2_ring *ret)
{
	const struct lvm2_mda mda = { .size_bytes = size };
	struct dev *memory, *dev;
	int r;

	assert_int_equal(dev_open_memory("area", area, sizeof(area), false, &memory), 0);
	assert_int_equal(dev_open_bad_ranges(memory, bad, bad_count, &dev), 0);
	r = lvm2_ring_search(dev, &mda, pv_id, ret);
	dev_close(dev);
	dev_close(memory);
	return r;
}

static void test_whole(void **state)
{
	struct lvm2_ring ring;
	const struct lvm2_left *left;

	(void)state;
	memset(area, 0, sizeof(area));
	put(512, 1, 1535); /* its NUL is the last byte of a sector */
	put(2048, 2, 1536);
	put(RING_BYTES - 512, 3, 1000);
	assert_int_equal(search(RING_BYTES, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", NULL, 0, &ring), 0);
	assert_int_equal(ring.found.count, 2);
	left = &ring.found.data[0];
	assert_int_equal(left->seqno, 2);
	assert_null(left->why_not_whole);
	assert_true(left->lists_pv);
	assert_int_equal(left->location.offset_bytes, 2048);
	assert_int_equal(left->location.size_bytes, 1537);
	assert_int_equal(left->location.checksum, crc32_raw(IMAGE_CRC_SEED, area + 2048, 1537));
	assert_string_equal(left->written_on, "here");
	assert_int_equal(left->written_unix, 17);
	/* The third has come round, and taken the first's beginning. */
	left = &ring.found.data[1];
	assert_int_equal(left->seqno, 3);
	assert_null(left->why_not_whole);
	assert_int_equal(left->location.size_bytes, 1001);
	lvm2_ring_done(&ring);
	assert_int_equal(search(RING_BYTES, "cccccccccccccccccccccccccccccccc", NULL, 0, &ring), 0);
	assert_false(ring.found.data[0].lists_pv);
	lvm2_ring_done(&ring);
}

static void test_unreadable(void **state)
{
	const struct byte_range bad[] = { { 2600, 1 }, { 8192, 1024 } };
	struct lvm2_ring ring;

	(void)state;
	memset(area, 0, sizeof(area));
	put(512, 1, 1000);
	put(2048, 2, 1000);
	put(4096, 3, 1000);
	assert_int_equal(search(RING_BYTES, NULL, bad, ARRAY_SIZE(bad), &ring), 0);
	assert_int_equal(ring.unreadable_sectors512, 3);
	assert_int_equal(ring.found.count, 3);
	assert_null(ring.found.data[0].why_not_whole);
	assert_string_equal(ring.found.data[1].why_not_whole, "byte 2560 cannot be read");
	assert_int_equal(ring.found.data[1].location.size_bytes, 512);
	assert_null(ring.found.data[2].why_not_whole);
	assert_false(ring.found.data[2].lists_pv);
	lvm2_ring_done(&ring);
}

static void test_torn(void **state)
{
	struct lvm2_ring ring;

	(void)state;
	memset(area, 'x', sizeof(area));
	put(512, 1, 3000);
	put(1536, 2, 600);
	put(RING_BYTES - 1024, 4294967295U, 1500);
	assert_int_equal(search(RING_BYTES, NULL, NULL, 0, &ring), 0);
	/* The last has come round as far as the first's beginning, which it has overwritten: it is there no more. */
	assert_int_equal(ring.found.count, 2);
	assert_int_equal(ring.found.data[0].seqno, 2);
	assert_null(ring.found.data[0].why_not_whole);
	assert_int_equal(ring.found.data[1].seqno, 4294967295U);
	lvm2_ring_done(&ring);
	put(512, 1, 3000);
	put(1536, 2, 600);
	assert_int_equal(search(RING_BYTES, NULL, NULL, 0, &ring), 0);
	assert_int_equal(ring.found.count, 3);
	assert_string_equal(ring.found.data[0].why_not_whole, "another text was written over it, from byte 1536 on");
	assert_string_equal(ring.found.data[2].why_not_whole, "another text was written over it, from byte 512 on");
	lvm2_ring_done(&ring);
	/* Nowhere a NUL: it comes round to itself. */
	memset(area, 'x', sizeof(area));
	put(4096, 7, 1000);
	area[4096 + 1000] = 'x';
	assert_int_equal(search(RING_BYTES, NULL, NULL, 0, &ring), 0);
	assert_int_equal(ring.found.count, 1);
	assert_string_equal(ring.found.data[0].why_not_whole, "it has no end");
	assert_int_equal(ring.found.data[0].location.size_bytes, RING_BYTES - 512);
	lvm2_ring_done(&ring);
}

static void test_beginnings(void **state)
{
	static const char *const no_heads[] = {
		"vg {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa\"\nstatus = []\n",	       /* a volume */
		"vg {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa\"\nseqno = 4294967296\n", /* beyond lvm2's 32 bits */
		"vg {\nid = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\nseqno = 1\n",
		"vg {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaa*\"\nseqno = 1\n",
		" {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa\"\nseqno = 1\n",
		"vg {\nid = \"aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa\"\nseqno = \n",
	};
	struct lvm2_ring ring;

	(void)state;
	memset(area, 0, sizeof(area));
	for (size_t i = 0; i < ARRAY_SIZE(no_heads); i++)
		memcpy(area + 512 * (i + 1), no_heads[i], strlen(no_heads[i]));
	assert_int_equal(search(RING_BYTES, NULL, NULL, 0, &ring), 0);
	assert_int_equal(ring.found.count, 0);
	lvm2_ring_done(&ring);
	/* The area ends within a sector, and within a head. */
	memset(area, 0, sizeof(area));
	put(1024, 1, 600);
	for (size_t size = 0; size < 2048; size++) {
		assert_int_equal(search(size, NULL, NULL, 0, &ring), 0);
		if (size < 1024 + 60)
			assert_int_equal(ring.found.count, 0);
		else if (size > 1624)
			assert_null(ring.found.data[0].why_not_whole);
		lvm2_ring_done(&ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_beginnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
