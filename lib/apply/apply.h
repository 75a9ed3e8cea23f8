/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Carrying out what lib/plan has planned. */
#ifndef APPLY_APPLY_H
#define APPLY_APPLY_H

#include <blkalign/create.h>

#include "plan/plan.h"
#include "run/run.h"

/**
 * Write `plan` to the devices of `stack`, step by step, each flushed before the next. -ESTALE, before anything of a step is written, when a place does not hold what the plan expects.
 * `*ret_done`: writes that were flushed.
 */
int apply_plan(const struct plan *plan, struct stack *stack, size_t *ret_done, struct blkalign_error *reterr);
/** Read back: -EIO when a place does not hold what the plan left there. */
int apply_verify(const struct plan *plan, struct stack *stack, struct blkalign_error *reterr);

#endif
