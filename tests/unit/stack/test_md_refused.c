/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that are not to be written, or not wholly to be read, and what is said of them. */
#include "md_bench.h"

static struct blkalign_error err;
static uint8_t buffer[64 * KIB];

static void run_as(struct stack_running running, unsigned absent)
{
	stack_free(stack);
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	disks_writable = true;
	stack_set_running(stack, &running);
	for (unsigned i = 0; i < DISKS; i++)
		if (!(absent & 1U << i))
			add_disk(i);
	assert_int_equal(stack_run(stack, NULL), 0);
}

/* Readable, and the reason. */
static void read_only(const char *why)
{
	const struct blkalign_node *node = the("md/data");
	const char *because;

	run_as((struct stack_running){ .writable = true }, 0);
	node = the("md/data");
	because = stack_read_only_because(stack, node);
	if (!because || !strstr(because, why))
		fail_msg("read-only because %s, not: %s", because ? because : "(it is not)", why);
	assert_null(stack_keep(stack, node));
	assert_non_null(stack_dev(stack, node));
	assert_int_equal(dev_read(stack_dev(stack, node), 0, buffer, 512, &err), 0);
	assert_int_equal(dev_write(stack_dev(stack, node), 0, buffer, 512, NULL), -EROFS);
}

static void three_members(uint32_t features)
{
	for (unsigned i = 0; i < 3; i++) {
		struct v1 m = raid5_member(i, 10);

		m.features = features;
		write_v1(disks[i], &m);
	}
	run_disks(3);
}

static void change(size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < 3; i++) {
		put(disks[i] + 4096 + at, width, value);
		seal_v1(disks[i]);
	}
}

static void test_journal(void **state)
{
	(void)state;
	three_members(MD1_JOURNAL);
	read_only("it has a write journal");
}

static void test_clustered(void **state)
{
	(void)state;
	three_members(MD1_CLUSTERED);
	read_only("it is clustered");
}

static void test_newer_features(void **state)
{
	(void)state;
	three_members(1 << 20);
	read_only("features of a newer md");
}

static void test_unknown_padding(void **state)
{
	(void)state;
	three_members(0);
	change(240, 1, 7);
	read_only("bytes that should be reserved are not zero");
}

static void test_lockless(void **state)
{
	(void)state;
	three_members(MD1_BITMAP);
	change(96, 4, 8);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *b = disks[i] + 4096 + 8 * 512;

		put(b, 4, 0x6d746962);
		put(b + 4, 4, 6);
		memset(b + 8, 0xab, 16);
		put(b + 24, 8, 10);
		put(b + 40, 8, RAID5_COMPONENT / 512);
		put(b + 52, 4, RAID5_CHUNK);
	}
	read_only("bitmap is of the lockless kind");
}

static void test_bitmap_that_is_not_there(void **state)
{
	(void)state;
	three_members(MD1_BITMAP);
	change(96, 4, 8);
	read_only("its write-intent bitmap cannot be read");
}

static void test_reshape(void **state)
{
	(void)state;
	three_members(MD1_RESHAPE);
	change(100, 4, 5);
	change(104, 8, 1024);
	change(116, 4, 2);
	change(120, 4, 256);
	read_only("a reshape was interrupted");
}

static void test_vendor_bit(void **state)
{
	(void)state;
	three_members(0);
	change(256 + 2, 2, 0x8001);
	read_only("vendor's error bit");
}

static void test_replacement(void **state)
{
	struct v1 m = raid5_member(3, 10);

	(void)state;
	three_members(0);
	change(256 + 6, 2, 1);
	m.roles[3] = 1;
	m.features = MD1_REPLACEMENT | MD1_RECOVERY_OFFSET;
	write_v1(disks[3], &m);
	read_only("a replacement was being filled");
}

static void test_copy(void **state)
{
	(void)state;
	three_members(0);
	memcpy(disks[3], disks[1], DISK);
	read_only("two devices claim to be the same member");
}

static void test_raid0_of_unrecorded_layout(void **state)
{
	(void)state;
	three_members(0);
	change(72, 4, 0);
	change(76, 4, 0);
	change(80, 8, 0);
	put(disks[2] + 4096 + 136, 8, RAID5_COMPONENT / 512 / 2);
	seal_v1(disks[2]);
	read_only("its raid0 layout is not recorded");
}

