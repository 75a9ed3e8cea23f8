/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree as text, laid out as lvm2's lib/format_text/export.c does without indenting: so that what was read and is written again differs in nothing but what was
 * changed. Readers do not care for blank lines; people who compare texts do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "format/lvm2/lvm2_tree.h"

/* Where in the text a section stands. */
enum level { LEVEL_TOP, LEVEL_GROUP, LEVEL_LIST, LEVEL_ITEM, LEVEL_SEGMENT };

static bool is_key(const struct lvm2_node *n, const char *key)
{
	size_t length = strlen(key);

	return n->key_length == length && !memcmp(n->key, key, length);
}

static void put_string(struct strbuf *out, const struct lvm2_node *n)
{
	uint32_t from = 0;

	strbuf_add(out, "\"");
	for (uint32_t i = 0; i < n->text_length; i++) {
		if (n->text[i] != '"' && n->text[i] != '\\')
			continue;
		strbuf_addn(out, n->text + from, i - from);
		strbuf_add(out, "\\");
		from = i;
	}
	strbuf_addn(out, n->text + from, n->text_length - from);
	strbuf_add(out, "\"");
}

static void put_scalar(struct strbuf *out, const struct lvm2_node *n)
{
	if (n->kind == LVM2_STRING)
		put_string(out, n);
	else if (n->kind == LVM2_INTEGER)
		strbuf_printf(out, "%" PRId64, n->integer);
	else
		strbuf_addn(out, n->text, n->text_length);
}

/* How many values of an array stand on a line; 0: all, without breaks. */
static unsigned values_of_line(const struct lvm2_node *array)
{
	if (is_key(array, "stripes") || is_key(array, "mirrors") || is_key(array, "raids"))
		return 2;
	return is_key(array, "raid0_lvs") ? 1 : 0;
}

static void put_array(struct strbuf *out, const struct lvm2_node *array)
{
	unsigned of_line = values_of_line(array), column = 0;

	strbuf_add(out, of_line ? "[\n" : "[");
	for (const struct lvm2_node *n = array->first; n; n = n->next) {
		put_scalar(out, n);
		column++;
		if (of_line && (column % of_line == 0 || !n->next))
			strbuf_add(out, n->next ? ",\n" : "\n");
		else if (n->next)
			strbuf_add(out, ", ");
	}
	strbuf_add(out, "]");
}

static void put_key(struct strbuf *out, const struct lvm2_node *n)
{
	bool plain = true;

	for (uint32_t i = 0; i < n->key_length; i++)
		plain = plain && (lvm2_is_name_character(n->key[i]) || n->key[i] == '/');
	if (plain)
		strbuf_addn(out, n->key, n->key_length);
	else
		put_string(out, &(struct lvm2_node){ .text = n->key, .text_length = n->key_length });
}

static bool is_section(const struct lvm2_node *n, const char *begin)
{
	size_t length = strlen(begin);

	return n->kind == LVM2_SECTION && n->key_length > length && !memcmp(n->key, begin, length);
}

static bool blank_before(const struct lvm2_node *n, const struct lvm2_node *before, enum level level)
{
	if (level == LEVEL_GROUP)
		return n->kind == LVM2_SECTION;
	if (level == LEVEL_LIST)
		return true;
	if (level == LEVEL_ITEM)
		return (is_section(n, "segment") && before && is_key(before, "segment_count")) ||
		       (is_key(n, "status") && before && (is_key(before, "device") || is_key(before, "device_id")));
	if (level == LEVEL_SEGMENT)
		return values_of_line(n) || is_section(n, "message") || (before && is_key(before, "extent_count"));
	return false;
}

static void put_entries(struct strbuf *out, const struct lvm2_node *section, enum level level);

static void put_section(struct strbuf *out, const struct lvm2_node *n, enum level level)
{
	enum level inside = level < LEVEL_SEGMENT ? level + 1 : LEVEL_SEGMENT;

	put_key(out, n);
	strbuf_add(out, " {\n");
	put_entries(out, n, inside);
	if (level == LEVEL_TOP)
		strbuf_add(out, lvm2_text_find(n, "logical_volumes") ? "\n" : "\n\n");
	strbuf_add(out, "}\n");
}

static void put_entries(struct strbuf *out, const struct lvm2_node *section, enum level level)
{
	const struct lvm2_node *before = NULL;

	for (const struct lvm2_node *n = section->first; n; before = n, n = n->next) {
		if (blank_before(n, before, level))
			strbuf_add(out, "\n");
		if (n->kind == LVM2_SECTION) {
			put_section(out, n, level);
			continue;
		}
		put_key(out, n);
		strbuf_add(out, " = ");
		if (n->kind == LVM2_ARRAY)
			put_array(out, n);
		else
			put_scalar(out, n);
		strbuf_add(out, "\n");
	}
}

/* A comment runs to the end of its line: what would end it becomes a space. */
static void put_comment(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_addn(out, (unsigned char)*text < ' ' ? " " : text, 1);
}

static void put_named_string(struct strbuf *out, const char *key, const char *text)
{
	strbuf_printf(out, "%s = ", key);
	put_string(out, &(struct lvm2_node){ .text = text, .text_length = (uint32_t)strlen(text) });
}

static bool by_signature(const struct lvm2_node *n)
{
	return is_key(n, "contents") || is_key(n, "version") || is_key(n, "description") || is_key(n, "creation_host") ||
	       is_key(n, "creation_time");
}

static void put_signature(struct strbuf *out, const struct lvm2_signature *s)
{
	time_t seconds = (time_t)s->unix_time;
	char date[32] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	strbuf_printf(out, "# Generated by blkalign %s: %s\n\ncontents = \"Text Format Volume Group\"\nversion = 1\n\n", blkalign_version(),
		      date);
	put_named_string(out, "description", s->description);
	strbuf_add(out, "\n\n");
	put_named_string(out, "creation_host", s->host);
	strbuf_add(out, "\t# ");
	put_comment(out, s->system);
	strbuf_printf(out, "\ncreation_time = %" PRIu64 "\t# %s\n\n", s->unix_time, date);
}

/* The sections, or what else stands beside them; nothing is known that does. */
static void put_top(struct strbuf *out, const struct lvm2_node *root, bool sections)
{
	for (const struct lvm2_node *n = root->first; n; n = n->next) {
		struct lvm2_node alone = *n, top = { .kind = LVM2_SECTION, .first = &alone };

		alone.next = NULL;
		if ((n->kind == LVM2_SECTION) == sections && !by_signature(n))
			put_entries(out, &top, LEVEL_TOP);
	}
}

void lvm2_write(const struct lvm2_node *root, const struct lvm2_signature *signature, struct strbuf *out)
{
	put_top(out, root, true);
	put_signature(out, signature);
	put_top(out, root, false);
}
