/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First everything is checked. A repair comes after that, when what it would do is known, said, and agreed to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "progress.h"
#include "scrub.h"

#define STATE_SECONDS 30

struct job {
	const struct cli_options *o;
	struct blkalign_run *run;
	struct blkalign_scrub *scrub;
	struct scrub_result result;
	char undo[256];
};

static int check_options(const struct cli_options *o)
{
	if (!o->target_count)
		return cli_usage(o, "scrub needs the members: image files or disks");
	if (o->resume && !o->state)
		return cli_usage(o, "--resume needs --state=FILE, which was written when the scrub was interrupted");
	if ((o->yes || o->undo || o->force) && !o->repair)
		return cli_usage(o, "--yes, --undo and --force go with --repair");
	if (o->repair && !o->dry_run && !o->yes && (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)))
		return cli_usage(o, "--repair writes to the members: without a terminal to ask at, say --yes");
	return CLI_ALIGNED;
}

/* --- the check --- */

/* The state of an interrupted scrub, when it is to be gone on with. */
static int read_state(const struct cli_options *o, char **ret_text)
{
	size_t length;
	int r = o->resume ? cli_read_file(o->state, ret_text, &length) : 0;

	if (r == 1)
		cli_say("%s: there is no such state: start without --resume", cli_safe(o->state));
	return r ? CLI_FAILED : CLI_ALIGNED;
}

static int open_job(struct job *j)
{
	const struct cli_options *o = j->o;
	const struct blkalign_run_options options = { .source = o->source, .writable = o->repair && !o->dry_run };
	struct blkalign_scrub_options scrub = { .threads = o->threads, .rate_bytes = o->rate_bytes };
	const struct blkalign_node *node = NULL;
	struct blkalign_error err = { 0 };
	char *state = NULL;

	if (read_state(o, &state) != CLI_ALIGNED)
		return CLI_FAILED;
	err.code = blkalign_run_open(&options, o->targets, o->target_count, &j->run, &err);
	if (err.code >= 0 && o->node)
		err.code = blkalign_run_node(j->run, o->node, &node, &err);
	scrub.state = state;
	if (err.code >= 0)
		err.code = blkalign_scrub_open(j->run, node, &scrub, &j->scrub, &err);
	free(state);
	if (err.code == -ENOENT && j->run)
		return cli_fail_with_notes(o, j->run, &err);
	return err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
}

static int save_state(const struct job *j)
{
	struct blkalign_error err = { 0 };
	char *text = NULL;
	int r;

	if (!j->o->state)
		return CLI_ALIGNED;
	err.code = blkalign_scrub_state(j->scrub, &text, &err);
	if (err.code < 0)
		return cli_fail(&err);
	r = cli_replace_file(j->o->state, text);
	free(text);
	return r < 0 ? CLI_FAILED : CLI_ALIGNED;
}

static int interrupted(const struct job *j)
{
	int status = save_state(j);

	if (status)
		return status;
	if (j->o->state)
		cli_say("interrupted; the same command with --state=%s --resume goes on from here", cli_safe(j->o->state));
	else
		cli_say("interrupted; next time it begins anew: only with --state=FILE it can be resumed");
	return CLI_INTERRUPTED;
}

static int check(struct job *j)
{
	struct blkalign_scrub_progress *p = &j->result.check;
	struct blkalign_error err = { 0 };
	struct cli_progress line;
	time_t saved = time(NULL);
	bool first = true;

	do {
		err.code = blkalign_scrub_step(j->scrub, p, &err);
		if (first)
			cli_progress_begin(&line, j->o, "scrub", p->position_bytes);
		first = false;
		cli_progress_step(&line, p->position_bytes, p->total_bytes, p->mismatch_sectors512);
		if (err.code == 0 && j->o->state && time(NULL) - saved >= STATE_SECONDS) {
			if (save_state(j))
				err.code = -EIO;
			saved = time(NULL);
		}
	} while (err.code == 0 && !cli_interrupted());
	cli_progress_end(&line);
	if (err.code < 0)
		return cli_fail(&err);
	return err.code == BLKALIGN_SCRUB_DONE ? save_state(j) : interrupted(j);
}

/* --- the repair --- */

