/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dev/dev.h"

struct memory {
	struct dev dev;
	uint8_t *data;
};

static void memory_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct memory *m = (struct memory *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];

		if (q->op == DEV_READ)
			memcpy(q->buffer, m->data + q->offset_bytes, q->length_bytes);
		else if (q->op == DEV_WRITE)
			memcpy(m->data + q->offset_bytes, q->buffer, q->length_bytes);
		q->result = 0;
	}
}

static const struct dev_ops memory_ops = { .kind = "memory", .run = memory_run };

int dev_open_memory(const char *name, void *data, size_t size_bytes, bool writable, struct dev **ret_dev)
{
	struct memory *m = (struct memory *)dev_new(sizeof(*m), &memory_ops, name, size_bytes, 1);

	if (!m)
		return -ENOMEM;
	m->data = data;
	m->dev.writable = writable;
	*ret_dev = &m->dev;
	return 0;
}
