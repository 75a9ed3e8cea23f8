/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that are written to: their records before, while and after, and the order in which a stack is closed. What is refused: test_md_refused.c. */
#include "scratch.h"
#include "md_bench.h"

#include <unistd.h>

#include "keep/keep.h"

#define SECTOR 512U

static struct blkalign_error err;
static uint8_t before[DISKS][DISK], buffer[64 * KIB];

static int setup_writable(void **state)
{
	setup(state);
	disks_writable = true;
	stack_set_running(stack, &(struct stack_running){ .writable = true });
	return 0;
}

static void again(bool force)
{
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	stack_set_running(stack, &(struct stack_running){ .writable = true, .force = force });
}

/* As if nobody had closed anything. */
static void crash(void)
{
	stack_free(stack);
	again(false);
}

static void close_well(void)
{
	int r = stack_close(stack, &err);

	stack = NULL;
	if (r < 0)
		fail_msg("%s", err.message);
	again(false);
}

static uint64_t events_of(unsigned disk) { return load_le64(disks[disk] + 4096 + 200); }
static bool says_clean(unsigned disk) { return load_le64(disks[disk] + 4096 + 208) == UINT64_MAX; }

static struct dev *writable(const char *name)
{
	struct dev *dev = stack_dev(stack, the(name));

	assert_non_null(dev);
	if (!dev->writable)
		fail_msg("%s: %s", name, stack_read_only_because(stack, the(name)));
	assert_null(stack_read_only_because(stack, the(name)));
	return dev;
}

static void write_text(struct dev *dev, uint64_t at, const char *text)
{
	memset(buffer, 0, SECTOR);
	memcpy(buffer, text, strlen(text));
	assert_int_equal(dev_write(dev, at, buffer, SECTOR, &err), 0);
}

static void text_is(struct dev *dev, uint64_t at, const char *text)
{
	assert_int_equal(dev_read(dev, at, buffer, SECTOR, &err), 0);
	assert_string_equal((char *)buffer, text);
}

static void test_mirror(void **state)
{
	struct dev *dev;

	(void)state;
	two_mirrors(10, 10);
	run_disks(2);
	dev = writable("md/data");
	assert_non_null(stack_keep(stack, the("md/data")));
	write_text(dev, 0, "hello");
	text_is(dev, 0, "hello");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(events_of(i), 11);
		assert_false(says_clean(i));
		assert_string_equal((char *)disks[i] + OFFSET, "hello");
	}
	close_well();
	for (unsigned i = 0; i < 2; i++) {
		assert_true(events_of(i) > 11);
		assert_true(says_clean(i));
	}
	run_disks(2);
	text_is(stack_dev(stack, the("md/data")), 0, "hello");
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "clean");
}

/* Opened for writing and never written to: not a byte changes. */
static void test_untouched(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	memcpy(before, disks, sizeof(disks));
	run_disks(2);
	writable("md/data");
	close_well();
	assert_memory_equal(before, disks, sizeof(disks));
}

static void test_read_only_stacks_keep_nothing(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	stack_set_running(stack, &(struct stack_running){ 0 });
	run_disks(2);
	assert_null(stack_keep(stack, the("md/data")));
	assert_int_equal(dev_write(stack_dev(stack, the("md/data")), 0, buffer, SECTOR, NULL), -EROFS);
}

static void test_crash(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	run_disks(2);
	write_text(writable("md/data"), 0, "hello");
	crash();
	assert_false(says_clean(0));
	run_disks(2);
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "dirty");
	text_is(writable("md/data"), 0, "hello");
}

/* The one that stayed away knows less from the first write on. */
static void test_degraded(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	run_disks(1);
	write_text(writable("md/data"), 0, "alone");
	close_well();
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "stale");
	text_is(stack_dev(stack, the("md/data")), 0, "alone");
}

/* --- layers --- */

