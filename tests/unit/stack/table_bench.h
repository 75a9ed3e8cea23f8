/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Images with tables, and questions to ask of the graph. */
#ifndef UNIT_STACK_TABLE_BENCH_H
#define UNIT_STACK_TABLE_BENCH_H

#include "image.h"

#include "graph/graph.h"
#include "stack/stack.h"

#define SIZE_64M (UINT64_C(64) << 20)

static inline struct blkalign_graph *graph_of_image(struct image *image, uint64_t logical)
{
	struct blkalign_source_options options = { .assume_logical_bytes = logical };
	const char *path = image->path;
	struct blkalign_graph *graph;

	assert_int_equal(blkalign_read_images(&options, &path, 1, &graph, NULL), 0);
	return graph;
}

static inline const struct blkalign_node *node_of(const struct blkalign_graph *graph, const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	assert_non_null(node);
	return node;
}

static inline void expect_str(const struct blkalign_graph *graph, const char *name, enum blkalign_attr attr, const char *text)
{
	assert_non_null(blkalign_node_str(node_of(graph, name), attr));
	assert_string_equal(blkalign_node_str(node_of(graph, name), attr), text);
}

static inline void expect_note(const struct blkalign_graph *graph, const char *name, const char *part)
{
	const char *note = blkalign_node_str(node_of(graph, name), BLKALIGN_ATTR_TABLE_NOTE);

	assert_non_null(note);
	if (!strstr(note, part))
		fail_msg("'%s' is not in '%s'", part, note);
}

static inline void expect_part(const struct blkalign_graph *graph, const char *name, uint64_t start, uint64_t length, const char *role)
{
	const struct blkalign_node *node = node_of(graph, name);
	const struct blkalign_edge *edge = blkalign_node_edge(node, 0);

	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_PARTITION);
	assert_int_equal(edge->lower_offset_bytes, start);
	assert_int_equal(edge->length_bytes, length);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_SIZE), length);
	expect_str(graph, name, BLKALIGN_ATTR_PART_ROLE, role);
}

/* An MBR by hand: the sector, its entries, the signature. */
static inline void put_mbr(struct image *image, uint64_t offset, const uint32_t (*rows)[3], size_t count)
{
	uint8_t sector[512] = { 0 };

	for (size_t i = 0; i < count; i++)
		for (unsigned b = 0; b < 4; b++) {
			sector[446 + 16 * i + 4] = (uint8_t)rows[i][2];
			sector[446 + 16 * i + 8 + b] = (uint8_t)(rows[i][0] >> 8 * b);
			sector[446 + 16 * i + 12 + b] = (uint8_t)(rows[i][1] >> 8 * b);
		}
	sector[510] = 0x55;
	sector[511] = 0xaa;
	image_put(image, offset, sector, sizeof(sector));
}

#endif
