/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans that meet devices which are not as planned: nothing is written, or it is told. */
#include "unit.h"

#include "apply/apply.h"

#define BYTES (4 * MIB)

struct bench {
	uint8_t *bytes;
	struct dev *memory;
	struct stack *stack;
	struct plan *plan;
	struct plan_place place;
};

/* `dev` (NULL: plain memory) is the disk d0 of a stack. */
static void bench_open(struct bench *b, struct dev *(*wrap)(struct dev *, void *), void *data)
{
	struct blkalign_node *node;
	struct dev *dev;

	*b = (struct bench){ .bytes = calloc(1, BYTES) };
	assert_int_equal(dev_open_memory("d0", b->bytes, BYTES, true, &b->memory), 0);
	dev = wrap ? wrap(b->memory, data) : b->memory;
	assert_int_equal(stack_new(graph_new("images"), NULL, &b->stack), 0);
	if (wrap)
		assert_int_equal(stack_own(b->stack, b->memory), 0);
	assert_int_equal(stack_add(b->stack, BLKALIGN_KIND_DISK, "d0", dev, &node), 0);
	b->place = (struct plan_place){ .node = node, .dev = dev };
	assert_int_equal(plan_new(&b->plan), 0);
}

static void bench_close(struct bench *b)
{
	plan_free(b->plan);
	stack_free(b->stack);
	free(b->bytes);
}

static void put(struct bench *b, uint64_t at, uint8_t value, size_t length)
{
	uint8_t *data = malloc(length);

	memset(data, value, length);
	assert_int_equal(plan_write(b->plan, &b->place, at, data, length, "test", NULL), 0);
	free(data);
}

static bool all(const uint8_t *bytes, size_t length, uint8_t value)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void test_steps(void **state)
{
	struct bench b;
	size_t done;

	(void)state;
	bench_open(&b, NULL, NULL);
	put(&b, 0, 1, 1024);
	put(&b, 4096, 2, 512);
	plan_flush(b.plan);
	plan_flush(b.plan);
	put(&b, 512, 3, 512);
	/* In the same step, and over what that step writes: a step of its own. */
	put(&b, 512, 4, 1024);
	/* What is there already is left out, in sectors; a step without writes is none. */
	put(&b, 0, 1, 512);
	put(&b, 1024, 4, 1024);
	assert_int_equal(b.plan->writes.count, 5);
	assert_int_equal(b.plan->writes.data[0].step, 0);
	assert_int_equal(b.plan->writes.data[1].step, 0);
	assert_int_equal(b.plan->writes.data[2].step, 1);
	assert_int_equal(b.plan->writes.data[3].step, 2);
	assert_int_equal(b.plan->writes.data[3].before[0], 3);
	assert_int_equal(b.plan->writes.data[4].offset_bytes, 1536);
	assert_int_equal(b.plan->writes.data[4].length_bytes, 512);
	assert_int_equal(apply_plan(b.plan, b.stack, &done, NULL), 0);
	assert_int_equal(done, 5);
	assert_true(all(b.bytes, 512, 1) && all(b.bytes + 512, 1536, 4) && all(b.bytes + 2048, 2048, 0) && all(b.bytes + 4096, 512, 2));
	assert_int_equal(apply_verify(b.plan, b.stack, NULL), 0);
	bench_close(&b);
}

static void test_bounds(void **state)
{
	struct blkalign_error err = { 0 };
	struct bench b;

	(void)state;
	bench_open(&b, NULL, NULL);
	assert_int_equal(plan_write(b.plan, &b.place, BYTES - 256, NULL, 512, "x", &err), -ERANGE);
	assert_non_null(strstr(err.message, "no room for 512 bytes"));
	assert_int_equal(plan_write(b.plan, &b.place, 0, NULL, PLAN_WRITE_MAX + 1, "x", &err), -E2BIG);
	bench_close(&b);
}

