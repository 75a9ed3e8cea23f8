/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Stacks in a few lines, and questions to ask of the report. Byte values throughout; 0 leaves an attribute unset. */
#ifndef UNIT_CHECK_MAKE_H
#define UNIT_CHECK_MAKE_H

#include "unit.h"

#include <blkalign/check.h>

#include "graph/graph.h"

#define S512(n) ((n)*UINT64_C(512))

static inline void set(struct blkalign_node *n, enum blkalign_attr attr, uint64_t value)
{
	assert_int_equal(graph_set_u64(n, attr, value, BLKALIGN_ORIGIN_SYSFS), 0);
}

static inline void set_text(struct blkalign_node *n, enum blkalign_attr attr, const char *value)
{
	assert_int_equal(graph_set_str(n, attr, value, BLKALIGN_ORIGIN_SYSFS), 0);
}

static inline struct blkalign_node *node(struct blkalign_graph *g, enum blkalign_kind kind, const char *name)
{
	struct blkalign_node *n = NULL;

	assert_int_equal(graph_add(g, kind, name, &n), 0);
	return n;
}

static inline struct blkalign_node *disk(struct blkalign_graph *g, const char *name, uint64_t size, uint64_t logical, uint64_t physical,
					 uint64_t minimum, uint64_t optimal)
{
	struct blkalign_node *n = node(g, BLKALIGN_KIND_DISK, name);

	if (size)
		set(n, BLKALIGN_ATTR_SIZE, size);
	if (logical)
		set(n, BLKALIGN_ATTR_LOGICAL_BLOCK, logical);
	if (physical)
		set(n, BLKALIGN_ATTR_PHYSICAL_BLOCK, physical);
	if (minimum)
		set(n, BLKALIGN_ATTR_MINIMUM_IO, minimum);
	set(n, BLKALIGN_ATTR_OPTIMAL_IO, optimal);
	return n;
}

/* `kind` on the whole of `lower` from byte `offset` on. */
static inline struct blkalign_node *on(struct blkalign_graph *g, enum blkalign_kind kind, const char *name, struct blkalign_node *lower,
				       uint64_t offset, uint64_t length)
{
	struct blkalign_node *n = node(g, kind, name);

	assert_int_equal(graph_connect_linear(g, n, lower, offset, length), 0);
	if (length)
		set(n, BLKALIGN_ATTR_SIZE, length);
	return n;
}

static inline struct blkalign_node *part(struct blkalign_graph *g, const char *name, struct blkalign_node *lower, uint64_t offset,
					 uint64_t length)
{
	struct blkalign_node *n = on(g, BLKALIGN_KIND_PARTITION, name, lower, offset, length);

	set_text(n, BLKALIGN_ATTR_PART_ROLE, "data");
	return n;
}

static inline struct blkalign_node *pv(struct blkalign_graph *g, const char *name, struct blkalign_node *lower, uint64_t pe_start,
				       uint64_t extent)
{
	struct blkalign_node *n = on(g, BLKALIGN_KIND_PV, name, lower, 0, 0);

	set(n, BLKALIGN_ATTR_PE_START, pe_start);
	set(n, BLKALIGN_ATTR_EXTENT, extent);
	return n;
}

static inline struct blkalign_node *fs(struct blkalign_graph *g, const char *name, const char *type, struct blkalign_node *lower)
{
	struct blkalign_node *n = on(g, BLKALIGN_KIND_CONTENT, name, lower, 0, blkalign_node_u64(lower, BLKALIGN_ATTR_SIZE));

	set_text(n, BLKALIGN_ATTR_CONTENT, type);
	set(n, BLKALIGN_ATTR_FS_BLOCK, 4096);
	return n;
}

static inline struct blkalign_node *md(struct blkalign_graph *g, const char *name, const char *level, struct blkalign_node *const *members,
				       uint32_t count, uint32_t data, uint64_t chunk, uint64_t data_offset)
{
	struct blkalign_node *n = node(g, BLKALIGN_KIND_MD, name);

	set_text(n, BLKALIGN_ATTR_MD_LEVEL, level);
	set_text(n, BLKALIGN_ATTR_MD_METADATA, "1.2");
	if (chunk) {
		set(n, BLKALIGN_ATTR_MD_CHUNK, chunk);
		set(n, BLKALIGN_ATTR_MD_STRIPE, chunk * data);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct blkalign_edge e = { .upper = n,
					   .lower = members[i],
					   .lower_offset_bytes = data_offset,
					   .length_bytes = 100 * GIB,
					   .chunk_bytes = data > 1 ? chunk : 0,
					   .stripes = data,
					   .slot = i,
					   .state = "in_sync" };

		assert_int_equal(graph_connect(g, &e), 0);
	}
	return n;
}

