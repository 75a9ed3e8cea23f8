/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines, words, numbers, sizes and columns: the text side of the imports. It knows no tool. */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"

/* --- lines --- */

/* What terminals and mail programs put into text, and what we read instead. */
static const struct {
	const char *utf8;
	char ascii;
} glyphs[] = {
	{ "\xe2\x94\x9c", '|' }, { "\xe2\x94\x94", '`' }, { "\xe2\x94\x80", '-' }, { "\xe2\x94\x82", '|' },
	{ "\xc2\xa0", ' ' },	 { "\xe2\x80\xaf", ' ' }, /* the two spaces that do not break */
	{ "\xef\xbc\x9a", ':' }, { "\xef\xbc\x8c", ',' }, { "\xef\xbc\x88", '(' }, { "\xef\xbc\x89", ')' },
};

/* Length of the escape sequence at `p` (which is ESC). */
static size_t escape_length(const char *p, const char *end)
{
	size_t n = 1, room = (size_t)(end - p);

	if (n < room && p[n] == ']') { /* a title: up to BEL */
		while (n < room && p[n] != '\a' && p[n] != '\n')
			n++;
		return n < room && p[n] == '\a' ? n + 1 : n;
	}
	if (n < room && p[n] == '[') {
		for (n++; n < room && (p[n] < '@' || p[n] > '~') && p[n] != '\n';)
			n++;
		return n < room && p[n] != '\n' ? n + 1 : n;
	}
	return n;
}

static size_t glyph_at(const char *p, const char *end, char *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(glyphs); i++) {
		size_t n = strlen(glyphs[i].utf8);

		if ((size_t)(end - p) >= n && !memcmp(p, glyphs[i].utf8, n)) {
			*ret = glyphs[i].ascii;
			return n;
		}
	}
	return 0;
}

static void unquote(char *line)
{
	char *p = line;

	while (p[0] == '>' && (p[1] == ' ' || p[1] == '>'))
		p += p[1] == ' ' ? 2 : 1;
	if (p != line)
		memmove(line, p, strlen(p) + 1);
}

bool import_next_line(const char **text, const char *end, char ret[IMPORT_LINE_MAX])
{
	const char *p = *text;
	size_t n = 0, column = 0;

	if (p >= end)
		return false;
	while (p < end && *p != '\n') {
		char c = *p;
		size_t skip = 1;

		if (c == '\033')
			skip = escape_length(p, end), c = 0;
		else if ((unsigned char)c >= 0x80 && glyph_at(p, end, &c))
			skip = glyph_at(p, end, &c);
		else if ((unsigned char)c < ' ' && c != '\t')
			c = 0;
		p += skip;
		if (!c)
			continue;
		do { /* a tab becomes the spaces it stands for, so that columns keep their places */
			if (n + 1 < IMPORT_LINE_MAX)
				ret[n++] = c == '\t' ? ' ' : c;
			column += ((unsigned char)c & 0xc0) != 0x80;
		} while (c == '\t' && column % 8);
	}
	ret[n] = '\0';
	unquote(ret);
	*text = p < end ? p + 1 : p;
	return true;
}

/* --- words --- */

void import_split(struct import_fields *ret, const char *line, const char *separators)
{
	size_t column = 0;
	bool inside = false;

	ret->count = 0;
	strncpy(ret->text, line, sizeof(ret->text) - 1);
	ret->text[sizeof(ret->text) - 1] = '\0';
	for (char *p = ret->text; *p; p++) {
		bool between = *p == ' ' || *p == '\t' || strchr(separators, *p);

		if (!between && !inside) {
			if (ret->count == IMPORT_FIELDS_MAX)
				return;
			ret->column[ret->count] = column;
			ret->at[ret->count++] = p;
		}
		column += ((unsigned char)*p & 0xc0) != 0x80;
		inside = !between;
		if (between)
			*p = '\0';
	}
}

bool import_starts(const char *line, const char *prefix) { return !strncmp(line, prefix, strlen(prefix)); }

const char *import_after(const char *line, const char *text)
{
	const char *p = strstr(line, text);

	return p ? p + strlen(text) + strspn(p + strlen(text), " ") : NULL;
}

const char *import_value(const char *line, const char *key)
{
	const char *p = line + strspn(line, " ");

	if (!import_starts(p, key))
		return NULL;
	p += strlen(key);
	p += strspn(p, " ");
	return *p == ':' ? p + 1 + strspn(p + 1, " ") : NULL;
}

/* --- numbers --- */

static int digit_value(char c, unsigned base)
{
	int v = c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : 99;

	return v < (int)base ? v : -1;
}

bool import_number(const char **text, uint64_t *ret)
{
	const char *p = *text;
	unsigned base = 10;
	uint64_t value = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	if (digit_value(*p, base) < 0)
		return false;
	for (; digit_value(*p, base) >= 0; p++)
		if (!u64_mul(value, base, &value) || !u64_add(value, (uint64_t)digit_value(*p, base), &value))
			return false;
	*text = p;
	*ret = value;
	return true;
}

bool import_word_number(const char *word, uint64_t *ret)
{
	uint64_t value;

	if (!import_number(&word, &value) || *word)
		return false;
	*ret = value;
	return true;
}

bool import_grouped_number(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; *text; text++) {
		if (isdigit((unsigned char)*text)) {
			if (!u64_mul(value, 10, &value) || !u64_add(value, (uint64_t)(*text - '0'), &value))
				return false;
		} else if (!strchr(",.' ", *text) || !isdigit((unsigned char)text[1])) {
			break;
		}
	}
	*ret = value;
	return true;
}

