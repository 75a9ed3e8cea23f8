/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays whose newest data is in their write journal. The kernel's own: test_md_golden.c. */
#include "r5l_ring.h"

#include "md_bench.h"

/*
 * A raid5 of three members, left-symmetric, chunks of 64 KiB. Stripe 0: data chunk 0 on slot 0, chunk 1 on slot 1, parity on slot 2. The
 * members hold 'A', 'B' and their parity.
 */
#define CHUNK	    (64 * KIB)
#define COMPONENT   (1 * MIB)
#define JOURNAL	    3
#define RING_BLOCKS 16

static struct blkalign_error err;

static void write_member(unsigned number, uint64_t events, uint16_t role)
{
	struct v1 m = mirror(number, events);

	m.level = 5;
	m.layout = 2;
	m.chunk_sectors512 = CHUNK / 512;
	m.raid_disks = 3;
	m.features = MD1_JOURNAL;
	m.component_sectors512 = COMPONENT / 512;
	memcpy(m.roles, (const uint16_t[]){ 0, 1, 2, 0xfffd }, sizeof(m.roles));
	m.roles[number] = role;
	write_v1(disks[number], &m);
}

static void fill(unsigned slot, uint8_t byte) { memset(disks[slot] + OFFSET, byte, COMPONENT); }

static int setup_array(void **state)
{
	setup(state);
	for (unsigned i = 0; i < 3; i++)
		write_member(i, 10, (uint16_t)i);
	write_member(JOURNAL, 10, 0xfffd);
	put(disks[JOURNAL] + 4096 + 136, 8, RING_BLOCKS * 8);
	put(disks[JOURNAL] + 4096 + 216, 4, md1_checksum(disks[JOURNAL] + 4096, 4));
	fill(0, 'A');
	fill(1, 'B');
	fill(2, 'A' ^ 'B');
	ring_open(RING_BLOCKS, 0);
	return 0;
}

static int teardown_array(void **state)
{
	ring_close();
	return teardown(state);
}

/* Without the disks of the bits in `absent`. */
static struct dev *assemble(unsigned absent)
{
	memcpy(disks[JOURNAL] + OFFSET, ring_bytes, RING_BLOCKS * R5L_BLOCK_BYTES);
	for (unsigned i = 0; i < 4; i++)
		if (!(absent & 1U << i))
			add_disk(i);
	assert_int_equal(stack_run(stack, NULL), 0);
	return stack_dev(stack, the("md/data"));
}

/* The page at `array_bytes`, and that it is the same without any one of the members. */
static void page_is(uint64_t array_bytes, uint8_t byte)
{
	for (unsigned absent = 0; absent < 4; absent++) {
		uint8_t page[4096];
		struct dev *dev = assemble(absent ? 1U << (absent - 1) : 0);

		assert_non_null(dev);
		assert_int_equal(dev_read(dev, array_bytes, page, sizeof(page), &err), 0);
		for (size_t i = 0; i < sizeof(page); i++)
			if (page[i] != byte)
				fail_msg("byte %zu is '%c', not '%c', with %u absent", i, page[i], byte, absent);
		stack_free(stack);
		assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
		graph = stack_graph(stack);
	}
}

static void test_empty(void **state)
{
	(void)state;
	ring_seal(1);
	page_is(0, 'A');
	page_is(CHUNK, 'B');
}

/* Data that waits for its parity is in the journal alone; its row on the members is whole and old. */
static void test_data_alone(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_seal(1);
	page_is(0, 'A');
	page_is(4096, 'x');
	page_is(CHUNK + 4096, 'B');
	page_is(8192, 'A');
}

static void test_newest_data(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_seal(1);
	ring_page(R5L_DATA, 8, 'y');
	ring_page(R5L_DATA, 0, 'z');
	ring_seal(2);
	assemble(0);
	remark_is("2 pages of 4 KiB that its members lack are read from its write journal");
	teardown(NULL);
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	page_is(4096, 'y');
	page_is(0, 'z');
}

/* With parity the row goes to the members. One of them may have got its page before the power went. */
static void test_data_and_parity(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_page(R5L_P, 8, 'x' ^ 'B');
	ring_seal(1);
	memset(disks[0] + OFFSET + 4096, 'x', 2048);
	page_is(4096, 'x');
	page_is(CHUNK + 4096, 'B');
}

static void test_parity_comes_later(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_seal(1);
	ring_page(R5L_P, 8, 'x' ^ 'B');
	ring_seal(2);
	memset(disks[2] + OFFSET + 4096, 'x' ^ 'B', 4096);
	page_is(4096, 'x');
	page_is(CHUNK + 4096, 'B');
}

/* New data for a row that is complete in the log: the complete one goes to the members, the new page lies over the array. */
static void test_data_after_parity(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_page(R5L_P, 8, 'x' ^ 'B');
	ring_seal(1);
	ring_page(R5L_DATA, CHUNK / 512 + 8, 'y');
	ring_seal(2);
	memset(disks[2] + OFFSET + 4096, '?', 4096);
	page_is(4096, 'x');
	page_is(CHUNK + 4096, 'y');
}

/* What a flush names is on the members already, and may have been written over since. */
static void test_flush(void **state)
{
	const uint64_t row = 8;

	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_page(R5L_P, 8, 'x' ^ 'B');
	ring_page(R5L_DATA, 16, 'y');
	ring_seal(1);
	ring_flush(&row, 1);
	ring_seal(2);
	memset(disks[0] + OFFSET + 4096, 'w', 4096);
	memset(disks[2] + OFFSET + 4096, 'w' ^ 'B', 4096);
	page_is(4096, 'w');
	page_is(CHUNK + 4096, 'B');
	page_is(8192, 'y');
}

static void doubtful_and_missing(const char *why)
{
	uint8_t byte = 0;
	struct dev *dev = stack_dev(stack, the("md/data"));

	remark_is(why);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_DOUBTFUL), COMPONENT);
	assert_int_equal(dev_read(dev, 4096, &byte, 1, NULL), 0);
	assert_int_equal(byte, 'A');
}

static void test_no_journal(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_seal(1);
	assemble(1U << JOURNAL);
	doubtful_and_missing("its write journal is not replayed: there is no current write journal");
}

static void test_stale_journal(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_seal(1);
	put(disks[JOURNAL] + 4096 + 200, 8, 5);
	put(disks[JOURNAL] + 4096 + 216, 4, md1_checksum(disks[JOURNAL] + 4096, 4));
	assemble(0);
	doubtful_and_missing("there is no current write journal");
	edge_is("md/data", "d3", MISSING, "stale");
	remark_is("d3: the write journal of md/data is stale and not used: its event count 5 is 5 behind that of d0");
}

static void test_page_beyond_the_array(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 8, 'x');
	ring_page(R5L_DATA, 2 * COMPONENT / 512, 'x');
	ring_seal(1);
	assemble(0);
	doubtful_and_missing("holds a page for byte 2097152, beyond the array");
}

static void test_second_parity(void **state)
{
	(void)state;
	ring_parities(8, 'p', 'q');
	ring_seal(1);
	assemble(0);
	doubtful_and_missing("a second parity for a level that has one");
}

#define A(name) cmocka_unit_test_setup_teardown(name, setup_array, teardown_array)

int main(void)
{
	const struct CMUnitTest tests[] = {
		A(test_empty),
		A(test_data_alone),
		A(test_newest_data),
		A(test_data_and_parity),
		A(test_parity_comes_later),
		A(test_data_after_parity),
		A(test_flush),
		A(test_no_journal),
		A(test_stale_journal),
		A(test_page_beyond_the_array),
		A(test_second_parity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
