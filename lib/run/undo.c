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

/* Only those that the log is of are opened for writing, and each once. */
static int open_devices(const struct dev_undo *undo, const char *const *paths, size_t count, enum blkalign_undo_use *uses,
			struct devices *d, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		bool ours, again = false;

		r = dev_undo_knows(undo, paths[i], &ours, reterr);
		for (size_t k = 0; ours && k < i; k++)
			again |= dev_same_file(paths[k], paths[i]);
		uses[i] = again ? BLKALIGN_UNDO_REPEATED : ours ? BLKALIGN_UNDO_USED : BLKALIGN_UNDO_NOT_OURS;
		if (r < 0 || uses[i] != BLKALIGN_UNDO_USED)
			continue;
		r = dev_open_file_exclusive(paths[i], &d->devs[d->count], reterr);
		d->count += r >= 0;
	}
	return r;
}

int blkalign_undo_apply(const char *log_path, const char *const *paths, size_t count, uint64_t *ret_bytes, enum blkalign_undo_use *ret_uses,
			struct blkalign_error *reterr)
{
	_cleanup_(devices_done) struct devices d = { .devs = calloc(count + 1, sizeof(struct dev *)) };
	_cleanup_free_ enum blkalign_undo_use *uses = calloc(count + 1, sizeof(*uses));
	struct dev_undo *undo = NULL;
	int r = d.devs && uses ? dev_undo_resume(log_path, &undo, reterr) : -ENOMEM;

	if (r >= 0)
		r = open_devices(undo, paths, count, uses, &d, reterr);
	if (r >= 0)
		r = dev_undo_apply(undo, d.devs, d.count, ret_bytes, reterr);
	dev_undo_close(undo);
	if (ret_uses && uses)
		memcpy(ret_uses, uses, count * sizeof(*uses));
	return r;
}
