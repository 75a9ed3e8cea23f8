/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Images for tests: sparse files in a folder of their own, filled from what tests/golden/sectors.py wrote or from scratch. */
#ifndef UNIT_IMAGE_H
#define UNIT_IMAGE_H

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "dev/dev.h"
#include "scratch.h"

struct image {
	char folder[64];
	char path[192];
	int fd;
};

static inline void image_new(struct image *image, const char *name, uint64_t size_bytes)
{
	scratch_folder(image->folder);
	snprintf(image->path, sizeof(image->path), "%s/%s.img", image->folder, name);
	image->fd = open(image->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(image->fd >= 0);
	assert_int_equal(ftruncate(image->fd, (off_t)size_bytes), 0);
}

static inline void image_put(struct image *image, uint64_t offset_bytes, const void *data, size_t length_bytes)
{
	assert_int_equal(pwrite(image->fd, data, length_bytes, (off_t)offset_bytes), (ssize_t)length_bytes);
}

static inline void image_get(struct image *image, uint64_t offset_bytes, void *data, size_t length_bytes)
{
	assert_int_equal(pread(image->fd, data, length_bytes, (off_t)offset_bytes), (ssize_t)length_bytes);
}

static inline void image_resize(struct image *image, uint64_t size_bytes) { assert_int_equal(ftruncate(image->fd, (off_t)size_bytes), 0); }

/** golden/parts/NAME.sectors as NAME.img. */
static inline void image_golden(struct image *image, const char *name)
{
	char path[512], line[2048];
	uint64_t size, offset;
	FILE *f;

	snprintf(path, sizeof(path), "%s/golden/parts/%s.sectors", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "size %" SCNu64 "\n", &size), 1);
	image_new(image, name, size);
	while (fscanf(f, "%" SCNu64 " %2047s\n", &offset, line) == 2) {
		uint8_t sector[512];
		size_t n = strlen(line) / 2;

		for (size_t i = 0; i < n; i++)
			assert_int_equal(sscanf(line + 2 * i, "%2hhx", &sector[i]), 1);
		image_put(image, offset, sector, n);
	}
	fclose(f);
}

static inline struct dev *image_open(struct image *image)
{
	struct dev *dev;

	assert_int_equal(dev_open_file(image->path, &dev, NULL), 0);
	return dev;
}

static inline void image_done(struct image *image)
{
	close(image->fd);
	unlink(image->path);
	rmdir(image->folder);
}
#define _cleanup_image_ _cleanup_(image_done)

#endif
