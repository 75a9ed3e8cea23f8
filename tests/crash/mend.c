/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resync and rebuild as the verbs do them, a row at a time so that each has its checkpoint. */
#include "crash.h"
#include "run/rebuild.h"
#include "run/run.h"
#include "run/scrub.h"

static int scrub_to_the_end(struct blkalign_scrub *scrub, struct blkalign_error *reterr)
{
	int r;

	do
		r = blkalign_scrub_step(scrub, NULL, reterr);
	while (r == 0);
	return r;
}

int array_scrub(struct array *array, struct blkalign_error *reterr)
{
	struct blkalign_scrub_repair_options repair = { .parity = true };
	struct blkalign_scrub_options options = { .threads = 1 };
	struct blkalign_scrub *scrub;
	int r = blkalign_scrub_open(array->run, array->node, &options, &scrub, reterr);

	if (r < 0)
		return r;
	r = scrub_to_the_end(scrub, reterr);
	/* blkalign_scrub_repair() wants an undo log, which is a file. */
	if (r >= 0)
		r = scrub_repair_begin(scrub, &repair, reterr);
	if (r >= 0) {
		scrub->repair->keep = array->keep;
		scrub->repair->guard = keep_guard(array->keep);
	}
	if (r >= 0)
		r = scrub_to_the_end(scrub, reterr);
	blkalign_scrub_close(scrub);
	return r < 0 ? r : 0;
}

/* The target becomes a member, as rebuild.c has it: a former one gets what it lacks, others get everything. */
static int join(struct blkalign_rebuild *b, struct array *array, struct dev *dev, uint32_t slot, struct blkalign_error *reterr)
{
	struct rebuild_target *t = &b->targets[0];
	struct map_md_member m = { .dev = dev };
	int r = keep_lacking(array->keep, dev, NULL, slot, &t->lacks, &t->lacks_count);

	if (r < 0)
		return r;
	b->by_bitmap = r == 0;
	b->ranges = t->lacks;
	b->range_count = t->lacks_count;
	r = keep_add_member(array->keep, dev, NULL, slot, &m.data_offset_bytes, reterr);
	if (r >= 0)
		r = map_md_set_member(array->dev, slot, &m);
	b->view.members = map_md_members(array->dev, NULL);
	return r;
}

static int rebuild_rows(struct blkalign_rebuild *b, void (*meanwhile)(void *context), void *context, struct blkalign_error *reterr)
{
	int r = 0;

	while (r >= 0 && b->walk.position_bytes < b->walk.total_bytes) {
		rebuild_unit(&b->worker[0], b->walk.position_bytes, VIEW_ROW_BYTES);
		r = b->worker[0].error;
		if (r < 0) {
			if (reterr)
				*reterr = b->worker[0].why;
			b->broken = r;
			break;
		}
		b->walk.position_bytes += VIEW_ROW_BYTES;
		if (b->walk.position_bytes < b->walk.total_bytes)
			r = rebuild_checkpoint(b, reterr);
		if (meanwhile && r >= 0)
			meanwhile(context);
		meanwhile = NULL;
	}
	return r < 0 ? r : blkalign_rebuild_step(b, NULL, reterr);
}

int array_rebuild(struct array *array, struct dev *target, uint32_t slot, void (*meanwhile)(void *context), void *context,
		  struct blkalign_error *reterr)
{
	struct blkalign_rebuild *b = calloc(1, sizeof(*b));
	struct rebuild_target *t = &b->targets[0];
	int r = 0;

	if (!b)
		return -ENOMEM;
	b->keep = array->keep;
	b->view = (struct md_view){ .md = array->dev };
	b->view.members = map_md_members(array->dev, &b->view.geometry);
	b->target_count = 1;
	t->told.slot = slot;
	t->path = strdup("target");
	if (target)
		r = join(b, array, target, slot, reterr);
	t->dev = b->view.members[slot].dev;
	t->data_offset_bytes = b->view.members[slot].data_offset_bytes;
	t->told.start_bytes = b->view.members[slot].valid_bytes;
	if (r >= 0)
		r = rebuild_start(b, &(struct blkalign_rebuild_options){ .threads = 1 }, reterr);
	if (r >= 0)
		r = rebuild_rows(b, meanwhile, context, reterr);
	b->ranges = NULL; /* the target's */
	if (r < 0)
		blkalign_rebuild_close(b, NULL);
	else
		r = blkalign_rebuild_close(b, reterr);
	return r < 0 ? r : 0;
}
