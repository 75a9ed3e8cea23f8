/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "check/shell.h"

#define LINE_COLUMNS 68U /* what 80 columns leave under a finding */

/* --- words --- */

static bool is_plain_word(const char *text)
{
	return *text && *text != '-' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%=,") == strlen(text);
}

/* No control characters, no broken or deceptive UTF-8. Backslashes are the shell's business, not the terminal's. */
static bool is_safe_on_terminal(const char *text)
{
	char safe[8];

	for (const char *p = text; *p;) {
		size_t length = 1;
		char one[5] = { *p };

		while (length < 4 && ((unsigned char)p[length] & 0xC0) == 0x80 && (unsigned char)*p >= 0xC0) {
			one[length] = p[length];
			length++;
		}
		if (*p != '\\' && strcmp(blkalign_escape(safe, sizeof(safe), one), one) != 0)
			return false;
		p += length;
	}
	return true;
}

static void quote(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, "'");
	for (; *text; text++)
		if (*text == '\'')
			strbuf_add(buf, "'\\''");
		else
			strbuf_addn(buf, text, 1);
	strbuf_add(buf, "'");
}

static void quote_bytes(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, "$'");
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 0x20 || byte >= 0x7F || byte == '\'' || byte == '\\')
			strbuf_printf(buf, "\\%03o", byte);
		else
			strbuf_addn(buf, text, 1);
	}
	strbuf_add(buf, "'");
}

const char *shell_word(struct check *c, const char *text, const char *guard)
{
	_cleanup_strbuf_ struct strbuf raw = { .text = NULL }, word = { .text = NULL };

	if (*text == '-')
		strbuf_add(&raw, guard);
	strbuf_add(&raw, text);
	if (is_plain_word(strbuf_text(&raw)))
		strbuf_add(&word, strbuf_text(&raw));
	else if (is_safe_on_terminal(strbuf_text(&raw)))
		quote(&word, strbuf_text(&raw));
	else
		quote_bytes(&word, strbuf_text(&raw));
	c->failed = c->failed || raw.failed || word.failed;
	return report_keep(c->report, strbuf_text(&word));
}

static bool is_content(const struct blkalign_node *n)
{
	enum blkalign_kind kind = blkalign_node_kind(n);

	return kind == BLKALIGN_KIND_PV || kind == BLKALIGN_KIND_CRYPT || kind == BLKALIGN_KIND_CONTENT || kind == BLKALIGN_KIND_BCACHE;
}

static bool is_image(const struct blkalign_node *n)
{
	const char *path = blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH);

	return blkalign_node_kind(n) == BLKALIGN_KIND_DISK && path && strncmp(path, "/dev/", 5) != 0;
}

/* The image file of which `n` is a partition, or NULL. */
static const struct blkalign_node *image_of(const struct blkalign_node *n)
{
	if (blkalign_node_kind(n) != BLKALIGN_KIND_PARTITION || !below(n) || blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH))
		return NULL;
	return is_image(below(n)) ? below(n) : NULL;
}

/* Contents are named "what:device"; commands act on the device. */
static const struct blkalign_node *device_of(const struct blkalign_node *n)
{
	while (is_content(n) && !blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH) && below(n))
		n = below(n);
	return n;
}

const char *shell_device(struct check *c, const struct blkalign_node *node)
{
	const struct blkalign_node *n = device_of(node);
	const char *path = blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH), *name = blkalign_node_name(n);
	uint64_t number = blkalign_node_u64(n, BLKALIGN_ATTR_PART_NUMBER);
	_cleanup_strbuf_ struct strbuf made = { .text = NULL };

	if (path)
		return shell_word(c, path, "./");
	if (image_of(n) && is_set(number))
		return report_text(c->report, "\"${LOOP}p%" PRIu64 "\"", number);
	strbuf_printf(&made, "%s%s", strncmp(name, "/dev/", 5) == 0 ? "" : "/dev/", name);
	c->failed = c->failed || made.failed;
	return shell_word(c, strbuf_text(&made), "./");
}

/* --- scripts --- */

__attribute__((format(printf, 3, 0))) static void add_line(struct script *s, const char *start, const char *format, va_list args)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		s->text.failed = true;
		return;
	}
	if (s->text.length)
		strbuf_add(&s->text, "\n");
	strbuf_add(&s->text, start);
	strbuf_add(&s->text, text);
}

/* Turn the spaces of the last line into line feeds where it gets too long. */
static void wrap(struct strbuf *text, const char *note)
{
	size_t column = LINE_COLUMNS + 1;

	while (*note) {
		size_t word = strcspn(note, " ");

		if (column + 1 + word > LINE_COLUMNS) {
			strbuf_add(text, text->length ? "\n#" : "#");
			column = 1;
		}
		strbuf_add(text, " ");
		strbuf_addn(text, note, word);
		column += 1 + word;
		note += word + (note[word] == ' ');
	}
}

void script_note(struct script *s, const char *format, ...)
{
	_cleanup_free_ char *note = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&note, format, args) < 0) {
		note = NULL;
		s->text.failed = true;
	}
	va_end(args);
	wrap(&s->text, note ? note : "");
}

void script_run(struct script *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(s, "", format, args);
	va_end(args);
}

void script_run_not(struct script *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(s, "#   ", format, args);
	va_end(args);
}

const char *script_block_device(struct script *s, const struct blkalign_node *node)
{
	const struct blkalign_node *n = device_of(node), *image = is_image(n) ? n : image_of(n);

	if (!image && is_image(drive_below(n)))
		script_note(s, "image files have to be attached (losetup) and assembled first");
	if (!image)
		return shell_device(s->c, n);
	script_run(s, "LOOP=$(losetup --find --show --partscan %s)", shell_device(s->c, image));
	return is_image(n) ? "\"$LOOP\"" : shell_device(s->c, n);
}

const char *script_finish(struct script *s)
{
	const char *text = report_keep(s->c->report, strbuf_text(&s->text));

	s->c->failed = s->c->failed || s->text.failed;
	strbuf_done(&s->text);
	return text;
}

const char *script_general(struct check *c, enum finding finding)
{
	struct script s = { .c = c };

	script_note(&s, "%s", blkalign_finding_info(finding)->remedy);
	return script_finish(&s);
}
