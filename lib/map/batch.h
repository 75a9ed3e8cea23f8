/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What a batch of requests becomes below: all of it in one dev_run(), so that the leaves see it at once. Inside of lib/map/. */
#ifndef MAP_BATCH_H
#define MAP_BATCH_H

#include "dev/dev.h"

struct map_batch {
	VEC(struct dev_request) requests;
	VEC(size_t) parents; /* by place: the request each is part of */
};

/** 0 or -ENOMEM. */
int map_batch_add(struct map_batch *batch, const struct dev_request *piece, size_t parent);
/** Run the pieces; a request whose `result` is 0 gets that of its first piece that failed. Empties the batch. */
void map_batch_run(struct map_batch *batch, struct dev_request *requests);

#endif
