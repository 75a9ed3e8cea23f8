/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The partial parity log being written. Only the newest record of a member is replayed, so each holds all entries of its member that are not done: an entry is done when its
 * batch has ended and the members were flushed since.
 *
 * With room for many records the area begins with an empty header; records follow it, each where the one before ends, so that a torn one leaves the one before in force.
 * Where it must not be torn (it takes over entries of that one), its header is written after its parity. When a record does not fit any more, everything
 * before is waited for and done, and a new empty header at the start ends the old chain. With room for one record, everything before is done
 * before it is overwritten, as the kernel has it.
 *
 * That wait is for batches that have logged: they only write, and end.
 */
#include <inttypes.h>

#include "keep/keep_priv.h"

#define FIRST_RECORD PPL_HEADER_BYTES

static uint64_t least_area(const struct log *log) { return (log->many ? UINT64_C(2) : UINT64_C(1)) * PPL_HEADER_BYTES + MAP_MD_LOG_BYTES; }

static int refuse(const struct keep *keep, const struct member *m, struct blkalign_error *reterr, const char *why)
{
	return blkalign_error_set(reterr, -ENOTSUP, m->dev->name, m->places[PLACE_LOG].offset_bytes,
				  "%s cannot be written safely: its partial parity log %s", keep->name, why);
}

void log_load(struct keep *keep, size_t freshest)
{
	struct log *log = &keep->log;

	/* On levels without one nothing of it is believed. */
	if (keep->geometry->level != RAID_5)
		return;
	log->many = keep->members[freshest]->features & MD1_MULTIPLE_PPLS;
	log->present = log->many || keep->members[freshest]->features & MD1_PPL;
	log->signature = ppl_signature(keep->array_uuid);
}

int log_check(struct keep *keep, struct blkalign_error *reterr)
{
	const struct log *log = &keep->log;

	for (size_t i = 0; i < keep->count; i++) {
		const struct member *m = keep->members[i];

		if (m->slot == BLKALIGN_SLOT_NONE)
			continue;
		if (m->places[PLACE_LOG].length_bytes && keep->geometry->level != RAID_5)
			return refuse(keep, m, reterr, "belongs to a level that has none");
		if (log->present != (m->places[PLACE_LOG].length_bytes != 0))
			return refuse(keep, m, reterr, "is on some members and not on others");
		if (!log->present)
			continue;
		if (m->places[PLACE_LOG].length_bytes < least_area(log))
			return blkalign_error_set(reterr, -ENOTSUP, m->dev->name, m->places[PLACE_LOG].offset_bytes,
						  "%s cannot be written safely: its partial parity log has %" PRIu64 " bytes, and %" PRIu64
						  " are needed",
						  keep->name, m->places[PLACE_LOG].length_bytes, least_area(log));
	}
	return 0;
}

static void forget(struct pending *p) { free(p->parity); }

void log_done(struct log *log)
{
	for (size_t i = 0; i < log->count; i++)
		forget(&log->pending[i]);
	free(log->pending);
	replay_done(&log->replay);
	*log = (struct log){ 0 };
}

/* --- emptying --- */

/* The whole area: old headers behind a new one would belong to its chain, if their generations were higher. */
static int add_empty(struct keep *keep, struct output *out, struct member *m, const uint8_t *header, const uint8_t *zeros)
{
	uint64_t length = m->places[PLACE_LOG].length_bytes;
	int r = output_add(out, m, PLACE_LOG, 0, header, PPL_HEADER_BYTES);

	for (uint64_t at = PPL_HEADER_BYTES; at < length && r >= 0; at += LOG_ZEROS_BYTES) {
		uint64_t rest = length - at;

		r = output_add(out, m, PLACE_LOG, at, zeros, rest < LOG_ZEROS_BYTES ? (size_t)rest : LOG_ZEROS_BYTES);
	}
	m->log_next_bytes = keep->log.many ? FIRST_RECORD : 0;
	return r;
}

int log_empty(struct keep *keep, struct member *only, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	_cleanup_free_ uint8_t *memory = aligned_alloc(PAGE_BYTES, PPL_HEADER_BYTES + LOG_ZEROS_BYTES);
	struct ppl_header header = { .generation = ++keep->log.generation };
	int r = 0;

	if (!memory)
		return -ENOMEM;
	ppl_encode(&header, keep->log.signature, memory);
	memset(memory + PPL_HEADER_BYTES, 0, LOG_ZEROS_BYTES);
	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];

		if ((!only || m == only) && !m->failed && m->places[PLACE_LOG].length_bytes)
			r = add_empty(keep, &out, m, memory, memory + PPL_HEADER_BYTES);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

/* --- entries --- */

