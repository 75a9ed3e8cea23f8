/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli.h"
#include "verbs.h"

enum option_id {
#define OPTION(symbol, name, letter, argument, verbs, help) OPTION_##symbol,
#include "options.def"
#undef OPTION
	OPTION_COUNT
};

static const struct row {
	const char *name;
	char letter;
	const char *argument;
	unsigned verbs;
	const char *help;
} rows[OPTION_COUNT] = {
#define OPTION(symbol, name, letter, argument, verbs, help) { name, letter, argument, verbs, help },
#include "options.def"
#undef OPTION
};

/* An argument in brackets may be left out. */
static bool optional(const struct row *row) { return row->argument && *row->argument == '['; }

static void help_row(const struct row *row)
{
	char left[40], letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	if (optional(row))
		snprintf(left, sizeof(left), "%s--%s[=%s", letter, row->name, row->argument + 1);
	else
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, row->argument ? "=" : "", row->argument ? row->argument : "");
	printf("  %-28s ", left);
	cli_wrap(row->help, 31);
}

void cli_help(const struct cli_verb *verb)
{
	if (!verb) {
		printf("Usage: blkalign VERB [OPTION...] [TARGET...]\n\n"
		       "Is this machine's storage, or any disk image or snapshot, aligned from the\n"
		       "physical block up to the file system? Nothing is written to a target unless\n"
		       "serve --rw, scrub --repair, rebuild, create or undo ask for it.\n\n");
		for (size_t i = 0; i < cli_verbs_count; i++) {
			printf("  %-9s ", cli_verbs[i].name);
			cli_wrap(cli_verbs[i].summary, 12);
		}
		printf("\nTARGET: nothing (this machine), a block device, disk images (all members of an\n"
		       "array together), a snapshot, a dumped /sys tree, or a file of pasted text from\n"
		       "lsblk, fdisk, mdadm, pvs and the like.\n\n"
		       "`blkalign VERB --help` lists the options. Exit status of check: 0 aligned,\n"
		       "1 could not check, 2 warnings, 3 misaligned or at risk.\n");
		return;
	}
	printf("Usage: blkalign %s [OPTION...] %s\n\n", verb->name, verb->arguments);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (rows[i].verbs & verb->bit)
			help_row(&rows[i]);
	if (verb->bit == CHECK)
		printf("\nExit status: 0 aligned, 1 could not check, 2 warnings, 3 misaligned or at risk.\n");
	if (verb->bit == SCRUB)
		printf("\nExit status: 0 consistent, 1 could not scrub, 2 mismatches or unreadable\n"
		       "sectors are left or members are missing, 3 data is lost, 130 interrupted.\n");
	if (verb->bit == REBUILD)
		printf("\nExit status: 0 in sync, 1 failed, 2 in sync, but some of it may be wrong,\n"
		       "130 interrupted.\n");
}

#define BLOCK_MIN_BYTES 512ULL
#define BLOCK_MAX_BYTES (1024ULL * 1024)

/* "4096", "4k", "4KiB": block sizes are powers of two from 512 to 1 MiB. */
static int parse_block(const char *text, uint64_t *ret_bytes)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (errno || !value)
		return -EINVAL;
	if (!strcasecmp(end, "k") || !strcasecmp(end, "kib"))
		value = value > BLOCK_MAX_BYTES ? 0 : value * 1024;
	else if (*end)
		return -EINVAL;
	if (value < BLOCK_MIN_BYTES || value > BLOCK_MAX_BYTES || (value & (value - 1)))
		return -EINVAL;
	*ret_bytes = value;
	return 0;
}

static int set_block(const char *option, const char *text, uint64_t *bytes)
{
	if (!parse_block(text, bytes))
		return 0;
	cli_say("--%s=%s: expected a power of two from 512 to 1048576, e.g. 512 or 4096", option, cli_safe(text));
	return -EINVAL;
}

static int set_bytes(const char *option, const char *text, uint64_t *bytes)
{
	if (!cli_parse_bytes(text, strlen(text), bytes))
		return 0;
	cli_say("--%s=%s: expected bytes, e.g. 4096, 64k, 1G or 8s (sectors)", option, cli_safe(text));
	return -EINVAL;
}

/* lvm2 takes bare numbers for MiB, or for KiB, we for bytes: nobody should have to know that. */
static int set_lvm_bytes(const char *option, const char *text, uint64_t *bytes)
{
	int r = set_bytes(option, text, bytes);

	if (r < 0 || !*bytes || !strncasecmp(text, "0x", 2) || !isdigit((unsigned char)text[strlen(text) - 1]))
		return r;
	cli_say("--%s=%s: lvm2 would not take it for bytes; add a unit: %sb (bytes), %sk or %sm", option, text, text, text, text);
	return -EINVAL;
}

