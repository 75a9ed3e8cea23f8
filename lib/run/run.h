/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** An open stack, for the verbs that run one: copy, serve, scrub, rebuild, map. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include <blkalign/run.h>

#include "stack/stack.h"

/** Bounds how many bytes of requests are under way, and with them the memory of all threads together. */
struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t left;
	uint64_t came, entered; /* requests */
	uint64_t under_way_bytes;
	bool ready;
};
int gate_init(struct gate *gate);
void gate_done(struct gate *gate);
/** Waits until there is room. The same `length_bytes` is given to gate_leave(). */
void gate_enter(struct gate *gate, uint64_t length_bytes);
void gate_leave(struct gate *gate, uint64_t length_bytes);

/* A node whose contents come from an md device. */
struct run_array {
	const struct blkalign_node *node;
	struct dev *md;
	struct keep *keep;		       /* NULL: it is not written */
	atomic_size_t seen_data, seen_records; /* of who failed, how many are in the list */
};

/** Who failed on which array, in the order in which it was noticed. */
struct run_events {
	pthread_mutex_t mutex; /* of the list */
	VEC(struct run_array) arrays;
	VEC(struct blkalign_run_failure) failures; /* strings are owned */
	atomic_size_t failures_count;
};

struct blkalign_run {
	struct gate gate;
	struct run_events events;
	struct stack *stack;
	struct run_node *nodes; /* by node index */
	bool writable;		/* asked for, on the members or on overlays */
	bool cow;
	atomic_bool flush_failed; /* final: nothing more is written, and nothing is called clean */
};

/** What does not change while the stack is open, found once. */
struct run_node {
	const char *why_not; /* why it cannot be written; NULL when it can */
	struct blkalign_run_blocks blocks;
};

/** blkalign_run_open() in parts: an empty stack, to which devices are added, and then put together. Both end with blkalign_run_close(). */
int run_new(const struct blkalign_run_options *options, struct blkalign_run **ret_run);
int run_start(struct blkalign_run *run, struct blkalign_error *reterr);

/** When the stack is together; when it is no more. */
int events_init(struct blkalign_run *run);
void events_done(struct blkalign_run *run);

/** Add the member at `path`, with what `options` (may be NULL) knows to be unreadable of it. */
int run_add_member(struct blkalign_run *run, const struct blkalign_run_options *options, const char *path, struct blkalign_error *reterr);
/** The map file of the member at `path`, or NULL. */
const char *run_map_of(const struct blkalign_run_options *options, const char *path);
/** A file or disk that was given, on which nothing known lies. */
bool run_is_unknown(const struct blkalign_node *node);
/** -EINVAL when a map is given for what is no member, or two for one. */
int run_check_bad(const struct blkalign_run_options *options, const char *const *paths, size_t count, struct blkalign_error *reterr);
/** The device behind a node that can be read; -EINVAL with the reason otherwise. */
int run_dev(const struct blkalign_run *run, const struct blkalign_node *node, struct dev **ret_dev, struct blkalign_error *reterr);
/** Whether an array or logical volume lies on the node, directly or further up. */
bool run_below_a_volume(const struct blkalign_node *node);
/** Why a node cannot be written, or NULL. */
const char *run_why_not(const struct blkalign_run *run, const struct blkalign_node *node);
struct blkalign_run_blocks run_blocks(const struct blkalign_run *run, const struct blkalign_node *node);

#endif
