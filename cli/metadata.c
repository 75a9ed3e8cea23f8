/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "metadata.h"

struct question {
	const struct cli_options *options;
	struct blkalign_run *run;
	struct blkalign_metadata *metadata;
};

/* --- which of them --- */

/* `name`: a volume group, a PV, or what that lies on. */
static bool is_meant(const struct question *q, const struct blkalign_metadata_area *area, const char *vg_name)
{
	const char *name = q->options->node, *device = blkalign_node_name(area->node);

	if (!name || (vg_name && !strcmp(name, vg_name)) || !strcmp(name, device))
		return true;
	return !strncmp(name, "pv:", 3) && !strcmp(name + 3, device);
}

static const struct blkalign_metadata_text *committed(const struct question *q, const struct blkalign_metadata_area *a)
{
	for (size_t i = 0; i < blkalign_metadata_texts(q->metadata); i++) {
		const struct blkalign_metadata_text *t = blkalign_metadata_text(q->metadata, i);

		if (t->area == a && t->offset_bytes == a->committed_bytes)
			return t;
	}
	return NULL;
}

static bool area_is_meant(const struct question *q, const struct blkalign_metadata_area *a)
{
	const struct blkalign_metadata_text *t = committed(q, a);

	return is_meant(q, a, t ? t->vg_name : NULL);
}

/* Where a PV is named, what its own areas name counts, also when it is outdated: as pvck does. */
static bool is_wanted(const struct question *q, const struct blkalign_metadata_text *t)
{
	const char *name = q->options->node;

	if (!is_meant(q, t->area, t->vg_name) || t->state == BLKALIGN_METADATA_TORN)
		return false;
	if (q->options->metadata_seqno)
		return t->seqno == q->options->metadata_seqno;
	if (t->state == BLKALIGN_METADATA_USED)
		return true;
	return name && strcmp(name, t->vg_name) != 0 && t->offset_bytes == t->area->committed_bytes;
}

static bool differ(const struct blkalign_metadata_text *a, const struct blkalign_metadata_text *b)
{
	return a->checksum != b->checksum || a->size_bytes != b->size_bytes || strcmp(a->vg_uuid, b->vg_uuid) != 0;
}

static int no_text(const struct question *q)
{
	const char *of = q->options->node ? q->options->node : "";

	cli_notes(q->options, stderr, blkalign_run_graph(q->run), 0);
	if (q->options->metadata_seqno)
		return cli_say("no whole text%s%s has sequence number %" PRIu64 "; --metadata=all lists what there is", *of ? " of " : "",
			       cli_safe(of), q->options->metadata_seqno);
	return cli_say("no LVM2 metadata%s%s is in use here; --metadata=all lists what there is", *of ? " of " : "", cli_safe(of));
}

static int several(const struct blkalign_metadata_text *a, const struct blkalign_metadata_text *b)
{
	if (strcmp(a->vg_uuid, b->vg_uuid) != 0)
		return cli_say("there are texts of several volume groups, %s on %s and %s on %s: name a group or PV with --node",
			       cli_safe(a->vg_name), cli_safe(blkalign_node_name(a->area->node)), cli_safe(b->vg_name),
			       cli_safe(blkalign_node_name(b->area->node)));
	return cli_say("different texts of %s have sequence number %" PRIu64 ", on %s and %s: name a PV with --node", cli_safe(a->vg_name),
		       a->seqno, cli_safe(blkalign_node_name(a->area->node)), cli_safe(blkalign_node_name(b->area->node)));
}

static int choose(const struct question *q, const struct blkalign_metadata_text **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < blkalign_metadata_texts(q->metadata); i++) {
		const struct blkalign_metadata_text *t = blkalign_metadata_text(q->metadata, i);

		if (!is_wanted(q, t))
			continue;
		if (*ret && differ(*ret, t))
			return several(*ret, t);
		*ret = *ret ? *ret : t;
	}
	return *ret ? CLI_ALIGNED : no_text(q);
}

/* --- the text itself --- */