static int set_length(const char *text, uint64_t *bytes)
{
	int r = set_bytes("length", text, bytes);

	if (r < 0 || *bytes)
		return r;
	cli_say("--length=%s: nothing would be copied; without --length all is", cli_safe(text));
	return -EINVAL;
}

static int add_bad(const char *text, struct cli_options *o)
{
	if (o->bad_count < CLI_BAD_MAX) {
		o->bad[o->bad_count++] = text;
		return 0;
	}
	cli_say("--bad=%s: more than %d", cli_safe(text), CLI_BAD_MAX);
	return -EINVAL;
}

static int set_color(const char *when, struct cli_options *o)
{
	if (!strcmp(when, "always"))
		o->color = true;
	else if (!strcmp(when, "never"))
		o->color = false;
	else if (strcmp(when, "auto") != 0) {
		cli_say("--color=%s: expected auto, always or never", cli_safe(when));
		return -EINVAL;
	}
	return 0;
}

static int set_number(const char *option, const char *text, uint64_t most, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (value && !errno && !*end && value <= most) {
		*ret = value;
		return 0;
	}
	cli_say("--%s=%s: expected a number from 1 to %" PRIu64, option, cli_safe(text), most);
	return -EINVAL;
}

static int set_repair(const char *what, struct cli_options *o)
{
	o->repair = true;
	o->repair_parity = what && !strcmp(what, "parity");
	if (!what || o->repair_parity)
		return 0;
	cli_say("--repair=%s: expected --repair or --repair=parity", cli_safe(what));
	return -EINVAL;
}

static int set_metadata(const char *which, struct cli_options *o)
{
	bool number = which && isdigit((unsigned char)*which);

	o->metadata = which ? which : "text";
	if (number)
		return set_number("metadata", which, UINT32_MAX, &o->metadata_seqno);
	if (!strcmp(o->metadata, "text") || !strcmp(o->metadata, "all") || !strcmp(o->metadata, "areas"))
		return 0;
	cli_say("--metadata=%s: expected text, a sequence number, all or areas", cli_safe(which));
	return -EINVAL;
}

static int add_onto(const char *target, struct cli_options *o)
{
	if (o->onto_count < sizeof(o->onto) / sizeof(o->onto[0])) {
		o->onto[o->onto_count++] = target;
		return 0;
	}
	cli_say("--onto=%s: no more than two members are rebuilt at a time", cli_safe(target));
	return -EINVAL;
}

static bool *array_flag(enum option_id id, struct cli_options *o)
{
	if (id == OPTION_VERBOSE_LIST)
		return &o->verbose;
	if (id == OPTION_YES)
		return &o->yes;
	if (id == OPTION_RESUME)
		return &o->resume;
	if (id == OPTION_FORCE_OVERWRITE)
		return &o->force_overwrite;
	if (id == OPTION_DRY_RUN)
		return &o->dry_run;
	if (id == OPTION_PROGRESS_JSON)
		return &o->progress_json;
	return id == OPTION_FORCE_REPAIR || id == OPTION_FORCE_REBUILD ? &o->force : NULL;
}

/* Options of the verbs that work on whole arrays. */
static int apply_to_array(enum option_id id, const char *value, struct cli_options *o)
{
	bool *flag = array_flag(id, o);
	uint64_t number = 0;
	int r = 0;

	if (flag)
		*flag = true;
	else if (id == OPTION_NODE_ARRAY)
		o->node = value;
	else if (id == OPTION_UNDO_LOG)
		o->undo = value;
	else if (id == OPTION_STATE)
		o->state = value;
	else if (id == OPTION_REPAIR)
		return set_repair(value, o);
	else if (id == OPTION_ONTO)
		return add_onto(value, o);
	else if (id == OPTION_THREADS)
		r = set_number("threads", value, 16, &number);
	else
		r = set_number("rate", value, 1000000, &number);
	if (id == OPTION_THREADS)
		o->threads = (unsigned)number;
	else if (id == OPTION_RATE)
		o->rate_bytes = number << 20;
	return r;
}

static int apply_to_server(enum option_id id, const char *value, struct cli_options *o)
{
	if (id == OPTION_SOCKET)
		o->socket = value;
	else if (id == OPTION_PORT)
		o->port = value;
	else
		o->address = value;
	return 0;
}

static int apply_to_copy(enum option_id id, const char *value, struct cli_options *o)
{
	if (id == OPTION_OFFSET)
		return set_bytes("offset", value, &o->offset_bytes);
	if (id == OPTION_LENGTH)
		return set_length(value, &o->length_bytes);
	if (id == OPTION_BAD)
		return add_bad(value, o);
	if (id == OPTION_MAP)
		o->map = value;
	o->overwrite = o->overwrite || id == OPTION_OVERWRITE;
	o->resume = o->resume || id == OPTION_RESUME_COPY;
	o->reverse = o->reverse || id == OPTION_REVERSE;
	return 0;
}

