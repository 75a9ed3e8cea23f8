/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Columns of `show` and `check -o`: those worked out here, and every attribute of attrs.def. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include <json-c/json.h>

#include "cli.h"

#define COLUMNS_MAX 240U

/** Below BLKALIGN_ATTR_COUNT an attribute; above it (which means none), one of these. */
enum column {
	COLUMN_WORKED_OUT = BLKALIGN_ATTR_COUNT + 1, /* the first of them */
	COLUMN_NAME = COLUMN_WORKED_OUT,
	COLUMN_KIND,
	COLUMN_OFFSET,
	COLUMN_DISK_OFFSET,
	COLUMN_SLOT,
	COLUMN_STATE,
	COLUMN_VERDICT,
	COLUMN_LVM, /* the first of lvm_columns[] */
};

struct columns {
	unsigned ids[COLUMNS_MAX];
	size_t count;
	size_t usual; /* the first so many were not asked for: left out where no row has a value */
};

/** The usual columns, changed by the argument of -o ("A,B" replaces, "+A,B" adds). 0, or -EINVAL after telling which name is wrong. */
int columns_parse(const char *argument, struct columns *ret_columns);
void columns_list(void);

const char *column_heading(unsigned id);
const char *column_key(unsigned id);
bool column_is_number(unsigned id);
/** Text of a cell for the terminal, "-" when unknown. `report` may be NULL. */
const char *column_text(unsigned id, const struct blkalign_node *node, const struct blkalign_report *report, char *buffer, size_t size);

/** The value for programs, or NULL: numbers as integers. */
struct json_object *column_json(unsigned id, const struct blkalign_node *node, const struct blkalign_report *report);

/** Verdict on a node: the worst of its layer lines; UNKNOWN when it has none. */
enum blkalign_verdict column_verdict(const struct blkalign_node *node, const struct blkalign_report *report);

#endif
