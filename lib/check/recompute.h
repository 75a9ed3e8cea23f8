/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What the kernel hides: its own limits of stacked devices, worked out again from what lies below with lib/topo. Compared with what sysfs shows this tells
 * a mark of inconsistency that the kernel lost, and proves where a poisoned optimum comes from. Where a fact is missing nothing is known.
 */
#ifndef CHECK_RECOMPUTE_H
#define CHECK_RECOMPUTE_H

#include "check/check.h"

/** One node's limits. */
struct recomputed {
	struct topo_limits shown;  /**< by the kernel; what was worked out where it does not say */
	struct topo_limits worked; /**< out from below; only with `is_worked` */
	bool is_known;		   /**< `shown` holds something */
	bool is_worked;
	bool begins_here; /**< `worked` is inconsistent, and nothing below is */
};

/** By node index, freed by the caller; NULL without memory. */
struct recomputed *recompute_limits(const struct check *c);
/** The alignment offset that the kernel would show for the node, by `worked`: -1 when inconsistent. */
int64_t recomputed_alignment(const struct recomputed *r);

#endif
