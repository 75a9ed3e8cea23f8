/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/fsgeom/fsgeom.h"

static struct dev_request request(struct dev *dev, uint64_t offset_bytes, size_t length_bytes, void *buffer)
{
	uint64_t left = offset_bytes < dev->size_bytes ? dev->size_bytes - offset_bytes : 0;

	return (struct dev_request){
		.dev = dev,
		.op = DEV_READ,
		.offset_bytes = left ? offset_bytes : 0,
		.length_bytes = length_bytes < left ? length_bytes : (size_t)left,
		.buffer = buffer,
	};
}

static void try_copies(struct dev *dev, const struct fsgeom_format *format, uint8_t *buffer, struct fsgeom_result *result)
{
	for (size_t i = 1; i < format->copies; i++) {
		struct dev_request q = request(dev, format->copies_bytes[i], format->length_bytes, buffer);

		if (dev_run(&q, 1, NULL) < 0)
			continue;
		result->outcome = format->decode(buffer, q.length_bytes, format->copies_bytes[i], &result->geom, NULL);
		result->place_bytes = format->copies_bytes[i];
		if (result->outcome == 0)
			return;
	}
	result->outcome = result->primary.code;
}

static void read_record(struct dev *dev, const struct fsgeom_format *format, uint8_t *buffer, struct fsgeom *geom)
{
	uint64_t length = geom->record_length_bytes < FSGEOM_READ_MAX ? geom->record_length_bytes : FSGEOM_READ_MAX;

	if (!format->decode_record || !length)
		return;
	if (dev_read(dev, geom->record_offset_bytes, buffer, length, NULL) < 0)
		fsgeom_note(geom, "its label could not be read");
	else
		format->decode_record(buffer, length, geom);
}

static void judge(const struct fsgeom_format *format, const struct dev_request *q, uint8_t *buffer, struct fsgeom_result *result)
{
	result->primary = (struct blkalign_error){ 0 };
	result->place_bytes = format->copies_bytes[0];
	result->outcome = q->result;
	if (q->result < 0)
		blkalign_error_set(&result->primary, q->result, q->dev->name, q->offset_bytes, "cannot be read: %s", strerror(-q->result));
	else
		result->outcome = format->decode(q->buffer, q->length_bytes, result->place_bytes, &result->geom, &result->primary);
	/* The buffer of the first copy is free again. */
	if (result->outcome < 0)
		try_copies(q->dev, format, buffer, result);
	if (result->outcome == 0)
		read_record(q->dev, format, buffer, &result->geom);
}

int fsgeom_probe(struct dev *dev, const struct fsgeom_format *const *formats, size_t count, struct fsgeom_result *results)
{
	_cleanup_free_ struct dev_request *requests = calloc(count, sizeof(*requests));
	_cleanup_free_ uint8_t *buffers = malloc(count * FSGEOM_READ_MAX);

	if (!requests || !buffers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		requests[i] = request(dev, formats[i]->copies_bytes[0], formats[i]->length_bytes, buffers + i * FSGEOM_READ_MAX);
	dev_run(requests, count, NULL);
	for (size_t i = 0; i < count; i++)
		judge(formats[i], &requests[i], buffers + i * FSGEOM_READ_MAX, &results[i]);
	return 0;
}
