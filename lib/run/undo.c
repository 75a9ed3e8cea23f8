/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <blkalign/undo.h>

#include "dev/dev.h"

struct devices {
	struct dev **devs;
	size_t count;
};

static void devices_done(struct devices *d)
{
	for (size_t i = 0; i < d->count; i++)
		dev_close(d->devs[i]);
	free(d->devs);
}

int blkalign_undo_apply(const char *log_path, const char *const *paths, size_t count, uint64_t *ret_bytes, struct blkalign_error *reterr)
{
	_cleanup_(devices_done) struct devices d = { .devs = calloc(count ? count : 1, sizeof(struct dev *)) };
	struct dev_undo *undo;
	int r;

	if (!d.devs)
		return -ENOMEM;
	for (; d.count < count; d.count++) {
		r = dev_open_file_exclusive(paths[d.count], &d.devs[d.count], reterr);
		if (r < 0)
			return r;
	}
	r = dev_undo_resume(log_path, &undo, reterr);
	if (r < 0)
		return r;
	r = dev_undo_apply(undo, d.devs, d.count, ret_bytes, reterr);
	dev_undo_close(undo);
	return r;
}