static inline void dump(const struct blkalign_report *report);

/*
 * The verdict, the worst finding and the worst layer line are one statement: a report that says two things at once is wrong somewhere. Data at
 * risk is no matter of layers.
 */
static inline void assert_consistent(const struct blkalign_report *report)
{
	bool error = false, misaligned = false, at_risk = blkalign_report_verdict(report) == BLKALIGN_VERDICT_AT_RISK;

	for (size_t i = 0; i < blkalign_report_findings(report); i++)
		error = error || blkalign_report_finding(report, i)->severity == BLKALIGN_ERROR;
	for (size_t i = 0; i < blkalign_report_layers(report); i++)
		misaligned = misaligned || blkalign_report_layer(report, i)->verdict == BLKALIGN_VERDICT_MISALIGNED;
	if (error != (misaligned || at_risk) || error != (blkalign_report_verdict(report) >= BLKALIGN_VERDICT_MISALIGNED))
		dump(report);
	assert_int_equal(error, misaligned || at_risk);
	assert_int_equal(error, blkalign_report_verdict(report) >= BLKALIGN_VERDICT_MISALIGNED);
}

static inline struct blkalign_report *check(const struct blkalign_graph *g)
{
	struct blkalign_report *report = NULL;

	assert_int_equal(blkalign_check(g, &report, NULL), 0);
	assert_consistent(report);
	return report;
}

static inline void report_freep(struct blkalign_report **report) { blkalign_report_free(*report); }
#define _cleanup_report_ _cleanup_(report_freep)

static inline void dump(const struct blkalign_report *report)
{
	for (size_t i = 0; i < blkalign_report_layers(report); i++)
		print_message("%s: %s\n", blkalign_node_name(blkalign_report_layer(report, i)->node),
			      blkalign_report_layer(report, i)->text);
	for (size_t i = 0; i < blkalign_report_findings(report); i++) {
		const struct blkalign_finding *f = blkalign_report_finding(report, i);

		print_message("%s %s %s cause %s: %s\n  price: %s\n  remedy: %s\n", blkalign_severity_name(f->severity), f->info->id,
			      blkalign_node_name(f->node), blkalign_node_name(f->cause), f->message, f->price ? f->price : "-",
			      f->remedy ? f->remedy : "-");
	}
	print_message("verdict %s\n", blkalign_verdict_name(blkalign_report_verdict(report)));
}

/* The finding `id` on node `name` (any node when NULL), or NULL. */
static inline const struct blkalign_finding *found(const struct blkalign_report *report, const char *id, const char *name)
{
	for (size_t i = 0; i < blkalign_report_findings(report); i++) {
		const struct blkalign_finding *f = blkalign_report_finding(report, i);

		if (!strcmp(f->info->id, id) && (!name || !strcmp(blkalign_node_name(f->node), name)))
			return f;
	}
	return NULL;
}

/* The same; the test fails, and tells what there was, when there is none. */
static inline const struct blkalign_finding *must(const struct blkalign_report *report, const char *id, const char *name)
{
	const struct blkalign_finding *f = found(report, id, name);

	if (f)
		return f;
	dump(report);
	print_error("no %s on %s\n", id, name ? name : "any node");
	abort();
}

static inline size_t count_of(const struct blkalign_report *report, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; i < blkalign_report_findings(report); i++)
		count += !strcmp(blkalign_report_finding(report, i)->info->id, id);
	return count;
}

static inline const char *line_of(const struct blkalign_report *report, const char *name)
{
	for (size_t i = 0; i < blkalign_report_layers(report); i++)
		if (!strcmp(blkalign_node_name(blkalign_report_layer(report, i)->node), name))
			return blkalign_report_layer(report, i)->text;
	return NULL;
}

static inline const char *severity_of(const struct blkalign_report *r, const char *id, const char *name)
{
	const struct blkalign_finding *f = found(r, id, name);

	return f ? blkalign_severity_name(f->severity) : "silent";
}

static inline struct blkalign_node *plain_disk(struct blkalign_graph *g, const char *name)
{
	return disk(g, name, S512(7814037168), 512, 4096, 4096, 0);
}

#endif