static int add_pending(struct keep *keep, const struct map_md_partial *partial)
{
	struct log *log = &keep->log;
	struct raid_place place;
	struct pending p = { .sequence = log->sequence };
	struct member *m = member_at(keep, partial->p_slot);

	if (raid_locate(keep->geometry, partial->array_bytes, 0, &place) < 0 || partial->length_bytes > UINT32_MAX ||
	    partial->row_bytes > keep->geometry->chunk_bytes)
		return -EINVAL;
	p.offset_bytes = place.device_bytes;
	p.end_bytes = place.device_bytes + partial->row_bytes;
	/* Parity that is missing, or not rebuilt so far, is not logged. */
	if (!m || p.end_bytes > m->recovery_bytes)
		return 0;
	p.entry = (struct ppl_entry){ .array_bytes = partial->array_bytes,
				      .data_bytes = (uint32_t)partial->length_bytes,
				      .parity_slot = partial->p_slot };
	if (partial->parity) {
		p.entry.parity_bytes = (uint32_t)partial->row_bytes;
		p.entry.checksum = ppl_checksum(partial->parity, (size_t)partial->row_bytes);
		p.parity = malloc((size_t)partial->row_bytes);
		if (!p.parity)
			return -ENOMEM;
		memcpy(p.parity, partial->parity, (size_t)partial->row_bytes);
	}
	if (vec_grow_((void **)&log->pending, &log->room, log->count, sizeof(p)) < 0) {
		free(p.parity);
		return -ENOMEM;
	}
	log->pending[log->count++] = p;
	return 0;
}

/* Those that `done` says are dropped. */
static void drop(struct log *log, bool (*done)(const struct pending *p, uint64_t value), uint64_t value)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->count; i++) {
		if (done(&log->pending[i], value))
			forget(&log->pending[i]);
		else
			log->pending[kept++] = log->pending[i];
	}
	log->count = kept;
}

static bool is_of(const struct pending *p, uint64_t sequence) { return p->sequence == sequence; }
static bool ended_before(const struct pending *p, uint64_t epoch) { return p->ended && p->ended_epoch < epoch; }

void log_end(struct keep *keep, const struct byte_range *ranges, size_t count)
{
	struct log *log = &keep->log;

	for (size_t i = 0; i < log->count; i++) {
		struct pending *p = &log->pending[i];

		for (size_t k = 0; k < count && !p->ended; k++) {
			if (ranges[k].offset_bytes >= p->end_bytes || ranges[k].offset_bytes + ranges[k].length_bytes <= p->offset_bytes)
				continue;
			p->ended = true;
			p->ended_epoch = log->epoch;
		}
	}
	if (log->count)
		pthread_cond_broadcast(&keep->changed);
}

void log_flushed(struct keep *keep, uint64_t mark)
{
	if (!keep->log.count)
		return;
	drop(&keep->log, ended_before, mark);
	pthread_cond_broadcast(&keep->changed);
}

/* --- what fits --- */

struct load {
	uint32_t entries;
	uint64_t parity_bytes;
	bool older; /* entries that a record on the disk has */
	bool newer;
};

static struct load load_of(const struct log *log, uint32_t slot, uint64_t upto)
{
	struct load load = { 0 };

	for (size_t i = 0; i < log->count; i++) {
		const struct pending *p = &log->pending[i];

		if (p->entry.parity_slot != slot || p->sequence > upto)
			continue;
		load.entries++;
		load.parity_bytes += p->entry.parity_bytes;
		if (p->sequence <= log->durable)
			load.older = true;
		else
			load.newer = true;
	}
	return load;
}

/* `room` gets false when it would fit into an area without other records. */
static bool fits(const struct keep *keep, const struct member *m, uint64_t upto)
{
	const struct log *log = &keep->log;
	struct load load = load_of(log, m->slot, upto);
	uint64_t area = m->places[PLACE_LOG].length_bytes, record = PPL_HEADER_BYTES + load.parity_bytes;

	if (!load.newer)
		return true;
	if (load.entries > PPL_ENTRIES_MAX || (load.older && !log->many))
		return false;
	/* Without older ones it may go to the start. */
	return range_inside(load.older ? m->log_next_bytes : log->many ? FIRST_RECORD : 0, record, area);
}

/* The last sequence that fits, on all members, into their next records. */
static uint64_t last_fitting(const struct keep *keep)
{
	const struct log *log = &keep->log;
	uint64_t last = log->durable;

	while (last < log->sequence) {
		for (size_t i = 0; i < keep->count; i++) {
			const struct member *m = keep->members[i];

			if (!m->failed && m->slot != BLKALIGN_SLOT_NONE && !fits(keep, m, last + 1))
				return last;
		}
		last++;
	}
	return last;
}

static bool any_not_ended(const struct log *log)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->pending[i].sequence <= log->durable && !log->pending[i].ended)
			return true;
	return false;
}

/* --- records --- */

struct record {
	uint8_t *data;
	size_t length;
	bool in_two; /* the header after the parity */
};

