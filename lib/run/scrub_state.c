/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a scrub that was interrupted, as JSON. It is read like anything from a disk: whoever wrote it, a wrong one costs a wrong report at worst, for what a repair
 * writes is judged again from the members.
 */
#include <json-c/json.h>

#include "run/scrub.h"

#define STATE_VERSION	1
#define STATE_MAX_BYTES (64 * MIB)
#define STATE_DEPTH	6

static const char *const kinds[] = { "mismatch", "unreadable", "lost" };

/* --- writing --- */

static void add_u64(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, value == BLKALIGN_UNKNOWN ? NULL : json_object_new_uint64(value));
}

static struct json_object *finding_json(const struct scrub_item *item)
{
	const struct blkalign_scrub_finding *f = &item->found;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "kind", json_object_new_string(kinds[f->kind]));
	json_object_object_add(o, "verdict", json_object_new_string(blkalign_scrub_verdict_name(f->verdict)));
	add_u64(o, "slot", f->slot == BLKALIGN_SLOT_NONE ? BLKALIGN_UNKNOWN : f->slot);
	add_u64(o, "member_bytes", f->member_bytes);
	add_u64(o, "length_bytes", f->length_bytes);
	add_u64(o, "array_first_bytes", f->array_first_bytes);
	add_u64(o, "array_last_bytes", f->array_last_bytes);
	add_u64(o, "sync_bytes", item->sync_bytes);
	return o;
}

static void add_identity(struct json_object *o, const struct blkalign_scrub *s, const struct scrub_identity *identity)
{
	json_object_object_add(o, "md_uuid", identity->uuid ? json_object_new_string(identity->uuid) : NULL);
	json_object_object_add(o, "md_level", identity->level ? json_object_new_string(identity->level) : NULL);
	add_u64(o, "md_events", identity->events);
	add_u64(o, "members", s->view.geometry->members);
	add_u64(o, "total_bytes", s->walk.total_bytes);
}

int scrub_state_write(const struct blkalign_scrub *s, const struct scrub_identity *identity, char **ret_text)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const char *text;

	json_object_object_add(o, "blkalign-scrub-state", json_object_new_int(STATE_VERSION));
	add_identity(o, s, identity);
	add_u64(o, "position_bytes", s->walk.position_bytes);
	add_u64(o, "read_bytes", s->read_bytes);
	add_u64(o, "mismatch_sectors512", s->mismatch_sectors512);
	add_u64(o, "unreadable_bytes", s->unreadable_bytes);
	add_u64(o, "lost_bytes", s->lost_bytes);
	add_u64(o, "uncompared_bytes", s->uncompared_bytes);
	add_u64(o, "dropped_findings", s->list.dropped);
	for (size_t i = 0; i < s->list.items.count; i++)
		json_object_array_add(list, finding_json(&s->list.items.data[i]));
	json_object_object_add(o, "findings", list);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	*ret_text = text ? strdup(text) : NULL;
	json_object_put(o);
	return *ret_text ? 0 : -ENOMEM;
}

/* --- reading --- */

/* Absent and null are unknown; what is no such number makes the whole state a wrong one. */
static uint64_t get_u64(struct json_object *o, const char *key, bool *ok)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v) || !v)
		return BLKALIGN_UNKNOWN;
	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 0) {
		*ok = false;
		return BLKALIGN_UNKNOWN;
	}
	return json_object_get_uint64(v);
}

static const char *get_str(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

static bool parse_kind(const char *text, enum blkalign_scrub_kind *ret)
{
	for (unsigned i = 0; text && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, kinds[i])) {
			*ret = (enum blkalign_scrub_kind)i;
			return true;
		}
	return false;
}

static bool parse_verdict(const char *text, enum blkalign_scrub_verdict *ret)
{
	for (unsigned i = 0; text && i <= BLKALIGN_SCRUB_OVERLAP; i++)
		if (!strcmp(text, blkalign_scrub_verdict_name((enum blkalign_scrub_verdict)i))) {
			*ret = (enum blkalign_scrub_verdict)i;
			return true;
		}
	return false;
}

/* A finding lies in the part that was looked at, and names a member that there may be. */
static bool plausible(const struct blkalign_scrub *s, const struct scrub_item *item)
{
	const struct blkalign_scrub_finding *f = &item->found;
	bool whole = f->slot == BLKALIGN_SLOT_NONE;

	return (whole || f->slot < s->view.geometry->members) && f->length_bytes &&
	       range_inside(item->sync_bytes, f->length_bytes, s->walk.position_bytes) && item->sync_bytes % 512 == 0 &&
	       f->length_bytes % 512 == 0 && range_inside(f->member_bytes, f->length_bytes, s->view.geometry->used_bytes) &&
	       (!s->view.geometry->parity ||
		(f->member_bytes == item->sync_bytes && f->member_bytes % VIEW_ROW_BYTES == 0 && f->length_bytes % VIEW_ROW_BYTES == 0)) &&
	       (f->array_first_bytes == BLKALIGN_UNKNOWN) == (f->array_last_bytes == BLKALIGN_UNKNOWN) &&
	       (f->array_first_bytes == BLKALIGN_UNKNOWN ||
		(f->array_first_bytes <= f->array_last_bytes && f->array_last_bytes < raid_array_bytes(s->view.geometry)));
}

