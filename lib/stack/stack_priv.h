/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Inside of stack.c and running.c. */
#ifndef STACK_STACK_PRIV_H
#define STACK_STACK_PRIV_H

#include "raid/raid.h"
#include "stack/stack.h"

/** The records of an array that may be written. */
struct stack_record {
	const struct blkalign_node *node;
	struct keep *keep;
	struct raid_geometry *geometry; /* that the keep borrows */
};

/** The images of a RAID volume. */
struct stack_legs {
	const struct blkalign_node *node;
	struct stack_leg *legs; /* owned */
	size_t count;
};

struct stack {
	struct blkalign_graph *graph;
	struct blkalign_source_options options;
	struct stack_running running;
	bool runs;		/* it was set */
	VEC(struct dev *) devs; /* by node index */
	VEC(struct dev *) owned;
	VEC(struct blkalign_node *) work;
	size_t work_done;
	struct dev_hole hole; /* the last that was met */
	void **states;	      /* by place in stack_layers */
	VEC(struct stack_record) records;
	VEC(struct stack_legs) legs;
	VEC(char *) reasons; /* why it cannot be written, by node index; NULL: it can, or nobody said */
};

/** Free what running.c keeps; records that are still open are left as if the power had gone. */
void stack_forget_running(struct stack *stack);
/** Say of every node that cannot be written why not, where nobody said so. 0 or -ENOMEM. */
int stack_note_read_only(struct stack *stack);

#endif
