/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the parts of locating know of each other. Inside of lib/run/. */
#ifndef RUN_LOCATE_H
#define RUN_LOCATE_H

#include <blkalign/locate.h>

#include "map/map.h"
#include "run/run.h"

#define LOCATE_MAX 100000U

struct locating {
	struct blkalign_run *run;
	VEC(struct blkalign_location) found;
};

/** A place on the way, and the range on it that is looked for. */
struct locate_place {
	const struct blkalign_node *node;
	uint64_t offset_bytes;
	uint64_t length_bytes;
	uint32_t depth;
};

/** -E2BIG, -ENOMEM. */
int locate_add(struct locating *l, const struct blkalign_location *location);
/** Add it, and all that lies below it. */
int locate_down(struct locating *l, const struct blkalign_location *location);
/** What lies below a place, by the edges of its node. */
int locate_down_edges(struct locating *l, const struct locate_place *place);

/** The md map behind an array's device that has byte `at`; NULL when it has none. *run_bytes is cut to where that may change. `*note` is set for bytes that lie elsewhere. */
const struct map_md_member *locate_md(struct dev *dev, uint64_t at, uint64_t *run_bytes, const struct raid_geometry **ret_geometry,
				      const char **note);
int locate_down_md(struct locating *l, const struct locate_place *place, bool *ret_done);
/** What byte `place` is to the array `upper`, by its edge; goes on upwards. */
int locate_up_md(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, bool *ret_done);
/** Likewise for volumes whose bytes are looked up; nothing is added where they do not use the byte. */
int locate_down_charted(struct locating *l, const struct locate_place *place, bool *ret_done);
int locate_up_charted(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, bool *ret_done);
/** Add `place`, and all that lies on it. */
int locate_up(struct locating *l, const struct blkalign_location *location);

/** A part of an md member that is no array data. */
struct locate_area {
	const char *name; /* static */
	uint64_t offset_bytes;
	uint64_t length_bytes;
};
/** The superblock, bitmap, log or gap at byte `at`; false for the data area, or when there is no superblock. */
bool locate_md_area(struct dev *dev, uint64_t at, struct locate_area *ret);

#endif
