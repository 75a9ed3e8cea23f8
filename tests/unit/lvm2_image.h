/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Made-up PVs in memory, with right checksums whatever else is wrong with them: the layout is written from lvm2's headers, not with our types. */
#ifndef UNIT_LVM2_IMAGE_H
#define UNIT_LVM2_IMAGE_H

#include "format/lvm2/lvm2.h"
#include "unit.h"

#define IMAGE_AREA_AT	 4096U
#define IMAGE_AREA_BYTES (1020U * 1024)
#define IMAGE_CRC_SEED	 UINT32_C(0xf597a6cf)

/* Places in the label sector and in the area's header. */
#define IMAGE_LABEL	    512U
#define IMAGE_LABEL_NUMBER  (IMAGE_LABEL + 8)
#define IMAGE_LABEL_OFFSET  (IMAGE_LABEL + 20)
#define IMAGE_PV_ID	    (IMAGE_LABEL + 32)
#define IMAGE_DATA_AREAS    (IMAGE_LABEL + 72)
#define IMAGE_MDA_AREAS	    (IMAGE_LABEL + 104)
#define IMAGE_EXTENSION	    (IMAGE_LABEL + 136)
#define IMAGE_MDA_START	    (IMAGE_AREA_AT + 24)
#define IMAGE_MDA_SIZE	    (IMAGE_AREA_AT + 32)
#define IMAGE_TEXT_OFFSET   (IMAGE_AREA_AT + 40)
#define IMAGE_TEXT_SIZE	    (IMAGE_AREA_AT + 48)
#define IMAGE_TEXT_CHECKSUM (IMAGE_AREA_AT + 56)
#define IMAGE_TEXT_FLAGS    (IMAGE_AREA_AT + 60)

struct image {
	uint8_t *data;
	size_t size;
};

static inline void image_put(struct image *im, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		im->data[at + i] = (uint8_t)(value >> 8 * i);
}

/** Checksums of label and area header. */
static inline void image_seal(struct image *im)
{
	image_put(im, IMAGE_LABEL + 16, crc32_raw(IMAGE_CRC_SEED, im->data + IMAGE_LABEL + 20, 492), 4);
	image_put(im, IMAGE_AREA_AT, crc32_raw(IMAGE_CRC_SEED, im->data + IMAGE_AREA_AT + 4, 508), 4);
}

/** Text at `offset` of the area's ring, wrapping as lvm2 does, with its terminating NUL. */
static inline void image_text_at(struct image *im, const char *text, size_t offset, size_t area_bytes)
{
	size_t length = strlen(text) + 1, at = offset;

	for (size_t i = 0; i < length; i++, at++) {
		if (at == area_bytes)
			at = 512;
		im->data[IMAGE_AREA_AT + at] = (uint8_t)text[i];
	}
	image_put(im, IMAGE_MDA_SIZE, area_bytes, 8);
	image_put(im, IMAGE_TEXT_OFFSET, offset, 8);
	image_put(im, IMAGE_TEXT_SIZE, length, 8);
	image_put(im, IMAGE_TEXT_CHECKSUM, crc32_raw(IMAGE_CRC_SEED, text, length), 4);
	image_seal(im);
}

/** A PV of `size` bytes: label in sector 1, data from 1 MiB, one metadata area with `text`. */
static inline struct image image_new(size_t size, const char id[LVM2_ID_LENGTH + 1], const char *text)
{
	static const uint8_t magic[16] = "\x20LVM2 x[5A%r0N*>";
	struct image im = { calloc(1, size), size };

	assert_non_null(im.data);
	memcpy(im.data + IMAGE_LABEL, "LABELONE", 8);
	image_put(&im, IMAGE_LABEL_NUMBER, 1, 8);
	image_put(&im, IMAGE_LABEL_OFFSET, 32, 4);
	memcpy(im.data + IMAGE_LABEL + 24, "LVM2 001", 8);
	memcpy(im.data + IMAGE_PV_ID, id, 32);
	image_put(&im, IMAGE_PV_ID + 32, size, 8);
	image_put(&im, IMAGE_DATA_AREAS, 1 << 20, 8);
	image_put(&im, IMAGE_MDA_AREAS, IMAGE_AREA_AT, 8);
	image_put(&im, IMAGE_MDA_AREAS + 8, IMAGE_AREA_BYTES, 8);
	image_put(&im, IMAGE_EXTENSION, 2, 4);
	image_put(&im, IMAGE_EXTENSION + 4, 1, 4);
	memcpy(im.data + IMAGE_AREA_AT + 4, magic, 16);
	image_put(&im, IMAGE_AREA_AT + 20, 1, 4);
	image_put(&im, IMAGE_MDA_START, IMAGE_AREA_AT, 8);
	image_text_at(&im, text, 512, IMAGE_AREA_BYTES);
	return im;
}

static inline void image_free(struct image *im)
{
	free(im->data);
	im->data = NULL;
}

static inline char *image_read_file(const char *name)
{
	char path[512], *text = calloc(1, 1 << 16);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

/** A volume group with one volume of each segment type, on pv0, pv1 and pv2 of 100 extents of 256 KiB. */
static inline char *image_all_types(void) { return image_read_file("fuzz/corpus/lvm2_text/all-types.vg"); }

/** `text` with the first `find` behind the first `after` (NULL: the beginning) replaced. */
static inline char *image_edit(const char *text, const char *after, const char *find, const char *replace)
{
	const char *from = after ? strstr(text, after) : text, *at = from ? strstr(from, find) : NULL;
	size_t room = strlen(text) + strlen(replace) + 1;
	char *ret = malloc(room);

	if (!at) {
		fail_msg("\"%s\" is not in the text", find);
		abort();
	}
	snprintf(ret, room, "%.*s%s%s", (int)(at - text), text, replace, at + strlen(find));
	return ret;
}

#endif
