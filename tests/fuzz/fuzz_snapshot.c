/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON text of a snapshot; what is accepted is also written again, with pseudonyms. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#include "graph/graph.h"
#include "snap/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blkalign_graph *graph = NULL;
	char *packed = NULL;
	size_t length = 0;
	FILE *file;

	if (snapshot_decode("input", (const char *)data, size, &graph, NULL) < 0)
		return 0;
	file = open_memstream(&packed, &length);
	assert(file && blkalign_write_snapshot(graph, false, file, NULL) == 0);
	fclose(file);
	free(packed);
	blkalign_graph_free(graph);
	return 0;
}
