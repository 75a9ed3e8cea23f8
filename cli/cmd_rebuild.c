/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "progress.h"

enum { REBUILD_DONE = 0, REBUILD_DOUBTS = 2 };

static int check_options(const struct cli_options *o)
{
	if (!o->target_count)
		return cli_usage(o, "rebuild needs the members that are there: image files or disks");
	if (!o->onto_count)
		return cli_usage(o, "rebuild needs --onto=DEVICE_OR_FILE: where the missing member is to be");
	return CLI_ALIGNED;
}

static int open_rebuild(const struct cli_options *o, struct blkalign_rebuild **ret)
{
	struct blkalign_rebuild_options options = {
		.source = o->source,
		.node = o->node,
		.threads = o->threads,
		.rate_bytes = o->rate_bytes,
		.force = o->force,
		.force_overwrite = o->force_overwrite,
		.dry_run = o->dry_run,
	};
	struct blkalign_error err = { 0 };

	err.code = blkalign_rebuild_open(&options, o->targets, o->target_count, o->onto, o->onto_count, ret, &err);
	return err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
}

/* --- what is printed --- */

static double share_there(const struct blkalign_rebuild_target *t)
{
	double all = (double)t->start_bytes + (double)t->rebuild_bytes;

	return all > 0 ? 100 * (double)t->start_bytes / all : 100;
}

static void describe(const struct blkalign_rebuild_target *t, char *ret, size_t size)
{
	switch (t->how) {
	case BLKALIGN_REBUILD_NEW:
		snprintf(ret, size, "%s to be computed", cli_bytes(t->rebuild_bytes));
		break;
	case BLKALIGN_REBUILD_GO_ON:
		if (t->start_bytes)
			snprintf(ret, size, "goes on at %.1f %%: %s are there, %s to be computed", share_there(t),
				 cli_bytes(t->start_bytes), cli_bytes(t->rebuild_bytes));
		else
			snprintf(ret, size, "begun before, but nothing of it is recorded: %s to be computed", cli_bytes(t->rebuild_bytes));
		break;
	case BLKALIGN_REBUILD_READD:
		snprintf(ret, size, "a former member: %s to be computed, by the bitmap", cli_bytes(t->rebuild_bytes));
		break;
	}
}

static void print_target(const struct blkalign_rebuild *b, const struct blkalign_rebuild_target *t, bool dry_run)
{
	char what[128], line[4096];

	describe(t, what, sizeof(what));
	snprintf(line, sizeof(line), "%s %s slot %u of %s: %s%s%s", cli_safe(t->path), dry_run ? "would become" : "becomes", t->slot,
		 cli_safe(blkalign_node_name(blkalign_rebuild_node(b))), what, t->overwrites ? "; overwrites " : "",
		 t->overwrites ? cli_safe(t->overwrites) : "");
	cli_wrap(line, 0);
}

static struct json_object *target_json(const struct blkalign_rebuild_target *t)
{
	static const char *const hows[] = { "new", "go_on", "readd" };
	struct json_object *o = json_object_new_object();

	json_add(o, "path", json_text(t->path));
	json_add(o, "slot", json_object_new_uint64(t->slot));
	json_add(o, "how", json_object_new_string(hows[t->how]));
	json_add(o, "start_bytes", json_bytes(t->start_bytes));
	json_add(o, "rebuild_bytes", json_bytes(t->rebuild_bytes));
	json_add(o, "overwrites", t->overwrites ? json_text(t->overwrites) : NULL);
	return o;
}

static void print_json(const struct blkalign_rebuild *b, const struct blkalign_rebuild_progress *p, bool done)
{
	struct json_object *o = json_document(), *list = json_object_new_array();

	json_add(o, "array", json_text(blkalign_node_name(blkalign_rebuild_node(b))));
	json_add(o, "done", json_object_new_boolean(done));
	json_add(o, "position_bytes", json_bytes(p->position_bytes));
	json_add(o, "total_bytes", json_bytes(p->total_bytes));
	json_add(o, "read_bytes", json_bytes(p->read_bytes));
	json_add(o, "written_bytes", json_bytes(p->written_bytes));
	json_add(o, "mismatch_sectors512", json_bytes(p->mismatch_sectors512));
	json_add(o, "unreadable_bytes", json_bytes(p->unreadable_bytes));
	for (size_t i = 0; i < blkalign_rebuild_targets(b); i++)
		json_object_array_add(list, target_json(blkalign_rebuild_target(b, i)));
	json_add(o, "targets", list);
	json_add(o, "remarks", json_remarks(blkalign_rebuild_graph(b)));
	json_print(o, false);
}

static void print_targets(const struct cli_options *o, const struct blkalign_rebuild *b)
{
	if (!o->json)
		cli_notes(o, stdout, blkalign_rebuild_graph(b), 0);
	for (size_t i = 0; !o->json && i < blkalign_rebuild_targets(b); i++)
		print_target(b, blkalign_rebuild_target(b, i), o->dry_run);
	fflush(stdout);
}

/* --- the work --- */

static int work(const struct cli_options *o, struct blkalign_rebuild *b, struct blkalign_rebuild_progress *p)
{
	struct blkalign_error err = { 0 };
	struct cli_progress line;
	bool first = true;

	do {
		err.code = blkalign_rebuild_step(b, p, &err);
		if (first)
			cli_progress_begin(&line, o, "rebuild", p->position_bytes);
		first = false;
		cli_progress_step(&line, p->position_bytes, p->total_bytes, UINT64_MAX);
	} while (err.code == 0 && !cli_interrupted());
	cli_progress_end(&line);
	if (err.code < 0) {
		cli_fail(&err);
		return cli_say("the rebuild did not end; once that is mended, the same command goes on with it");
	}
	return err.code == BLKALIGN_REBUILD_DONE ? CLI_ALIGNED : CLI_INTERRUPTED;
}

static int tell_end(const struct cli_options *o, const struct blkalign_rebuild *b, const struct blkalign_rebuild_progress *p, int status)
{
	if (o->json && status != CLI_FAILED)
		print_json(b, p, status == CLI_ALIGNED && !o->dry_run);
	if (status != CLI_ALIGNED || o->dry_run)
		return status;
	if (!o->json)
		printf("done: %s read, %s written; in sync\n", cli_bytes(p->read_bytes), cli_bytes(p->written_bytes));
	if (p->unreadable_bytes)
		fprintf(stderr,
			"blkalign: %s of other members could not be read; what was needed of them came from the redundancy that is left\n",
			cli_bytes(p->unreadable_bytes));
	if (!p->mismatch_sectors512)
		return REBUILD_DONE;
	cli_say("%" PRIu64 " sectors did not fit the second parity while all members could be read: what was rebuilt there may be wrong; "
		"`blkalign scrub` says where",
		p->mismatch_sectors512);
	return REBUILD_DOUBTS;
}

int cmd_rebuild(const struct cli_options *o)
{
	struct blkalign_rebuild_progress p = { 0 };
	struct blkalign_rebuild *b = NULL;
	struct blkalign_error err = { 0 };
	int status = check_options(o);

	if (status)
		return status;
	cli_catch_signals();
	status = open_rebuild(o, &b);
	if (status)
		return status;
	print_targets(o, b);
	if (!o->dry_run)
		status = work(o, b, &p);
	status = tell_end(o, b, &p, status);
	cli_tell_events(blkalign_rebuild_run(b));
	err.code = blkalign_rebuild_close(b, &err);
	if (err.code < 0)
		return cli_fail(&err);
	if (status == CLI_INTERRUPTED)
		cli_say("interrupted; the same command goes on from here, and so does the kernel");
	return status;
}
