/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every write of this folder goes through output_add(), which knows the member's places, and output_write(), which flushes. */
#include <inttypes.h>

#include "keep/keep_priv.h"

void io_take(struct keep *keep)
{
	while (keep->io_busy)
		pthread_cond_wait(&keep->changed, &keep->lock);
	keep->io_busy = true;
}

void io_give(struct keep *keep)
{
	keep->io_busy = false;
	pthread_cond_broadcast(&keep->changed);
}

int io_run(struct keep *keep, struct dev_request *requests, size_t count, struct blkalign_error *reterr)
{
	int r;

	pthread_mutex_unlock(&keep->lock);
	r = dev_run(requests, count, reterr);
	pthread_mutex_lock(&keep->lock);
	return r;
}

void output_done(struct output *output)
{
	free(output->requests);
	free(output->owners);
	*output = (struct output){ 0 };
}

static int grow(struct output *o)
{
	size_t room = o->room ? 2 * o->room : 16;
	struct dev_request *requests = reallocarray(o->requests, room, sizeof(*requests));
	struct member **owners;

	if (!requests)
		return -ENOMEM;
	o->requests = requests;
	owners = reallocarray(o->owners, room, sizeof(struct member *));
	if (!owners)
		return -ENOMEM;
	o->owners = owners;
	o->room = room;
	return 0;
}

static int add(struct output *o, struct member *m, enum place_kind kind, uint64_t from_bytes, const void *data, size_t length_bytes)
{
	const struct place *place = &m->places[kind];

	if (!range_inside(from_bytes, length_bytes, place->length_bytes))
		return -ERANGE;
	if (o->count == o->room && grow(o) < 0)
		return -ENOMEM;
	o->requests[o->count] = (struct dev_request){
		.dev = place_dev(m, kind),
		.op = DEV_WRITE,
		.offset_bytes = place->offset_bytes + from_bytes,
		.length_bytes = length_bytes,
		.buffer = (void *)(uintptr_t)data,
	};
	o->owners[o->count++] = m;
	return 0;
}

int output_add(struct output *o, struct member *m, enum place_kind kind, uint64_t from_bytes, const void *data, size_t length_bytes)
{
	return kind == PLACE_DATA ? -ERANGE : add(o, m, kind, from_bytes, data, length_bytes);
}

int output_add_parity(struct output *o, struct member *m, uint64_t device_bytes, const void *data, size_t length_bytes)
{
	return add(o, m, PLACE_DATA, device_bytes, data, length_bytes);
}

/* -ENOMEM when that kept a request from being carried out; nobody is lost for it. */
static int lose_failed(struct keep *keep, const struct output *o)
{
	int r = 0;

	for (size_t i = 0; i < o->count; i++)
		if (dev_error_is_ours(o->requests[i].result))
			r = o->requests[i].result;
		else if (o->requests[i].result)
			member_lost(keep, o->owners[i], &o->requests[i]);
	return r;
}

static int run(struct keep *keep, const struct output *o, struct blkalign_error *reterr)
{
	struct blkalign_error why = { 0 };
	int r = io_run(keep, o->requests, o->count, &why), ours = lose_failed(keep, o);

	if (r < 0 && enough_members(keep, NULL) < 0)
		return blkalign_error_set(reterr, -EIO, keep->name, BLKALIGN_UNKNOWN, "too few members are left: %s: %s", why.where,
					  why.message);
	if (ours < 0)
		return blkalign_error_set(reterr, ours, keep->name, BLKALIGN_UNKNOWN, "there is no memory to write its records");
	return 0;
}

/* The writes become flushes of their members, one each, of those that did not fail. */
static void make_flushes(struct output *o)
{
	size_t count = 0;

	for (size_t i = 0; i < o->count; i++) {
		struct member *m = o->owners[i];
		struct dev *dev = o->requests[i].dev;
		bool there = m->failed;

		for (size_t k = 0; k < count; k++)
			there = there || (o->owners[k] == m && o->requests[k].dev == dev);
		if (there)
			continue;
		o->requests[count] = (struct dev_request){ .dev = dev, .op = DEV_FLUSH };
		o->owners[count++] = m;
	}
	o->count = count;
}

static int flush(struct keep *keep, struct output *o, struct blkalign_error *reterr)
{
	int r = run(keep, o, reterr);

	o->count = 0;
	return r;
}

int output_write(struct keep *keep, struct output *o, struct blkalign_error *reterr)
{
	int r;

	if (!o->count)
		return 0;
	r = run(keep, o, reterr);
	if (r < 0) {
		o->count = 0;
		return r;
	}
	make_flushes(o);
	return flush(keep, o, reterr);
}

int members_flush(struct keep *keep, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };

	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (m->failed || m->slot == BLKALIGN_SLOT_NONE)
			continue;
		if (out.count == out.room && grow(&out) < 0)
			return -ENOMEM;
		out.requests[out.count] = (struct dev_request){ .dev = m->dev, .op = DEV_FLUSH };
		out.owners[out.count++] = m;
	}
	return flush(keep, &out, reterr);
}
