/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The locks against flock(), as lvm2 takes them. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/lvm_lock.h"
#include "scratch.h"
#include "unit.h"

static int hold(const char *folder, const char *name)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? (close(fd), -1) : fd;
}

static void test_held_by_a_command(void **state)
{
	char top[64], folder[80];
	struct blkalign_error err = { 0 };
	struct lvm_lock lock;
	int fd;

	(void)state;
	scratch_folder(top);
	snprintf(folder, sizeof(folder), "%s/lvm", top);
	assert_int_equal(mkdir(folder, 0700), 0);
	fd = hold(folder, "V_vg");
	assert_true(fd >= 0);
	assert_int_equal(lvm_lock_take(folder, "vg", true, 60, &lock, &err), -EBUSY);
	assert_non_null(strstr(err.where, "/lvm/V_vg"));
	assert_non_null(strstr(err.message, "is held by an lvm2 command"));
	/* What was taken before is given back. */
	close(hold(folder, "P_global"));
	assert_int_equal(lvm_lock_take(folder, "other", true, 60, &lock, &err), 0);
	assert_int_equal(hold(folder, "P_global"), -1);
	assert_int_equal(hold(folder, "V_other"), -1);
	lvm_lock_release(&lock);
	close(fd);
	assert_int_equal(lvm_lock_take(folder, "vg", false, 0, &lock, &err), 0);
	assert_int_equal(hold(folder, "V_vg"), -1);
	close(hold(folder, "P_global"));
	lvm_lock_release(&lock);
}

static void test_where_there_are_no_locks(void **state)
{
	struct lvm_lock lock;

	(void)state;
	assert_int_equal(lvm_lock_take("/nonexistent/lvm", "vg", true, 60, &lock, NULL), 0);
	assert_int_equal(lock.group_fd, -1);
	assert_int_equal(lock.global_fd, -1);
	lvm_lock_release(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_by_a_command),
		cmocka_unit_test(test_where_there_are_no_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
