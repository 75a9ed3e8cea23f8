/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "snap/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("fuzz");

	if (graph)
		import_text((const char *)data, size, graph, NULL);
	return 0;
}
