/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A volume that is being made: shape.c says how many areas of what length it has, lv.c puts them somewhere. */
#ifndef PLAN_LV_H
#define PLAN_LV_H

#include "plan/lvm.h"

struct shape {
	const char *type; /* as in lvm2's text */
	uint32_t stripes; /* areas that hold different data */
	uint32_t legs;	  /* all areas */
	uint32_t copies;  /* raid10: of each; else 0 */
	uint64_t stripe_bytes;
	uint64_t region_bytes;
	bool raid;
	uint64_t extents; /* of the volume */
	uint64_t leg_extents;
	uint64_t meta_extents; /* of each metadata volume; 0: none */
};

/** What was asked for, with lvm2's defaults. `free`: what is there to be shared out. -EINVAL, -ENOSPC with the reason. */
int shape_choose(const struct group *g, const runs_t *free, const struct plan_lv_options *o, struct shape *ret,
		 struct blkalign_error *reterr);

#endif
