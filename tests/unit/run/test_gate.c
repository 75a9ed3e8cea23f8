/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bound on what is under way: kept, and no large request is overtaken by small ones for ever. */
#include "unit.h"

#include "base/base.h"
#include "run/run.h"

static struct gate gate;

struct entry {
	pthread_t thread;
	uint64_t length_bytes;
	uint64_t under_way_bytes; /* when it was in, with its own */
};

static void *pass(void *arg)
{
	struct entry *e = arg;

	gate_enter(&gate, e->length_bytes);
	pthread_mutex_lock(&gate.mutex);
	e->under_way_bytes = gate.under_way_bytes;
	pthread_mutex_unlock(&gate.mutex);
	gate_leave(&gate, e->length_bytes);
	return NULL;
}

static uint64_t came(void)
{
	uint64_t count;

	pthread_mutex_lock(&gate.mutex);
	count = gate.came;
	pthread_mutex_unlock(&gate.mutex);
	return count;
}

static void start(struct entry *e, uint64_t length_bytes)
{
	uint64_t before = came();

	*e = (struct entry){ .length_bytes = length_bytes };
	assert_int_equal(pthread_create(&e->thread, NULL, pass, e), 0);
	while (came() == before)
		sched_yield();
}

/* The second one does not fit beside the first; the third one would, and waits for its turn. */
static void test_order(void **state)
{
	struct entry large, small;

	(void)state;
	assert_int_equal(gate_init(&gate), 0);
	gate_enter(&gate, 12 * MIB);
	start(&large, 12 * MIB);
	start(&small, 1 * MIB);
	pthread_mutex_lock(&gate.mutex);
	assert_int_equal(gate.entered, 1);
	assert_int_equal(gate.under_way_bytes, 12 * MIB);
	pthread_mutex_unlock(&gate.mutex);
	gate_leave(&gate, 12 * MIB);
	pthread_join(large.thread, NULL);
	pthread_join(small.thread, NULL);
	assert_in_range(large.under_way_bytes, 12 * MIB, 13 * MIB);
	assert_int_equal(gate.under_way_bytes, 0);
	gate_done(&gate);
}

/* One that alone is larger than the bound passes; small ones are not counted. */
static void test_larger_than_all(void **state)
{
	struct entry huge;

	(void)state;
	gate = (struct gate){ 0 };
	assert_int_equal(gate_init(&gate), 0);
	gate_enter(&gate, 512);
	assert_int_equal(gate.came, 0);
	gate_enter(&gate, 1 * MIB);
	start(&huge, 64 * MIB);
	gate_leave(&gate, 1 * MIB);
	pthread_join(huge.thread, NULL);
	assert_int_equal(huge.under_way_bytes, 64 * MIB);
	gate_done(&gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_larger_than_all) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
