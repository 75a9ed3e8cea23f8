/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replay of partial parity logs, as ppl_recover_entry() of the kernel's raid5-ppl.c: new parity is the partial parity xor what is now on the data members that the
 * entry says were written. An entry is looked at whole before any of it is used: its bytes lie in one stripe, whose parity the log's member holds.
 */
#include "keep/keep_priv.h"

void replay_done(struct replay *replay)
{
	free(replay->jobs);
	*replay = (struct replay){ 0 };
}

/* Bounds of what the entry describes; false when no kernel writes such an entry. */
static bool bounds(const struct raid_geometry *g, const struct ppl_entry *e, struct replay_job *job)
{
	uint64_t chunk = g->chunk_bytes, data_members = raid_data_members(g), stripe = chunk * data_members;

	job->first_bytes = e->array_bytes;
	if (!stripe || !e->data_bytes || e->parity_bytes > chunk || !range_inside(e->array_bytes, e->data_bytes, g->array_bytes))
		return false;
	job->rows_bytes = e->parity_bytes ? e->parity_bytes : e->data_bytes / data_members;
	job->blocks = (uint32_t)data_members;
	if (e->parity_bytes < chunk) {
		if (e->parity_bytes)
			job->blocks = e->data_bytes / e->parity_bytes;
		if (job->rows_bytes * job->blocks != e->data_bytes || job->rows_bytes % 512 || job->blocks > data_members ||
		    e->array_bytes % chunk + job->rows_bytes > chunk)
			return false;
		job->last_bytes = job->first_bytes + (job->blocks - 1) * chunk + job->rows_bytes;
	} else {
		job->last_bytes = job->first_bytes + e->data_bytes;
	}
	return job->last_bytes <= round_down_u64(job->first_bytes, stripe) + stripe;
}

static bool make_job(struct keep *keep, struct member *m, const struct ppl_entry *e, struct replay_job *job)
{
	struct raid_place place;

	if (e->parity_slot != m->slot || !bounds(keep->geometry, e, job) || raid_locate(keep->geometry, job->first_bytes, 0, &place) < 0)
		return false;
	job->log = m;
	job->stripe_bytes = round_down_u64(place.device_bytes, keep->geometry->chunk_bytes);
	if (raid_stripe_at(keep->geometry, place.device_bytes).p_slot != m->slot)
		return false;
	/* Rows differ in which members they need only where an entry is as long as a chunk. */
	if (e->parity_bytes < keep->geometry->chunk_bytes)
		job->step_bytes = REPLAY_STEP_BYTES;
	else
		job->step_bytes = job->first_bytes % 4096 || job->last_bytes % 4096 ? 512 : 4096;
	return true;
}

/* 0: the partial parity is as it was written; BLKALIGN_NOT_THIS otherwise. */
static int check_parity(const struct member *m, uint64_t at, const struct ppl_entry *e)
{
	_cleanup_free_ void *parity = NULL;
	int r;

	if (!e->parity_bytes)
		return 0;
	parity = malloc(e->parity_bytes);
	if (!parity)
		return -ENOMEM;
	r = dev_read(m->dev, at, parity, e->parity_bytes, NULL);
	return r < 0 || ppl_checksum(parity, e->parity_bytes) != e->checksum ? BLKALIGN_NOT_THIS : 0;
}

static int add_job(struct replay *replay, const struct replay_job *job)
{
	if (vec_grow_((void **)&replay->jobs, &replay->room, replay->count, sizeof(*job)) < 0)
		return -ENOMEM;
	replay->jobs[replay->count++] = *job;
	return 0;
}

static int plan_member(struct keep *keep, struct member *m, struct replay *replay)
{
	const struct place *area = &m->places[PLACE_LOG];
	struct ppl_header header;
	uint64_t at = 0;
	int r = ppl_read(m->dev, area->offset_bytes, area->length_bytes, keep->log.many, keep->log.signature, &header, &at, NULL);

	if (r != 0) {
		replay->complete = false;
		return r == -ENOMEM ? r : 0;
	}
	if (replay->generation < header.generation)
		replay->generation = header.generation;
	at += PPL_HEADER_BYTES;
	for (uint32_t i = 0; i < header.entries_count; at += header.entries[i++].parity_bytes) {
		const struct ppl_entry *e = &header.entries[i];
		struct replay_job job = { .parity_at_bytes = e->parity_bytes ? area->offset_bytes + at : 0 };
		bool inside = range_inside(at, e->parity_bytes, area->length_bytes);

		r = inside && make_job(keep, m, e, &job) ? check_parity(m, area->offset_bytes + at, e) : BLKALIGN_NOT_THIS;
		if (r == 0)
			r = add_job(replay, &job);
		if (r < 0)
			return r;
		if (r > 0)
			replay->complete = false;
	}
	return 0;
}

