/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Putting back. First everything is looked at: each sector must hold either its old bytes, or one of the contents that were going to be written to it (the log is
 * synced before the device, so that after a crash both are possible, and each version of a sector that was written several times). Old
 * entries and new ones are walked in the order of the device together, so that the work is in proportion to the log whatever it says.
 */
#include <inttypes.h>

#include "dev/undo_priv.h"

struct span {
	const struct undo_entry *entry;
	bool differs; /* from what the device holds */
};

struct apply {
	struct dev *file;
	const struct undo_log *log;
	struct dev **devs; /* by number in the log */
	VEC(struct span) old;
	VEC(struct span) new;
	VEC(const struct undo_entry *) active; /* new entries that reach into the old one */
	size_t next_new;
	uint8_t *now;
	uint8_t *was;
	uint8_t crcs[UNDO_PIECE_BYTES / UNDO_SECTOR_BYTES * 4];
	bool accepted[UNDO_PIECE_BYTES / UNDO_SECTOR_BYTES];
};

static uint64_t end_of(const struct undo_entry *entry) { return entry->offset_bytes + entry->length_bytes; }

static int by_place(const void *a, const void *b)
{
	const struct undo_entry *x = ((const struct span *)a)->entry, *y = ((const struct span *)b)->entry;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->offset_bytes != y->offset_bytes)
		return x->offset_bytes < y->offset_bytes ? -1 : 1;
	return 0;
}

static int sort_entries(struct apply *apply, struct blkalign_error *reterr)
{
	const struct undo_log *log = apply->log;
	int r = 0;

	for (size_t i = 0; r == 0 && i < log->entries.count; i++) {
		struct span span = { .entry = &log->entries.data[i] };

		if (span.entry->kind == UNDO_OLD)
			r = vec_push(&apply->old, span);
		else if (span.entry->kind == UNDO_NEW)
			r = vec_push(&apply->new, span);
	}
	if (r < 0)
		return r;
	if (apply->old.count)
		qsort(apply->old.data, apply->old.count, sizeof(*apply->old.data), by_place);
	if (apply->new.count)
		qsort(apply->new.data, apply->new.count, sizeof(*apply->new.data), by_place);
	for (size_t i = 1; i < apply->old.count; i++) {
		const struct undo_entry *a = apply->old.data[i - 1].entry, *b = apply->old.data[i].entry;

		if (a->device == b->device && b->offset_bytes < end_of(a))
			return blkalign_error_set(reterr, -EBADMSG, apply->file->name, b->payload_at,
						  "the undo log has the old bytes at byte %" PRIu64 " of %s twice", b->offset_bytes,
						  log->devices.data[b->device].name);
	}
	return 0;
}

static int match_one(const struct undo_device *device, struct dev *const *devs, size_t count, struct dev **ret_dev)
{
	*ret_dev = NULL;
	for (size_t i = 0; !*ret_dev && i < count; i++) {
		_cleanup_free_ char *name = NULL, *identity = NULL;
		int r = undo_identify(devs[i], &name, &identity);

		if (r < 0)
			return r;
		if (undo_is_same(device, devs[i]->size_bytes, name, identity))
			*ret_dev = devs[i];
	}
	return 0;
}

static int match_devices(struct apply *apply, struct dev *const *devs, size_t count, struct blkalign_error *reterr)
{
	const struct undo_log *log = apply->log;

	apply->devs = calloc(log->devices.count + 1, sizeof(struct dev *));
	if (!apply->devs)
		return -ENOMEM;
	for (size_t i = 0; i < log->devices.count; i++) {
		const struct undo_device *d = &log->devices.data[i];
		int r = match_one(d, devs, count, &apply->devs[i]);

		if (r < 0)
			return r;
		if (!apply->devs[i])
			return blkalign_error_set(reterr, -ENOENT, apply->file->name, BLKALIGN_UNKNOWN,
						  "the undo log is also of %s (%" PRIu64
						  " bytes%s%s), which was not given; nothing was changed",
						  d->name, d->size_bytes, *d->identity ? ", " : "", d->identity);
		if (!apply->devs[i]->writable)
			return blkalign_error_set(reterr, -EROFS, d->name, BLKALIGN_UNKNOWN,
						  "is open for reading only; nothing was changed");
	}
	return 0;
}

/* Those that begin before the old entry's end come in, those that end before it begins go. */
static int update_active(struct apply *apply, const struct undo_entry *old)
{
	size_t kept = 0;

	while (apply->next_new < apply->new.count) {
		const struct undo_entry *new = apply->new.data[apply->next_new].entry;

		if (new->device > old->device || (new->device == old->device &&new->offset_bytes >= end_of(old)))
			break;
		if (vec_push(&apply->active, new) < 0)
			return -ENOMEM;
		apply->next_new++;
	}
	for (size_t i = 0; i < apply->active.count; i++) {
		const struct undo_entry *new = apply->active.data[i];

		if (new->device == old->device && end_of(new) > old->offset_bytes)
			apply->active.data[kept++] = new;
	}
	apply->active.count = kept;
	return 0;
}

