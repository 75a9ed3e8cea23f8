/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <stdio.h>

void strbuf_done(struct strbuf *buf)
{
	free(buf->text);
	*buf = (struct strbuf){ 0 };
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->text)
		*buf->text = '\0';
}

static bool reserve(struct strbuf *buf, size_t more)
{
	size_t room = buf->capacity ? buf->capacity : 256;
	char *text;

	if (buf->failed)
		return false;
	if (buf->capacity && more < buf->capacity - buf->length)
		return true;
	while (room - buf->length <= more)
		room *= 2;
	text = realloc(buf->text, room);
	if (!text) {
		buf->failed = true;
		return false;
	}
	buf->text = text;
	buf->capacity = room;
	return true;
}

void strbuf_addn(struct strbuf *buf, const char *text, size_t length)
{
	if (!reserve(buf, length))
		return;
	memcpy(buf->text + buf->length, text, length);
	buf->length += length;
	buf->text[buf->length] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *text) { strbuf_addn(buf, text, strlen(text)); }

void strbuf_add_u64(struct strbuf *buf, uint64_t number)
{
	char digits[20], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	strbuf_addn(buf, first, (size_t)(digits + sizeof(digits) - first));
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
	size_t room = buf->failed ? 0 : buf->capacity - buf->length;
	va_list args;
	int length;

	/* Most pieces fit into what is there: then they are formatted once only. */
	va_start(args, format);
	length = vsnprintf(room ? buf->text + buf->length : NULL, room, format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t)length >= room) {
		if (room)
			buf->text[buf->length] = 0;
		if (!reserve(buf, (size_t)length))
			return;
		va_start(args, format);
		vsnprintf(buf->text + buf->length, buf->capacity - buf->length, format, args);
		va_end(args);
	}
	buf->length += (size_t)length;
}

const char *strbuf_text(const struct strbuf *buf) { return buf->text ? buf->text : ""; }

int vec_grow_(void **data, size_t *room, size_t count, size_t item_size)
{
	/* Most arrays stay tiny, and there are some of them in each of ten thousand nodes. */
	size_t wanted = *room ? *room * 2 : item_size < 64 ? 128 / item_size : 1;
	void *grown;

	if (count < *room)
		return 0;
	if (wanted > SIZE_MAX / item_size)
		return -ENOMEM;
	grown = realloc(*data, wanted * item_size);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*room = wanted;
	return 0;
}
