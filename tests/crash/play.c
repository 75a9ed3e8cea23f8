/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Playing a script: what was asked for, and when it ended, goes into the history. */
#include <ctype.h>

#include "crash.h"

#define BATCH_MAX    4U
#define PAGE_SECTORS 8U /* what counts as a chunk where there are none */

struct player {
	const struct shape *shape;
	struct power_machine *machine;
	struct dev *devs[MEMBERS_MAX]; /* what is given to assembly */
	struct dev *target;
	struct array array;
	struct history *history;
	uint64_t array_sectors, chunk_sectors, stripe_sectors;
	const char *at;
	uint32_t tag;
};

static uint64_t number(struct player *p)
{
	char *end;
	uint64_t value = strtoull(p->at, &end, 10);

	if (*end == 's')
		value *= p->stripe_sectors;
	if (*end == 'c')
		value *= p->chunk_sectors;
	p->at = end + (isalpha((unsigned char)*end) != 0);
	return value;
}

static bool next_is(struct player *p, char c)
{
	while (*p->at == ' ')
		p->at++;
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static struct op *add_op(struct player *p, enum op_kind kind)
{
	struct op *op = &p->history->ops[p->history->count++];

	if (p->history->count > OPS_MAX)
		abort();
	*op = (struct op){ .kind = kind, .issued = power_machine_now(p->machine), .ended = SIZE_MAX };
	return op;
}

static void end_op(struct player *p, struct op *op, int result, const struct blkalign_error *err)
{
	op->result = result;
	op->said = err->message[0];
	op->ended = power_machine_now(p->machine);
}

static void take_write(struct player *p, struct dev_request *q)
{
	struct op *op = add_op(p, OP_WRITE);

	op->first = number(p);
	op->count = number(p);
	if (op->count > p->array_sectors)
		op->count = p->array_sectors;
	if (op->first > p->array_sectors - op->count)
		op->first = p->array_sectors - op->count;
	op->tag = ++p->tag;
	*q = (struct dev_request){
		.dev = p->array.dev, .op = DEV_WRITE, .offset_bytes = op->first * SECTOR, .length_bytes = (size_t)op->count * SECTOR
	};
	q->buffer = malloc(q->length_bytes);
	for (uint64_t i = 0; i < op->count; i++)
		sector_fill((uint8_t *)q->buffer + i * SECTOR, op->first + i, op->tag);
}

static void play_writes(struct player *p)
{
	struct dev_request q[BATCH_MAX];
	struct blkalign_error err = { 0 };
	size_t count = 0, first = p->history->count;

	do
		take_write(p, &q[count++]);
	while (count < BATCH_MAX && next_is(p, '+') && next_is(p, 'w'));
	dev_run(q, count, &err);
	for (size_t i = 0; i < count; i++) {
		end_op(p, &p->history->ops[first + i], q[i].result, &err);
		free(q[i].buffer);
	}
}

/* Computed contents are asked for after a power cut only. */
static int play_open(struct player *p)
{
	bool force = p->history->holes && shape_has_parity(p->shape);

	return array_open(p->devs, p->shape->members, true, force, &p->array, NULL);
}

static void play_flush(struct player *p)
{
	struct op *op = add_op(p, OP_FLUSH);
	struct blkalign_error err = { 0 };
	int r = dev_flush(p->array.dev, &err);

	end_op(p, op, r, &err);
}

/* Closing is a promise like that of a flush. */
static void play_close(struct player *p)
{
	struct op *op = add_op(p, OP_FLUSH);
	struct blkalign_error err = { 0 };
	int r = array_close(&p->array, &err);

	end_op(p, op, r, &err);
}

static void play_resync(struct player *p)
{
	struct op *op = add_op(p, OP_RESYNC);
	struct blkalign_error err = { 0 };
	int r = array_scrub(&p->array, &err);

	end_op(p, op, r, &err);
}

static void meanwhile(void *context) { play_writes(context); }

static void play_rebuild(struct player *p)
{
	struct op *op = add_op(p, OP_REBUILD);
	struct blkalign_error err = { 0 };
	const char *at = p->at;
	int r = array_rebuild(&p->array, p->target, p->history->target, meanwhile, p, &err);

	end_op(p, op, r, &err);
	if (p->at == at) { /* it did not get so far */
		number(p);
		number(p);
	}
	p->devs[p->history->target] = p->target;
}

static int play_words(struct player *p)
{
	int r = play_open(p);

	while (r >= 0) {
		if (next_is(p, 'w'))
			play_writes(p);
		else if (next_is(p, 'f'))
			play_flush(p);
		else if (next_is(p, 'r'))
			play_resync(p);
		else if (next_is(p, 'n') || next_is(p, 'o'))
			play_rebuild(p);
		else if (next_is(p, 'c')) {
			play_close(p);
			r = play_open(p);
		} else
			break;
	}
	if (r >= 0)
		play_close(p);
	return r;
}

int play(const struct shape *shape, const char *text, struct power_machine *machine, struct dev *const *devs, struct history *ret)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	struct player p = { .shape = shape, .machine = machine, .history = ret, .at = text };

	shape_geometry(shape, &g);
	p.array_sectors = g.array_bytes / SECTOR;
	p.chunk_sectors = shape->chunk_bytes ? shape->chunk_bytes / SECTOR : PAGE_SECTORS;
	p.stripe_sectors = p.chunk_sectors * raid_data_members(&g);
	for (uint32_t slot = 0; slot < shape->members; slot++)
		*(slot == ret->target ? &p.target : &p.devs[slot]) = devs[slot];
	for (size_t i = 0; i < ret->count; i++)
		if (p.tag < ret->ops[i].tag)
			p.tag = ret->ops[i].tag;
	return play_words(&p);
}