/* Its lines as a terminal may have them; line feeds and tabs are its own. */
static char *harmless(const char *text, size_t length)
{
	size_t room = 4 * length + 1, used = 0;
	char *line = malloc(length + 1), *ret = malloc(room);

	for (size_t i = 0; line && ret && i < length;) {
		size_t n = 0;

		while (i + n < length && text[i + n] && text[i + n] != '\n' && text[i + n] != '\t')
			n++;
		memcpy(line, text + i, n);
		line[n] = '\0';
		blkalign_escape(ret + used, room - used, line);
		used += strlen(ret + used);
		i += n;
		if (i < length && text[i])
			ret[used++] = text[i];
		i++;
	}
	if (ret)
		ret[used] = '\0';
	free(line);
	return ret;
}

static int print_text(const struct question *q)
{
	const struct blkalign_metadata_text *t;
	struct blkalign_error err = { 0 };
	int status = choose(q, &t);
	char *text = NULL, *safe;
	size_t length;

	if (status)
		return status;
	err.code = blkalign_metadata_read(q->metadata, t, &text, &length, &err);
	if (err.code < 0)
		return cli_fail(&err);
	safe = isatty(STDOUT_FILENO) ? harmless(text, length) : NULL;
	if (safe)
		fputs(safe, stdout);
	else
		fwrite(text, 1, length, stdout);
	free(safe);
	free(text);
	return CLI_ALIGNED;
}

/* --- JSON --- */

static struct json_object *text_json(const struct question *q, const struct blkalign_metadata_text *t)
{
	struct json_object *o = json_object_new_object();
	char *text = NULL, *safe = NULL;
	size_t length;

	json_add(o, "state", json_object_new_string(blkalign_metadata_state_name(t->state)));
	json_add(o, "why", json_text(t->why));
	json_add(o, "device", json_text(blkalign_node_name(t->area->node)));
	json_add(o, "offset_bytes", json_bytes(t->offset_bytes));
	json_add(o, "size_bytes", json_bytes(t->size_bytes));
	json_add(o, "wraps", json_object_new_boolean(t->wraps));
	json_add(o, "checksum", json_object_new_uint64(t->checksum));
	json_add(o, "vg_name", json_text(t->vg_name));
	json_add(o, "vg_uuid", json_text(t->vg_uuid));
	json_add(o, "vg_seqno", json_object_new_uint64(t->seqno));
	json_add(o, "description", json_text(t->description));
	json_add(o, "host", json_text(t->host));
	json_add(o, "unix_time", json_bytes(t->unix_time));
	if (blkalign_metadata_read(q->metadata, t, &text, &length, NULL) >= 0)
		safe = harmless(text, length);
	json_add(o, "text", safe ? json_object_new_string(safe) : NULL);
	free(safe);
	free(text);
	return o;
}

static struct json_object *area_json(const struct blkalign_metadata_area *a)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "device", json_text(blkalign_node_name(a->node)));
	json_add(o, "offset_bytes", json_bytes(a->offset_bytes));
	json_add(o, "size_bytes", json_bytes(a->size_bytes));
	json_add(o, "committed_offset_bytes", json_bytes(a->committed_bytes));
	json_add(o, "damage", json_text(a->damage));
	json_add(o, "ignored", json_object_new_boolean(a->ignored));
	json_add(o, "assumed", json_object_new_boolean(a->assumed));
	json_add(o, "unreadable_sectors512", json_object_new_uint64(a->unreadable_sectors512));
	json_add(o, "more", json_object_new_boolean(a->more));
	return o;
}

static int print_json(const struct question *q)
{
	struct json_object *o, *areas = json_object_new_array(), *texts = json_object_new_array();
	bool all = !strcmp(q->options->metadata, "all"), only_areas = !strcmp(q->options->metadata, "areas");
	const struct blkalign_metadata_text *one = NULL;
	int status = all || only_areas ? CLI_ALIGNED : choose(q, &one);

	for (size_t i = 0; i < blkalign_metadata_areas(q->metadata); i++)
		if (area_is_meant(q, blkalign_metadata_area(q->metadata, i)))
			json_object_array_add(areas, area_json(blkalign_metadata_area(q->metadata, i)));
	for (size_t i = 0; i < blkalign_metadata_texts(q->metadata); i++) {
		const struct blkalign_metadata_text *t = blkalign_metadata_text(q->metadata, i);

		if ((one && t == one) || (all && is_meant(q, t->area, t->vg_name)) ||
		    (only_areas && t->offset_bytes == t->area->committed_bytes && is_meant(q, t->area, t->vg_name)))
			json_object_array_add(texts, text_json(q, t));
	}
	o = json_document();
	json_add(o, "areas", areas);
	json_add(o, "texts", texts);
	json_add(o, "remarks", json_remarks(blkalign_run_graph(q->run)));
	if (status == CLI_ALIGNED)
		json_print(o, false);
	else
		json_object_put(o);
	return status;
}

