/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What replay would write, for readers, who keep it in memory beside the disks. */
#include "keep/keep_priv.h"

#define PATCHES_MAX_BYTES                                                                                                                  \
	(64 * MIB) /* a kernel has no more stripes in flight than its stripe cache holds: 1 MiB of rows, unless told otherwise */

struct patches {
	struct keep_patch *data;
	size_t count;
	size_t room;
	uint64_t bytes;
};

void keep_patches_free(struct keep_patch *patches, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(patches[i].data);
	free(patches);
}

static int add_patch(struct patches *p, const struct keep_patch *patch)
{
	if (vec_grow_((void **)&p->data, &p->room, p->count, sizeof(*p->data)) < 0)
		return -ENOMEM;
	p->data[p->count++] = *patch;
	p->bytes += patch->length_bytes;
	return 0;
}

static int add_rows(struct keep *keep, const struct replay_job *job, uint64_t from, size_t length, uint8_t *scratch, struct patches *p)
{
	struct keep_patch patch = { .slot = job->log->slot, .length_bytes = length, .data = malloc(length) };
	int r;

	if (!patch.data)
		return -ENOMEM;
	r = replay_rows(keep, job, from, length, patch.data, scratch, &patch.device_bytes);
	if (r != 0) {
		free(patch.data);
		patch.data = NULL;
	}
	if (r == 0 || r == BLKALIGN_ABSENT)
		r = add_patch(p, &patch);
	if (r < 0)
		free(patch.data);
	return r;
}

static int add_job(struct keep *keep, const struct replay_job *job, uint8_t *scratch, struct patches *p)
{
	for (uint64_t from = 0; from < job->rows_bytes; from += job->step_bytes) {
		uint64_t rest = job->rows_bytes - from;
		int r = add_rows(keep, job, from, rest < job->step_bytes ? (size_t)rest : job->step_bytes, scratch, p);

		if (r < 0)
			return r;
		if (p->bytes > PATCHES_MAX_BYTES)
			return -EFBIG;
	}
	return 0;
}

static int collect(struct keep *keep, struct replay *replay, struct patches *p, bool *complete)
{
	_cleanup_free_ uint8_t *scratch = malloc(REPLAY_STEP_BYTES);
	int r = scratch ? replay_plan(keep, found_checkpoint(keep), replay) : -ENOMEM;

	*complete = r >= 0 && replay->complete;
	for (size_t i = 0; i < replay->count && r >= 0; i++)
		r = add_job(keep, &replay->jobs[i], scratch, p);
	return r;
}

int keep_ppl_patches(const struct keep_array *array, struct keep_patch **ret_patches, size_t *ret_count, bool *ret_complete,
		     struct blkalign_error *reterr)
{
	struct replay replay = { 0 };
	struct patches p = { 0 };
	struct keep *keep;
	bool complete = false;
	int r = keep_load(array, false, &keep, reterr);

	if (r < 0)
		return r;
	if (keep->log.present && found_checkpoint(keep) >= keep->unit_bytes)
		complete = true;
	else if (keep->log.present)
		r = collect(keep, &replay, &p, &complete);
	replay_done(&replay);
	keep_abandon(keep);
	if (r < 0) {
		keep_patches_free(p.data, p.count);
		return blkalign_error_set(reterr, r, array->name, BLKALIGN_UNKNOWN,
					  r == -EFBIG ? "the partial parity logs describe more writes in flight than a kernel can have"
						      : "no memory for what the partial parity logs hold");
	}
	*ret_patches = p.data;
	*ret_count = p.count;
	*ret_complete = complete;
	return 0;
}