static bool read_finding(const struct blkalign_scrub *s, struct json_object *o, struct scrub_item *ret)
{
	struct blkalign_scrub_finding *f = &ret->found;
	bool ok = json_object_is_type(o, json_type_object);
	uint64_t slot;

	*ret = (struct scrub_item){ 0 };
	if (!ok || !parse_kind(get_str(o, "kind"), &f->kind) || !parse_verdict(get_str(o, "verdict"), &f->verdict))
		return false;
	slot = get_u64(o, "slot", &ok);
	f->slot = slot == BLKALIGN_UNKNOWN ? BLKALIGN_SLOT_NONE : slot < RAID_MEMBERS_MAX ? (uint32_t)slot : RAID_MEMBERS_MAX;
	f->member_bytes = get_u64(o, "member_bytes", &ok);
	f->length_bytes = get_u64(o, "length_bytes", &ok);
	f->array_first_bytes = get_u64(o, "array_first_bytes", &ok);
	f->array_last_bytes = get_u64(o, "array_last_bytes", &ok);
	ret->sync_bytes = get_u64(o, "sync_bytes", &ok);
	return ok && plausible(s, ret);
}

static int read_findings(struct blkalign_scrub *s, struct json_object *o)
{
	struct json_object *list = NULL;
	size_t count;

	if (!json_object_object_get_ex(o, "findings", &list) || !json_object_is_type(list, json_type_array))
		return -EBADMSG;
	count = json_object_array_length(list);
	if (count > SCRUB_FINDINGS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		struct scrub_item item;

		if (!read_finding(s, json_object_array_get_idx(list, i), &item))
			return -EBADMSG;
		if (i && item.sync_bytes < s->list.items.data[i - 1].sync_bytes)
			return -EBADMSG;
		if (vec_push(&s->list.items, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_counts(struct blkalign_scrub *s, struct json_object *o)
{
	bool ok = true;

	s->walk.position_bytes = get_u64(o, "position_bytes", &ok);
	s->read_bytes = get_u64(o, "read_bytes", &ok);
	s->mismatch_sectors512 = get_u64(o, "mismatch_sectors512", &ok);
	s->unreadable_bytes = get_u64(o, "unreadable_bytes", &ok);
	s->lost_bytes = get_u64(o, "lost_bytes", &ok);
	s->uncompared_bytes = get_u64(o, "uncompared_bytes", &ok);
	s->list.dropped = get_u64(o, "dropped_findings", &ok);
	ok = ok && s->walk.position_bytes <= s->walk.total_bytes && s->walk.position_bytes % 512 == 0 &&
	     s->read_bytes != BLKALIGN_UNKNOWN && s->mismatch_sectors512 != BLKALIGN_UNKNOWN && s->unreadable_bytes != BLKALIGN_UNKNOWN &&
	     s->lost_bytes != BLKALIGN_UNKNOWN && s->uncompared_bytes != BLKALIGN_UNKNOWN && s->list.dropped != BLKALIGN_UNKNOWN;
	return ok ? 0 : -EBADMSG;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static int same_array(const struct blkalign_scrub *s, const struct scrub_identity *identity, struct json_object *o,
		      struct blkalign_error *reterr)
{
	bool ok = true;
	uint64_t events = get_u64(o, "md_events", &ok), members = get_u64(o, "members", &ok), total = get_u64(o, "total_bytes", &ok);

	if (!ok)
		return -EBADMSG;
	if (!same_text(identity->uuid, get_str(o, "md_uuid")) || !same_text(identity->level, get_str(o, "md_level")) ||
	    members != s->view.geometry->members || total != s->walk.total_bytes)
		return blkalign_error_set(reterr, -ESTALE, NULL, BLKALIGN_UNKNOWN,
					  "this is the state of another array (UUID %s): start without --resume", get_str(o, "md_uuid"));
	if (events != identity->events)
		return blkalign_error_set(reterr, -ESTALE, NULL, BLKALIGN_UNKNOWN,
					  "the array was written to since (its event count was %llu and is %llu): start without --resume",
					  (unsigned long long)events, (unsigned long long)identity->events);
	return 0;
}

static struct json_object *parse(const char *text)
{
	struct json_tokener *tokener = json_tokener_new_ex(STATE_DEPTH);
	struct json_object *o = NULL;
	size_t length = strlen(text);

	if (tokener && length <= STATE_MAX_BYTES)
		o = json_tokener_parse_ex(tokener, text, (int)length + 1);
	if (tokener)
		json_tokener_free(tokener);
	return o;
}

static int read_all(struct blkalign_scrub *s, const struct scrub_identity *identity, struct json_object *o, struct blkalign_error *reterr)
{
	bool ok = true;
	int r;

	if (!json_object_is_type(o, json_type_object) || get_u64(o, "blkalign-scrub-state", &ok) != STATE_VERSION || !ok)
		return -EBADMSG;
	r = same_array(s, identity, o, reterr);
	if (r >= 0)
		r = read_counts(s, o);
	return r < 0 ? r : read_findings(s, o);
}

int scrub_state_read(struct blkalign_scrub *s, const struct scrub_identity *identity, const char *text, struct blkalign_error *reterr)
{
	struct json_object *o = parse(text);
	int r = read_all(s, identity, o, reterr);

	if (r == -EBADMSG)
		blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN,
				   "this is no state of a scrub, or a damaged one: start without --resume");
	json_object_put(o);
	return r;
}