/* --- tables --- */

struct heading {
	const char *name;
	int flags;
};

static struct libscols_table *new_table(const struct cli_options *o, const struct heading *headings, size_t count)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	scols_table_enable_ascii(table, o->ascii);
	scols_table_set_termforce(table, isatty(STDOUT_FILENO) ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < count; i++)
		if (!scols_table_new_column(table, headings[i].name, 0, headings[i].flags)) {
			scols_unref_table(table);
			return NULL;
		}
	return table;
}

static int finish(struct libscols_table *table, int r)
{
	if (!r && table)
		r = scols_print_table(table);
	scols_unref_table(table);
	return r || !table ? cli_fail(&(struct blkalign_error){ .message = "cannot draw the table" }) : CLI_ALIGNED;
}

static const char *number(char buffer[24], uint64_t value)
{
	snprintf(buffer, 24, "%" PRIu64, value);
	return value == BLKALIGN_UNKNOWN ? "-" : buffer;
}

static const char *time_text(char buffer[32], uint64_t unix_time)
{
	time_t seconds = (time_t)unix_time;
	struct tm tm;

	if (unix_time > INT32_MAX * UINT64_C(100) || !gmtime_r(&seconds, &tm) || !strftime(buffer, 32, "%Y-%m-%d %H:%M:%S", &tm))
		return "-";
	return buffer;
}

static int add_row(struct libscols_table *table, const char *const *cells, size_t count)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	int r = line ? 0 : -1;

	for (size_t i = 0; !r && i < count; i++)
		r = scols_line_set_data(line, i, cells[i]);
	return r;
}

/* "Write from lvcreate -L 1g vg." is what lvm2 says of every text but those of its recoveries. */
static void tell_origin(const struct blkalign_metadata_text *t, char *ret, size_t size)
{
	static const char usual[] = "Write from ";
	const char *from = t->description ? cli_safe(t->description) : "-";
	bool is_usual = !strncmp(from, usual, strlen(usual)) && from[strlen(from) - 1] == '.';
	int length = (int)strlen(from);

	if (is_usual) {
		from += strlen(usual);
		length -= (int)sizeof(usual);
	}
	snprintf(ret, size, "%.*s%s%s", length, from, t->host ? " on " : "", t->host ? cli_safe(t->host) : "");
}

static int text_row(struct libscols_table *table, const struct blkalign_metadata_text *t)
{
	char seqno[24], at[24], size[24], when[32], told[2048];
	const char *cells[] = { cli_safe(t->vg_name),
				number(seqno, t->seqno),
				blkalign_metadata_state_name(t->state),
				cli_safe(blkalign_node_name(t->area->node)),
				number(at, t->offset_bytes),
				number(size, t->size_bytes),
				time_text(when, t->unix_time),
				told };

	if (t->why)
		snprintf(told, sizeof(told), "%s", cli_safe(t->why));
	else
		tell_origin(t, told, sizeof(told));
	return add_row(table, cells, sizeof(cells) / sizeof(cells[0]));
}

static int print_all(const struct question *q)
{
	static const struct heading headings[] = { { "VG", 0 },
						   { "SEQNO", SCOLS_FL_RIGHT },
						   { "STATE", 0 },
						   { "ON", 0 },
						   { "BYTE", SCOLS_FL_RIGHT },
						   { "SIZE", SCOLS_FL_RIGHT },
						   { "WRITTEN (UTC)", 0 },
						   { "BY", SCOLS_FL_WRAP } };
	struct libscols_table *table = new_table(q->options, headings, sizeof(headings) / sizeof(headings[0]));
	int r = table ? 0 : -1;

	for (size_t i = 0; !r && i < blkalign_metadata_texts(q->metadata); i++)
		if (is_meant(q, blkalign_metadata_text(q->metadata, i)->area, blkalign_metadata_text(q->metadata, i)->vg_name))
			r = text_row(table, blkalign_metadata_text(q->metadata, i));
	return finish(table, r);
}

