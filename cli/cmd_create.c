/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "json.h"

/* What the metadata says of its origin: the command, without the devices. */
static void describe(const struct cli_options *o, size_t named, char *ret, size_t size)
{
	size_t length = (size_t)snprintf(ret, size, "Created by blkalign create");

	for (size_t i = 0; i < named && length < size; i++)
		length += (size_t)snprintf(ret + length, size - length, " %s", o->targets[i]);
}

/* --- the plan on the terminal --- */

static void print_words(const struct cli_options *o, const struct blkalign_create *create)
{
	const char *word;
	bool detail;

	for (size_t i = 0; (word = blkalign_create_word(create, i, &detail)); i++)
		if (o->verbose || !detail)
			cli_wrap(word, 2);
}

static void print_writes(const struct blkalign_create *create)
{
	struct blkalign_create_write w;
	unsigned step = 0;

	for (size_t i = 0; i < blkalign_create_writes(create); i++) {
		blkalign_create_write(create, i, &w);
		if (i && w.step != step)
			printf("flush\n");
		step = w.step;
		printf("write %s: byte %llu, %llu bytes%s: %s\n", cli_safe(w.node), (unsigned long long)w.offset_bytes,
		       (unsigned long long)w.length_bytes, w.zeros ? " of zeros" : "", w.reason);
	}
	if (blkalign_create_writes(create))
		printf("flush\n");
}

/* --- as JSON --- */

static struct json_object *words_json(const struct blkalign_create *create)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	bool detail;

	for (size_t i = 0; (word = blkalign_create_word(create, i, &detail)); i++) {
		struct json_object *o = json_object_new_object();

		json_add(o, "text", json_object_new_string(word));
		json_add(o, "detail", json_object_new_boolean(detail));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *writes_json(const struct blkalign_create *create)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < blkalign_create_writes(create); i++) {
		struct json_object *o = json_object_new_object();
		struct blkalign_create_write w;

		blkalign_create_write(create, i, &w);
		json_add(o, "step", json_object_new_uint64(w.step));
		json_add(o, "node", json_text(w.node));
		json_add(o, "offset_bytes", json_bytes(w.offset_bytes));
		json_add(o, "length_bytes", json_bytes(w.length_bytes));
		json_add(o, "zeros", json_object_new_boolean(w.zeros));
		json_add(o, "reason", json_object_new_string(w.reason));
		json_object_array_add(list, o);
	}
	return list;
}

/* `undo`: NULL when nothing was written. */
static void print_json(const struct blkalign_create *create, const char *undo)
{
	struct json_object *o = json_document();

	json_add(o, "written", json_object_new_boolean(undo != NULL));
	json_add(o, "undo", json_text(undo));
	json_add(o, "choices", words_json(create));
	json_add(o, "writes", writes_json(create));
	json_print(o, false);
}

/* --- carrying it out --- */

static int carry_out(const struct cli_options *o, struct blkalign_create *create)
{
	struct blkalign_error err = { 0 };
	char name[256], what[64];
	const char *undo = o->undo;

	snprintf(what, sizeof(what), "create-%s", o->targets[0]);
	if (!undo)
		undo = cli_undo_name(what, name, sizeof(name));
	err.code = blkalign_create_apply(create, undo, &err);
	if (err.code < 0) {
		cli_fail(&err);
		if (strcmp(err.where, undo) != 0 && access(undo, F_OK) == 0)
			cli_say("what was overwritten, if anything, is in %s; `blkalign undo` puts it back", cli_safe(undo));
		return CLI_FAILED;
	}
	if (o->json) {
		print_json(create, undo);
		return CLI_ALIGNED;
	}
	print_words(o, create);
	printf("what was overwritten is in %s\n", cli_safe(undo));
	return CLI_ALIGNED;
}

static int run(const struct cli_options *o, struct blkalign_create *create, struct blkalign_error *err)
{
	int status = CLI_ALIGNED;

	if (err->code < 0)
		return cli_fail(err);
	if (!o->dry_run) {
		status = carry_out(o, create);
	} else if (o->json) {
		print_json(create, NULL);
	} else {
		print_words(o, create);
		print_writes(create);
		printf("nothing was written (--dry-run)\n");
	}
	blkalign_create_free(create);
	return status;
}