int replay_plan(struct keep *keep, uint64_t checkpoint, struct replay *ret)
{
	/* As the kernel: a checkpoint in between means that a resync was not at its end, and no entry at all that nobody logged. */
	*ret = (struct replay){ .complete = checkpoint == 0 };
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];
		int r;

		if (m->slot == BLKALIGN_SLOT_NONE || m->failed || m->replacement)
			continue;
		r = plan_member(keep, m, ret);
		if (r < 0) {
			replay_done(ret);
			return r;
		}
	}
	if (!ret->count)
		ret->complete = false;
	return 0;
}

static void xor_into(uint8_t *target, const uint8_t *source, size_t length)
{
	for (size_t i = 0; i < length; i++)
		target[i] ^= source[i];
}

static bool has_row(const struct member *m, uint64_t end_bytes) { return m && !m->failed && end_bytes <= m->recovery_bytes; }

int replay_rows(struct keep *keep, const struct replay_job *job, uint64_t from_bytes, size_t length_bytes, uint8_t *parity,
		uint8_t *scratch, uint64_t *ret_device_bytes)
{
	uint64_t chunk = keep->geometry->chunk_bytes;
	uint64_t device_bytes = job->stripe_bytes + (job->first_bytes + from_bytes) % chunk;
	bool any = false;

	*ret_device_bytes = device_bytes;
	if (!has_row(job->log, device_bytes + length_bytes))
		return BLKALIGN_ABSENT;
	memset(parity, 0, length_bytes);
	for (uint32_t block = 0; block < job->blocks; block++) {
		uint64_t array_bytes = job->first_bytes + from_bytes + block * chunk;
		struct raid_place place;
		struct member *m;

		if (array_bytes >= job->last_bytes)
			continue;
		if (raid_locate(keep->geometry, array_bytes, 0, &place) < 0)
			return BLKALIGN_ABSENT;
		m = member_at(keep, place.slot);
		if (!has_row(m, place.device_bytes + length_bytes) ||
		    dev_read(m->dev, m->places[PLACE_DATA].offset_bytes + place.device_bytes, scratch, length_bytes, NULL) < 0)
			return BLKALIGN_ABSENT;
		xor_into(parity, scratch, length_bytes);
		any = true;
	}
	if (!any)
		return BLKALIGN_NOT_THIS;
	if (job->parity_at_bytes) {
		if (dev_read(job->log->dev, job->parity_at_bytes + from_bytes, scratch, length_bytes, NULL) < 0)
			return BLKALIGN_ABSENT;
		xor_into(parity, scratch, length_bytes);
	}
	return 0;
}

/* --- writing it --- */

struct batch {
	struct output out;
	uint8_t *memory; /* parities waiting to be written */
	size_t used;
	bool complete;
};
#define BATCH_BYTES ((size_t)16 * REPLAY_STEP_BYTES)

static int write_batch(struct keep *keep, struct batch *b, struct blkalign_error *reterr)
{
	b->used = 0;
	return output_write(keep, &b->out, reterr);
}

static int run_job(struct keep *keep, const struct replay_job *job, struct batch *b, struct blkalign_error *reterr)
{
	uint8_t *scratch = b->memory + BATCH_BYTES;
	int r = 0;

	for (uint64_t from = 0; from < job->rows_bytes && r >= 0; from += job->step_bytes) {
		uint64_t rest = job->rows_bytes - from, at;
		size_t length = rest < job->step_bytes ? (size_t)rest : job->step_bytes;

		if (b->used + length > BATCH_BYTES)
			r = write_batch(keep, b, reterr);
		if (r >= 0)
			r = replay_rows(keep, job, from, length, b->memory + b->used, scratch, &at);
		if (r == BLKALIGN_ABSENT)
			b->complete = false;
		if (r == 0) {
			r = output_add_parity(&b->out, job->log, at, b->memory + b->used, length);
			b->used += length;
		}
	}
	return r < 0 ? r : 0;
}

int replay_write(struct keep *keep, struct blkalign_error *reterr)
{
	struct replay *replay = &keep->log.replay;
	struct batch b = { .memory = aligned_alloc(PAGE_BYTES, BATCH_BYTES + REPLAY_STEP_BYTES), .complete = replay->complete };
	unsigned lost = keep->lost;
	int r = b.memory ? 0 : -ENOMEM;

	for (size_t i = 0; i < replay->count && r >= 0; i++)
		if (!replay->jobs[i].log->failed)
			r = run_job(keep, &replay->jobs[i], &b, reterr);
	if (r >= 0)
		r = write_batch(keep, &b, reterr);
	output_done(&b.out);
	free(b.memory);
	if (r < 0)
		return r;
	keep->log.replayed = true;
	/* What a lost member's log said is not done. */
	if (b.complete && lost == keep->lost) {
		keep->doubtful.count = 0;
		keep->unsynced.count = 0;
		keep->resynced = true;
	}
	return 0;
}
