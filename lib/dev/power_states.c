/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other half: what the media may hold at a point of the recording. Only the blocks that un-flushed writes touch differ between states; a state is made by
 * writing their versions in order over what they held before the first of these writes.
 */
#include <assert.h>

#include "dev/power_cut_priv.h"

#define DURABLE	  SIZE_MAX
#define NONE	  SIZE_MAX
#define HASH_UNIT 512U

/** The part of a write within one block. */
struct piece {
	size_t block;
	size_t offset_bytes; /* in the block */
	size_t length_bytes;
	const uint8_t *data;
	size_t choice; /* its number among the un-flushed ones, or DURABLE */
	size_t moment;
	size_t next; /* piece of the same block, or NONE */
};

struct block {
	uint32_t device;
	uint64_t offset_bytes;
	size_t length_bytes;
	uint8_t *before;    /* owned: contents before the first un-flushed write to it */
	size_t first, last; /* its pieces, in order */
	uint64_t hash;	    /* of what it holds in this state */
};

enum step { STEP_SUBSETS, STEP_PREFIX, STEP_DROP, STEP_KEEP, STEP_PAIR, STEP_DEVICES, STEP_RANDOM, STEP_END };

struct power_states {
	uint32_t sector_bytes;
	size_t disks_count;
	uint8_t *images[POWER_DEVICES_MAX];
	size_t sizes[POWER_DEVICES_MAX];
	VEC(struct block) blocks;
	VEC(struct piece) pieces;
	size_t choices;
	bool *keep;
	bool *built;	  /* what the images were made with */
	size_t *piece_of; /* by choice */
	uint64_t hash;
	/* where the enumeration is */
	enum step step;
	size_t i, j;
	uint64_t random;
};

/* --- points --- */

static bool is_point(const struct power_machine *machine, size_t at)
{
	if (at == machine->events.count)
		return true;
	if (machine->events.data[at].op != DEV_FLUSH)
		return false;
	/* Flushes in a row: what is possible before the later ones was possible before the first. */
	return at == 0 || machine->events.data[at - 1].op != DEV_FLUSH;
}

size_t power_points(const struct power_machine *machine)
{
	size_t count = 0;

	for (size_t at = 0; at <= machine->events.count; at++)
		count += is_point(machine, at);
	return count;
}

size_t power_point_moment(const struct power_machine *machine, size_t point)
{
	size_t at = 0;

	for (;; at++) {
		if (!is_point(machine, at))
			continue;
		if (point-- == 0 || at == machine->events.count)
			return at;
	}
}

/* Durable: the first flush of its device after it, before the point, succeeded. */
static bool is_durable(const struct power_machine *machine, size_t at, size_t end)
{
	uint32_t device = machine->events.data[at].device;

	for (size_t i = at + 1; i < end; i++)
		if (machine->events.data[i].op == DEV_FLUSH && machine->events.data[i].device == device)
			return !machine->events.data[i].failed;
	return false;
}

/* --- hashes --- */

static uint64_t hash_sector(uint32_t device, uint64_t offset, const uint8_t *data, size_t length)
{
	struct sipkey key = { .k0 = device, .k1 = offset };

	return siphash(&key, data, length);
}

static uint64_t hash_range(const struct power_states *s, uint32_t device, uint64_t offset, size_t length)
{
	uint64_t hash = 0;

	for (size_t done = 0; done < length; done += HASH_UNIT) {
		size_t part = length - done < HASH_UNIT ? length - done : HASH_UNIT;

		hash ^= hash_sector(device, offset + done, s->images[device] + offset + done, part);
	}
	return hash;
}

static uint64_t hash_block(const struct power_states *s, const struct block *b)
{
	return hash_range(s, b->device, b->offset_bytes, b->length_bytes);
}

static void build_block(struct power_states *s, struct block *b)
{
	uint8_t *at = s->images[b->device] + b->offset_bytes;

	memcpy(at, b->before, b->length_bytes);
	for (size_t i = b->first; i != NONE; i = s->pieces.data[i].next) {
		const struct piece *p = &s->pieces.data[i];

		if (p->choice == DURABLE || s->keep[p->choice])
			memcpy(at + p->offset_bytes, p->data, p->length_bytes);
	}
	s->hash ^= b->hash;
	b->hash = hash_block(s, b);
	s->hash ^= b->hash;
}

/* --- setting up --- */

static bool find_block(const struct power_states *s, uint32_t device, uint64_t offset, size_t *ret_index)
{
	uint64_t begin = round_down_u64(offset, s->sector_bytes);

	for (size_t i = s->blocks.count; i-- > 0;)
		if (s->blocks.data[i].device == device && s->blocks.data[i].offset_bytes == begin) {
			*ret_index = i;
			return true;
		}
	return false;
}

