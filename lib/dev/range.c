/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "dev/dev.h"

bool dev_leaf_range(const struct dev *dev, int *ret_fd, uint64_t *ret_offset_bytes)
{
	uint64_t offset = 0, step;

	while (dev->leaf_fd < 0) {
		if (!dev->ops->part_of)
			return false;
		dev = dev->ops->part_of(dev, &step);
		if (!dev || !u64_add(offset, step, &offset))
			return false;
	}
	*ret_fd = dev->leaf_fd;
	*ret_offset_bytes = offset;
	return true;
}

bool dev_is_hole(const struct dev *dev, struct dev_hole *known)
{
	uint64_t offset, end;
	off_t data;
	int fd;

	if (!dev_leaf_range(dev, &fd, &offset) || !u64_add(offset, dev->size_bytes, &end) || end > INT64_MAX)
		return false;
	if (fd == known->fd && offset >= known->begin_bytes && end <= known->end_bytes)
		return true;
	data = lseek(fd, (off_t)offset, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return false;
	*known = (struct dev_hole){ fd, offset, data < 0 ? UINT64_MAX : (uint64_t)data };
	return end <= known->end_bytes;
}
