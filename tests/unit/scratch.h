/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Folders and files for the time of a test. All of a process lie in one folder, which a shell removes as soon as the process has ended, however it did: an assertion that
 * fails leaves a test in its middle, and a test that takes too long is killed.
 */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H

#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/** The process's folder below `where`, "/tmp" or "/dev/shm". */
static inline const char *scratch_top(const char *where)
{
	static char tops[2][48];
	char *top = tops[strcmp(where, "/tmp") != 0], command[256];

	if (*top)
		return top;
	snprintf(top, sizeof(tops[0]), "%s/blkalign-test-XXXXXX", where);
	assert_non_null(mkdtemp(top));
	assert_int_equal(chmod(top, 01777), 0); /* as /tmp: some tests go on as another user */
	/* A session of its own, which signals to the test's group do not reach; its standard input ends with this process. */
	snprintf(command, sizeof(command), "exec setsid sh -c 'read nothing; umount -l %.48s/*; rm -rf %.48s' >/dev/null 2>&1", top, top);
	assert_non_null(popen(command, "we"));
	return top;
}

/** A new folder. */
static inline void scratch_folder(char ret[64])
{
	snprintf(ret, 64, "%.48s/XXXXXX", scratch_top("/tmp"));
	assert_non_null(mkdtemp(ret));
}

/** A new file, open for reading and writing. */
static inline int scratch_file(char ret[64])
{
	int fd;

	snprintf(ret, 64, "%.48s/XXXXXX", scratch_top("/tmp"));
	fd = mkstemp(ret);
	assert_true(fd >= 0);
	return fd;
}

/** Remove a folder with all that is in it. */
static inline void scratch_remove(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%.100s'", folder);
	assert_int_equal(system(command), 0);
}

/** A new folder, and in it tests/golden/`archive`.tar.xz, "md/raid5-stale" for example, which makes a folder of the last part of the name: `ret_path`. */
static inline void scratch_unpack(const char *archive, char ret_folder[64], char ret_path[128])
{
	char command[512];

	scratch_folder(ret_folder);
	snprintf(command, sizeof(command), "tar -xJf '%s/golden/%.100s.tar.xz' -C '%.63s'", getenv("BLKALIGN_TESTS"), archive, ret_folder);
	assert_int_equal(system(command), 0);
	snprintf(ret_path, 128, "%.63s/%.60s", ret_folder, strchr(archive, '/') + 1);
}

/** The paths of m0.img, m1.img, ... below `path`, as far as they are there; the caller frees each. */
static inline size_t scratch_members(const char *path, char **ret_names, unsigned most)
{
	size_t count = 0;

	for (unsigned i = 0; i < most; i++) {
		char *name = NULL;

		assert_true(asprintf(&name, "%s/m%u.img", path, i) > 0);
		if (access(name, R_OK) == 0)
			ret_names[count++] = name;
		else
			free(name);
	}
	return count;
}

#endif
