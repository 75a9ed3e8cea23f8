/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Members of the golden arrays (tests/golden/md/CASE.tar.xz) in memory, so that tests may write to them. */
#ifndef UNIT_KEEP_IMAGES_H
#define UNIT_KEEP_IMAGES_H

#include "scratch.h"

#include "base/base.h"

#define IMAGES_MAX 8U

struct images {
	unsigned count;
	uint8_t *data[IMAGES_MAX];
	size_t size[IMAGES_MAX];
};

static inline uint8_t *image_read(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!f)
		return NULL;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	rewind(f);
	data = malloc((size_t)size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, f), (size_t)size);
	fclose(f);
	*ret_size = (size_t)size;
	return data;
}

/** The files `letter`0.img, `letter`1.img, ... of a case. */
static inline void images_load(struct images *images, const char *name, char letter)
{
	char archive[64], folder[64], unpacked[128], path[192];

	*images = (struct images){ 0 };
	snprintf(archive, sizeof(archive), "md/%s", name);
	scratch_unpack(archive, folder, unpacked);
	for (unsigned i = 0; i < IMAGES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%c%u.img", unpacked, letter, i);
		images->data[i] = image_read(path, &images->size[i]);
		if (images->data[i])
			images->count = i + 1;
	}
	scratch_remove(folder);
	assert_true(images->count > 0);
}

static inline void images_done(struct images *images)
{
	for (unsigned i = 0; i < IMAGES_MAX; i++)
		free(images->data[i]);
	*images = (struct images){ 0 };
}

#endif