static int make_record(struct keep *keep, struct member *m, uint64_t upto, struct record *ret)
{
	struct log *log = &keep->log;
	struct load load = load_of(log, m->slot, upto);
	struct ppl_header header = { 0 };
	size_t at = PPL_HEADER_BYTES;

	if (!load.newer)
		return 0;
	ret->length = PPL_HEADER_BYTES + (size_t)load.parity_bytes;
	ret->data = aligned_alloc(PAGE_BYTES, round_up_u64(ret->length, PAGE_BYTES));
	if (!ret->data)
		return -ENOMEM;
	ret->in_two = load.older;
	header.generation = ++log->generation;
	for (size_t i = 0; i < log->count; i++) {
		const struct pending *p = &log->pending[i];

		if (p->entry.parity_slot != m->slot || p->sequence > upto)
			continue;
		header.entries[header.entries_count++] = p->entry;
		if (p->parity)
			memcpy(ret->data + at, p->parity, p->entry.parity_bytes);
		at += p->entry.parity_bytes;
	}
	ppl_encode(&header, log->signature, ret->data);
	return 0;
}

/* Nothing on the members is needed any more where a record goes to the start: first an empty header ends the old chain. */
static int restart(struct keep *keep, uint64_t upto, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	_cleanup_free_ uint8_t *empty = aligned_alloc(PAGE_BYTES, PPL_HEADER_BYTES);
	struct ppl_header header = { .generation = ++keep->log.generation };
	int r = 0;

	if (!empty)
		return -ENOMEM;
	ppl_encode(&header, keep->log.signature, empty);
	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];
		struct load load = load_of(&keep->log, m->slot, upto);
		uint64_t record = PPL_HEADER_BYTES + load.parity_bytes;

		if (m->failed || m->slot == BLKALIGN_SLOT_NONE || !load.newer ||
		    range_inside(m->log_next_bytes, record, m->places[PLACE_LOG].length_bytes))
			continue;
		m->log_next_bytes = FIRST_RECORD;
		r = output_add(&out, m, PLACE_LOG, 0, empty, PPL_HEADER_BYTES);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

static int write_part(struct keep *keep, struct record *records, bool second, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	int r = 0;

	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];
		const struct record *rec = &records[i];
		size_t from = rec->in_two && !second ? PPL_HEADER_BYTES : 0;
		size_t to = rec->in_two && second ? PPL_HEADER_BYTES : rec->length;

		if (m->failed || !rec->data || (second && !rec->in_two) || from == to)
			continue;
		r = output_add(&out, m, PLACE_LOG, m->log_next_bytes + from, rec->data + from, to - from);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

static int write_records(struct keep *keep, uint64_t upto, struct blkalign_error *reterr)
{
	struct record *records = calloc(keep->count, sizeof(*records));
	size_t count = keep->count;
	int r = records ? 0 : -ENOMEM;

	if (r >= 0 && keep->log.many)
		r = restart(keep, upto, reterr);
	for (size_t i = 0; i < count && r >= 0; i++)
		if (!keep->members[i]->failed && keep->members[i]->slot != BLKALIGN_SLOT_NONE)
			r = make_record(keep, keep->members[i], upto, &records[i]);
	if (r >= 0)
		r = write_part(keep, records, false, reterr);
	if (r >= 0)
		r = write_part(keep, records, true, reterr);
	for (size_t i = 0; i < count && records; i++) {
		if (r >= 0 && keep->log.many && records[i].data)
			keep->members[i]->log_next_bytes += records[i].length;
		free(records[i].data);
	}
	free(records);
	if (r >= 0)
		keep->log.durable = upto;
	return r;
}

/* One step towards `sequence`: a record where it fits, else a flush that makes room. */
static int step(struct keep *keep, struct blkalign_error *reterr)
{
	uint64_t upto = last_fitting(keep), mark;
	int r;

	if (upto > keep->log.durable)
		return write_records(keep, upto, reterr);
	mark = ++keep->log.epoch;
	r = members_flush(keep, reterr);
	if (r >= 0)
		drop(&keep->log, ended_before, mark);
	return r;
}

static int commit(struct keep *keep, uint64_t sequence, struct blkalign_error *reterr)
{
	struct log *log = &keep->log;
	int r = 0;

	while (r >= 0 && !keep->broken && log->durable < sequence) {
		unsigned lost = keep->lost;

		if (keep->io_busy || (last_fitting(keep) == log->durable && any_not_ended(log))) {
			pthread_cond_wait(&keep->changed, &keep->lock);
			continue;
		}
		keep->io_busy = true;
		r = step(keep, reterr);
		/* Of a record that was written in part nobody knows what a replay would make. */
		keep->broken |= r < 0;
		r = record_losses(keep, lost, r, reterr);
		io_give(keep);
	}
	return r >= 0 && keep->broken ? broken(keep, reterr) : r;
}

int log_write(struct keep *keep, const struct map_md_partial *partials, size_t count, struct blkalign_error *reterr)
{
	struct log *log = &keep->log;
	uint64_t sequence = ++log->sequence;
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = add_pending(keep, &partials[i]);
	if (r >= 0)
		r = commit(keep, sequence, reterr);
	if (r < 0)
		drop(log, is_of, sequence);
	return r;
}
