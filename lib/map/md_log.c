/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a partial parity log is told: the parts of stripes that are written, as rectangles of rows and neighbouring data blocks. */
#include "map/md_priv.h"

typedef VEC(struct map_md_partial) partials;

static uint64_t array_byte(const struct md *md, const struct md_band *band)
{
	uint64_t chunk = md->geometry.chunk_bytes;

	return (band->stripe.number * md->data_members + band->first) * chunk + band->device_bytes % chunk;
}

/* Bands that differ only in what is lost are one rectangle. */
static bool goes_on(const struct md_band *before, const struct md_band *band)
{
	return before && before->piece == band->piece && before->how != MD_DIRECT && before->first == band->first &&
	       before->count == band->count && before->device_bytes + before->length_bytes == band->device_bytes;
}

static int collect(const struct md_batch *b, partials *all)
{
	const struct md_band *before = NULL;

	for (size_t i = 0; i < b->bands.count; before = &b->bands.data[i++]) {
		const struct md_band *band = &b->bands.data[i];
		struct map_md_partial p = { .array_bytes = array_byte(b->md, band),
					    .length_bytes = (uint64_t)band->count * band->length_bytes,
					    .row_bytes = band->length_bytes,
					    .p_slot = band->stripe.p_slot,
					    .parity = band->partial };

		if (b->pieces.data[band->piece].dead || band->how == MD_DIRECT)
			continue;
		if (all->count && goes_on(before, band)) {
			all->data[all->count - 1].length_bytes += p.length_bytes;
			all->data[all->count - 1].row_bytes += p.row_bytes;
		} else if (vec_push(all, p) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

int md_log(struct md_batch *b)
{
	struct map_md_guard *guard = b->md->guard;
	partials all = { 0 };
	int r = b->md->has_log ? collect(b, &all) : 0;

	if (r >= 0 && all.count)
		r = guard->ops->log(guard, all.data, all.count, NULL);
	vec_done(&all);
	return r;
}
