/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What the readers of printed output share.
 *
 * A struct import gathers facts in a scratch graph, in the order of mention and under the names the tools use. import_finish() then resolves which
 * names mean one device and builds the result, lower devices first. Failures stick in `error`, so that readers need not look at each
 * call: once it is set, everything else does nothing.
 */
#ifndef SNAP_IMPORT_PRIV_H
#define SNAP_IMPORT_PRIV_H

#include "snap/import.h"

#define IMPORT_LINE_MAX	    4096U /* the rest of a longer line is not looked at */
#define IMPORT_FIELDS_MAX   64U
#define IMPORT_NAME_MAX	    256U
#define IMPORT_ARGS_MAX	    24U
#define IMPORT_EDGES_MAX    4096U /* of one node */
#define IMPORT_MESSAGES_MAX 16U	  /* lines kept of one node */

/* --- text (import_scan.c) --- */

/** The words of a line, with the display column each starts at. */
struct import_fields {
	size_t count;
	const char *at[IMPORT_FIELDS_MAX];
	size_t column[IMPORT_FIELDS_MAX];
	char text[IMPORT_LINE_MAX];
};
/** Split at white space and at any of `separators`. */
void import_split(struct import_fields *ret, const char *line, const char *separators);

/**
 * The next line of `*text`, cleaned into `ret`: no terminal escapes, no CR, no mail quotes, tree glyphs as ASCII, UTF-8 otherwise kept. False at
 * the end. Advances `*text`.
 */
bool import_next_line(const char **text, const char *end, char ret[IMPORT_LINE_MAX]);

bool import_starts(const char *line, const char *prefix);
/** Behind `text` in `line` with white space skipped, or NULL. */
const char *import_after(const char *line, const char *text);
/** "  Key words : value" with this key (case matters): the value, else NULL. Ends at the first ':' only. */
const char *import_value(const char *line, const char *key);
/** Unsigned decimal or 0x hexadecimal at `*text`, which is moved behind it. False when there is none or it does not fit. */
bool import_number(const char **text, uint64_t *ret);
/** The whole word is such a number. */
bool import_word_number(const char *word, uint64_t *ret);
/** A number with thousands separators (comma, dot, apostrophe, space, NBSP), up to the first other character. */
bool import_grouped_number(const char *text, uint64_t *ret);

/** "(logical/physical): 512 bytes / 4096 bytes" in any language: the two numbers. */
bool import_number_pair(const char *line, uint64_t *ret_a, uint64_t *ret_b);

enum import_units {
	IMPORT_UNITS_BINARY, /* K, M, G ... are powers of 1024 whatever their case (lsblk, mdadm, fdisk) */
	IMPORT_UNITS_LVM,    /* k, m, g powers of 1024; K, M, G powers of 1000; s sectors of 512 */
	IMPORT_UNITS_PARTED, /* KiB, MiB powers of 1024; kB, MB powers of 1000; s is refused: its size is the table's */
};
/**
 * A size with a unit ("33553920B", "65535s", "1.00m", "17.4kB", "<3,64t"). Known only when exactly one multiple of `grain_bytes` prints as this
 * text; false otherwise. A plain number counts `plain_bytes` each, 0 refuses it.
 */
bool import_size(const char *text, enum import_units units, uint64_t plain_bytes, uint64_t grain_bytes, uint64_t *ret_bytes);

/* --- tables with headings --- */

struct import_table {
	size_t count;
	char heading[IMPORT_FIELDS_MAX][24];
	size_t start[IMPORT_FIELDS_MAX], end[IMPORT_FIELDS_MAX]; /* display columns */
};
/** Learn the columns from a heading line. `pairs` are two-word headings ("1st PE"), ended by NULL. */
void import_table_learn(struct import_table *ret, const char *line, const char *const *pairs);
/** Cells of a row: `ret[i]` is the text under heading i, "" when empty; kept in `store`. */
void import_table_row(const struct import_table *table, const char *line, struct import_fields *store, const char *ret[IMPORT_FIELDS_MAX]);

/* --- gathering (import_model.c) --- */

/** An area of a logical volume, told in extents: placed when the extent size and the start of the physical volume are known. */
struct import_area {
	struct blkalign_node *lv, *pv;
	uint64_t first_extent;
	struct blkalign_edge edge;
};

/** Two names of one device. */
struct import_pair {
	struct blkalign_node *a, *b;
};

/** An edge and when it was said. */
struct import_link {
	struct blkalign_edge edge;
	size_t order;
};

typedef VEC(struct import_link) import_links;
typedef VEC(struct import_area) import_areas;
typedef VEC(struct import_pair) import_pairs;

struct import_reader;

struct import {
	struct blkalign_graph *graph;  /* scratch: nodes and their values, no edges */
	struct blkalign_graph *groups; /* scratch: a node for each volume group, for its extent size */
	int error;
	size_t facts;	    /* values and edges that were set */
	import_links links; /* duplicates are merged at the end; what is said later goes before */
	import_areas areas;
	import_pairs same;

