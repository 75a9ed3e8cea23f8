/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dev/dev.h"

struct fault {
	struct dev dev;
	struct dev *below;
	uint64_t bad_offset_bytes;
	uint64_t bad_length_bytes;
	int error;
};

static bool touches(const struct fault *f, const struct dev_request *q)
{
	return q->offset_bytes < f->bad_offset_bytes + f->bad_length_bytes && f->bad_offset_bytes < q->offset_bytes + q->length_bytes;
}

static void fault_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct fault *f = (struct fault *)dev;

	for (size_t i = 0; i < count; i++) {
		if (touches(f, &requests[i])) {
			requests[i].result = f->error;
			continue;
		}
		requests[i].dev = f->below;
		dev_run(&requests[i], 1, NULL);
		requests[i].dev = dev;
	}
}

static const struct dev_ops fault_ops = { .kind = "fault", .run = fault_run };

int dev_open_fault(struct dev *below, uint64_t bad_offset_bytes, uint64_t bad_length_bytes, int error, struct dev **ret_dev)
{
	struct fault *f = (struct fault *)dev_new(sizeof(*f), &fault_ops, below->name, below->size_bytes, 1);

	if (!f)
		return -ENOMEM;
	f->below = below;
	f->bad_offset_bytes = bad_offset_bytes;
	f->bad_length_bytes = bad_length_bytes;
	f->error = error;
	f->dev.writable = below->writable;
	*ret_dev = &f->dev;
	return 0;
}

struct nth {
	struct dev dev;
	struct dev *below;
	enum dev_op op;
	uint64_t n;
	bool sticky;
	int error;
	_Atomic(uint64_t) seen;
};

static bool nth_fails(struct nth *nth, const struct dev_request *q)
{
	uint64_t number;

	if (q->op != nth->op)
		return false;
	number = atomic_fetch_add(&nth->seen, 1) + 1;
	return number == nth->n || (nth->sticky && number > nth->n);
}

static void nth_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct nth *nth = (struct nth *)dev;

	for (size_t i = 0; i < count; i++) {
		if (nth_fails(nth, &requests[i])) {
			requests[i].result = nth->error;
			continue;
		}
		requests[i].dev = nth->below;
		dev_run(&requests[i], 1, NULL);
		requests[i].dev = dev;
	}
}

static const struct dev_ops nth_ops = { .kind = "fault", .run = nth_run };

int dev_open_fault_nth(struct dev *below, enum dev_op op, uint64_t n, bool sticky, int error, struct dev **ret_dev)
{
	struct nth *nth = (struct nth *)dev_new(sizeof(*nth), &nth_ops, below->name, below->size_bytes, 1);

	if (!nth)
		return -ENOMEM;
	nth->below = below;
	nth->op = op;
	nth->n = n;
	nth->sticky = sticky;
	nth->error = error;
	nth->dev.writable = below->writable;
	*ret_dev = &nth->dev;
	return 0;
}
