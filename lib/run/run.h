/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** An open stack, for the verbs that run one: copy, serve, scrub, rebuild, map. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <blkalign/run.h>

#include "stack/stack.h"

struct blkalign_run {
	struct stack *stack;
};

/** The device behind a node that can be read; -EINVAL with the reason otherwise. */
int run_dev(const struct blkalign_run *run, const struct blkalign_node *node, struct dev **ret_dev, struct blkalign_error *reterr);

#endif
