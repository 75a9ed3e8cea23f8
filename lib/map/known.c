/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "map/known.h"

bool known_ask(struct known *known, struct dev *dev, uint64_t offset_bytes, uint64_t *run_bytes)
{
	if (offset_bytes < known->begin_bytes || offset_bytes >= known->end_bytes) {
		uint64_t length = offset_bytes < dev->size_bytes ? dev->size_bytes - offset_bytes : 0;

		*known = (struct known){ 0 };
		if (!length || dev_extent(dev, offset_bytes, &length, &known->zero) < 0)
			return false;
		known->begin_bytes = offset_bytes;
		known->end_bytes = offset_bytes + length;
	}
	if (*run_bytes > known->end_bytes - offset_bytes)
		*run_bytes = known->end_bytes - offset_bytes;
	return known->zero;
}
