/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a resync has reached. The superblocks hold it only while no write is in flight; as long as they say "active", they say 0, as the kernel's do, and it is
 * written later.
 */
#include "keep/keep_priv.h"

static int resynced(struct keep *keep, uint64_t offset_bytes, uint64_t end_bytes)
{
	const struct ranges *r = &keep->unsynced;

	for (size_t i = 0; i < r->count; i++)
		if (r->data[i].offset_bytes < end_bytes && offset_bytes < r->data[i].offset_bytes + r->data[i].length_bytes)
			keep->resynced = true;
	return ranges_subtract(&keep->unsynced, offset_bytes, end_bytes);
}

void keep_range_resynced(struct keep *keep, const struct byte_range *range)
{
	pthread_mutex_lock(&keep->lock);
	/* Without memory for it the range stays in doubt: it will be resynced once more. */
	(void)resynced(keep, range->offset_bytes, range->offset_bytes + range->length_bytes);
	pthread_mutex_unlock(&keep->lock);
}

int keep_resynced(struct keep *keep, uint64_t synced_bytes, struct blkalign_error *reterr)
{
	int r;

	if (!keep->redundant)
		return 0;
	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	/* Where a bitmap says that nothing is in doubt, a dirty array has no range to be resynced, and is clean nevertheless. */
	if (synced_bytes == UINT64_MAX && keep->was_dirty)
		keep->resynced = true;
	r = keep->broken ? broken(keep, reterr) : resynced(keep, 0, synced_bytes);
	if (r >= 0 && keep->resynced && !keep->in_flight)
		r = records_settle(keep, reterr);
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}
