/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pass, no token list and no allocation per token: a text of ten thousand volumes is some 4 MB and 200,000 nodes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/lvm2/lvm2_text.h"

#define NODES_AT_ONCE 100U

struct parser {
	const char *text;
	size_t length;
	size_t at;
	uint32_t nodes, nodes_max;
	struct lvm2_node *spare; /* nodes are allocated by the hundred */
	size_t spares;
	struct arena *arena;
	struct blkalign_error *reterr;
};

int lvm2_text_error(struct blkalign_error *reterr, int code, const char *text, size_t offset, const char *format, ...)
{
	char message[400];
	size_t line = 1, start = 0;
	va_list args;

	for (size_t i = 0; i < offset; i++)
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return blkalign_error_set(reterr, code, NULL, offset, "metadata text, line %zu, column %zu: %s", line, offset - start + 1, message);
}

#define FAIL(p, offset, ...) lvm2_text_error((p)->reterr, -EPROTO, (p)->text, (offset), __VA_ARGS__)

/* --- characters --- */

enum class {
	SPACE = 1 << 0,
	COMMENT = 1 << 1,
	DIGIT = 1 << 2,
	KEY = 1 << 3,
	IN_STRING = 1 << 4, /* means something inside of quotes */
};
static const uint8_t classes[256] = {
	[0] = IN_STRING,
	['\t' ... '\r'] = SPACE,
	[' '] = SPACE,
	['"'] = IN_STRING,
	['#'] = COMMENT,
	['\''] = IN_STRING,
	['+'] = KEY,
	['-'] = KEY,
	['.'] = KEY,
	['/'] = KEY,
	['0' ... '9'] = DIGIT | KEY,
	['A' ... 'Z'] = KEY,
	['\\'] = IN_STRING,
	['_'] = KEY,
	['a' ... 'z'] = KEY,
};

static bool is(char c, unsigned any) { return classes[(unsigned char)c] & any; }

/* The place is kept in a local, here and below: through the pointer it would be stored for every character. */
static void skip_space(struct parser *p)
{
	const char *text = p->text;
	size_t at = p->at, length = p->length;

	while (at < length && is(text[at], SPACE | COMMENT)) {
		if (text[at] == '#') {
			const char *end = memchr(text + at, '\n', length - at);

			at = end ? (size_t)(end - text) : length;
		} else {
			at++;
		}
	}
	p->at = at;
}

/* The next character that is neither space nor comment; 0 at the end. */
static char peek(struct parser *p)
{
	skip_space(p);
	return p->at < p->length ? p->text[p->at] : 0;
}

static bool take(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static struct lvm2_node *new_node(struct parser *p, enum lvm2_node_kind kind)
{
	struct lvm2_node *n;

	if (p->nodes == p->nodes_max)
		return NULL;
	if (!p->spares) {
		p->spare = arena_alloc(p->arena, NODES_AT_ONCE * sizeof(*n));
		if (!p->spare)
			return NULL;
		p->spares = NODES_AT_ONCE;
	}
	n = p->spare++;
	p->spares--;
	p->nodes++;
	n->kind = kind;
	n->offset = LVM2_NODE_LENGTH(p->at);
	return n;
}

static int no_node(struct parser *p)
{
	if (p->nodes == p->nodes_max)
		return lvm2_text_error(p->reterr, -E2BIG, p->text, p->at, "more than %" PRIu32 " entries in a text of %zu bytes",
				       p->nodes_max, p->length);
	return -ENOMEM;
}

/* --- values --- */

static int unescape(struct parser *p, struct lvm2_node *n)
{
	char *copy = arena_alloc(p->arena, n->text_length);
	uint32_t to = 0;

	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < n->text_length; i++) {
		if (n->text[i] == '\\' && i + 1 < n->text_length && (n->text[i + 1] == '"' || n->text[i + 1] == '\\'))
			i++;
		copy[to++] = n->text[i];
	}
	n->text = copy;
	n->text_length = LVM2_NODE_LENGTH(to);
	return 0;
}

