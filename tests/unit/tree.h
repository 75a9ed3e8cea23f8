/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Trees of tests/sysfs, made in a temporary folder. */
#ifndef UNIT_TREE_H
#define UNIT_TREE_H

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/** A shell command that finds its arguments as $A and $B, so that nothing needs quoting. */
static void tree_run(const char *command, const char *a, const char *b)
{
	assert_int_equal(setenv("A", a, 1), 0);
	assert_int_equal(setenv("B", b, 1), 0);
	assert_int_equal(system(command), 0);
}

/** A new folder that holds the tree `name`; NULL for an empty one. */
static void tree_make(char ret_folder[PATH_MAX], const char *name)
{
	snprintf(ret_folder, PATH_MAX, "/tmp/blkalign-tree-XXXXXX");
	assert_non_null(mkdtemp(ret_folder));
	if (name)
		tree_run("\"$BLKALIGN_TESTS/sysfs/expand\" \"$BLKALIGN_TESTS/sysfs/$A.tree\" \"$B\"", name, ret_folder);
}

static void tree_remove(const char *folder) { tree_run("rm -r \"$A\"", folder, ""); }

/** Replace or make a file of the tree. */
static void tree_write(const char *folder, const char *file, const char *text)
{
	char path[2 * PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	tree_run("mkdir -p \"$(dirname \"$A\")\"", path, "");
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

#endif
