/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The command: what its files share. One cmd_*.c per verb; all of it on the public interface only. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <blkalign/blkalign.h>

/** Exit statuses of check; the other verbs use the first two. */
enum cli_exit { CLI_ALIGNED = 0, CLI_FAILED = 1, CLI_WARNINGS = 2, CLI_MISALIGNED = 3 };

#define CLI_BAD_MAX   256
#define CLI_NODES_MAX 64

struct cli_options {
	const char *verb;
	bool json, list_columns, verbose, quiet, nagios, openmetrics, keep_names, ascii, color;
	const char *columns, *svg, *html, *output;
	const char *metadata;	 /* "text", "all", "areas" or a number; NULL: not asked for */
	uint64_t metadata_seqno; /* that number; 0: none */
	bool rw, cow, force, overwrite, reverse;
	const char *node, *socket, *port, *address;
	bool repair, repair_parity, yes, resume, dry_run, progress_json, force_overwrite;
	const char *undo, *state;
	const char *onto[2];
	size_t onto_count;
	unsigned threads;    /* 0: not given */
	uint64_t rate_bytes; /* a second; 0: no limit */
	const char *map;
	uint64_t offset_bytes, length_bytes;
	struct cli_create {
		struct blkalign_create_pv_options pv;
		struct blkalign_create_vg_options vg;
		struct blkalign_create_lv_options lv;
		const char *nodes[CLI_NODES_MAX];
		size_t node_count;
	} create;
	const char *bad[CLI_BAD_MAX]; /* MEMBER=MAPFILE */
	size_t bad_count;
	struct blkalign_source_options source;
	const char *const *targets;
	size_t target_count;
};

struct cli_verb {
	const char *name;
	unsigned bit; /* in the verbs column of options.def */
	const char *arguments;
	const char *summary;
	int (*run)(const struct cli_options *options);
};

int cmd_show(const struct cli_options *options);
int cmd_check(const struct cli_options *options);
int cmd_explain(const struct cli_options *options);
int cmd_capture(const struct cli_options *options);
int cmd_map(const struct cli_options *options);
int cmd_copy(const struct cli_options *options);
int cmd_serve(const struct cli_options *options);
int cmd_scrub(const struct cli_options *options);
int cmd_rebuild(const struct cli_options *options);
int cmd_undo(const struct cli_options *options);
int cmd_create(const struct cli_options *options);

extern const struct cli_verb cli_verbs[];
extern const size_t cli_verbs_count;

/** Parse argv[1] as the verb and the rest as its options. 0: run it; otherwise *ret_exit is the exit status (help, version, usage error). */
int cli_parse(int argc, char **argv, struct cli_options *options, const struct cli_verb **ret_verb, int *ret_exit);
void cli_help(const struct cli_verb *verb);

/** "blkalign: ..." on standard error; what comes from others is escaped before. Returns CLI_FAILED. */
int cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** "blkalign: WHERE: MESSAGE". */
int cli_fail(const struct blkalign_error *err);
/** Likewise, behind the notes of a stack in which the node that is meant was not found: they say why. */
int cli_fail_with_notes(const struct cli_options *options, const struct blkalign_run *run, const struct blkalign_error *err);
/** What is wrong with the options, and where they are listed. Returns CLI_FAILED. */
int cli_usage(const struct cli_options *options, const char *message);

/**
 * Calls `each` for every graph that the targets make, and frees it afterwards: snapshots stand alone (`label` is their path), all other targets make one
 * graph together (`label` is NULL). A target that cannot be read is told on standard error and counts as CLI_FAILED; the others are
 * still done. Returns the highest status.
 */
int cli_each_graph(const struct cli_options *options,
		   int (*each)(const struct cli_options *, const char *label, struct blkalign_graph *, void *), void *data);

/** Colours; empty strings when colour is off. */
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_GREEN, CLI_YELLOW, CLI_RED, CLI_DIM };
const char *cli_style(const struct cli_options *options, enum cli_style style);

/** Print `text` wrapped to the terminal, `indent` columns from the left; line feeds in it are kept. */
void cli_wrap(const char *text, unsigned indent);
unsigned cli_width(void);
/** The graph's remarks, each as a wrapped "note: ...", `indent` columns from the left. Verbs whose standard output is data print them to standard error. */
void cli_notes(const struct cli_options *options, FILE *out, const struct blkalign_graph *graph, unsigned indent);
/** "4 KiB", "8.2 GiB" in one of a few rotating static buffers. Not for threads. */
const char *cli_bytes(uint64_t bytes);

/** "4096", "64k", "1MiB", "8s" (sectors of 512 bytes), "0x1000": `length` characters of `text`. 0, -EINVAL, -ERANGE. */
int cli_parse_bytes(const char *text, size_t length, uint64_t *ret_bytes);

/** On standard error: members that failed while `run` was used, and read errors that redundancy hid. Nothing when there were none. */
void cli_tell_events(struct blkalign_run *run);

/** Escape for the terminal into one of a few rotating static buffers. Not for threads. */
const char *cli_safe(const char *text);

#endif