	char usb_id[10], usb_seen[10]; /* bridge for storage; last device that the kernel announced */
	char usb_driver[16];
	unsigned usb_ids; /* how many different bridges were seen */

	/* Where we are in the text. */
	const struct import_reader *reader; /* whose output the last line was, or NULL */
	struct blkalign_node *node;	    /* device that the output is about, or NULL */
	char tool[32];			    /* command of the last prompt, "" before any */
	char args[IMPORT_ARGS_MAX][128];
	size_t arg_count;
	size_t arg_next;		   /* readers of bare values: which argument comes next */
	struct blkalign_node *prompt_node; /* the one device that the last prompt named, or NULL */

	/* State of the reader at work. */
	union {
		struct {
			char prefix[IMPORT_NAME_MAX]; /* device name as printed, that rows start with */
			char model[128];	      /* printed before the heading */
			uint64_t unit_bytes;	      /* of starts and ends in rows; 0 unknown */
			unsigned pairs;		      /* "(a/b): N / M" lines seen */
			bool rounded;		      /* rows count cylinders */
		} part;
		struct {
			struct blkalign_node *array; /* NULL until its UUID or name was seen */
			char version[16];
			uint64_t features; /* or BLKALIGN_UNKNOWN */
			bool examine;	   /* -E: the output is about a member; else -D */
		} md;
		struct {
			struct import_table table;
			char section;		    /* of pvdisplay, vgdisplay, lvdisplay: p, v, l */
			struct blkalign_node *last; /* LV of the row before, PV of the section */
			struct blkalign_node *pv;   /* of the segment */
			char group[IMPORT_NAME_MAX];
			uint64_t segment_end; /* bytes of the LV's segments so far, or BLKALIGN_UNKNOWN */
			uint64_t stripes;
			uint32_t segment, slot;
		} lvm;
		struct {
			struct import_table table;
			struct blkalign_node *parents[GRAPH_DEPTH_MAX];
			char types[GRAPH_DEPTH_MAX][16];
			size_t depth;		    /* of the row before */
			char lone[IMPORT_NAME_MAX]; /* the row before was a name only: its cells may follow on a line of their own */
			bool inverse;		    /* this tree leads downwards (lsblk -s) */
		} lsblk;
		struct {
			struct blkalign_node *content;
			uint64_t block_bytes, features;
			bool in_data;
			char section[16];
		} fs;
	} state;
};

struct import_reader {
	const char *name;
	/**
	 * Take one line; false when it is not this tool's, and then nothing may have been changed. `going_on`: this reader took the last line that
	 * anybody took, so lines without a mark of their own may be taken as well. At a heading it calls import_heading().
	 */
	bool (*line)(struct import *in, const char *line, bool going_on);
};

extern const struct import_reader import_reader_sfdisk, import_reader_parted, import_reader_gdisk, import_reader_fdisk, import_reader_mdadm,
	import_reader_mdstat, import_reader_lvm_table, import_reader_lvm_display, import_reader_scsi, import_reader_drive,
	import_reader_nvme, import_reader_sysfs, import_reader_blockdev, import_reader_luks, import_reader_ext, import_reader_xfs,
	import_reader_blkid, import_reader_dmsetup, import_reader_usb, import_reader_kernel_log, import_reader_warnings, import_reader_host,
	import_reader_lsblk_table, import_reader_lsblk_pairs, import_reader_mounts, import_reader_zfs;

void import_begin(struct import *in);
/** Build `graph` from what was gathered. 0, BLKALIGN_NOT_THIS when no fact was found, or negative errno. Releases `in`. */
int import_finish(struct import *in, struct blkalign_graph *graph, struct blkalign_error *reterr);
/** Draw the conclusions that need all facts: places told in extents, extent sizes of groups, the bridge of a disk, names of one device. */
void import_resolve_values(struct import *in);
/** Arrays that share a member, and mappings that share a device, are one: to be called when the links name one node for each device. Sorts the links. */
void import_resolve_sharing(struct import *in);
/** Read text as import_text() does, adding to `in`. */
void import_read(struct import *in, const char *text, size_t length);
/** Take `line` as the command that what follows is the output of. False when it names no tool that is known. */
bool import_command(struct import *in, const char *line);
/** A prompt, or a bare command line: like import_command() on what follows the prompt. */
bool import_prompt(struct import *in, const char *line);

/** A new piece of output begins: its state is zeroed, and it is about `node` (may be NULL). */
void import_heading(struct import *in, struct blkalign_node *node);

/** The node of exactly this name, made when there is none; NULL on failure. */
struct blkalign_node *import_node(struct import *in, enum blkalign_kind kind, const char *name);
/**
 * The device that a tool calls `name`: "/dev/sda1", "sda1:", "/dev/mapper/vg-lv", "/dev/vg/lv", "8:17". A partition brings its disk. NULL for text
 * that is no device name.
 */
