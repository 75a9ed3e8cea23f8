/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is to be told about members that are not used: which, why, and what to do. */
#include <inttypes.h>

#include "stack/md_say.h"

#define NAMES_MAX 16U /* in one sentence */

static const char *host(const struct md_member *m) { return blkalign_node_name(m->host); }

/* Written to alone while it was away. */
static bool was_used_apart(const struct md_array *a, const struct md_member *m)
{
	return md_accuses(m, a->freshest) && md_accuses(a->freshest, m);
}

static int say_behind(const struct md_say *s, const struct md_member *m)
{
	const struct md_member *f = s->a->freshest;

	return graph_remark(
		s->graph, "%s: %s of %s is stale and not used: its event count %" PRIu64 " is %" PRIu64 " behind that of %s%s", host(m),
		m->role.kind == MD_ROLE_JOURNAL ? "the write journal" : "member", s->array, m->events, f->events - m->events, host(f),
		was_used_apart(s->a, m) ? "; it reports that one as failed, so what was written to it since is on it alone" : "");
}

static int say_contradiction(const struct md_say *s, const struct md_member *m)
{
	return graph_remark(
		s->graph,
		"%s: member of %s is not used: with the event count of %s it describes another level, layout, chunk or slot than "
		"that one",
		host(m), s->array, host(s->a->freshest));
}

/* A half that is no array by itself. */
static int say_apart(const struct md_say *s, const struct md_member *m)
{
	return graph_remark(
		s->graph,
		"%s: member of %s is not used: it reports %s as failed, so that both were in use apart from each other; what was "
		"written to it since is on it alone",
		host(m), s->array, host(s->a->freshest));
}

static int say_member(const struct md_say *s, const struct md_member *m)
{
	switch (m->fate) {
	case MD_FATE_BEHIND:
		return say_behind(s, m);
	case MD_FATE_FAULTY:
		return graph_remark(s->graph, "%s: member of %s is recorded as faulty by %s and not used", host(m), s->array,
				    host(s->a->freshest));
	case MD_FATE_REMOVED:
		return graph_remark(s->graph, "%s: member of %s was removed from it by the records of %s and is not used", host(m),
				    s->array, host(s->a->freshest));
	case MD_FATE_SPLIT:
		return s->a->rival ? 0 : say_apart(s, m);
	case MD_FATE_CONTRADICTS:
		return say_contradiction(s, m);
	case MD_FATE_DOUBLED: /* told slot by slot */
	case MD_FATE_USED:
	case MD_FATE_SPARE:
		break;
	}
	return 0;
}

/* --- two halves --- */

/* Those of one fate. */
static void list_names(const struct md_array *a, enum md_fate fate, struct strbuf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++) {
		if (a->members[i]->fate != fate)
			continue;
		if (count < NAMES_MAX)
			strbuf_printf(text, "%s%s", count ? ", " : "", host(a->members[i]));
		else if (count == NAMES_MAX)
			strbuf_add(text, ", ...");
		count++;
	}
}

static int say_halves(const struct md_say *s)
{
	_cleanup_strbuf_ struct strbuf mine = { 0 }, rival = { 0 };

	list_names(s->a, MD_FATE_USED, &mine);
	list_names(s->a, MD_FATE_SPLIT, &rival);
	return graph_remark(
		s->graph,
		"%s: two halves were in use apart from each other, and their event counts do not tell which is the newer: %s (%" PRIu64
		") and %s (%" PRIu64 "). Neither is read or written; give the members of one half alone",
		s->array, strbuf_text(&mine), s->a->freshest->events, strbuf_text(&rival), s->a->rival->events);
}

/* --- two devices that are one member --- */

static bool is_same(const struct md_member *x, const struct md_member *y)
{
	return x->role.slot == y->role.slot && x->replacement == y->replacement;
}

static bool is_claimant(const struct md_say *s, const struct md_member *m)
{
	return m->fate == MD_FATE_DOUBLED || (m->fate == MD_FATE_USED && s->a->doubled);
}

/* From the first one on, those that claim what it claims. */
static int say_claim(const struct md_say *s, size_t first)
{
	const struct md_member *m = s->a->members[first], *used = m->fate == MD_FATE_USED ? m : NULL;
	_cleanup_strbuf_ struct strbuf names = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < s->a->count; i++) {
		const struct md_member *other = s->a->members[i];

		if (!is_claimant(s, other) || !is_same(m, other))
			continue;
		if (i < first)
			return 0; /* told */
		if (other->fate == MD_FATE_USED)
			used = other;
		if (count < NAMES_MAX)
			strbuf_printf(&names, "%s%s (%" PRIu64 ")", count ? ", " : "", host(other), other->events);
		else if (count == NAMES_MAX)
			strbuf_add(&names, ", ...");
		count++;
	}
	if (count < 2 && m->fate == MD_FATE_USED)
		return 0;
	if (count < 2)
		return graph_remark(s->graph, "%s: has the device UUID of another member of %s: one is a copy; give only one of them",
				    host(m), s->array);
	return graph_remark(s->graph,
			    "%s: slot %" PRIu32
			    " is claimed by %s (event counts): one is a copy of another. %s%s; give only one of them to write "
			    "to the array",
			    s->array, m->role.slot, strbuf_text(&names), used ? host(used) : "None of them",
			    used ? " is read, because the others do not suffice" : " is used: the others have all data");
}

int md_say_members(const struct md_say *s)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->a->count; i++)
		r = say_member(s, s->a->members[i]);
	for (size_t i = 0; r >= 0 && i < s->a->count; i++)
		if (is_claimant(s, s->a->members[i]))
			r = say_claim(s, i);
	return r < 0 || !s->a->rival ? r : say_halves(s);
}
