/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "check/tools.h"

static uint32_t small(const struct blkalign_node *n, enum blkalign_attr attr, uint32_t fallback)
{
	uint64_t value = blkalign_node_u64(n, attr);

	return value && value <= UINT32_MAX ? (uint32_t)value : fallback;
}

static struct topo_view view_of(const struct check *c, const struct blkalign_node *n)
{
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);
	uint32_t logical = small(n, BLKALIGN_ATTR_LOGICAL_BLOCK, 512), physical = small(n, BLKALIGN_ATTR_PHYSICAL_BLOCK, logical);

	return (struct topo_view){
		.size_bytes = is_set(size) ? size : 1024 * GIB,
		.logical_bytes = logical,
		.physical_bytes = physical,
		.min_bytes = small(n, BLKALIGN_ATTR_MINIMUM_IO, physical),
		.opt_bytes = facts_of(c, n)->optimal_bytes,
		.alignment_offset_bytes = blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0),
		.rotational = blkalign_node_u64(n, BLKALIGN_ATTR_ROTATIONAL) == 1,
	};
}

static bool version_of(const struct check *c, enum blkalign_attr attr, struct topo_version *ret)
{
	const char *text = c->host ? blkalign_node_str(c->host, attr) : NULL;

	return text && topo_version_parse(text, ret) == 0;
}

static const char *lvm_obeys(struct check *c, const struct topo_version *version, const struct topo_view *view)
{
	struct topo_lvm_choice choice;

	if (topo_predict_lvm(version, view, &choice) < 0 || choice.cause != TOPO_CAUSE_OPT)
		return NULL;
	return report_text(c->report, "pvcreate of lvm2 %" PRIu32 ".%02" PRIu32 ".%" PRIu32 " would put the first extent at byte %" PRIu64,
			   version->part[0], version->part[1], version->part[2], choice.pe_start_bytes);
}

static const char *cryptsetup_obeys(struct check *c, const struct topo_version *version, const struct topo_view *view)
{
	struct topo_luks_choice choice;

	if (topo_predict_luks(version, view, &choice) < 0 || choice.cause != TOPO_CAUSE_OPT)
		return NULL;
	return report_text(c->report, "cryptsetup %" PRIu32 ".%" PRIu32 ".%" PRIu32 " would put the payload at byte %" PRIu64,
			   version->part[0], version->part[1], version->part[2], choice.luks2_offset_bytes);
}

static const char *fdisk_obeys(struct check *c, const struct topo_version *version, const struct topo_view *view)
{
	struct topo_fdisk_choice choice;

	if (topo_predict_fdisk(version, view, &choice) < 0 || choice.cause != TOPO_CAUSE_OPT)
		return NULL;
	return report_text(c->report, "fdisk of util-linux %" PRIu32 ".%" PRIu32 " would start the first partition at sector %" PRIu64,
			   version->part[0], version->part[1], choice.gpt_start_lba);
}

static const char *parted_obeys(struct check *c, const struct topo_version *version, const struct topo_view *view)
{
	struct topo_parted_choice choice;

	(void)version;
	if (topo_predict_parted(view, &choice) < 0 || choice.cause != TOPO_CAUSE_OPT)
		return NULL;
	return report_text(c->report, "parted would use a grain of %" PRIu64 " sectors", choice.optimal_grain_lba);
}

static const struct {
	enum blkalign_attr version;
	bool partitioner;
	const char *(*obeys)(struct check *c, const struct topo_version *version, const struct topo_view *view);
} tools[] = {
	{ BLKALIGN_ATTR_TOOL_LVM2, false, lvm_obeys },
	{ BLKALIGN_ATTR_TOOL_CRYPTSETUP, false, cryptsetup_obeys },
	{ BLKALIGN_ATTR_TOOL_UTIL_LINUX, true, fdisk_obeys },
	{ BLKALIGN_ATTR_TOOL_PARTED, true, parted_obeys },
};

/* What tool number `i` would do; true when its version is known. */
static bool ask_tool(struct check *c, size_t i, const struct topo_view *view, const char **ret_obeys)
{
	struct topo_version version;

	if (!version_of(c, tools[i].version, &version))
		return false;
	*ret_obeys = tools[i].obeys(c, &version, view);
	return true;
}

static struct tools_answer ask(struct check *c, const struct blkalign_node *n, bool partitioners)
{
	struct topo_view view = view_of(c, n);
	struct tools_answer answer = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tools) && !answer.obeys; i++)
		if (partitioners || !tools[i].partitioner)
			answer.known |= ask_tool(c, i, &view, &answer.obeys);
	return answer;
}

struct tools_answer tools_on_disk(struct check *c, const struct blkalign_node *node) { return ask(c, node, true); }
struct tools_answer tools_on_partition(struct check *c, const struct blkalign_node *node) { return ask(c, node, false); }
