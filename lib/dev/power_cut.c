/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recording half: a memory device that remembers every write and flush.
 */
#include "dev/power_cut_priv.h"

#define TORN_UNIT 512U

struct power_dev {
	struct dev dev;
	struct power_machine *machine;
	uint32_t index;
};

int power_machine_new(struct power_machine **ret_machine)
{
	struct power_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return -ENOMEM;
	pthread_mutex_init(&machine->lock, NULL);
	*ret_machine = machine;
	return 0;
}

void power_machine_free(struct power_machine *machine)
{
	if (!machine)
		return;
	for (size_t i = 0; i < machine->events.count; i++)
		free(machine->events.data[i].data);
	vec_done(&machine->events);
	for (size_t i = 0; i < machine->disks_count; i++) {
		free(machine->disks[i].first);
		free(machine->disks[i].live);
	}
	pthread_mutex_destroy(&machine->lock);
	free(machine);
}

static int record(struct power_machine *machine, const struct power_event *event, const uint8_t *data)
{
	struct power_event copy = *event;

	if (data) {
		copy.data = malloc(copy.length_bytes);
		if (!copy.data)
			return -ENOMEM;
		memcpy(copy.data, data, copy.length_bytes);
	}
	if (vec_push(&machine->events, copy) < 0) {
		free(copy.data);
		return -ENOMEM;
	}
	return 0;
}

static int record_write(struct power_machine *machine, uint32_t index, const struct dev_request *q, size_t length)
{
	struct power_event event = { .op = DEV_WRITE, .device = index, .offset_bytes = q->offset_bytes, .length_bytes = length };
	int r;

	if (!length)
		return 0;
	r = record(machine, &event, q->buffer);
	if (r < 0)
		return r;
	memcpy(machine->disks[index].live + q->offset_bytes, q->buffer, length);
	return 0;
}

static bool fails(struct power_machine *machine, uint32_t index, enum dev_op op)
{
	if (!(machine->fail_ops & 1U << op))
		return false;
	machine->counted++;
	if (machine->counted == machine->fail_nth) {
		machine->disks[index].broken = machine->failure == POWER_FAIL_DEVICE;
		return true;
	}
	if (machine->failure == POWER_FAIL_ALL)
		return machine->fail_nth && machine->counted > machine->fail_nth;
	return machine->disks[index].broken;
}

/* Of a failed write nobody knows what arrived: in turn nothing, the first half, all. */
static size_t arrived(const struct power_machine *machine, size_t length)
{
	switch (machine->counted % 3) {
	case 0:
		return length / 2 / TORN_UNIT * TORN_UNIT;
	case 1:
		return 0;
	default:
		return length;
	}
}

static int run_one(struct power_machine *machine, uint32_t index, struct dev_request *q)
{
	bool failed = fails(machine, index, q->op);
	struct power_event flush = { .op = DEV_FLUSH, .device = index, .failed = failed || machine->lies };
	int r = 0;

	switch (q->op) {
	case DEV_READ:
		if (!failed)
			memcpy(q->buffer, machine->disks[index].live + q->offset_bytes, q->length_bytes);
		break;
	case DEV_WRITE:
		r = record_write(machine, index, q, failed ? arrived(machine, q->length_bytes) : q->length_bytes);
		break;
	case DEV_FLUSH:
		r = record(machine, &flush, NULL);
		break;
	}
	return failed ? machine->error : r;
}

static void power_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct power_dev *p = (struct power_dev *)dev;

	pthread_mutex_lock(&p->machine->lock);
	/* A flush covers what had ended before its batch began, so the flushes of a batch come first. */
	for (size_t i = 0; i < count; i++)
		if (requests[i].op == DEV_FLUSH)
			requests[i].result = run_one(p->machine, p->index, &requests[i]);
	for (size_t i = 0; i < count; i++)
		if (requests[i].op != DEV_FLUSH)
			requests[i].result = run_one(p->machine, p->index, &requests[i]);
	pthread_mutex_unlock(&p->machine->lock);
}

static const struct dev_ops power_ops = { .kind = "power-cut", .run = power_run };

int dev_open_power_cut(struct power_machine *machine, const char *name, const void *data, size_t size_bytes, struct dev **ret_dev)
{
	struct power_disk *disk = &machine->disks[machine->disks_count];
	struct power_dev *p;

	if (machine->disks_count == POWER_DEVICES_MAX)
		return -ENOSPC;
	p = (struct power_dev *)dev_new(sizeof(*p), &power_ops, name, size_bytes, 1);
	*disk = (struct power_disk){ .size_bytes = size_bytes, .first = malloc(size_bytes), .live = malloc(size_bytes) };
	if (!p || !disk->first || !disk->live) {
		free(disk->first);
		free(disk->live);
		free(p);
		return -ENOMEM;
	}
	memcpy(disk->first, data, size_bytes);
	memcpy(disk->live, data, size_bytes);
	p->machine = machine;
	p->index = (uint32_t)machine->disks_count++;
	p->dev.writable = true;
	*ret_dev = &p->dev;
	return 0;
}

size_t power_machine_now(struct power_machine *machine)
{
	size_t now;

	pthread_mutex_lock(&machine->lock);
	now = machine->events.count;
	pthread_mutex_unlock(&machine->lock);
	return now;
}

const uint8_t *power_machine_contents(const struct power_machine *machine, size_t index) { return machine->disks[index].live; }

void power_machine_fail(struct power_machine *machine, unsigned ops, size_t nth, enum power_failure failure, int error)
{
	pthread_mutex_lock(&machine->lock);
	machine->fail_ops = ops;
	machine->fail_nth = nth;
	machine->failure = failure;
	machine->error = error;
	machine->counted = 0;
	for (size_t i = 0; i < machine->disks_count; i++)
		machine->disks[i].broken = false;
	pthread_mutex_unlock(&machine->lock);
}

void power_machine_lie(struct power_machine *machine)
{
	pthread_mutex_lock(&machine->lock);
	machine->lies = true;
	pthread_mutex_unlock(&machine->lock);
}

size_t power_machine_counted(struct power_machine *machine)
{
	size_t counted;

	pthread_mutex_lock(&machine->lock);
	counted = machine->counted;
	pthread_mutex_unlock(&machine->lock);
	return counted;
}
