/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The superblocks of tests/golden/fs/ put back in place: sparse files of the original size, in memory. */
#ifndef UNIT_FORMAT_FS_IMAGE_H
#define UNIT_FORMAT_FS_IMAGE_H

#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <blkid/blkid.h>

#include "dev/dev.h"

/** Column of expected.tsv. */
enum fs_column {
	FS_NAME,
	FS_TYPE,
	FS_SIZE,
	FS_BLOCK,
	FS_SECTOR,
	FS_STRIDE,
	FS_STRIPE,
	FS_LOG_STRIDE,
	FS_HIDDEN,
	FS_DATA_OFFSET,
	FS_UUID,
	FS_LABEL,
	FS_COLUMNS
};

static inline void fs_image_path(char *ret, size_t size, const char *name)
{
	const char *tests = getenv("BLKALIGN_TESTS");

	assert_non_null(tests);
	snprintf(ret, size, "%s/golden/fs/%s", tests, name);
}

/** Whole file; the caller frees. */
static inline char *fs_image_slurp(const char *path, size_t *ret_length)
{
	FILE *f = fopen(path, "rb");
	char *data = calloc(1, 65536);

	assert_non_null(f);
	assert_non_null(data);
	*ret_length = fread(data, 1, 65535, f);
	fclose(f);
	return data;
}

/** Write the kept pieces of `name` over what `fd` holds. */
static inline void fs_image_lay(int fd, const char *name)
{
	char folder[512], path[1024];
	struct dirent *e;
	DIR *d;

	fs_image_path(folder, sizeof(folder), name);
	d = opendir(folder);
	assert_non_null(d);
	while ((e = readdir(d))) {
		size_t length;
		char *data;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		data = fs_image_slurp(path, &length);
		if (!strcmp(e->d_name, "size")) {
			struct stat st;

			assert_int_equal(fstat(fd, &st), 0);
			if (st.st_size < atoll(data))
				assert_int_equal(ftruncate(fd, atoll(data)), 0);
		} else {
			assert_int_equal(pwrite(fd, data, length, atoll(e->d_name)), length);
		}
		free(data);
	}
	closedir(d);
}

static inline int fs_image_new(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	assert_true(fd >= 0);
	fs_image_lay(fd, name);
	return fd;
}

/** Invert the byte at `offset`. */
static inline void fs_image_damage(int fd, off_t offset)
{
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

static inline struct dev *fs_image_dev(int fd)
{
	char path[64];
	struct dev *dev = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(dev_open_file(path, &dev, NULL), 0);
	return dev;
}

/** What libblkid finds in `fd`, "" where it finds nothing (or, unless `first` will do, several things): the independent route. */
struct fs_blkid {
	char type[64], uuid[64], label[512], block[32];
};
static inline void fs_blkid_value(blkid_probe pr, const char *name, char *ret, size_t size)
{
	const char *value;

	if (blkid_probe_lookup_value(pr, name, &value, NULL) == 0)
		snprintf(ret, size, "%s", value);
}
static inline struct fs_blkid fs_blkid_ask(int fd, bool first)
{
	struct fs_blkid found = { .type = "" };
	blkid_probe pr = blkid_new_probe();

	assert_non_null(pr);
	assert_int_equal(blkid_probe_set_device(pr, fd, 0, 0), 0);
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID);
	if ((first ? blkid_do_probe(pr) : blkid_do_safeprobe(pr)) == 0) {
		fs_blkid_value(pr, "TYPE", found.type, sizeof(found.type));
		fs_blkid_value(pr, "UUID", found.uuid, sizeof(found.uuid));
		fs_blkid_value(pr, "LABEL", found.label, sizeof(found.label));
		fs_blkid_value(pr, "BLOCK_SIZE", found.block, sizeof(found.block));
	}
	blkid_free_probe(pr);
	return found;
}

/** Call `row` for each row of expected.tsv, split at tabs. */
static inline unsigned fs_image_rows(void (*row)(char *const columns[FS_COLUMNS]))
{
	char path[512], *text, *line, *next;
	size_t length;
	unsigned rows = 0;

	fs_image_path(path, sizeof(path), "expected.tsv");
	text = fs_image_slurp(path, &length);
	for (line = text; *line; line = next) {
		char *columns[FS_COLUMNS];

		next = strchr(line, '\n');
		assert_non_null(next);
		*next++ = '\0';
		if (*line == '#')
			continue;
		for (unsigned i = 0; i < FS_COLUMNS; i++)
			columns[i] = strsep(&line, "\t");
		assert_non_null(columns[FS_LABEL]);
		row(columns);
		rows++;
	}
	free(text);
	return rows;
}

#endif
