/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vital product data as sysfs shows it, and what becomes of pages wherever they come from. */
#include "stack/live.h"
#include "topo/topo.h"

/* Unknown values are not set. */
static int set_known(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value, enum blkalign_origin origin)
{
	return value == BLKALIGN_UNKNOWN ? 0 : graph_set_u64(node, attr, value, origin);
}

/* What the kernel shows already is left alone. */
static int set_text(struct blkalign_node *node, enum blkalign_attr attr, const char *text, enum blkalign_origin origin)
{
	if (!text[0] || blkalign_node_str(node, attr))
		return 0;
	return graph_set_str(node, attr, text, origin);
}

static int take_b0(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error)
{
	struct topo_vpd_b0 page;
	int r = topo_vpd_b0_decode(bytes, length, &page, error);

	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_VPD_B0_GRANULARITY, page.granularity_blocks, BLKALIGN_ORIGIN_VPD);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER, page.max_transfer_blocks, BLKALIGN_ORIGIN_VPD);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_VPD_B0_OPTIMAL, page.opt_transfer_blocks, BLKALIGN_ORIGIN_VPD);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH, page.max_prefetch_blocks, BLKALIGN_ORIGIN_VPD);
	return r;
}

static int take_b1(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error)
{
	struct topo_vpd_b1 page;
	int r = topo_vpd_b1_decode(bytes, length, &page, error);

	/* 0 is "not reported" */
	return r == 0 && page.rotation_rpm ? set_known(node, BLKALIGN_ATTR_VPD_B1_ROTATION, page.rotation_rpm, BLKALIGN_ORIGIN_VPD) : r;
}

static int take_80(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error)
{
	struct topo_vpd_80 page;
	int r = topo_vpd_80_decode(bytes, length, &page, error);

	return r == 0 ? set_text(node, BLKALIGN_ATTR_SERIAL, page.serial, BLKALIGN_ORIGIN_VPD) : r;
}

#define NAME_TYPE_NAA 3

static int take_83(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error)
{
	struct topo_vpd_83 page;
	char wwn[300];
	int r = topo_vpd_83_decode(bytes, length, &page, error);

	for (size_t i = 0; r == 0 && i < page.count; i++)
		if (page.names[i].type == NAME_TYPE_NAA) {
			snprintf(wwn, sizeof(wwn), "naa.%s", page.names[i].text);
			r = set_text(node, BLKALIGN_ATTR_WWN, wwn, BLKALIGN_ORIGIN_VPD);
		}
	return r;
}

static int take_89(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error)
{
	struct topo_vpd_89 page;
	int r = topo_vpd_89_decode(bytes, length, &page, error);

	if (r != 0 || !page.has_identify)
		return r;
	r = set_known(node, BLKALIGN_ATTR_ATA_LOGICAL, page.identify.logical_bytes, BLKALIGN_ORIGIN_IDENTIFY);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_ATA_PHYSICAL, page.identify.physical_bytes, BLKALIGN_ORIGIN_IDENTIFY);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_ATA_OFFSET, page.identify.first_aligned_lba, BLKALIGN_ORIGIN_IDENTIFY);
	if (r == 0)
		r = set_text(node, BLKALIGN_ATTR_SERIAL, page.identify.serial, BLKALIGN_ORIGIN_IDENTIFY);
	return r;
}

static const struct {
	uint8_t code;
	const char *file;
	int (*take)(struct blkalign_node *node, const void *bytes, size_t length, struct blkalign_error *error);
} pages[] = {
	{ 0x80, "device/vpd_pg80", take_80 }, { 0x83, "device/vpd_pg83", take_83 }, { 0x89, "device/vpd_pg89", take_89 },
	{ 0xb0, "device/vpd_pgb0", take_b0 }, { 0xb1, "device/vpd_pgb1", take_b1 },
};

static int take(struct live *live, struct live_dev *dev, size_t index, const void *bytes, size_t length)
{
	struct blkalign_error error = { 0 };
	int r = pages[index].take(dev->node, bytes, length, &error);

	if (r == -EBADMSG)
		r = graph_remark(live->graph, "%s: VPD page %02X is damaged: %s", blkalign_node_name(dev->node), pages[index].code,
				 error.message);
	return r < 0 ? r : 0;
}

