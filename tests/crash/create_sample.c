/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "create_sample.h"

#define SECTOR 512U

struct cut {
	uint64_t key;
	char *text;
	size_t length;
};

struct sample {
	FILE *file;
	size_t each, count, disk_bytes;
	struct cut *cuts; /* by key */
	unsigned disks;
	uint8_t filler[SECTOR];
	int error;
};

struct sample *sample_open(const char *path, size_t each, size_t disk_bytes, uint8_t filler)
{
	struct sample *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->each = each;
	s->disk_bytes = disk_bytes;
	memset(s->filler, filler, sizeof(s->filler));
	s->cuts = calloc(each + 1, sizeof(*s->cuts));
	s->file = fopen(path, "wbx");
	if (s->cuts && s->file)
		return s;
	free(s->cuts);
	free(s);
	return NULL;
}

/* Past `from`, the next run of sectors that are not filler; false: there is none. */
static bool next_run(const struct sample *s, const uint8_t *disk, size_t from, size_t *ret_from, size_t *ret_to)
{
	while (from < s->disk_bytes && !memcmp(disk + from, s->filler, SECTOR))
		from += SECTOR;
	*ret_from = from;
	while (from < s->disk_bytes && memcmp(disk + from, s->filler, SECTOR) != 0)
		from += SECTOR;
	*ret_to = from;
	return *ret_from < *ret_to;
}

static void describe(const struct sample *s, FILE *file, const char *what, const uint8_t *const *disks)
{
	size_t runs = 0, from, to;

	for (unsigned i = 0; i < s->disks; i++)
		for (to = 0; next_run(s, disks[i], to, &from, &to);)
			runs++;
	fprintf(file, "state %s %zu\n", what, runs);
	for (unsigned i = 0; i < s->disks; i++)
		for (to = 0; next_run(s, disks[i], to, &from, &to);) {
			fprintf(file, "%u %zu %zu\n", i, from, to - from);
			fwrite(disks[i] + from, 1, to - from, file);
			fputc('\n', file);
		}
}

void sample_deed(struct sample *s, const char *verb, const char *type, const uint8_t *const *disks, unsigned count)
{
	s->disks = count;
	fprintf(s->file, "deed %s %s %u\n", verb, type, count);
	describe(s, s->file, "before", disks);
}

void sample_cut(struct sample *s, uint64_t key, const uint8_t *const *disks)
{
	struct cut cut = { .key = key * UINT64_C(0x9e3779b97f4a7c15) };
	size_t at = s->count;
	FILE *file;

	if (s->count == s->each && (!s->each || s->cuts[s->count - 1].key < cut.key))
		return;
	file = open_memstream(&cut.text, &cut.length);
	if (!file) {
		s->error = -errno;
		return;
	}
	describe(s, file, "cut", disks);
	fclose(file);
	for (; at > 0 && s->cuts[at - 1].key > cut.key; at--)
		s->cuts[at] = s->cuts[at - 1];
	s->cuts[at] = cut;
	if (s->count < s->each)
		s->count++;
	else
		free(s->cuts[s->each].text);
}

void sample_point(struct sample *s)
{
	for (size_t i = 0; i < s->count; i++) {
		fwrite(s->cuts[i].text, 1, s->cuts[i].length, s->file);
		free(s->cuts[i].text);
	}
	s->count = 0;
}

void sample_done(struct sample *s, const uint8_t *const *disks) { describe(s, s->file, "after", disks); }

int sample_close(struct sample *s)
{
	int r = s->error;

	if (ferror(s->file))
		r = -EIO;
	if (fclose(s->file) != 0)
		r = -errno;
	free(s->cuts);
	free(s);
	return r;
}