static const char *area_state(const struct blkalign_metadata_area *a, const struct blkalign_metadata_text *t)
{
	if (a->damage)
		return "damaged";
	if (t)
		return blkalign_metadata_state_name(t->state);
	if (a->committed_bytes != BLKALIGN_UNKNOWN)
		return "torn";
	return a->ignored ? "ignored" : "empty";
}

static int area_row(const struct question *q, struct libscols_table *table, const struct blkalign_metadata_area *a)
{
	const struct blkalign_metadata_text *t = committed(q, a);
	const char *why = a->damage ? a->damage : t && t->why ? t->why : "";
	char at[24], size[24], seqno[24], text_at[24], unreadable[64];
	const char *cells[] = { cli_safe(blkalign_node_name(a->node)), number(at, a->offset_bytes),
				number(size, a->size_bytes),	       area_state(a, t),
				t ? cli_safe(t->vg_name) : "-",	       t ? number(seqno, t->seqno) : "-",
				number(text_at, a->committed_bytes),   *why || !a->unreadable_sectors512 ? cli_safe(why) : unreadable };

	snprintf(unreadable, sizeof(unreadable), "%" PRIu64 " sectors of 512 bytes cannot be read", a->unreadable_sectors512);
	return add_row(table, cells, sizeof(cells) / sizeof(cells[0]));
}

static int print_areas(const struct question *q)
{
	static const struct heading headings[] = {
		{ "ON", 0 }, { "AREA", SCOLS_FL_RIGHT },  { "SIZE", SCOLS_FL_RIGHT }, { "STATE", 0 },
		{ "VG", 0 }, { "SEQNO", SCOLS_FL_RIGHT }, { "TEXT", SCOLS_FL_RIGHT }, { "WHY", SCOLS_FL_WRAP }
	};
	struct libscols_table *table = new_table(q->options, headings, sizeof(headings) / sizeof(headings[0]));
	int r = table ? 0 : -1;

	for (size_t i = 0; !r && i < blkalign_metadata_areas(q->metadata); i++)
		if (area_is_meant(q, blkalign_metadata_area(q->metadata, i)))
			r = area_row(q, table, blkalign_metadata_area(q->metadata, i));
	return finish(table, r);
}

/* --- all of it --- */

static int answer(const struct question *q)
{
	bool all = !strcmp(q->options->metadata, "all"), areas = !strcmp(q->options->metadata, "areas");
	int status;

	if (q->options->json)
		return print_json(q);
	if (!all && !areas)
		return print_text(q);
	if (!(all ? blkalign_metadata_texts(q->metadata) : blkalign_metadata_areas(q->metadata))) {
		cli_notes(q->options, stderr, blkalign_run_graph(q->run), 0);
		return cli_say("no LVM2 metadata was found");
	}
	status = all ? print_all(q) : print_areas(q);
	cli_notes(q->options, stdout, blkalign_run_graph(q->run), 0);
	return status;
}

int show_metadata(const struct cli_options *o)
{
	const struct blkalign_run_options options = { .source = o->source };
	struct question q = { .options = o };
	struct blkalign_error err = { 0 };
	int status;

	if (!o->target_count)
		return cli_usage(o, "show --metadata needs the devices or images: all PVs of a volume group");
	for (size_t i = 0; i < o->target_count; i++)
		if (blkalign_is_snapshot(o->targets[i]))
			return cli_say("%s: a snapshot does not hold the texts of volume groups: expected devices or images",
				       cli_safe(o->targets[i]));
	err.code = blkalign_run_open(&options, o->targets, o->target_count, &q.run, &err);
	if (err.code < 0)
		return cli_fail(&err);
	err.code = blkalign_metadata_find(q.run, &q.metadata, &err);
	status = err.code < 0 ? cli_fail(&err) : answer(&q);
	blkalign_metadata_free(q.metadata);
	blkalign_run_close(q.run, NULL);
	return status;
}
