/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A stack of PVs in memory, and questions to ask of the graph. */
#ifndef UNIT_STACK_LVM_BENCH_H
#define UNIT_STACK_LVM_BENCH_H

#include "lvm2_image.h"
#include "stack/stack.h"

#define PV_BYTES (UINT64_C(26) << 20) /* 1 MiB and 100 extents of 256 KiB */
#define EXTENT	 262144

struct bench {
	struct stack *stack;
	struct blkalign_graph *graph;
	struct image images[8];
	unsigned count;
	bool writable;
};

/* The ids that the text gives its PVs. */
static inline void id_of(const char *text, const char *pv, char ret[33])
{
	char key[16];
	const char *at;
	unsigned count = 0;

	snprintf(key, sizeof(key), "\n%s {", pv);
	at = strstr(strstr(text, key), "id = \"") + 6;
	for (; *at != '"'; at++)
		if (*at != '-')
			ret[count++] = *at;
	ret[count] = 0;
	assert_int_equal(count, 32);
}

static inline void start(struct bench *b)
{
	*b = (struct bench){ 0 };
	assert_int_equal(stack_new(graph_new("images"), NULL, &b->stack), 0);
	b->graph = stack_graph(b->stack);
}

static inline void add_dev(struct bench *b, const char *name, struct dev *dev, uint64_t logical, uint64_t physical)
{
	struct blkalign_node *node;

	assert_int_equal(stack_add(b->stack, BLKALIGN_KIND_DISK, name, dev, &node), 0);
	assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, logical, BLKALIGN_ORIGIN_ASSUMED), 0);
	assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_PHYSICAL_BLOCK, physical, BLKALIGN_ORIGIN_ASSUMED), 0);
}

static inline struct image *add_pv(struct bench *b, const char *name, const char *text, const char *pv, uint64_t physical)
{
	struct image *im = &b->images[b->count++];
	struct dev *dev;
	char id[33];

	id_of(text, pv, id);
	*im = image_new(PV_BYTES, id, text);
	assert_int_equal(dev_open_memory(name, im->data, im->size, b->writable, &dev), 0);
	add_dev(b, name, dev, 512, physical);
	return im;
}

static inline void run(struct bench *b) { assert_int_equal(stack_run(b->stack, NULL), 0); }

static inline void done(struct bench *b)
{
	stack_free(b->stack);
	for (unsigned i = 0; i < b->count; i++)
		image_free(&b->images[i]);
}

static inline const struct blkalign_node *get(const struct bench *b, const char *name)
{
	const struct blkalign_node *n = blkalign_graph_find(b->graph, name);

	if (n)
		return n;
	fail_msg("no node %s", name);
	abort();
}

static inline bool remarked(const struct bench *b, const char *text)
{
	for (size_t i = 0; i < blkalign_graph_remarks(b->graph); i++)
		if (strstr(blkalign_graph_remark(b->graph, i), text))
			return true;
	return false;
}

static inline const struct blkalign_edge *edge_to(const struct blkalign_node *n, const char *lower)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++)
		if (!strcmp(blkalign_node_name(blkalign_node_edge(n, i)->lower), lower))
			return blkalign_node_edge(n, i);
	fail_msg("%s does not lie on %s", blkalign_node_name(n), lower);
	abort();
}

static inline void add_three(struct bench *b, const char *text)
{
	add_pv(b, "sda", text, "pv0", 512);
	add_pv(b, "sdb", text, "pv1", 4096);
	add_pv(b, "sdc", text, "pv2", 512);
	run(b);
}

static inline void three(struct bench *b, const char *text)
{
	start(b);
	add_three(b, text);
}

#endif