/* 0 copies of the metadata, and 0 mirrors, are answers. */
static int set_count(const char *option, const char *text, uint32_t most, uint32_t *ret)
{
	uint64_t value = 0;
	int r = strcmp(text, "0") ? set_number(option, text, most, &value) : 0;

	*ret = (uint32_t)value;
	return r;
}

static int add_node(const char *name, struct cli_options *o)
{
	if (o->create.node_count < CLI_NODES_MAX) {
		o->create.nodes[o->create.node_count++] = name;
		return 0;
	}
	cli_say("--node=%s: more than %d", cli_safe(name), CLI_NODES_MAX);
	return -EINVAL;
}

static int apply_to_volume(enum option_id id, const char *value, struct blkalign_create_lv_options *lv)
{
	if (id == OPTION_SIZE)
		return set_lvm_bytes("size", value, &lv->size_bytes);
	if (id == OPTION_STRIPE_SIZE)
		return set_lvm_bytes("stripe-size", value, &lv->stripe_bytes);
	if (id == OPTION_STRIPES)
		return set_count("stripes", value, 1000, &lv->stripes);
	if (id == OPTION_MIRRORS)
		return set_count("mirrors", value, 1000, &lv->mirrors);
	if (id == OPTION_NAME)
		lv->name = value;
	else if (id == OPTION_TYPE)
		lv->type = value;
	else
		lv->extents = value;
	return 0;
}

static int apply_to_create(enum option_id id, const char *value, struct cli_options *o)
{
	struct blkalign_create_pv_options *pv = &o->create.pv;

	if (id == OPTION_DATA_ALIGNMENT)
		return set_lvm_bytes("data-alignment", value, &pv->data_alignment_bytes);
	if (id == OPTION_DATA_ALIGNMENT_OFFSET)
		return set_lvm_bytes("data-alignment-offset", value, &pv->data_alignment_offset_bytes);
	if (id == OPTION_METADATA_SIZE)
		return set_lvm_bytes("metadata-size", value, &pv->metadata_bytes);
	if (id == OPTION_METADATA_COPIES)
		return set_count("metadata-copies", value, 2, &pv->metadata_copies);
	if (id == OPTION_EXTENT_SIZE)
		return set_lvm_bytes("extent-size", value, &o->create.vg.extent_bytes);
	if (id == OPTION_NODE_CREATE)
		return add_node(value, o);
	if (id == OPTION_VERBOSE_CREATE)
		o->verbose = true;
	else if (id == OPTION_FORCE_CREATE)
		pv->force = true;
	else
		return apply_to_volume(id, value, &o->create.lv);
	return 0;
}

static int apply_to_show(enum option_id id, const char *value, struct cli_options *o)
{
	if (id == OPTION_METADATA)
		return set_metadata(value, o);
	if (id == OPTION_NODE_METADATA)
		o->node = value;
	else if (id == OPTION_SVG)
		o->svg = value;
	else
		o->html = value;
	return 0;
}

static int apply(enum option_id id, const char *value, struct cli_options *o)
{
	if (rows[id].verbs == CREATE)
		return apply_to_create(id, value, o);
	if (rows[id].verbs == SHOW)
		return apply_to_show(id, value, o);
	switch ((unsigned)id) {
	case OPTION_JSON:
		o->json = true;
		break;
	case OPTION_COLUMNS:
		o->columns = value;
		break;
	case OPTION_LIST_COLUMNS:
		o->list_columns = true;
		break;
	case OPTION_VERBOSE:
		o->verbose = true;
		break;
	case OPTION_QUIET:
		o->quiet = true;
		break;
	case OPTION_NAGIOS:
		o->nagios = true;
		break;
	case OPTION_OPENMETRICS:
		o->openmetrics = true;
		break;
	case OPTION_OUTPUT:
		o->output = value;
		break;
	case OPTION_SOCKET:
	case OPTION_PORT:
	case OPTION_ADDRESS:
		return apply_to_server(id, value, o);
	case OPTION_NODE:
		o->node = value;
		break;
	case OPTION_RW:
		o->rw = true;
		break;
	case OPTION_COW:
		o->cow = true;
		break;
	case OPTION_FORCE:
		o->force = true;
		break;
	case OPTION_KEEP_NAMES:
		o->keep_names = true;
		break;
	case OPTION_SYSROOT:
		o->source.sysroot = value;
		break;
	case OPTION_ASSUME_LOGICAL:
		return set_block("assume-logical", value, &o->source.assume_logical_bytes);
	case OPTION_ASSUME_PHYSICAL:
		return set_block("assume-physical", value, &o->source.assume_physical_bytes);
	case OPTION_NO_SUPERBLOCKS:
		o->source.no_superblocks = true;
		break;
	case OPTION_COLOR:
		return set_color(value, o);
	case OPTION_ASCII:
		o->ascii = true;
		break;
	case OPTION_OFFSET:
	case OPTION_LENGTH:
	case OPTION_OVERWRITE:
	case OPTION_MAP:
	case OPTION_RESUME_COPY:
	case OPTION_REVERSE:
	case OPTION_BAD:
		return apply_to_copy(id, value, o);
	case OPTION_VERBOSE_LIST:
	case OPTION_NODE_ARRAY:
	case OPTION_REPAIR:
	case OPTION_YES:
	case OPTION_FORCE_REPAIR:
	case OPTION_UNDO_LOG:
	case OPTION_STATE:
	case OPTION_RESUME:
	case OPTION_ONTO:
	case OPTION_FORCE_OVERWRITE:
	case OPTION_FORCE_REBUILD:
	case OPTION_DRY_RUN:
	case OPTION_THREADS:
	case OPTION_RATE:
	case OPTION_PROGRESS_JSON:
		return apply_to_array(id, value, o);
	default: /* help and version are met before */
		break;
	}
	return 0;
}