static int add_block(struct power_states *s, uint32_t device, uint64_t offset, size_t *ret_index)
{
	struct block block = { .device = device, .offset_bytes = round_down_u64(offset, s->sector_bytes), .first = NONE };
	uint64_t rest = s->sizes[device] - block.offset_bytes;

	block.length_bytes = rest < s->sector_bytes ? (size_t)rest : s->sector_bytes;
	block.before = malloc(block.length_bytes);
	if (!block.before)
		return -ENOMEM;
	memcpy(block.before, s->images[device] + block.offset_bytes, block.length_bytes);
	if (vec_push(&s->blocks, block) < 0) {
		free(block.before);
		return -ENOMEM;
	}
	*ret_index = s->blocks.count - 1;
	return 0;
}

/*
 * A durable write to a block that no un-flushed one has touched yet just belongs to its contents, and one that changes nothing there leaves no choice.
 */
static int add_piece(struct power_states *s, const struct power_event *e, size_t moment, uint64_t offset, size_t length, bool durable)
{
	struct piece piece = {
		.data = e->data + (offset - e->offset_bytes), .length_bytes = length, .choice = DURABLE, .moment = moment, .next = NONE
	};
	bool known = find_block(s, e->device, offset, &piece.block);
	uint8_t *now = s->images[e->device] + offset;
	struct block *block;

	if (!known && (durable || memcmp(now, piece.data, length) == 0)) {
		memcpy(now, piece.data, length);
		return 0;
	}
	if (!known && add_block(s, e->device, offset, &piece.block) < 0)
		return -ENOMEM;
	assert(piece.block < s->blocks.count);
	block = &s->blocks.data[piece.block];
	piece.offset_bytes = (size_t)(offset - block->offset_bytes);
	if (!durable)
		piece.choice = s->choices++;
	*(block->first == NONE ? &block->first : &s->pieces.data[block->last].next) = s->pieces.count;
	block->last = s->pieces.count;
	return vec_push(&s->pieces, piece);
}

static int add_write(struct power_states *s, const struct power_event *e, size_t moment, bool durable)
{
	uint64_t at = e->offset_bytes, end = e->offset_bytes + e->length_bytes;
	int r = 0;

	while (at < end && r >= 0) {
		uint64_t next = round_down_u64(at, s->sector_bytes) + s->sector_bytes;

		if (next > end)
			next = end;
		r = add_piece(s, e, moment, at, (size_t)(next - at), durable);
		at = next;
	}
	return r;
}

static int allocate_choices(struct power_states *s)
{
	s->keep = calloc(s->choices + 1, sizeof(*s->keep));
	s->built = calloc(s->choices + 1, sizeof(*s->built));
	s->piece_of = calloc(s->choices + 1, sizeof(*s->piece_of));
	if (!s->keep || !s->built || !s->piece_of)
		return -ENOMEM;
	for (size_t i = 0; i < s->pieces.count; i++)
		if (s->pieces.data[i].choice != DURABLE)
			s->piece_of[s->pieces.data[i].choice] = i;
	return 0;
}

static int set_up(struct power_states *s, const struct power_machine *machine, size_t end)
{
	int r = 0;

	s->disks_count = machine->disks_count;
	for (size_t i = 0; i < s->disks_count; i++) {
		s->sizes[i] = machine->disks[i].size_bytes;
		s->images[i] = malloc(s->sizes[i]);
		if (!s->images[i])
			return -ENOMEM;
		memcpy(s->images[i], machine->disks[i].first, s->sizes[i]);
	}
	for (size_t at = 0; at < end && r >= 0; at++)
		if (machine->events.data[at].op == DEV_WRITE)
			r = add_write(s, &machine->events.data[at], at, is_durable(machine, at, end));
	if (r >= 0)
		r = allocate_choices(s);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < s->disks_count; i++)
		s->hash ^= hash_range(s, i, 0, s->sizes[i]);
	for (size_t i = 0; i < s->blocks.count; i++) {
		s->blocks.data[i].hash = hash_block(s, &s->blocks.data[i]);
		build_block(s, &s->blocks.data[i]);
	}
	return 0;
}

