/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which volumes of a writable stack may be written, and why not the others. */
#include "lvm_bench.h"

static uint8_t buffer[4 * KIB];

static void open_as(struct bench *b, const char *text, bool cow)
{
	start(b);
	b->writable = true;
	stack_set_running(b->stack, &(struct stack_running){ .writable = true, .cow = cow });
	add_three(b, text);
}

static void open_writable(struct bench *b, const char *text) { open_as(b, text, false); }

static void read_only(const struct bench *b, const char *name, const char *why)
{
	const char *because = stack_read_only_because(b->stack, get(b, name));
	struct dev *dev = stack_dev(b->stack, get(b, name));

	if (!because || !strstr(because, why))
		fail_msg("%s is read-only because %s, not: %s", name, because ? because : "(it is not)", why);
	if (dev)
		assert_int_equal(dev_write(dev, 0, buffer, sizeof(buffer), NULL), -EROFS);
}

static void writable(const struct bench *b, const char *name)
{
	struct dev *dev = stack_dev(b->stack, get(b, name));
	uint8_t got[sizeof(buffer)];

	assert_non_null(dev);
	assert_null(stack_read_only_because(b->stack, get(b, name)));
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (uint8_t)(i * 7 + (size_t)name[3]);
	assert_int_equal(dev_write(dev, dev->size_bytes - sizeof(buffer), buffer, sizeof(buffer), NULL), 0);
	assert_int_equal(dev_flush(dev, NULL), 0);
	assert_int_equal(dev_read(dev, dev->size_bytes - sizeof(got), got, sizeof(got), NULL), 0);
	assert_memory_equal(got, buffer, sizeof(buffer));
}

static void test_types(void **state)
{
	char *text = image_all_types();
	struct bench b;

	(void)state;
	open_writable(&b, text);
	writable(&b, "vg/lin");
	writable(&b, "vg/str");
	writable(&b, "vg/r0");
	writable(&b, "vg/r1");
	writable(&b, "vg/r5");
	writable(&b, "vg/r6");
	writable(&b, "vg/r10");
	read_only(&b, "vg/mir", "a leg of the mirror or its log");
	read_only(&b, "vg/org", "other volumes, such as snapshots, are built on it");
	done(&b);
	free(text);
}

static void refused(const char *after, const char *find, const char *replace, const char *why)
{
	char *text = image_all_types(), *edited = image_edit(text, after, find, replace);
	struct bench b;

	open_writable(&b, edited);
	read_only(&b, "vg/lin", why);
	done(&b);
	/* Whose it is does not matter to an overlay; a volume that is set to read-only stays so. */
	open_as(&b, edited, true);
	if (after)
		read_only(&b, "vg/lin", why);
	else
		writable(&b, "vg/lin");
	done(&b);
	free(edited);
	free(text);
}

static void test_groups(void **state)
{
	(void)state;
	refused(NULL, "\"RESIZEABLE\"", "\"EXPORTED\"", "its volume group is exported");
	refused(NULL, "\"RESIZEABLE\"", "\"CLUSTERED\"", "shared with other hosts");
	refused(NULL, "max_lv = 0", "max_lv = 0\nlock_type = \"sanlock\"", "shared with other hosts");
	refused(NULL, "max_lv = 0", "max_lv = 0\nsystem_id = \"other\"", "belongs to another system");
	refused("lin {", "\"WRITE\", ", "", "the volume is set to read-only");
}

/* As pvmove leaves it: a part lies on a mirror. */
static void test_moving(void **state)
{
	char *text = image_all_types(), *edited = image_edit(text, "start_extent = 4\nextent_count = 2", "\"pv1\", 0", "\"mir\", 0");
	struct bench b;

	(void)state;
	open_writable(&b, edited);
	read_only(&b, "vg/lin", "pvmove is moving it");
	writable(&b, "vg/str");
	done(&b);
	open_as(&b, edited, true);
	writable(&b, "vg/lin");
	done(&b);
	free(edited);
	free(text);
}

/* The RAID volume is not kept in step then, and its snapshot goes on with what it holds. */
static void test_origin_with_raid(void **state)
{
	char *text = image_all_types(), *edited = image_edit(text, "snapshot0 {", "origin = \"org\"", "origin = \"r1\"");
	struct bench b;

	(void)state;
	open_writable(&b, edited);
	read_only(&b, "vg/r1", "other volumes, such as snapshots, are built on it");
	done(&b);
	open_as(&b, edited, true);
	writable(&b, "vg/r1");
	done(&b);
	free(edited);
	free(text);
}

static void test_two_copies_of_a_pv(void **state)
{
	char *text = image_all_types();
	struct bench b;

	(void)state;
	start(&b);
	b.writable = true;
	stack_set_running(b.stack, &(struct stack_running){ .writable = true });
	add_pv(&b, "copy", text, "pv1", 512);
	add_three(&b, text);
	read_only(&b, "vg/lin", "two devices bear the identifier");
	done(&b);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_moving),
		cmocka_unit_test(test_origin_with_raid),
		cmocka_unit_test(test_two_copies_of_a_pv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
