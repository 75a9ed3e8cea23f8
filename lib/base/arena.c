/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <stdio.h>

struct block {
	struct block *next;
	size_t used;
	size_t size;
	max_align_t data[];
};

struct arena {
	struct block *blocks;
};

struct arena *arena_new(void) { return calloc(1, sizeof(struct arena)); }

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct block *b = arena->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct block *b = arena->blocks;
	void *ret;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
	if (!b || size > b->size - b->used) {
		/* Blocks double, so that a snapshot of ten nodes stays small and ten thousand volumes need few calls. */
		size_t room = b ? b->size * 2 : 4 * KIB;

		if (room > MIB)
			room = MIB;
		if (room < size)
			room = size;
		b = calloc(1, sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->next = arena->blocks;
		arena->blocks = b;
	}
	ret = (uint8_t *)b->data + b->used;
	b->used += size;
	return ret;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *ret = arena_alloc(arena, length + 1);

	if (ret)
		memcpy(ret, text, length);
	return ret;
}

char *arena_strdup(struct arena *arena, const char *text) { return arena_strndup(arena, text, strlen(text)); }

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *ret;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return NULL;
	ret = arena_alloc(arena, (size_t)length + 1);
	if (!ret)
		return NULL;
	va_start(args, format);
	vsnprintf(ret, (size_t)length + 1, format, args);
	va_end(args);
	return ret;
}
