/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where mdadm puts data has changed five times; the generations differ in how much head room a later reshape gets, and in rounding. No
 * version looks at the topology of the members.
 */
#include "topo/predict_private.h"

#define MIB_SECTORS	  UINT64_C(2048)
#define GIB_SECTORS	  (1024 * MIB_SECTORS)
#define HEAD_SECTORS	  UINT64_C(262144) /* head room: 128 MiB, or 1/1024 of the device */
#define BAD_BLOCK_SECTORS 8U
#define RAID1_UNIT	  128U /* 64 KiB */
#define SUPER_AT_END	  16U

struct geometry {
	uint64_t device, chunk, super;
	bool raid0, raid1_rounds;
};

static uint64_t bitmap_space(uint64_t sectors)
{
	if (sectors < 128)
		return 0;
	if (sectors - 128 >= 200 * GIB_SECTORS)
		return 256;
	return sectors - 8 > 8 * GIB_SECTORS ? 128 : 8;
}

static uint64_t head_room(uint64_t sectors)
{
	uint64_t head = HEAD_SECTORS;

	while (head * 1024 > sectors)
		head /= 2;
	return head;
}

static uint64_t component(const struct geometry *g, uint64_t available)
{
	if (g->raid0)
		return 0;
	if (g->chunk)
		return round_down_u64(available, g->chunk);
	return g->raid1_rounds ? round_down_u64(available, RAID1_UNIT) : available;
}

/* All of these put the data before the component's size when both do not fit otherwise. */
static uint64_t fit(const struct geometry *g, uint64_t offset, uint64_t size)
{
	return offset + size > g->device ? g->device - size : offset;
}

static uint64_t minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* 3.0 to 3.1.1: right behind the superblock and the bitmap. */
static uint64_t offset_packed(const struct geometry *g, uint64_t *ret_size)
{
	*ret_size = component(g, minus(g->device, bitmap_space(g->device) + g->super));
	return fit(g, g->super + bitmap_space(*ret_size), *ret_size);
}

/* 3.1.2 to 3.2.3: at 1 MiB where that fits. */
static uint64_t offset_mib(const struct geometry *g, uint64_t *ret_size)
{
	uint64_t available = minus(g->device, bitmap_space(g->device));

	if (available > GIB_SECTORS)
		available -= MIB_SECTORS;
	*ret_size = component(g, minus(available, g->super));
	return fit(g, round_up_u64(g->super + bitmap_space(*ret_size), MIB_SECTORS), *ret_size) & ~UINT64_C(7);
}

static uint64_t size_with_head(const struct geometry *g)
{
	uint64_t available = minus(g->device, bitmap_space(g->device));

	return component(g, minus(available, head_room(available) + g->super));
}

/* 3.2.4 */
static uint64_t offset_mib_head(const struct geometry *g, uint64_t *ret_size)
{
	uint64_t offset;

	*ret_size = size_with_head(g);
	offset = fit(g, round_up_u64(g->super + bitmap_space(*ret_size), MIB_SECTORS), *ret_size) & ~UINT64_C(7);
	return max_u64(offset, head_room(*ret_size));
}

/* 3.2.5 and 3.2.6 */
static uint64_t offset_head(const struct geometry *g, uint64_t *ret_size)
{
	uint64_t offset;

	*ret_size = size_with_head(g);
	offset = fit(g, max_u64(g->super + bitmap_space(*ret_size), head_room(*ret_size)), *ret_size);
	if (offset > MIB_SECTORS)
		offset = round_down_u64(offset, MIB_SECTORS);
	return offset & ~UINT64_C(7);
}

/* 3.3 and later: from the device alone, the component follows. Up to 4.0 rounded down to 1 MiB, then up. */
static uint64_t offset_from_device(const struct geometry *g, bool round_up, uint64_t *ret_size)
{
	uint64_t head = HEAD_SECTORS, offset;

	while (head * 1024 > g->device && (!g->chunk || head / 2 >= 2 * g->chunk))
		head /= 2;
	offset = 24 + bitmap_space(g->device) + head;
	if (round_up)
		offset = round_up_u64(offset, MIB_SECTORS);
	else if (offset > MIB_SECTORS)
		offset = round_down_u64(offset, MIB_SECTORS);
	*ret_size = component(g, minus(g->device, offset));
	return offset;
}

static uint64_t data_offset(const struct topo_version *mdadm, const struct geometry *g, uint64_t *ret_size)
{
	if (topo_version_at_least(mdadm, 3, 3, 0))
		return offset_from_device(g, topo_version_at_least(mdadm, 4, 1, 0), ret_size);
	if (topo_version_at_least(mdadm, 3, 2, 5))
		return offset_head(g, ret_size);
	if (topo_version_at_least(mdadm, 3, 2, 4))
		return offset_mib_head(g, ret_size);
	return topo_version_at_least(mdadm, 3, 1, 2) ? offset_mib(g, ret_size) : offset_packed(g, ret_size);
}

int topo_predict_mdadm(const struct topo_version *mdadm, const struct topo_mdadm_request *request, struct topo_mdadm_choice *ret)
{
	struct geometry g = {
		.device = request->device_sectors512,
		.chunk = request->level == TOPO_MD_RAID1 ? 0 : request->chunk_sectors512,
		.super = request->minor == 2 ? 16 : 8,
		.raid0 = request->level == TOPO_MD_RAID0,
		.raid1_rounds = topo_version_at_least(mdadm, 3, 2, 4),
	};
	uint64_t offset = 0, size;

	if (!topo_version_at_least(mdadm, 3, 0, 0) || request->minor > 2 || g.device > INT64_MAX / 512)
		return -EINVAL;
	if (request->minor == 0)
		size = component(&g, minus(round_down_u64(g.device, 8), SUPER_AT_END + BAD_BLOCK_SECTORS + bitmap_space(g.device)));
	else
		offset = data_offset(mdadm, &g, &size);
	if (offset >= g.device)
		return -EINVAL;
	if (g.raid0)
		size = g.device - offset;
	if (!size)
		return -EINVAL;
	*ret = (struct topo_mdadm_choice){ .data_offset_bytes = offset * 512, .component_bytes = size * 512 };
	return 0;
}
