/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Playing a script: what was asked for, and when it ended, goes into the history. */
#include <ctype.h>

#include "crash.h"

#define BATCH_MAX    4U
#define PAGE_SECTORS 8U /* what counts as a chunk where there are none */

struct player {
	const struct shape *shape;
	struct power_machine *machine;
	struct dev *const *devs;
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
	size_t count = 0, first = p->history->count;

	do
		take_write(p, &q[count++]);
	while (count < BATCH_MAX && next_is(p, '+') && next_is(p, 'w'));
	dev_run(q, count, NULL);
	for (size_t i = 0; i < count; i++) {
		p->history->ops[first + i].result = q[i].result;
		p->history->ops[first + i].ended = power_machine_now(p->machine);
		free(q[i].buffer);
	}
}

static int play_open(struct player *p) { return array_open(p->devs, p->shape->members, true, false, &p->array, NULL); }

static void play_flush(struct player *p)
{
	struct op *op = add_op(p, OP_FLUSH);

	op->result = dev_flush(p->array.dev, NULL);
	op->ended = power_machine_now(p->machine);
}

/* Closing is a promise like that of a flush. */
static void play_close(struct player *p)
{
	struct op *op = add_op(p, OP_FLUSH);

	op->result = array_close(&p->array, NULL);
	op->ended = power_machine_now(p->machine);
}

static int play_words(struct player *p)
{
	int r = play_open(p);

	while (r >= 0) {
		if (next_is(p, 'w'))
			play_writes(p);
		else if (next_is(p, 'f'))
			play_flush(p);
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
	struct player p = { .shape = shape, .machine = machine, .devs = devs, .history = ret, .at = text };

	shape_geometry(shape, &g);
	p.array_sectors = g.array_bytes / SECTOR;
	p.chunk_sectors = shape->chunk_bytes ? shape->chunk_bytes / SECTOR : PAGE_SECTORS;
	p.stripe_sectors = p.chunk_sectors * raid_data_members(&g);
	ret->count = 0;
	return play_words(&p);
}
