/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli.h"

const char *cli_style(const struct cli_options *options, enum cli_style style)
{
	static const char *const codes[] = { "\033[0m", "\033[1m", "\033[32m", "\033[33m", "\033[31m", "\033[2m" };

	return options->color ? codes[style] : "";
}

const char *cli_safe(const char *text)
{
	static char buffers[8][1024];
	static unsigned next;

	next = (next + 1) % 8;
	return blkalign_escape(buffers[next], sizeof(buffers[next]), text);
}

const char *cli_bytes(uint64_t bytes)
{
	static char texts[8][32];
	static unsigned next;

	next = (next + 1) % 8;
	return blkalign_format_bytes(texts[next], sizeof(texts[next]), bytes, true);
}

static unsigned find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned width = 80;

	if (columns && atoi(columns) > 0)
		width = (unsigned)atoi(columns);
	else if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	return width < 40 ? 40 : width > 120 ? 120 : width;
}

unsigned cli_width(void)
{
	static unsigned width;

	if (!width)
		width = find_width();
	return width;
}

/* Bytes that are one column each, up to the first other one: nearly all text is, and asking the locale takes long. */
static size_t printable_ascii(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] >= ' ' && text[n] <= '~')
		n++;
	return n;
}

/* Columns that the next `length` bytes take; bytes that are no character count one each. */
static unsigned columns_of(const char *text, size_t length)
{
	unsigned columns = 0;

	while (length) {
		wchar_t c;
		size_t ascii = printable_ascii(text, length), n;
		int width;

		columns += (unsigned)ascii;
		text += ascii;
		length -= ascii;
		if (!length)
			break;
		n = mbrtowc(&c, text, length, &(mbstate_t){ 0 });
		if (n == (size_t)-1 || n == (size_t)-2 || !n) {
			n = 1;
			width = 1;
		} else {
			width = wcwidth(c);
		}
		columns += width < 0 ? 0 : (unsigned)width;
		text += n;
		length -= n;
	}
	return columns;
}

static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " \n");
	const char *quote = memchr(text, '`', length), *end = quote ? strchr(quote + 1, '`') : NULL;

	return end && end >= text + length ? (size_t)(end - text) + strcspn(end, " \n") : length;
}

/* `column`: where the first line begins; the others do at `indent`. What stands in `backquotes` is to be copied: it stays on one line. */
static void wrap(FILE *out, const char *text, unsigned indent, unsigned column)
{
	unsigned width = cli_width();
	bool fresh = true;

	while (*text) {
		size_t length = word_length(text);
		unsigned columns = columns_of(text, length);

		if (!fresh && column + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!fresh) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, length, out);
		column += columns;
		fresh = false;
		text += length;
		if (*text == '\n') {
			fprintf(out, "\n%*s", text[1] && text[1] != '\n' ? (int)indent : 0, "");
			column = indent;
			fresh = true;
		}
		if (*text)
			text++;
	}
	fputc('\n', out);
}

/* On a terminal lines end between words; elsewhere a message is one line, for logs and those who search them. */
int cli_say(const char *format, ...)
{
	char text[2048];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fputs("blkalign: ", stderr);
	if (isatty(STDERR_FILENO))
		wrap(stderr, n < 0 ? format : text, 0, sizeof("blkalign:"));
	else
		fprintf(stderr, "%s\n", n < 0 ? format : text);
	return CLI_FAILED;
}

int cli_fail(const struct blkalign_error *err)
{
	return cli_say("%s%s%s", err->where, *err->where ? ": " : "", *err->message ? err->message : strerror(-err->code));
}

int cli_fail_with_notes(const struct cli_options *o, const struct blkalign_run *run, const struct blkalign_error *err)
{
	cli_notes(o, stderr, blkalign_run_graph(run), 0);
	return cli_fail(err);
}

int cli_usage(const struct cli_options *options, const char *message)
{
	return cli_say("%s\nTry `blkalign %s --help`.", message, options->verb);
}

void cli_wrap(const char *text, unsigned indent) { wrap(stdout, text, indent, indent); }

void cli_notes(const struct cli_options *o, FILE *out, const struct blkalign_graph *graph, unsigned indent)
{
	bool plain = out != stdout;

	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++) {
		fprintf(out, "%*s%snote:%s ", (int)indent, "", plain ? "" : cli_style(o, CLI_DIM), plain ? "" : cli_style(o, CLI_PLAIN));
		wrap(out, cli_safe(blkalign_graph_remark(graph, i)), indent + 6, indent + 6);
	}
}
