/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known about contents without reading them. */
#include <unistd.h>

#include "dev/dev_priv.h"

/* Stripes on stripes on stripes ask more devices than anybody has time for. */
#define QUESTIONS_MAX 4096U
static _Thread_local struct {
	unsigned depth;
	unsigned questions; /* since the outermost one */
} asking;

static int ask(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	int r = -EOPNOTSUPP;

	if (!asking.depth)
		asking.questions = 0;
	asking.depth++;
	if (asking.questions++ < QUESTIONS_MAX)
		r = dev->ops->extent(dev, offset_bytes, length_bytes, ret_zero);
	asking.depth--;
	return r;
}

int dev_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	uint64_t asked = *length_bytes;

	*ret_zero = false;
	if (!asked || !range_inside(offset_bytes, asked, dev->size_bytes))
		return -ERANGE;
	if (dev->ops->extent && ask(dev, offset_bytes, length_bytes, ret_zero) >= 0 && *length_bytes && *length_bytes <= asked)
		return 0;
	/* Whoever cannot tell is read. */
	*length_bytes = asked;
	*ret_zero = false;
	return 0;
}

int file_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	off_t data, end;

	if (offset_bytes > INT64_MAX)
		return -ERANGE;
	data = lseek(dev->leaf_fd, (off_t)offset_bytes, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return -errno;
	*ret_zero = data != (off_t)offset_bytes;
	if (data < 0) /* none up to the end of the file, which may have been cut meanwhile: then reading must tell */
		return lseek(dev->leaf_fd, 0, SEEK_END) < (off_t)(offset_bytes + *length_bytes) ? -ENXIO : 0;
	end = *ret_zero ? data : lseek(dev->leaf_fd, data, SEEK_HOLE);
	if (end < 0)
		return -errno;
	if (*length_bytes > (uint64_t)end - offset_bytes)
		*length_bytes = (uint64_t)end - offset_bytes;
	return 0;
}