int live_pages(struct live *live, struct live_dev *dev)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(pages); i++) {
		_cleanup_free_ char *path = live_join(dev->path, pages[i].file), *bytes = NULL;
		size_t length = 0;

		if (!path)
			return -ENOMEM;
		r = live_read(&live->root, path, &bytes, &length);
		if (r == 0 && length) {
			dev->has_pages = true;
			r = take(live, dev, i, bytes, length);
		}
		if (r != -ENOMEM)
			r = 0;
	}
	return r;
}

int live_take_page(struct live *live, struct live_dev *dev, uint8_t code, const void *bytes, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		if (pages[i].code == code)
			return take(live, dev, i, bytes, length);
	return 0;
}

int live_take_capacity16(struct live *live, struct live_dev *dev, const void *bytes, size_t length)
{
	struct topo_capacity16 capacity;
	struct blkalign_node *node = dev->node;
	int r = topo_capacity16_decode(bytes, length, &capacity, NULL);

	if (r != 0)
		return graph_remark(live->graph, "%s: the answer to READ CAPACITY(16) makes no sense", blkalign_node_name(node));
	r = set_known(node, BLKALIGN_ATTR_RC16_LOGICAL, capacity.logical_bytes, BLKALIGN_ORIGIN_CAPACITY16);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_RC16_PHYSICAL, capacity.physical_bytes, BLKALIGN_ORIGIN_CAPACITY16);
	if (r == 0)
		r = set_known(node, BLKALIGN_ATTR_RC16_LOWEST_ALIGNED, capacity.lowest_aligned_lba, BLKALIGN_ORIGIN_CAPACITY16);
	return r == 0 ? set_known(node, BLKALIGN_ATTR_RC16_BLOCKS, capacity.blocks, BLKALIGN_ORIGIN_CAPACITY16) : r;
}

/* 0 stands for a count that the namespace does not report. */
static int set_count(struct blkalign_node *node, enum blkalign_attr attr, uint32_t blocks)
{
	return blocks ? graph_set_u64(node, attr, blocks, BLKALIGN_ORIGIN_IDENTIFY) : 0;
}

int live_take_nvme(struct live *live, struct live_dev *dev, const void *ctrl_bytes, const void *ns_bytes)
{
	struct topo_identify_nvme_ctrl ctrl;
	struct topo_identify_nvme_ns ns;
	int r = 0;

	if (topo_identify_nvme_ctrl_decode(ctrl_bytes, TOPO_NVME_IDENTIFY_BYTES, &ctrl, NULL) == 0)
		r = set_count(dev->node, BLKALIGN_ATTR_NVME_AWUPF, ctrl.awupf_blocks);
	if (r < 0)
		return r;
	if (topo_identify_nvme_ns_decode(ns_bytes, TOPO_NVME_IDENTIFY_BYTES, &ns, NULL) != 0)
		return graph_remark(live->graph, "%s: the namespace's IDENTIFY data makes no sense", blkalign_node_name(dev->node));
	const struct {
		enum blkalign_attr attr;
		uint32_t blocks;
	} counts[] = {
		{ BLKALIGN_ATTR_NVME_LBA, ns.lba_bytes },	 { BLKALIGN_ATTR_NVME_NPWG, ns.npwg_blocks },
		{ BLKALIGN_ATTR_NVME_NPWA, ns.npwa_blocks },	 { BLKALIGN_ATTR_NVME_NOWS, ns.nows_blocks },
		{ BLKALIGN_ATTR_NVME_NAWUPF, ns.nawupf_blocks },
	};

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(counts); i++)
		r = set_count(dev->node, counts[i].attr, counts[i].blocks);
	return r == 0 ? graph_set_u64(dev->node, BLKALIGN_ATTR_NVME_NABO, ns.nabo_blocks, BLKALIGN_ORIGIN_IDENTIFY) : r;
}