static size_t sector_length(const struct undo_entry *old, uint64_t at)
{
	uint64_t left = old->length_bytes - at;

	return (size_t)(left < UNDO_SECTOR_BYTES ? left : UNDO_SECTOR_BYTES);
}

/* The sectors of `old` that hold what `new` was going to write there. */
static int accept_new(struct apply *apply, const struct undo_entry *old, const struct undo_entry *new, struct blkalign_error *reterr)
{
	uint64_t begin = old->offset_bytes > new->offset_bytes ? old->offset_bytes : new->offset_bytes;
	uint64_t end = end_of(old) < end_of(new) ? end_of(old) : end_of(new);
	uint64_t first = (begin - new->offset_bytes) / UNDO_SECTOR_BYTES;
	size_t sectors = (size_t)((end - begin + UNDO_SECTOR_BYTES - 1) / UNDO_SECTOR_BYTES);
	int r = dev_read(apply->file, new->payload_at + 4 * first, apply->crcs, 4 * sectors, reterr);

	for (size_t i = 0; r == 0 && i < sectors; i++) {
		uint64_t at = begin + i * UNDO_SECTOR_BYTES - old->offset_bytes;
		uint32_t crc = undo_crc(apply->log->id, apply->now + at, sector_length(old, at));

		if (crc == load_le32(apply->crcs + 4 * i))
			apply->accepted[at / UNDO_SECTOR_BYTES] = true;
	}
	return r;
}

static int check_span(struct apply *apply, struct span *span, struct blkalign_error *reterr)
{
	const struct undo_entry *old = span->entry;
	struct dev *dev = apply->devs[old->device];
	int r = dev_read(dev, old->offset_bytes, apply->now, old->length_bytes, reterr);

	if (r == 0)
		r = dev_read(apply->file, old->payload_at, apply->was, old->length_bytes, reterr);
	if (r == 0)
		r = update_active(apply, old);
	if (r < 0)
		return r;
	for (uint64_t at = 0; at < old->length_bytes; at += UNDO_SECTOR_BYTES) {
		bool same = memcmp(apply->now + at, apply->was + at, sector_length(old, at)) == 0;

		apply->accepted[at / UNDO_SECTOR_BYTES] = same;
		span->differs = span->differs || !same;
	}
	for (size_t i = 0; span->differs && r == 0 && i < apply->active.count; i++)
		r = accept_new(apply, old, apply->active.data[i], reterr);
	for (uint64_t at = 0; r == 0 && at < old->length_bytes; at += UNDO_SECTOR_BYTES)
		if (!apply->accepted[at / UNDO_SECTOR_BYTES])
			r = blkalign_error_set(reterr, -ESTALE, dev->name, old->offset_bytes + at,
					       "byte %" PRIu64 " on holds neither the old bytes nor what was written in their place: it "
					       "was written by somebody else since; nothing was changed",
					       old->offset_bytes + at);
	return r;
}

static int put_back(struct apply *apply, uint64_t *ret_bytes, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = apply->old.count; r == 0 && i-- > 0;) {
		const struct undo_entry *old = apply->old.data[i].entry;

		if (!apply->old.data[i].differs)
			continue;
		r = dev_read(apply->file, old->payload_at, apply->was, old->length_bytes, reterr);
		if (r == 0)
			r = dev_write(apply->devs[old->device], old->offset_bytes, apply->was, old->length_bytes, reterr);
		if (r == 0)
			*ret_bytes += old->length_bytes;
	}
	for (size_t i = 0; r == 0 && i < apply->log->devices.count; i++)
		r = dev_flush(apply->devs[i], reterr);
	return r;
}

static void apply_done(struct apply *apply)
{
	vec_done(&apply->old);
	vec_done(&apply->new);
	vec_done(&apply->active);
	free(apply->devs);
	free(apply->now);
	free(apply->was);
	free(apply);
}

int undo_log_apply(struct dev *file, const struct undo_log *log, struct dev *const *devs, size_t count, uint64_t *ret_bytes,
		   struct blkalign_error *reterr)
{
	struct apply *apply = calloc(1, sizeof(*apply));
	int r;

	if (!apply)
		return -ENOMEM;
	*ret_bytes = 0;
	apply->file = file;
	apply->log = log;
	apply->now = malloc(UNDO_PIECE_BYTES);
	apply->was = malloc(UNDO_PIECE_BYTES);
	r = apply->now && apply->was ? match_devices(apply, devs, count, reterr) : -ENOMEM;
	if (r == 0)
		r = sort_entries(apply, reterr);
	for (size_t i = 0; r == 0 && i < apply->old.count; i++)
		r = check_span(apply, &apply->old.data[i], reterr);
	if (r == 0)
		r = put_back(apply, ret_bytes, reterr);
	apply_done(apply);
	return r;
}