/* --- pv, vg, lv --- */

static int create_pv(const struct cli_options *o, const struct blkalign_create_options *options)
{
	struct blkalign_create *create = NULL;
	struct blkalign_error err = { 0 };

	err.code = blkalign_create_pv(options, &o->create.pv, o->targets + 1, o->target_count - 1, &create, &err);
	return run(o, create, &err);
}

static int create_vg(const struct cli_options *o, const struct blkalign_create_options *options)
{
	struct blkalign_create_vg_options vg = o->create.vg;
	struct blkalign_create *create = NULL;
	struct blkalign_error err = { 0 };

	vg.name = o->targets[1];
	err.code = blkalign_create_vg(options, &vg, o->targets + 2, o->target_count - 2, &create, &err);
	return run(o, create, &err);
}

static int create_lv(const struct cli_options *o, const struct blkalign_create_options *options)
{
	struct blkalign_create_lv_options lv = o->create.lv;
	struct blkalign_create *create = NULL;
	struct blkalign_error err = { 0 };

	if (!lv.size_bytes == !lv.extents)
		return cli_usage(o, "create lv needs --size=BYTES or --extents=N, one of them");
	if (o->create.node_count)
		return cli_usage(o, "--node goes with pv and vg: a volume goes where its group has room");
	lv.vg = o->targets[1];
	err.code = blkalign_create_lv(options, &lv, o->targets + 2, o->target_count - 2, &create, &err);
	return run(o, create, &err);
}

/* Options that say what another kind shall be like are a misunderstanding that should not be written to a disk. */
static const char *misplaced(const struct cli_options *o, const char *kind)
{
	const struct cli_create *c = &o->create;
	bool pv = c->pv.data_alignment_bytes || c->pv.data_alignment_offset_bytes != BLKALIGN_UNKNOWN || c->pv.metadata_bytes ||
		  c->pv.metadata_copies != 1;
	bool lv = c->lv.name || c->lv.type || c->lv.extents || c->lv.size_bytes || c->lv.stripes || c->lv.stripe_bytes ||
		  c->lv.mirrors != UINT32_MAX;

	if (pv && strcmp(kind, "pv") != 0)
		return "--data-alignment, --data-alignment-offset, --metadata-size and --metadata-copies go with create pv";
	if (c->vg.extent_bytes && strcmp(kind, "vg") != 0)
		return "--extent-size goes with create vg";
	if (lv && strcmp(kind, "lv") != 0)
		return "--name, --size, --extents, --type, --stripes, --stripe-size and --mirrors go with create lv";
	if (c->pv.force && strcmp(kind, "pv") != 0)
		return "--force goes with create pv";
	return NULL;
}

int cmd_create(const struct cli_options *o)
{
	struct blkalign_create_options options = { .source = o->source, .nodes = o->create.nodes, .node_count = o->create.node_count };
	const char *kind = o->target_count ? o->targets[0] : "", *wrong;
	char text[400];

	if (strcmp(kind, "pv") != 0 && strcmp(kind, "vg") != 0 && strcmp(kind, "lv") != 0)
		return cli_usage(o, "create what? pv DEVICE..., vg NAME PV..., or lv VG [PV...]");
	wrong = misplaced(o, kind);
	if (wrong)
		return cli_usage(o, wrong);
	if (o->target_count < (strcmp(kind, "vg") ? 2 : 3))
		return cli_usage(o, !strcmp(kind, "pv")	  ? "create pv needs a device or file"
				    : !strcmp(kind, "vg") ? "create vg needs a name, and the physical volumes"
							  : "create lv needs the volume group's name");
	describe(o, strcmp(kind, "pv") ? 2 : 1, text, sizeof(text));
	options.command = text;
	if (!strcmp(kind, "pv"))
		return create_pv(o, &options);
	return !strcmp(kind, "vg") ? create_vg(o, &options) : create_lv(o, &options);
}