/* A mirror whose one member lies inside of another array. */
static void test_array_on_array(void **state)
{
	struct v1 inner = mirror(0, 10), outer = mirror(0, 20);

	(void)state;
	inner.raid_disks = 1;
	write_v1(disks[0], &inner);
	outer.uuid = 0xcd;
	outer.name = "host:outer";
	outer.component_sectors512 = 1024;
	write_v1(disks[0] + OFFSET, &outer);
	outer.dev_number = 1;
	write_v1(disks[1], &outer);
	run_disks(2);
	write_text(writable("md/outer"), 4096, "nested");
	assert_false(says_clean(0));
	assert_false(says_clean(1));
	assert_string_equal(stack_read_only_because(stack, the("md/data")), "it belongs to md/outer, which is written through that");
	assert_string_equal(stack_read_only_because(stack, the("d0")), "it belongs to md/data, which is written through that");
	close_well();
	assert_true(says_clean(0));
	assert_true(says_clean(1));
	assert_int_equal(load_le64(disks[0] + OFFSET + 4096 + 208), UINT64_MAX);
	assert_string_equal((char *)disks[1] + OFFSET + 4096, "nested");
	assert_string_equal((char *)disks[0] + 2 * OFFSET + 4096, "nested");
}

static void test_partition_on_an_array(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	for (unsigned i = 0; i < 2; i++)
		write_mbr(disks[i] + OFFSET, 128, 512);
	run_disks(2);
	write_text(writable("md/data1"), 0, "part");
	close_well();
	assert_string_equal((char *)disks[1] + OFFSET + 128 * SECTOR, "part");
	assert_true(says_clean(1));
}

static void test_array_on_partitions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct v1 m = mirror(i, 10);

		m.component_sectors512 = 1024;
		write_mbr(disks[i], 128, DISK / SECTOR - 128);
		write_v1(disks[i] + 128 * SECTOR, &m);
	}
	run_disks(2);
	write_text(writable("md/data"), 0, "below");
	assert_string_equal(stack_read_only_because(stack, the("d0p1")), "it belongs to md/data, which is written through that");
	assert_string_equal(stack_read_only_because(stack, the("d0")), "it belongs to md/data, which is written through that");
	close_well();
	assert_string_equal((char *)disks[0] + 128 * SECTOR + OFFSET, "below");
	assert_int_equal(load_le64(disks[1] + 128 * SECTOR + 4096 + 208), UINT64_MAX);
}

/* --- image files --- */

static char folder[64], paths[2][96];

static void make_images(void)
{
	two_mirrors(10, 10);
	scratch_folder(folder);
	for (unsigned i = 0; i < 2; i++) {
		FILE *f;

		snprintf(paths[i], sizeof(paths[i]), "%s/m%u.img", folder, i);
		f = fopen(paths[i], "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(disks[i], 1, DISK, f), DISK);
		assert_int_equal(fclose(f), 0);
	}
}

static void load_images(void)
{
	for (unsigned i = 0; i < 2; i++) {
		FILE *f = fopen(paths[i], "rb");

		assert_non_null(f);
		assert_int_equal(fread(disks[i], 1, DISK, f), DISK);
		fclose(f);
	}
}

static void remove_images(void)
{
	for (unsigned i = 0; i < 2; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static void open_images(struct stack_running running)
{
	stack_free(stack);
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	stack_set_running(stack, &running);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(stack_add_image(stack, paths[i], &err), 0);
	assert_int_equal(stack_run(stack, &err), 0);
}

static void test_images(void **state)
{
	struct stack *other;

	(void)state;
	make_images();
	open_images((struct stack_running){ .writable = true });
	write_text(writable("md/data"), 0, "file");
	assert_int_equal(stack_new(graph_new("images"), NULL, &other), 0);
	stack_set_running(other, &(struct stack_running){ .writable = true });
	assert_int_equal(stack_add_image(other, paths[0], &err), -EBUSY);
	stack_free(other);
	close_well();
	load_images();
	assert_string_equal((char *)disks[1] + OFFSET, "file");
	assert_true(says_clean(0));
	remove_images();
}

/* What is written is there while the stack is open, and then gone. */
static void test_overlays(void **state)
{
	(void)state;
	make_images();
	memcpy(before, disks, sizeof(disks));
	open_images((struct stack_running){ .cow = true });
	write_text(writable("md/data"), 0, "try");
	text_is(stack_dev(stack, the("md/data")), 0, "try");
	close_well();
	load_images();
	assert_memory_equal(before, disks, 2 * DISK);
	remove_images();
}

/* --- what goes wrong at the end --- */

static struct dev *open_below(unsigned disk)
{
	struct dev *below;

	assert_int_equal(dev_open_memory("below", disks[disk], DISK, true, &below), 0);
	assert_int_equal(stack_own(stack, below), 0);
	return below;
}

static void add_dev(unsigned disk, struct dev *dev)
{
	char name[8];
	struct blkalign_node *node;

	snprintf(name, sizeof(name), "d%u", disk);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, name, dev, &node), 0);
}

/* A member that cannot be written drops out before the write counts; the array is well without it. */
static void test_member_fails(void **state)
{
	struct dev *dev;

	(void)state;
	two_mirrors(10, 10);
	add_disk(0);
	assert_int_equal(dev_open_fault(open_below(1), OFFSET, 4096, -EIO, &dev), 0);
	add_dev(1, dev);
	assert_int_equal(stack_run(stack, NULL), 0);
	write_text(writable("md/data"), 0, "safe");
	close_well();
	assert_true(says_clean(0));
	assert_true(events_of(0) > events_of(1) + 1);
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "stale");
	text_is(stack_dev(stack, the("md/data")), 0, "safe");
}