/* "yes" in full: a key that was hit by mistake shall not do. */
static bool agreed(void)
{
	char answer[16];

	fprintf(stderr, "\nWrite this to the members? Type yes: ");
	fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) && !strcmp(answer, "yes\n");
}

static const char *undo_name(struct job *j)
{
	const char *uuid = blkalign_node_str(blkalign_scrub_node(j->scrub), BLKALIGN_ATTR_MD_UUID);

	return j->o->undo ? j->o->undo : cli_undo_name(uuid ? uuid : "array", j->undo, sizeof(j->undo));
}

static int write_repair(struct job *j)
{
	struct blkalign_scrub_repair_options options = { .parity = j->o->repair_parity, .force = j->o->force, .undo_path = undo_name(j) };
	struct blkalign_error err = { 0 };
	struct cli_progress line;

	err.code = blkalign_scrub_repair(j->scrub, &options, &err);
	if (err.code < 0) {
		cli_fail(&err);
		return cli_say("nothing was written to the members");
	}
	j->result.repaired = true;
	j->result.undo = options.undo_path;
	cli_progress_begin(&line, j->o, "repair", 0);
	do {
		err.code = blkalign_scrub_step(j->scrub, &j->result.repair, &err);
		cli_progress_step(&line, j->result.repair.position_bytes, j->result.repair.total_bytes, UINT64_MAX);
	} while (err.code == 0 && !cli_interrupted());
	cli_progress_end(&line);
	if (err.code == BLKALIGN_SCRUB_DONE)
		return CLI_ALIGNED;
	cli_say("the repair did not end; what it has written so far can be undone with %s", cli_safe(options.undo_path));
	return err.code < 0 ? cli_fail(&err) : CLI_INTERRUPTED;
}

static bool is_dirty(const struct job *j)
{
	const char *state = blkalign_node_str(blkalign_scrub_node(j->scrub), BLKALIGN_ATTR_MD_STATE);

	return state && (strstr(state, "dirty") || strstr(state, "resync"));
}

static int repair(struct job *j)
{
	struct blkalign_scrub_plan plan;
	bool some;

	blkalign_scrub_plan(j->scrub, j->o->repair_parity, &plan);
	some = plan.proven_bytes || plan.unreadable_bytes || plan.parity_bytes;
	/* md's repair of a dirty array ends its resync also where nothing was wrong. */
	if (!some && !(j->o->repair_parity && is_dirty(j) && !j->o->dry_run))
		return CLI_ALIGNED;
	if (!j->o->json)
		scrub_print_plan(j->o, j->scrub, &plan);
	if (j->o->dry_run)
		return CLI_ALIGNED;
	fflush(stdout);
	if (!j->o->yes && !agreed()) {
		cli_say("nothing was written");
		return cli_interrupted() ? CLI_INTERRUPTED : CLI_ALIGNED;
	}
	return write_repair(j);
}

/* --- all of it --- */

static int report(struct job *j)
{
	if (j->o->json)
		scrub_print_json(&j->result);
	else
		scrub_print_text(j->o, &j->result);
	return scrub_status(&j->result);
}

static int run(struct job *j)
{
	int status = open_job(j), reported;

	if (status == CLI_ALIGNED)
		status = check(j);
	if (status != CLI_ALIGNED)
		return status;
	j->result.scrub = j->scrub;
	j->result.graph = blkalign_run_graph(j->run);
	if (j->o->repair && !j->o->json)
		scrub_print_text(j->o, &j->result);
	if (j->o->repair)
		status = repair(j);
	reported = j->o->repair && !j->o->json && !j->result.repaired ? scrub_status(&j->result) : report(j);
	return status != CLI_ALIGNED ? status : reported;
}

int cmd_scrub(const struct cli_options *o)
{
	struct job j = { .o = o };
	struct blkalign_error err = { 0 };
	int status = check_options(o);

	if (status)
		return status;
	cli_catch_signals();
	status = run(&j);
	blkalign_scrub_close(j.scrub);
	if (j.run)
		cli_tell_events(j.run);
	err.code = blkalign_run_close(j.run, &err);
	return err.code < 0 ? cli_fail(&err) : status;
}
