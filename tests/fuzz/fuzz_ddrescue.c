/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a ddrescue map file. What is understood is the same after being written and read again. */
#include "format/ddrescue/ddrescue.h"
#include "fuzz.h"

static void check_ranges(const struct ddrescue_map *map, uint64_t size)
{
	struct byte_range *ranges;
	uint64_t end = 0;
	size_t count;

	if (ddrescue_unfinished(map, size, &ranges, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!ranges[i].length_bytes || ranges[i].offset_bytes < end || (i && ranges[i].offset_bytes == end) ||
		    !range_inside(ranges[i].offset_bytes, ranges[i].length_bytes, size))
			abort();
		end = ranges[i].offset_bytes + ranges[i].length_bytes;
	}
	free(ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ddrescue_map map, again;
	struct strbuf text = { 0 }, twice = { 0 };

	if (ddrescue_decode((const char *)data, size, &map, NULL) < 0)
		return 0;
	check_ranges(&map, 5000);
	check_ranges(&map, INT64_MAX);
	ddrescue_encode(&map, "fuzz", &text);
	if (ddrescue_decode(strbuf_text(&text), text.length, &again, NULL) < 0)
		abort();
	ddrescue_encode(&again, "fuzz", &twice);
	if (strcmp(strbuf_text(&text), strbuf_text(&twice)) != 0)
		abort();
	ddrescue_map_done(&map);
	ddrescue_map_done(&again);
	strbuf_done(&text);
	strbuf_done(&twice);
	return 0;
}
