/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The arithmetic said out loud: one line for each layer. */
#ifndef CHECK_SPEAK_H
#define CHECK_SPEAK_H

#include "check/check.h"

/** One boundary of a node's data start: the place that stands for all, a bad one if there is any. */
struct tally_entry {
	struct blkalign_place place;
	struct grain grain;
	bool off;
};

struct tally {
	struct tally_entry entries[BOUNDARIES];
	uint32_t drives; /* places on drives, one per segment and member */
	bool unknown;	 /* some offset is not known */
	bool exempt;	 /* lies on something that is not judged */
};

void tally_note(struct tally *tally, enum boundary boundary, const struct blkalign_place *place, const struct grain *grain, bool off);
/** The line for a node on others, whose data starts at its byte `start_bytes`. */
void speak_layer(struct check *c, const struct blkalign_node *node, uint64_t start_bytes, const struct tally *tally);
/** The line for a node that lies on nothing that is known. */
void speak_drive(struct check *c, const struct blkalign_node *node);

#endif