static int argument_kind(const struct row *row)
{
	return optional(row) ? optional_argument : row->argument ? required_argument : no_argument;
}

/* getopt's tables for one verb: an option of another verb is as unknown as a misspelt one. */
static void getopt_tables(unsigned verb_bit, struct option *longs, char *shorts)
{
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		if (!(rows[i].verbs & verb_bit))
			continue;
		*longs++ = (struct option){ rows[i].name, argument_kind(&rows[i]), NULL, 256 + (int)i };
		if (rows[i].letter) {
			*shorts++ = rows[i].letter;
			if (rows[i].argument)
				*shorts++ = ':';
		}
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static enum option_id option_of(int code, unsigned verb_bit)
{
	if (code >= 256)
		return (enum option_id)(code - 256);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (rows[i].letter == code && rows[i].verbs & verb_bit)
			return (enum option_id)i;
	return OPTION_COUNT;
}

static const struct cli_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < cli_verbs_count; i++)
		if (!strcmp(cli_verbs[i].name, name))
			return &cli_verbs[i];
	return NULL;
}

static bool is(const char *argument, const char *name, const char *letter) { return !strcmp(argument, name) || !strcmp(argument, letter); }

static int no_verb(int argc, char **argv)
{
	if (argc > 1 && is(argv[1], "--version", "-V")) {
		printf("blkalign %s\n", blkalign_version());
		return CLI_ALIGNED;
	}
	if (argc > 1 && (is(argv[1], "--help", "-h") || is(argv[1], "help", "help"))) {
		cli_help(NULL);
		return CLI_ALIGNED;
	}
	if (argc > 1)
		cli_say("\"%s\" is no verb: expected check, show, explain, capture, map, copy, serve, scrub, rebuild, create or undo; see "
			"blkalign "
			"--help",
			cli_safe(argv[1]));
	else
		cli_help(NULL);
	return CLI_FAILED;
}

int cli_parse(int argc, char **argv, struct cli_options *o, const struct cli_verb **ret_verb, int *ret_exit)
{
	const struct cli_verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
	struct option longs[OPTION_COUNT + 1];
	char shorts[2 * OPTION_COUNT + 1];
	int code;

	*ret_exit = CLI_FAILED;
	if (!verb) {
		*ret_exit = no_verb(argc, argv);
		return 1;
	}
	o->verb = verb->name;
	o->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	o->create.pv.metadata_copies = 1;
	o->create.pv.data_alignment_offset_bytes = BLKALIGN_UNKNOWN;
	o->create.lv.mirrors = UINT32_MAX;
	o->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	getopt_tables(verb->bit, longs, shorts);
	argv[1] = (char[]){ "blkalign" }; /* getopt's complaints begin with it, as all others do */
	while ((code = getopt_long(argc - 1, argv + 1, shorts, longs, NULL)) != -1) {
		enum option_id id = option_of(code, verb->bit);

		if (code == '?') {
			fprintf(stderr, "Try `blkalign %s --help`.\n", verb->name);
			return 1;
		}
		if (id == OPTION_HELP || id == OPTION_VERSION) {
			if (id == OPTION_HELP)
				cli_help(verb);
			else
				printf("blkalign %s\n", blkalign_version());
			*ret_exit = CLI_ALIGNED;
			return 1;
		}
		if (apply(id, optarg, o))
			return 1;
	}
	o->targets = (const char *const *)argv + 1 + optind;
	o->target_count = (size_t)(argc - 1 - optind);
	*ret_verb = verb;
	return 0;
}
