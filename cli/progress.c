/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "progress.h"

#define DRAW_SECONDS   0.25
#define JSON_SECONDS   1.0
#define SAMPLE_SECONDS 1.0
#define LINE_COLUMNS   79U /* the last column of 80 stays free: some terminals go to the next line after it */

static volatile sig_atomic_t caught;

static void note(int number) { caught = number; }

void cli_catch_signals(void)
{
	struct sigaction action = { .sa_handler = note }; /* without SA_RESTART: waiting ends */

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN); /* a reader that went away must not end a run that writes to disks */
}

bool cli_interrupted(void) { return caught != 0; }

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cli_progress_begin(struct cli_progress *p, const struct cli_options *o, const char *what, uint64_t position_bytes)
{
	const char *term = getenv("TERM");

	*p = (struct cli_progress){ .what = what, .json = o->progress_json, .begin_bytes = position_bytes };
	p->terminal = !p->json && isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb") != 0);
	p->begin = p->sampled = now();
	p->sampled_bytes = position_bytes;
}

/* Half of it is the last second's. */
static void sample(struct cli_progress *p, double at, uint64_t position_bytes)
{
	double seconds = at - p->sampled, rate;

	if (seconds < (p->rate > 0 ? SAMPLE_SECONDS : DRAW_SECONDS))
		return;
	rate = (double)(position_bytes - p->sampled_bytes) / seconds;
	p->rate = p->rate > 0 ? (p->rate + rate) / 2 : rate;
	p->sampled = at;
	p->sampled_bytes = position_bytes;
}

/* Seconds as people read them: "3:07", "2:15:00", "4 days". */
static void format_seconds(char *ret, size_t size, double seconds)
{
	unsigned long long s = (unsigned long long)(seconds + 0.5);

	if (seconds < 0 || seconds > 1e9)
		snprintf(ret, size, "-");
	else if (s >= 2 * 86400ULL)
		snprintf(ret, size, "%llu days", s / 86400);
	else if (s >= 3600)
		snprintf(ret, size, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(ret, size, "%llu:%02llu", s / 60, s % 60);
}

static void bar(char *ret, size_t columns, double share)
{
	for (size_t i = 0; i < columns; i++)
		ret[i] = (double)i < share * (double)columns ? '#' : '.';
	ret[columns] = '\0';
}

static void draw(const struct cli_progress *p, uint64_t position, uint64_t total, uint64_t mismatches)
{
	double share = total ? (double)position / (double)total : 1, left = -1;
	char where[32], rate[32] = "-", eta[32], count[40] = "", cells[11], line[256];

	if (p->rate > 0) {
		left = (double)(total - position) / p->rate;
		blkalign_format_bytes(rate, sizeof(rate), (uint64_t)p->rate, true);
	}
	blkalign_format_bytes(where, sizeof(where), position, true);
	format_seconds(eta, sizeof(eta), left);
	if (mismatches != UINT64_MAX)
		snprintf(count, sizeof(count), "  %" PRIu64 " mismatches", mismatches);
	bar(cells, sizeof(cells) - 1, share);
	snprintf(line, sizeof(line), "%s %5.1f %% [%s] %s  %s/s  %s left%s%s%s", p->what, 100 * share, cells, where, rate, eta, count,
		 *p->note ? "  " : "", p->note);
	fprintf(stderr, "\r%-*.*s", (int)LINE_COLUMNS, (int)LINE_COLUMNS, line);
	fflush(stderr);
}

static void print_json(const struct cli_progress *p, uint64_t position, uint64_t total, uint64_t mismatches)
{
	struct json_object *o = json_document();
	bool known = p->rate > 0;

	json_add(o, "progress", json_object_new_string(p->what));
	json_add(o, "position_bytes", json_bytes(position));
	json_add(o, "total_bytes", json_bytes(total));
	json_add(o, "bytes_per_second", known ? json_object_new_uint64((uint64_t)p->rate) : NULL);
	json_add(o, "seconds_left", known ? json_object_new_uint64((uint64_t)((double)(total - position) / p->rate)) : NULL);
	json_add(o, "mismatch_sectors512", json_bytes(mismatches));
	fprintf(stderr, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

void cli_progress_step(struct cli_progress *p, uint64_t position, uint64_t total, uint64_t mismatches)
{
	double at = now();
	bool first = p->drawn <= 0, last = position >= total;

	sample(p, at, position);
	if (p->terminal && (first || at - p->drawn >= DRAW_SECONDS))
		draw(p, position, total, mismatches);
	else if (p->json && (first || last || at - p->drawn >= JSON_SECONDS))
		print_json(p, position, total, mismatches);
	else
		return;
	p->drawn = at;
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->terminal && p->drawn > 0)
		fprintf(stderr, "\r%*s\r", (int)LINE_COLUMNS, "");
}
