/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A story on its devices. */
#ifndef CRASH_STAGE_H
#define CRASH_STAGE_H

#include "crash.h"

/* --- which states were judged already --- */

struct seen {
	uint64_t *slots; /* 0: free */
	size_t room, count;
};
/** False: it was there. */
bool seen_add(struct seen *seen, uint64_t key);
static inline void seen_done(struct seen *seen) { free(seen->slots); }

struct stage {
	const struct story *story;
	const struct shape *shape;
	char failure[64]; /* " fail=..." for the line that brings a state back, or empty */
	struct power_machine *machine;
	struct dev *devs[MEMBERS_MAX]; /* by slot */
	size_t disk[MEMBERS_MAX];      /* its number in the machine */
	size_t disks;
	struct history history;
};

/** The array of a story on the devices of a new machine, and the device that it rebuilds onto. */
void stage_set(struct stage *stage, const struct story *story);
int stage_play(struct stage *stage);
void stage_clear(struct stage *stage);
/** The images by slot (NULL for missing members) of a state of the media, or of the devices while power stays: copies, valid until the next call. */
void stage_images(const struct stage *stage, const struct power_states *states, uint8_t *ret[MEMBERS_MAX]);
/** judge() on them. `states` NULL: as it is at the end while the power stays. */
const char *stage_judge(const struct stage *stage, const struct power_states *states, size_t point, bool thorough);
/** The line that replay() takes, without a line feed. */
void stage_print_state(const struct stage *stage, const struct power_states *states, size_t point, uint32_t unit);
/** Write images to FOLDER/WORDn.img; a failure is printed. */
bool stage_dump(const struct stage *stage, uint8_t *const *images, const char *folder, const char *word);
/** Print a fault; `states` may be NULL. */
void stage_report(const struct stage *stage, struct power_states *states, size_t point, uint32_t unit, const char *why);
/** Go through the states of every `every`th point, the last one included. */
void stage_try_cuts(const struct stage *stage, size_t every, struct seen *seen, struct totals *totals);
/** Every n-th request failing. */
void test_failures(const struct story *story, struct seen *seen, struct totals *totals);

#endif