static void test_member_that_cannot_be_written(void **state)
{
	struct dev *dev;
	struct blkalign_node *node;

	(void)state;
	two_mirrors(10, 10);
	stack_set_running(stack, &(struct stack_running){ .writable = true });
	disks_writable = true;
	add_disk(0);
	assert_int_equal(dev_open_memory("d1", disks[1], DISK, false, &dev), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "d1", dev, &node), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	assert_string_equal(stack_read_only_because(stack, the("md/data")), "d1 is read-only: what it lies on is");
}

/* The reason goes up through what lies above. */
static void test_reason_goes_up(void **state)
{
	(void)state;
	three_members(MD1_JOURNAL);
	write_mbr(disks[0] + OFFSET, 128, 512);
	run_as((struct stack_running){ .writable = true }, 0);
	assert_non_null(strstr(stack_read_only_because(stack, the("md/data1")), "md/data is read-only: it has a write journal"));
}

/* --- dirty and degraded --- */

/* Chunk 0 is on slot 0, chunk 1 on slot 1, their parity on slot 2. The power went while stripe 0 was written: its parity is old. */
static void dirty_and_torn(void)
{
	three_members(0);
	change(208, 8, 0);
	memset(disks[0] + OFFSET, 'a', RAID5_COMPONENT);
	memset(disks[1] + OFFSET, 'b', RAID5_COMPONENT);
	memset(disks[2] + OFFSET, 'a' ^ 'b', RAID5_COMPONENT);
	memset(disks[1] + OFFSET, 'n', 4096);
}

static int read_chunk(unsigned chunk) { return dev_read(stack_dev(stack, the("md/data")), chunk * RAID5_CHUNK, buffer, 4096, &err); }

static void test_dirty_degraded(void **state)
{
	(void)state;
	dirty_and_torn();
	run_as((struct stack_running){ .writable = true }, 1);
	remark_is("md/data: dirty and degraded: in 1048576 bytes of each member (16 stripes) parity may not fit");
	assert_int_equal(read_chunk(0), -EIO);
	assert_int_equal(read_chunk(1), 0);
	assert_int_equal(buffer[0], 'n');
	assert_non_null(strstr(stack_read_only_because(stack, the("md/data")), "dirty and degraded"));
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "dirty,degraded");
}

static void test_dirty_degraded_by_force(void **state)
{
	(void)state;
	dirty_and_torn();
	run_as((struct stack_running){ .writable = true, .force = true }, 1);
	remark_is("16 stripes");
	assert_int_equal(read_chunk(0), 0);
	assert_int_equal(buffer[0], 'a' ^ 'b' ^ 'n');
	assert_int_equal(buffer[4095], 'a' ^ 'b' ^ 'n');
	assert_null(stack_read_only_because(stack, the("md/data")));
	assert_non_null(stack_keep(stack, the("md/data")));
	assert_int_equal(dev_write(stack_dev(stack, the("md/data")), 0, buffer, 4096, &err), 0);
}

/* A resync had got half way: below it parity fits. */
static void test_half_resynced(void **state)
{
	(void)state;
	dirty_and_torn();
	memset(disks[1] + OFFSET, 'b', 4096);
	change(208, 8, RAID5_COMPONENT / 512 / 2);
	run_as((struct stack_running){ .writable = true }, 1);
	assert_int_equal(read_chunk(0), 0);
	assert_int_equal(buffer[0], 'a');
	assert_int_equal(read_chunk(RAID5_COMPONENT / RAID5_CHUNK * 2 - 2), -EIO);
	remark_is("(8 stripes)");
}

/* Of the bits only that of stripe 1 is set: stripe 0 is computed, and the array may not be written all the same. */
static void test_bitmap_tells_stripes(void **state)
{
	(void)state;
	three_members(MD1_BITMAP);
	change(96, 4, 8);
	change(208, 8, 0);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *b = disks[i] + 4096 + 8 * 512;

		memset(disks[i] + OFFSET, i == 0 ? 'a' : i == 1 ? 'b' : 'a' ^ 'b', RAID5_COMPONENT);
		put(b, 4, 0x6d746962);
		put(b + 4, 4, 4);
		memset(b + 8, 0xab, 16);
		put(b + 24, 8, 10);
		put(b + 40, 8, RAID5_COMPONENT / 512);
		put(b + 52, 4, RAID5_CHUNK);
		b[256] = 2;
	}
	run_as((struct stack_running){ .writable = true }, 1);
	assert_int_equal(read_chunk(0), 0);
	assert_int_equal(buffer[0], 'a');
	remark_is("in 65536 bytes of each member (1 stripe)");
	/* Stripe 1 has its parity on slot 1: chunk 3 is on slot 0. */
	assert_int_equal(read_chunk(2), 0);
	assert_int_equal(read_chunk(3), -EIO);
	assert_non_null(strstr(stack_read_only_because(stack, the("md/data")), "dirty and degraded"));
}