bool import_number_pair(const char *line, uint64_t *ret_a, uint64_t *ret_b)
{
	const char *open = strchr(line, '('), *p = open ? strchr(open, ')') : NULL;
	uint64_t a, b;

	if (!p || !memchr(open, '/', (size_t)(p - open)) || !(p = strchr(p, ':')))
		return false;
	p += 1 + strspn(p + 1, " ");
	if (!import_number(&p, &a))
		return false;
	p = strchr(p, '/');
	if (!p)
		return false;
	p += 1 + strspn(p + 1, " ");
	if (!import_number(&p, &b))
		return false;
	*ret_a = a;
	*ret_b = b;
	return true;
}

/* --- sizes --- */

static bool unit_bytes(const char *unit, enum import_units units, uint64_t *ret)
{
	static const char order[] = "kmgtpe";
	bool sector = units == IMPORT_UNITS_LVM && (*unit == 's' || *unit == 'S');
	const char *at;
	uint64_t base = 1024, bytes = 1;

	if (sector || *unit == 'b' || *unit == 'B') {
		*ret = sector ? 512 : 1;
		return true;
	}
	at = *unit ? strchr(order, tolower((unsigned char)*unit)) : NULL;
	if (!at)
		return false;
	if (units == IMPORT_UNITS_LVM && isupper((unsigned char)*unit) && unit[1] != 'i')
		base = 1000;
	if (units == IMPORT_UNITS_PARTED && unit[1] != 'i')
		base = 1000;
	for (const char *p = order; p <= at; p++)
		bytes *= base;
	*ret = bytes;
	return true;
}

/*
 * The tool printed M / scale units; some round to the nearest, some down, some up, so the true size lies strictly between the neighbours M - 1
 * and M + 1. It is known when one multiple of the grain does.
 */
static bool only_multiple(uint64_t m, uint64_t scale, uint64_t unit, uint64_t grain, uint64_t *ret)
{
	uint64_t low, high, step, first;

	if (!u64_mul(m + 1, unit, &high) || !u64_mul(scale, grain, &step))
		return false;
	low = m ? (m - 1) * unit : 0;
	first = m ? low / step + 1 : 0;
	if (high <= first * step || (high - first * step > step))
		return false;
	*ret = first * grain;
	return true;
}

bool import_size(const char *text, enum import_units units, uint64_t plain_bytes, uint64_t grain_bytes, uint64_t *ret_bytes)
{
	const char *p = text + strspn(text, " <~");
	uint64_t m = 0, scale = 1, unit;
	bool point = false;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p) || (!point && (*p == '.' || *p == ',')); p++) {
		if (*p == '.' || *p == ',') {
			point = true;
			continue;
		}
		if (!u64_mul(m, 10, &m) || !u64_add(m, (uint64_t)(*p - '0'), &m) || (point && !u64_mul(scale, 10, &scale)))
			return false;
	}
	p += strspn(p, " ");
	if (!*p)
		return plain_bytes && !point && u64_mul(m, plain_bytes, ret_bytes);
	if (!unit_bytes(p, units, &unit))
		return false;
	if (unit <= 512 && scale == 1)
		return u64_mul(m, unit, ret_bytes);
	return m < UINT64_MAX && only_multiple(m, scale, unit, grain_bytes, ret_bytes);
}

/* --- tables --- */

static bool is_pair(const char *a, const char *b, const char *const *pairs)
{
	for (; *pairs; pairs++) {
		size_t n = strlen(a);

		if (!strncmp(*pairs, a, n) && (*pairs)[n] == ' ' && !strcmp(*pairs + n + 1, b))
			return true;
	}
	return false;
}

void import_table_learn(struct import_table *ret, const char *line, const char *const *pairs)
{
	struct import_fields f;

	import_split(&f, line, "");
	ret->count = 0;
	for (size_t i = 0; i < f.count; i++) {
		size_t k = ret->count++;

		ret->start[k] = f.column[i];
		snprintf(ret->heading[k], sizeof(ret->heading[k]), "%s", f.at[i]);
		if (i + 1 < f.count && is_pair(f.at[i], f.at[i + 1], pairs)) {
			snprintf(ret->heading[k], sizeof(ret->heading[k]), "%s %s", f.at[i], f.at[i + 1]);
			i++;
		}
		ret->end[k] = f.column[i] + strlen(f.at[i]);
	}
}

/* How far a word lies from a heading: 0 when it starts or ends with it, then overlaps, then gaps. */
static size_t distance(const struct import_table *t, size_t k, size_t start, size_t end)
{
	if (start == t->start[k] || end == t->end[k])
		return 0;
	if (start < t->end[k] && end > t->start[k])
		return 1;
	return 2 + (start >= t->end[k] ? start - t->end[k] : t->start[k] - end);
}

/* Words in the same cell are separated by one NUL in the store: a space joins them again. */
static void join(const char *from, const char *word)
{
	char *p = strchr(from, '\0');

	while (p < word)
		*p++ = ' ';
}

void import_table_row(const struct import_table *table, const char *line, struct import_fields *store, const char *ret[IMPORT_FIELDS_MAX])
{
	size_t at = 0, last = IMPORT_FIELDS_MAX;

	import_split(store, line, "");
	for (size_t k = 0; k < table->count; k++)
		ret[k] = store->count == table->count ? store->at[k] : "";
	if (store->count == table->count)
		return;
	for (size_t i = 0; i < store->count && at < table->count; i++) {
		size_t start = store->column[i], end = start + strlen(store->at[i]);

		/* The first column holds the name, indented or long: it reaches up to the second heading. */
		while (at + 1 < table->count && (i || start >= table->start[1]) &&
		       distance(table, at + 1, start, end) < distance(table, at, start, end))
			at++;
		if (at == last)
			join(ret[at], store->at[i]);
		else
			ret[at] = store->at[i];
		last = at;
	}
}
