/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep/keep.h"
#include "stack/md.h"

void md_replay_done(struct md_replay *replay)
{
	for (uint32_t i = 0; replay->members && i < replay->slots; i++)
		vec_done(&replay->members[i]);
	free(replay->members);
	vec_done(&replay->array);
	keep_patches_free(replay->parity, replay->parity_count);
	*replay = (struct md_replay){ 0 };
}