static void test_changed_since(void **state)
{
	struct blkalign_error err = { 0 };
	struct bench b;
	size_t done;

	(void)state;
	bench_open(&b, NULL, NULL);
	put(&b, 0, 1, 512);
	put(&b, 8192, 1, 512);
	b.bytes[8200] = 7;
	assert_int_equal(apply_plan(b.plan, b.stack, &done, &err), -ESTALE);
	assert_int_equal(done, 0);
	assert_non_null(strstr(err.message, "byte 8200 holds 0x07, expected was 0x00: it has changed since the plan was made"));
	assert_true(all(b.bytes, 8192, 0));
	b.bytes[8200] = 0;
	assert_int_equal(apply_plan(b.plan, b.stack, &done, &err), 0);
	b.bytes[8300] = 9;
	assert_int_equal(apply_verify(b.plan, b.stack, &err), -EIO);
	assert_int_equal(err.offset_bytes, 8300);
	bench_close(&b);
}

/* --- failing devices --- */

struct failing {
	enum dev_op op;
	uint64_t nth;
	int error;
};

static struct dev *fail_nth(struct dev *below, void *data)
{
	const struct failing *f = data;
	struct dev *dev;

	assert_int_equal(dev_open_fault_nth(below, f->op, f->nth, false, f->error, &dev), 0);
	return dev;
}

/* Reads: one for the plan, one for the comparison of each write. Each failure is told, and nothing of a later step is written. */
static void test_failures(void **state)
{
	static const struct {
		struct failing failing;
		size_t done;
		bool first, second;
	} rows[] = {
		{ { DEV_READ, 3, -EIO }, 0, false, false },  { { DEV_READ, 4, -EIO }, 1, true, false },
		{ { DEV_WRITE, 1, -EIO }, 0, false, false }, { { DEV_WRITE, 2, -ENOSPC }, 1, true, false },
		{ { DEV_FLUSH, 1, -EIO }, 0, true, false },  { { DEV_FLUSH, 2, -EIO }, 1, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failing failing = rows[i].failing;
		struct blkalign_error err = { 0 };
		struct bench b;
		size_t done;

		bench_open(&b, fail_nth, &failing);
		put(&b, 0, 1, 512);
		plan_flush(b.plan);
		put(&b, 8192, 2, 512);
		assert_int_equal(apply_plan(b.plan, b.stack, &done, &err), failing.error);
		assert_int_equal(done, rows[i].done);
		assert_int_equal(b.bytes[0], rows[i].first ? 1 : 0);
		assert_int_equal(b.bytes[8192], rows[i].second ? 2 : 0);
		assert_true(*err.message || *err.where);
		bench_close(&b);
	}
}

static void test_unreadable(void **state)
{
	struct failing failing = { DEV_READ, 1, -EIO };
	struct blkalign_error err = { 0 };
	struct bench b;

	(void)state;
	bench_open(&b, fail_nth, &failing);
	assert_int_equal(plan_write(b.plan, &b.place, 0, "x", 1, "test", &err), -EIO);
	bench_close(&b);
}

static void test_gone(void **state)
{
	struct blkalign_error err = { 0 };
	struct bench b, other;
	size_t done;

	(void)state;
	bench_open(&b, NULL, NULL);
	put(&b, 0, 1, 512);
	bench_open(&other, NULL, NULL);
	assert_non_null(graph_find(stack_graph(other.stack), "d0"));
	stack_free(other.stack);
	assert_int_equal(stack_new(graph_new("images"), NULL, &other.stack), 0);
	assert_int_equal(apply_plan(b.plan, other.stack, &done, &err), -ESTALE);
	assert_non_null(strstr(err.message, "no longer there"));
	bench_close(&other);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),	 cmocka_unit_test(test_bounds),	    cmocka_unit_test(test_changed_since),
		cmocka_unit_test(test_failures), cmocka_unit_test(test_unreadable), cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