/* At the opening quote. Single quotes know no escapes. */
static int parse_string(struct parser *p, struct lvm2_node *n)
{
	const char *text = p->text;
	size_t start = p->at, at = start + 1;
	char quote = text[start];
	bool escaped = false;

	n->kind = LVM2_STRING;
	n->text = text + at;
	for (; at < p->length && text[at] != quote; at++) {
		bool escape = quote == '"' && text[at] == '\\' && at + 1 < p->length;

		if (!is(text[at], IN_STRING))
			continue;
		escaped = escaped || escape;
		at += escape;
		if (!text[at])
			return FAIL(p, at, "a string holds a NUL byte");
	}
	if (at >= p->length)
		return FAIL(p, start, "the string that begins here does not end");
	n->text_length = LVM2_NODE_LENGTH((uint64_t)(text + at - n->text));
	p->at = at + 1;
	return escaped ? unescape(p, n) : 0;
}

/* A decimal integer of `digits` characters after the sign; false when it does not fit. */
static bool to_integer(const char *digits, size_t count, bool negative, int64_t *ret)
{
	int64_t v = 0;

	for (size_t i = 0; i < count; i++) {
		int digit = digits[i] - '0';

		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, negative ? -digit : digit, &v))
			return false;
	}
	*ret = v;
	return true;
}

static int parse_number(struct parser *p, struct lvm2_node *n)
{
	size_t start = p->at, digits, count, dots = 0;
	bool negative = p->text[p->at] == '-';

	if (negative || p->text[p->at] == '+')
		p->at++;
	digits = p->at;
	for (; p->at < p->length && (is(p->text[p->at], DIGIT) || (p->text[p->at] == '.' && !dots)); p->at++)
		dots += p->text[p->at] == '.';
	count = p->at - digits;
	if (count == dots || (p->at < p->length && (is(p->text[p->at], KEY) || p->text[p->at] == '"')))
		return FAIL(p, start, "expected a number");
	if (!dots && count > 1 && p->text[digits] == '0')
		return FAIL(p, start, "a number with a leading zero, which some read as octal");
	n->kind = LVM2_INTEGER;
	if (!dots && to_integer(p->text + digits, count, negative, &n->integer))
		return 0;
	n->kind = LVM2_NUMBER;
	n->text = p->text + start;
	n->text_length = LVM2_NODE_LENGTH(p->at - start);
	return 0;
}

static int parse_scalar(struct parser *p, struct lvm2_node *n)
{
	char c = peek(p);

	if (c == '"' || c == '\'')
		return parse_string(p, n);
	if (is(c, DIGIT) || c == '-' || c == '+' || c == '.')
		return parse_number(p, n);
	return FAIL(p, p->at, p->at < p->length ? "expected a number or a string" : "the text ends where a value is expected");
}

/* Behind the "[". Arrays hold numbers and strings only. */
static int parse_array(struct parser *p, struct lvm2_node *n)
{
	struct lvm2_node **end = &n->first;
	int r;

	n->kind = LVM2_ARRAY;
	if (take(p, ']'))
		return 0;
	do {
		struct lvm2_node *item;

		skip_space(p);
		item = new_node(p, LVM2_STRING);
		if (!item)
			return no_node(p);
		r = parse_scalar(p, item);
		if (r < 0)
			return r;
		*end = item;
		end = &item->next;
	} while (take(p, ','));
	if (!take(p, ']'))
		return FAIL(p, p->at, "expected \",\" or \"]\" in the array that begins at byte %u", (unsigned)n->offset);
	return 0;
}

/* --- sections --- */

static int parse_key(struct parser *p, struct lvm2_node *n)
{
	char c = peek(p);
	size_t length;
	int r;

	if (c == '"' || c == '\'') {
		r = parse_string(p, n);
		if (r < 0)
			return r;
		n->key = n->text;
		length = n->text_length;
	} else {
		size_t at = p->at;

		n->key = p->text + at;
		while (at < p->length && is(p->text[at], KEY))
			at++;
		length = at - p->at;
		p->at = at;
	}
	if (!length)
		return FAIL(p, p->at, "expected the name of an entry");
	if (length > LVM2_KEY_MAX)
		return FAIL(p, n->offset, "the name of an entry is longer than %u characters", LVM2_KEY_MAX);
	n->key_length = LVM2_NODE_KEY(length);
	return 0;
}

