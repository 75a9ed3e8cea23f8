/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where redundancy may not fit the data. The list is ascending, without overlaps; it shrinks while a resync passes. */
#include <assert.h>

#include "map/md_priv.h"

static size_t behind(const struct md *md, uint64_t at) { return ranges_behind(md->doubtful.data, md->doubtful.count, at); }

bool md_doubtful(struct md *md, uint64_t at, uint64_t *run_bytes)
{
	bool doubtful = false;

	if (!atomic_load_explicit(&md->doubtful_count, memory_order_acquire))
		return false;
	pthread_mutex_lock(&md->doubt_mutex);
	size_t i = behind(md, at);

	if (i < md->doubtful.count) {
		const struct byte_range *range = &md->doubtful.data[i];

		doubtful = range->offset_bytes <= at;
		md_cut(run_bytes, (doubtful ? range_end(range) : range->offset_bytes) - at);
	}
	pthread_mutex_unlock(&md->doubt_mutex);
	return doubtful;
}

/* Room for one more range before index `i`. */
static int make_room(struct md *md, size_t i)
{
	if (vec_push(&md->doubtful, (struct byte_range){ 0 }) < 0)
		return -ENOMEM;
	memmove(&md->doubtful.data[i + 1], &md->doubtful.data[i], (md->doubtful.count - 1 - i) * sizeof(struct byte_range));
	return 0;
}

static void take_out(struct md *md, size_t first, size_t count)
{
	if (!count)
		return;
	memmove(&md->doubtful.data[first], &md->doubtful.data[first + count],
		(md->doubtful.count - first - count) * sizeof(struct byte_range));
	md->doubtful.count -= count;
}

static uint64_t end_of(const struct md *md, size_t i)
{
	assert(md->doubtful.data);
	return range_end(&md->doubtful.data[i]);
}

static int trust(struct md *md, uint64_t from, uint64_t to)
{
	size_t i = behind(md, from), last;
	struct byte_range *range = i < md->doubtful.count ? &md->doubtful.data[i] : NULL;

	if (range && range->offset_bytes < from) {
		uint64_t end = range_end(range);

		if (end > to) {
			if (make_room(md, i + 1) < 0)
				return -ENOMEM;
			md->doubtful.data[i + 1] = (struct byte_range){ to, end - to };
		}
		md->doubtful.data[i].length_bytes = from - md->doubtful.data[i].offset_bytes;
		i++;
	}
	for (last = i; last < md->doubtful.count && end_of(md, last) <= to; last++)
		;
	take_out(md, i, last - i);
	if (i < md->doubtful.count && md->doubtful.data[i].offset_bytes < to) {
		md->doubtful.data[i].length_bytes = range_end(&md->doubtful.data[i]) - to;
		md->doubtful.data[i].offset_bytes = to;
	}
	return 0;
}

static int change(struct md *md, const struct byte_range *range, bool add)
{
	uint64_t end = range_end(range);
	int r;

	if (!range->length_bytes)
		return 0;
	pthread_mutex_lock(&md->doubt_mutex);
	r = trust(md, range->offset_bytes, end);
	if (r >= 0 && add) {
		size_t i = behind(md, range->offset_bytes);

		r = make_room(md, i);
		if (r >= 0)
			md->doubtful.data[i] = (struct byte_range){ range->offset_bytes, end - range->offset_bytes };
	}
	atomic_store_explicit(&md->doubtful_count, md->doubtful.count, memory_order_release);
	pthread_mutex_unlock(&md->doubt_mutex);
	return r;
}

int md_doubt_add(struct md *md, const struct byte_range *range) { return change(md, range, true); }

int md_doubt_init(struct md *md, const struct byte_range *ranges, size_t count)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		r = change(md, &ranges[i], true);
	return r;
}

bool map_md_doubtful(struct dev *dev, uint64_t at, uint64_t *run_bytes) { return md_doubtful((struct md *)dev, at, run_bytes); }

int map_md_set_trusted(struct dev *dev, const struct byte_range *range) { return change((struct md *)dev, range, false); }