/* No member takes its flush: nothing is called clean, and the end of the stack says so. */
static void test_flush_fails(void **state)
{
	struct dev *dev;

	(void)state;
	two_mirrors(10, 10);
	for (unsigned i = 0; i < 2; i++) {
		/* The first two flushes are those of the superblocks before the write: as they were found, and active. */
		assert_int_equal(dev_open_fault_nth(open_below(i), DEV_FLUSH, 3, true, -EIO, &dev), 0);
		add_dev(i, dev);
	}
	assert_int_equal(stack_run(stack, NULL), 0);
	write_text(writable("md/data"), 0, "lost?");
	assert_int_equal(stack_close(stack, &err), -EIO);
	again(false);
	assert_false(says_clean(0));
	assert_false(says_clean(1));
}

static void nested_pair(void)
{
	struct v1 inner = mirror(0, 10), outer = mirror(0, 20);

	memset(disks[0], 0, DISK);
	inner.raid_disks = 1;
	write_v1(disks[0], &inner);
	outer.uuid = 0xcd;
	outer.name = "host:outer";
	outer.raid_disks = 1;
	outer.component_sectors512 = 1024;
	write_v1(disks[0] + OFFSET, &outer);
}

static bool outer_says_clean(void) { return load_le64(disks[0] + OFFSET + 4096 + 208) == UINT64_MAX; }

/* The `n`-th request of a kind fails, in an array on an array. True when it was reached. */
static bool fail_one(enum dev_op op, uint64_t n)
{
	struct dev *dev;
	int wrote, closed;

	nested_pair();
	assert_int_equal(dev_open_fault_nth(open_below(0), op, n, false, -EIO, &dev), 0);
	add_dev(0, dev);
	assert_int_equal(stack_run(stack, NULL), 0);
	memset(buffer, 'x', SECTOR);
	wrote = dev_write(writable("md/outer"), 0, buffer, SECTOR, NULL);
	closed = stack_close(stack, &err);
	again(false);
	if (!wrote && !closed) {
		assert_true(outer_says_clean() && says_clean(0));
		assert_int_equal(disks[0][2 * OFFSET], 'x');
	}
	return wrote || closed;
}

/* No success is told that is none, and what failed at the end is told at the end. */
static void test_every_request_fails_once(void **state)
{
	unsigned reached = 0;

	(void)state;
	for (uint64_t n = 1; n <= 16; n++)
		reached += fail_one(DEV_WRITE, n);
	assert_in_range(reached, 5, 12);
	reached = 0;
	for (uint64_t n = 1; n <= 16; n++)
		reached += fail_one(DEV_FLUSH, n);
	assert_in_range(reached, 3, 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mirror, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_untouched, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_read_only_stacks_keep_nothing, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_crash, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_degraded, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_array_on_array, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_partition_on_an_array, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_array_on_partitions, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_images, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_overlays, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_member_fails, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_flush_fails, setup_writable, teardown),
		cmocka_unit_test_setup_teardown(test_every_request_fails_once, setup_writable, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