int power_states_open(const struct power_machine *machine, size_t point, uint32_t sector_bytes, uint64_t seed,
		      struct power_states **ret_states)
{
	struct power_states *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->sector_bytes = sector_bytes;
	s->random = seed;
	r = set_up(s, machine, power_point_moment(machine, point));
	if (r < 0) {
		power_states_close(s);
		return r;
	}
	s->step = s->choices <= POWER_ALL_SUBSETS ? STEP_SUBSETS : STEP_PREFIX;
	*ret_states = s;
	return 0;
}

void power_states_close(struct power_states *states)
{
	if (!states)
		return;
	for (size_t i = 0; i < states->disks_count; i++)
		free(states->images[i]);
	for (size_t i = 0; i < states->blocks.count; i++)
		free(states->blocks.data[i].before);
	vec_done(&states->blocks);
	vec_done(&states->pieces);
	free(states->keep);
	free(states->built);
	free(states->piece_of);
	free(states);
}

/* --- one state --- */

/* Only blocks of which something else has arrived than before. */
static void build(struct power_states *s)
{
	for (size_t i = 0; i < s->choices; i++) {
		if (s->keep[i] == s->built[i])
			continue;
		s->built[i] = s->keep[i];
		build_block(s, &s->blocks.data[s->pieces.data[s->piece_of[i]].block]);
	}
}

static void keep_all(struct power_states *s, bool keep) { memset(s->keep, keep, s->choices); }

/* splitmix64 */
static uint64_t draw(struct power_states *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void keep_random(struct power_states *s)
{
	uint64_t odds = 1 + draw(s) % 15; /* of 16: few, half, and nearly all arrive */

	for (size_t i = 0; i < s->choices; i++)
		s->keep[i] = draw(s) % 16 < odds;
}

static bool pair_next(struct power_states *s)
{
	if (++s->j >= s->choices) {
		s->i++;
		s->j = s->i + 1;
	}
	return s->j < s->choices;
}

/* State number `i` of a step; false when the step has no such state. */
static bool choose(struct power_states *s)
{
	switch (s->step) {
	case STEP_SUBSETS:
		for (size_t i = 0; i < s->choices; i++)
			s->keep[i] = s->i >> i & 1;
		return s->i < (size_t)1 << s->choices;
	case STEP_PREFIX:
		keep_all(s, false);
		memset(s->keep, true, s->i <= s->choices ? s->i : 0);
		return s->i <= s->choices;
	case STEP_DROP:
	case STEP_KEEP:
		keep_all(s, s->step == STEP_DROP);
		if (s->i >= s->choices)
			return false;
		s->keep[s->i] = s->step == STEP_KEEP;
		return true;
	case STEP_PAIR:
		keep_all(s, true);
		if (s->j >= s->choices)
			return false;
		s->keep[s->i] = s->keep[s->j] = false;
		return true;
	case STEP_DEVICES:
		for (size_t i = 0; i < s->choices; i++)
			s->keep[i] = s->i >> s->blocks.data[s->pieces.data[s->piece_of[i]].block].device & 1;
		return s->i < (size_t)1 << s->disks_count;
	case STEP_RANDOM:
		if (s->i >= POWER_RANDOM_SUBSETS)
			return false;
		keep_random(s);
		return true;
	case STEP_END:
		break;
	}
	return false;
}

static void next_step(struct power_states *s)
{
	s->step = s->step == STEP_SUBSETS ? STEP_END : s->step + 1;
	s->i = 0;
	s->j = 1;
}

bool power_states_next(struct power_states *states)
{
	while (states->step != STEP_END) {
		if (choose(states)) {
			if (states->step != STEP_PAIR)
				states->i++;
			else
				pair_next(states);
			build(states);
			return true;
		}
		next_step(states);
	}
	/* What the images are, not what was tried last. */
	memcpy(states->keep, states->built, states->choices);
	return false;
}

void power_states_set(struct power_states *states, const bool *keep)
{
	memcpy(states->keep, keep, states->choices);
	build(states);
}

struct power_write power_states_write(const struct power_states *states, size_t index)
{
	const struct piece *p = &states->pieces.data[states->piece_of[index]];
	const struct block *b = &states->blocks.data[p->block];

	return (struct power_write){
		.device = b->device, .offset_bytes = b->offset_bytes + p->offset_bytes, .length_bytes = p->length_bytes, .moment = p->moment
	};
}

bool power_states_all(const struct power_states *states) { return states->choices <= POWER_ALL_SUBSETS; }
size_t power_states_writes(const struct power_states *states) { return states->choices; }
const bool *power_states_kept(const struct power_states *states) { return states->keep; }
const uint8_t *power_states_image(const struct power_states *states, size_t index) { return states->images[index]; }
uint64_t power_states_hash(const struct power_states *states) { return states->hash; }