struct blkalign_node *import_device(struct import *in, const char *name);
/** The device that the text is about: named by the last heading, else by the last prompt, else an unnamed disk. */
struct blkalign_node *import_current(struct import *in);
/** An image file, by its name. */
bool import_is_image(const char *word);
/** The disk of a partition by its name, or NULL when `node` is named like no partition. */
struct blkalign_node *import_disk_of(struct import *in, const struct blkalign_node *node);
/** Partition `name` of `disk` (may be NULL). */
struct blkalign_node *import_partition(struct import *in, struct blkalign_node *disk, const char *name, uint64_t start_bytes,
				       uint64_t size_bytes);
/** Say what a partition is for, by the code, flag, GUID or name that a tool printed; all others are data. */
void import_role(struct import *in, struct blkalign_node *partition, const char *word);
/** Content "what:device" on `device`, its data from `offset_bytes` on. */
struct blkalign_node *import_content(struct import *in, enum blkalign_kind kind, const char *what, struct blkalign_node *device,
				     uint64_t offset_bytes);
/** What blkid calls `type` on `device`: a PV, LUKS or content node; NULL for raid members and for none. */
struct blkalign_node *import_signature(struct import *in, const char *type, struct blkalign_node *device);

/** The device that a line mentions by its path ("/dev/..."), or NULL. */
struct blkalign_node *import_mentioned(struct import *in, const char *line);
/** The extent size of a volume group, for all its PVs and LVs. */
void import_extent(struct import *in, const char *group, uint64_t extent_bytes);
/** An extent size: at least 128 KiB and a multiple of that, or a power of two (lvm2, vg_validate); else as import_size(). */
bool import_extent_size(const char *text, uint64_t *ret_bytes);
/** The LV "group/name", brackets around a hidden one's name dropped; NULL when either is empty. */
struct blkalign_node *import_volume(struct import *in, const char *group, const char *name);

/** A row of lsblk, whatever form it came in: values by column, NULL or "" when not there. */
enum import_lsblk_column {
	LSBLK_NAME,
	LSBLK_KNAME,
	LSBLK_TYPE,
	LSBLK_START,
	LSBLK_FSTYPE,
	LSBLK_UUID,
	LSBLK_LABEL,
	LSBLK_MOUNT,
	LSBLK_PTTYPE,
	LSBLK_PARTTYPE,
	LSBLK_PARENT,
	LSBLK_VALUES, /* the others have a row in the table of import_lsblk.c */
	LSBLK_COLUMNS = LSBLK_VALUES + 24,
};
/** The column of a heading or key, LSBLK_COLUMNS when there is none. */
unsigned import_lsblk_column(const char *name);
/** The node of a row, with its values. */
struct blkalign_node *import_lsblk_row(struct import *in, const char *const values[LSBLK_COLUMNS]);
/** `upper`, of this TYPE, lies on `lower`. */
void import_lsblk_relate(struct import *in, struct blkalign_node *lower, struct blkalign_node *upper, const char *upper_type,
			 const char *lower_type, const char *start);

/* Values; a NULL node is accepted and nothing is set. A value that came from elsewhere than a tool stays. */
void import_u64(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, uint64_t value);
void import_i64(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, int64_t value);
void import_bool(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, bool value);
/** White space around it is dropped; empty text sets nothing. */
void import_str(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, const char *value);
/** Remark that `what` of the node stayed unknown, because a tool printed it rounded as `text`, and which `option` of the tool does not round. */
void import_rounded(struct import *in, const struct blkalign_node *node, const char *what, const char *text, const char *option);
/** Add a line to KERNEL_MESSAGES or TOOL_MESSAGES; the host's when `node` is NULL. */
void import_message(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, const char *line);

/** An edge; unknown facts are BLKALIGN_UNKNOWN, the slot of an area that has a place but which is not told is IMPORT_SLOT_UNKNOWN. */
#define IMPORT_SLOT_UNKNOWN (UINT32_MAX - 1)
void import_connect(struct import *in, const struct blkalign_edge *edge);
/** One segment: `upper` lies whole on `lower`. */
void import_connect_linear(struct import *in, struct blkalign_node *upper, struct blkalign_node *lower, uint64_t lower_offset_bytes,
			   uint64_t length_bytes);
/** Two names of one device. */
void import_same(struct import *in, struct blkalign_node *a, struct blkalign_node *b);
/** An md member; `state` as in struct blkalign_edge. */
void import_member(struct import *in, struct blkalign_node *array, struct blkalign_node *member, uint64_t data_offset_bytes, uint32_t slot,
		   const char *state);

/** Set a value of any type, with its origin. 0 or -ENOMEM. */
int import_copy_value(struct blkalign_node *to, enum blkalign_attr attr, const struct blkalign_value *value);

/** Set a table of attributes at once: the first row with this key, its value read as `how` says. False when no row has the key. */
enum import_how { IMPORT_PLAIN, IMPORT_TEXT, IMPORT_PLUS_ONE, IMPORT_FLAG };
struct import_key {
	const char *key;
	enum blkalign_attr attr;
	enum import_how how;
	uint64_t unit; /* PLAIN: multiplier */
};
bool import_keys(struct import *in, struct blkalign_node *node, const struct import_key *keys, size_t count, const char *line);

#endif