/* raid4 keeps its parity on the last member: without it nothing is computed. */
static void test_dirty_without_parity_member(void **state)
{
	(void)state;
	dirty_and_torn();
	change(72, 4, 4);
	change(76, 4, 0);
	run_as((struct stack_running){ .writable = true }, 4);
	assert_null(stack_read_only_because(stack, the("md/data")));
	assert_int_equal(read_chunk(1), 0);
	assert_int_equal(buffer[0], 'n');
	run_as((struct stack_running){ .writable = true }, 1);
	assert_non_null(strstr(stack_read_only_because(stack, the("md/data")), "dirty and degraded"));
}

/* A mirror has no parity: what it holds it holds. */
static void test_dirty_degraded_mirror(void **state)
{
	struct v1 m = mirror(0, 10);

	(void)state;
	m.dirty = true;
	write_v1(disks[0], &m);
	run_disks(1);
	run_as((struct stack_running){ .writable = true }, 0);
	assert_int_equal(read_chunk(0), 0);
	assert_null(stack_read_only_because(stack, the("md/data")));
}

/* --- too little left --- */

static void test_failed(void **state)
{
	(void)state;
	three_members(0);
	memset(disks[2] + OFFSET, 'p', RAID5_COMPONENT);
	run_as((struct stack_running){ 0 }, 3);
	assert_null(stack_dev(stack, the("md/data")));
	remark_is("md/data: 2 of 3 members are missing (slot 0, 1): parts of it cannot be read");
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "clean,failed,degraded");
	run_as((struct stack_running){ .writable = true, .force = true }, 3);
	assert_non_null(strstr(stack_read_only_because(stack, the("md/data")), "too many of its members are missing"));
	assert_int_equal(read_chunk(0), -EIO);
	/* Stripe 1: chunk 2 on slot 2 */
	assert_int_equal(read_chunk(2), 0);
	assert_int_equal(buffer[0], 'p');
}

static void test_split(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	a.roles[1] = b.roles[0] = 0xfffe;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_as((struct stack_running){ .writable = true, .force = true }, 0);
	assert_null(stack_dev(stack, the("md/data")));
	assert_string_equal(stack_read_only_because(stack, the("md/data")), "two halves of it were in use apart from each other");
}

/* A member that was forced to run alone has more events than the two that go without it. */
static void test_newer_half(void **state)
{
	struct v1 alone = raid5_member(2, 11);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct v1 m = raid5_member(i, 10);

		m.roles[2] = 0xfffe;
		write_v1(disks[i], &m);
	}
	alone.roles[0] = alone.roles[1] = 0xfffe;
	write_v1(disks[2], &alone);
	run_disks(3);
	read_only("d2, which too few members go with, has more events (11) than those that are used (10)");
	/* Left out, as the sentence says. */
	run_as((struct stack_running){ .writable = true }, 1U << 2);
	assert_null(stack_read_only_because(stack, the("md/data")));
	/* With less it is only one that fell behind. */
	alone.events = 8;
	write_v1(disks[2], &alone);
	run_as((struct stack_running){ .writable = true }, 0);
	assert_null(stack_read_only_because(stack, the("md/data")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_journal),
		T(test_clustered),
		T(test_newer_features),
		T(test_unknown_padding),
		T(test_lockless),
		T(test_bitmap_that_is_not_there),
		T(test_reshape),
		T(test_vendor_bit),
		T(test_replacement),
		T(test_copy),
		T(test_raid0_of_unrecorded_layout),
		T(test_member_that_cannot_be_written),
		T(test_reason_goes_up),
		T(test_dirty_degraded),
		T(test_dirty_degraded_by_force),
		T(test_half_resynced),
		T(test_bitmap_tells_stripes),
		T(test_dirty_without_parity_member),
		T(test_dirty_degraded_mirror),
		T(test_failed),
		T(test_split),
		T(test_newer_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
