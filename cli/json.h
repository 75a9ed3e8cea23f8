/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** JSON output: bytes as integers, null for unknown, every string safe for a terminal. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <json-c/json.h>

#include "cli.h"

/** Version of the output format, the "version" key on top of every document. */
#define CLI_JSON_VERSION 1

/** Add a member that the object does not have yet; `key` is static text. Takes `value` over; NULL gives null. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
/** A new document: {"version": 1}. */
struct json_object *json_document(void);
/** Raw text from a disk; escaped. NULL gives null. */
struct json_object *json_text(const char *raw);
/** BLKALIGN_UNKNOWN gives null. */
struct json_object *json_bytes(uint64_t bytes);
/** NULL gives null. */
struct json_object *json_value(const struct blkalign_value *value);
/** Name, kind, all known attributes, the basic ones also when unknown, "origins" and "on". */
struct json_object *json_node(const struct blkalign_node *node);
/** What was told while the stack was put together. */
struct json_object *json_remarks(const struct blkalign_graph *graph);
/** Print on one line when `line`, else indented; frees it. */
void json_print(struct json_object *document, bool line);

#endif
