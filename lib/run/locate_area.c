/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies beside the data on an md member: by its superblock, read again. */
#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "format/mdbitmap/mdbitmap.h"
#include "run/locate.h"

#define AREAS_MAX 8U

struct areas {
	struct locate_area list[AREAS_MAX];
	size_t count;
	uint64_t data_begin_bytes, data_end_bytes;
};

static void add(struct areas *areas, const char *name, uint64_t offset_bytes, uint64_t length_bytes)
{
	if (areas->count < AREAS_MAX && length_bytes)
		areas->list[areas->count++] = (struct locate_area){ name, offset_bytes, length_bytes };
}

static void add_from_super(struct areas *areas, const char *name, uint64_t super_bytes, int64_t from_super_bytes, uint64_t length_bytes)
{
	uint64_t at = super_bytes + (uint64_t)from_super_bytes;

	if (from_super_bytes < 0 ? at < super_bytes : at >= super_bytes)
		add(areas, name, at, length_bytes);
}

static void add_bitmap(struct areas *areas, struct dev *dev, uint64_t at)
{
	struct mdbitmap bitmap;

	if (mdbitmap_read(dev, at, &bitmap, NULL) == 0)
		add(areas, "bitmap", at, mdbitmap_stored_bytes(&bitmap));
}

static bool find_md1(struct dev *dev, struct areas *ret)
{
	_cleanup_free_ struct md1_superblock *sb = malloc(sizeof(*sb));
	uint64_t end;
	int r = BLKALIGN_NOT_THIS;

	for (unsigned minor = 0; sb && r != 0 && minor < 3; minor++)
		r = md1_read(dev, minor, sb, NULL);
	if (!sb || r != 0 || !u64_add(sb->data_offset_bytes, sb->data_bytes, &end))
		return false;
	ret->data_begin_bytes = sb->data_offset_bytes;
	ret->data_end_bytes = end;
	add(ret, "superblock", sb->super_bytes, MD1_BYTES);
	if (sb->features & MD1_BITMAP)
		add_bitmap(ret, dev, sb->super_bytes + (uint64_t)sb->bitmap_from_super_bytes);
	if (sb->features & MD1_BAD_BLOCKS || sb->badblocks_bytes)
		add_from_super(ret, "bad block log", sb->super_bytes, sb->badblocks_from_super_bytes, sb->badblocks_bytes);
	if (sb->features & (MD1_PPL | MD1_MULTIPLE_PPLS))
		add_from_super(ret, "partial parity log", sb->super_bytes, sb->ppl_from_super_bytes, sb->ppl_bytes);
	return true;
}

static bool find_md0(struct dev *dev, struct areas *ret)
{
	_cleanup_free_ struct md0_superblock *sb = malloc(sizeof(*sb));
	uint64_t super = md0_super_bytes(dev->size_bytes);

	if (!sb || md0_read(dev, sb, NULL) != 0)
		return false;
	ret->data_end_bytes = super;
	add(ret, "superblock", super, MD0_BYTES);
	add_bitmap(ret, dev, super + MD0_BYTES);
	return true;
}

bool locate_md_area(struct dev *dev, uint64_t at, struct locate_area *ret)
{
	struct areas areas = { 0 };
	uint64_t next = dev->size_bytes;

	if (!find_md1(dev, &areas) && !find_md0(dev, &areas))
		return false;
	for (size_t i = 0; i < areas.count; i++) {
		*ret = areas.list[i];
		if (at >= ret->offset_bytes && at - ret->offset_bytes < ret->length_bytes)
			return true;
		if (ret->offset_bytes > at && ret->offset_bytes < next)
			next = ret->offset_bytes;
	}
	if (at >= areas.data_begin_bytes && at < areas.data_end_bytes)
		return false;
	if (areas.data_begin_bytes > at && areas.data_begin_bytes < next)
		next = areas.data_begin_bytes;
	*ret = (struct locate_area){ "neither data nor records", at, next - at };
	return true;
}
