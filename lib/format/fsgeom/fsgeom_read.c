/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/fsgeom/fsgeom.h"

/* Length of what can be read of [offset, offset + length) before the device ends. */
static size_t cut(const struct dev *dev, uint64_t offset_bytes, uint64_t length_bytes)
{
	uint64_t left = offset_bytes < dev->size_bytes ? dev->size_bytes - offset_bytes : 0;

	return (size_t)(length_bytes < left ? length_bytes : left);
}

/* Read one copy into `buffer` and decode it. */
static int decode_at(struct dev *dev, const struct fsgeom_format *format, uint64_t place_bytes, uint8_t *buffer, struct fsgeom *ret,
		     struct blkalign_error *reterr)
{
	size_t length = cut(dev, place_bytes, format->length_bytes);
	int r = length ? dev_read(dev, place_bytes, buffer, length, reterr) : BLKALIGN_NOT_THIS;

	return r ? r : format->decode(buffer, length, place_bytes, ret, reterr);
}

static void try_copies(struct dev *dev, const struct fsgeom_format *format, uint8_t *buffer, struct fsgeom_result *result)
{
	for (size_t i = 1; i < format->copies && result->outcome != 0; i++) {
		if (decode_at(dev, format, format->copies_bytes[i], buffer, &result->geom, NULL) != 0)
			continue;
		result->outcome = 0;
		result->place_bytes = format->copies_bytes[i];
	}
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

/* The part of the device in which all first copies lie. */
static size_t head_bytes(const struct fsgeom_format *const *formats, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (formats[i]->copies_bytes[0] + formats[i]->length_bytes > end)
			end = formats[i]->copies_bytes[0] + formats[i]->length_bytes;
	return (size_t)end;
}

/* `head` holds the start of the device, NULL: it could not be read in one piece. */
static void judge(struct dev *dev, const struct fsgeom_format *format, const uint8_t *head, uint8_t *buffer, struct fsgeom_result *result)
{
	uint64_t place = format->copies_bytes[0];
	size_t length = cut(dev, place, format->length_bytes);

	result->primary = (struct blkalign_error){ 0 };
	result->place_bytes = place;
	if (head && length)
		result->outcome = format->decode(head + place, length, place, &result->geom, &result->primary);
	else
		result->outcome = decode_at(dev, format, place, buffer, &result->geom, &result->primary);
	if (result->outcome < 0)
		try_copies(dev, format, buffer, result);
	if (result->outcome == 0)
		read_record(dev, format, buffer, &result->geom);
}

/*
 * One read for all, because a second one costs more than what it would save. Only when a sector in it is bad does each format get its own, so
 * that the bad one does not hide the others.
 */
int fsgeom_probe(struct dev *dev, const struct fsgeom_format *const *formats, size_t count, struct fsgeom_result *results)
{
	size_t head_length = cut(dev, 0, head_bytes(formats, count));
	_cleanup_free_ uint8_t *memory = malloc(head_length + FSGEOM_READ_MAX);
	const uint8_t *head = memory;

	if (!memory)
		return -ENOMEM;
	if (dev_read(dev, 0, memory, head_length, NULL) < 0)
		head = NULL;
	for (size_t i = 0; i < count; i++)
		judge(dev, formats[i], head, memory + head_length, &results[i]);
	return 0;
}
