/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SNAP_SNAPSHOT_PRIV_H
#define SNAP_SNAPSHOT_PRIV_H

#include <assert.h>
#include <json.h>

#include "graph/graph.h"
#include "snap/snapshot.h"

typedef struct json_object json;

/* Keys of attributes by hash: a third of the time would go into looking through attrs.def otherwise. */
#define SNAPSHOT_KEYS_ROOM 512U
static_assert(BLKALIGN_ATTR_COUNT < SNAPSHOT_KEYS_ROOM / 2, "the table must stay sparse");

struct snapshot_in {
	const char *where;
	struct blkalign_graph *graph;
	struct blkalign_error *reterr;
	const char *node;		   /* in work, for messages; NULL outside of nodes */
	size_t number;			   /* of the node, from 1 */
	uint16_t keys[SNAPSHOT_KEYS_ROOM]; /* attribute + 1, 0 for free */
};

/** Each returns -EBADMSG and says in which node what is wrong. */
int snapshot_bad(const struct snapshot_in *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
int snapshot_wrong_type(const struct snapshot_in *in, const char *key, json *value, const char *expected);
int snapshot_unknown_key(const struct snapshot_in *in, const char *key, const char *where);

/** Keys that are passed over. */
bool snapshot_is_extension(const char *key);

/** A checked value; `value` may be NULL for JSON's null, which is refused. */
int snapshot_u64(const struct snapshot_in *in, const char *key, json *value, uint64_t *ret);
int snapshot_text(const struct snapshot_in *in, const char *key, json *value, const char **ret);

/** Connect the nodes, which are all in the graph, as the "on" lists of `nodes` (in the order of the graph's indexes) say. */
int snapshot_connect(struct snapshot_in *in, json *nodes);

#endif
