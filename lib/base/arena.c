/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <stdio.h>

#define BLOCK_MAX_BYTES (64 * KIB)

struct block {
	struct block *next;
	size_t used;
	size_t size;
	uint64_t data[];
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

/* Not zeroed. */
static void *take(struct arena *arena, size_t size)
{
	struct block *b = arena->blocks;
	void *ret;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
	if (!b || size > b->size - b->used) {
		/*
		 * Blocks double, so that a snapshot of ten nodes stays small and ten thousand volumes need few calls. They stay below the size from which on malloc()
		 * asks the kernel for each: what one arena gives back is warm for the next.
		 */
		size_t room = b ? b->size * 2 : 4 * KIB;

		if (room > BLOCK_MAX_BYTES)
			room = BLOCK_MAX_BYTES;
		if (room < size)
			room = size;
		b = malloc(sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->used = 0;
		b->next = arena->blocks;
		arena->blocks = b;
	}
	ret = (uint8_t *)b->data + b->used;
	b->used += size;
	return ret;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	void *ret = take(arena, size);

	return ret ? memset(ret, 0, size) : NULL;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *ret = take(arena, length + 1);

	if (!ret)
		return NULL;
	memcpy(ret, text, length);
	ret[length] = '\0';
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
	ret = take(arena, (size_t)length + 1);
	if (!ret)
		return NULL;
	va_start(args, format);
	vsnprintf(ret, (size_t)length + 1, format, args);
	va_end(args);
	return ret;
}
