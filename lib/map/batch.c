/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "map/batch.h"

int map_batch_add(struct map_batch *batch, const struct dev_request *piece, size_t parent)
{
	return vec_push(&batch->parents, parent) < 0 ? -ENOMEM : vec_push(&batch->requests, *piece);
}

void map_batch_run(struct map_batch *batch, struct dev_request *requests)
{
	dev_run(batch->requests.data, batch->requests.count, NULL);
	for (size_t i = 0; i < batch->requests.count; i++) {
		const struct dev_request *piece = &batch->requests.data[i];
		struct dev_request *q = &requests[batch->parents.data[i]];

		if (!piece->result || q->result)
			continue;
		q->result = piece->result;
		q->reason = piece->reason;
	}
	vec_done(&batch->requests);
	vec_done(&batch->parents);
}
