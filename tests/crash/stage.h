/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A story on its devices. */
#ifndef CRASH_STAGE_H
#define CRASH_STAGE_H

#include "crash.h"

struct stage {
	const struct shape *shape;
	const struct script *script;
	char failure[64]; /* " fail=..." for the line that brings a state back, or empty */
	struct power_machine *machine;
	struct dev *devs[MEMBERS_MAX]; /* by slot */
	size_t disk[MEMBERS_MAX];      /* its number in the machine */
	size_t disks;
	struct history history;
};

/** The array of a shape on the devices of a new machine. */
void stage_set(struct stage *stage, const struct shape *shape);
void stage_clear(struct stage *stage);
/** The images by slot (NULL for missing members) of a state of the media, or of the devices while power stays: copies, valid until the next call. */
void stage_images(const struct stage *stage, const struct power_states *states, uint8_t *ret[MEMBERS_MAX]);
/** judge() on them. `states` NULL: power stays. */
const char *stage_judge(const struct stage *stage, const struct power_states *states, size_t point, bool thorough);
/** Go through the states of every `every`th point, the last one included. */
void stage_try_cuts(const struct stage *stage, size_t every, uint64_t seed, struct totals *totals);

#endif