static bool same_key(const struct lvm2_node *a, const struct lvm2_node *b)
{
	return a->key_length == b->key_length && !memcmp(a->key, b->key, a->key_length);
}

static int refuse_twice(struct parser *p, const struct lvm2_node *n)
{
	return FAIL(p, n->offset, "\"%.*s\" comes twice in its section", (int)(n->key_length < 100 ? n->key_length : 100), n->key);
}

/* Sections of volumes are short and many, that of all volumes long and single: pairs for the one, sorting for the other. */
static int check_twice_long(struct parser *p, const struct lvm2_node *section, size_t count)
{
	struct lvm2_names names = { .names = malloc(count * sizeof(*names.names)) };
	int64_t twice;

	if (!names.names)
		return -ENOMEM;
	for (const struct lvm2_node *n = section->first; n; n = n->next)
		names.names[names.count++] = (struct lvm2_name){ { n->key, n->key_length }, n->offset };
	twice = lvm2_names_sort(&names);
	free(names.names);
	if (twice < 0)
		return 0;
	for (const struct lvm2_node *n = section->first; n; n = n->next)
		if (n->offset == (uint64_t)twice)
			return refuse_twice(p, n);
	return 0;
}

static int check_twice(struct parser *p, const struct lvm2_node *section, size_t count)
{
	if (count > 24)
		return check_twice_long(p, section, count);
	for (const struct lvm2_node *n = section->first; n; n = n->next)
		for (const struct lvm2_node *m = section->first; m != n; m = m->next)
			if (same_key(n, m))
				return refuse_twice(p, n);
	return 0;
}

static int parse_entries(struct parser *p, struct lvm2_node *section, unsigned depth);

static int parse_entry(struct parser *p, struct lvm2_node *n, unsigned depth)
{
	int r = parse_key(p, n);

	if (r < 0)
		return r;
	n->first = NULL; /* of a quoted key, the text */
	n->text_length = 0;
	n->kind = LVM2_SECTION;
	if (take(p, '{')) {
		if (depth == LVM2_SECTION_DEPTH)
			return FAIL(p, n->offset, "sections are nested deeper than %u", LVM2_SECTION_DEPTH);
		r = parse_entries(p, n, depth + 1);
		if (r >= 0 && !take(p, '}'))
			return FAIL(p, n->offset, "the section that begins here does not end");
		return r;
	}
	if (!take(p, '='))
		return FAIL(p, p->at, "expected \"=\" or \"{\"");
	return take(p, '[') ? parse_array(p, n) : parse_scalar(p, n);
}

static int parse_entries(struct parser *p, struct lvm2_node *section, unsigned depth)
{
	struct lvm2_node **end = &section->first;
	size_t count = 0;

	while (peek(p) != '}' && p->at < p->length) {
		struct lvm2_node *n = new_node(p, LVM2_SECTION);
		int r = n ? parse_entry(p, n, depth) : no_node(p);

		if (r < 0)
			return r;
		*end = n;
		end = &n->next;
		count++;
	}
	return check_twice(p, section, count);
}

int lvm2_text_parse(const char *text, size_t length, struct arena *arena, struct lvm2_node **ret_root, struct blkalign_error *reterr)
{
	struct parser p = { .text = text, .length = length, .arena = arena, .reterr = reterr };
	struct lvm2_node *root;
	int r;

	if (length > LVM2_TEXT_MAX)
		return blkalign_error_set(reterr, -E2BIG, NULL, BLKALIGN_UNKNOWN, "a metadata text of %zu bytes", length);
	p.nodes_max = (uint32_t)((LVM2_TEXT_MEMORY - length) / sizeof(*root));
	root = new_node(&p, LVM2_SECTION);
	if (!root)
		return -ENOMEM;
	r = parse_entries(&p, root, 0);
	if (r < 0)
		return r;
	if (p.at < length)
		return FAIL(&p, p.at, "\"}\" without a section");
	*ret_root = root;
	return 0;
}

const struct lvm2_node *lvm2_text_find(const struct lvm2_node *section, const char *key)
{
	size_t length = strlen(key);

	for (const struct lvm2_node *n = section->first; n; n = n->next)
		if (n->key_length == length && !memcmp(n->key, key, length))
			return n;
	return NULL;
}
