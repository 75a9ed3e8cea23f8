/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicts the limits of stacks described on standard input, one device a line, lower ones first:
 *
 *   kernel RELEASE VERSION       as uname -r and -v say
 *   scsi NAME LOGICAL EXPONENT LOWEST BLOCKS GRANULARITY MAX-TRANSFER OPT-TRANSFER ROTATIONAL HOST-MAX-SECTORS
 *   virtio NAME LOGICAL EXPONENT MIN OPT
 *   nvme NAME LBA MAX-SECTORS
 *   part NAME DISK START
 *   dm NAME TARGET [+ TARGET]...   linear LEN DEV OFFSET | striped LEN CHUNK DEV OFFSET ... | crypt LEN SECTOR DEV OFFSET |
 *                                  raid LEN CHUNK PARITY DEV OFFSET ...   (LEN: of each area)
 *   md NAME LEVEL CHUNK NEAR DATA-OFFSET DEV ...
 *
 * Counts are in the kernel's units: logical blocks for what devices say, 512-byte sectors elsewhere. Prints per device
 * "NAME logical physical min opt alignment chunk_s max_kb max_hw_kb read_ahead_kb rotational", "NAME refused", or "NAME alignment" for partitions.
 */
#include <inttypes.h>
#include <stdio.h>

#include "topo/topo.h"

#define AREAS_MAX   32
#define TARGETS_MAX 8

struct device {
	char name[32];
	struct topo_limits limits; /* of the whole disk */
	uint64_t partition_start;
	bool refused;
};

static struct device *devices;
static size_t device_count;
static struct topo_kernel kernel;
static char *rest;   /* of the line */
static bool refused; /* a device that the line names does not exist */

static void die(const char *what)
{
	fprintf(stderr, "limits: %s\n", what);
	exit(2);
}

static char *token(void)
{
	char *t = strsep(&rest, " \n");

	if (!t || !*t)
		die("a line ends too early");
	return t;
}

static bool more(void) { return rest && *rest; }
static uint64_t number(void) { return strtoull(token(), NULL, 0); }
static uint32_t number32(void) { return (uint32_t)number(); }

static const struct device *find(const char *name)
{
	for (size_t i = device_count; i-- > 0;)
		if (!strcmp(devices[i].name, name)) {
			refused |= devices[i].refused;
			return &devices[i];
		}
	die(name);
	return NULL;
}

static struct topo_area area(uint64_t length)
{
	const struct device *below = find(token());

	return (struct topo_area){ &below->limits, below->partition_start, number(), length };
}

static void add(const char *name, const struct topo_limits *limits, uint64_t partition_start)
{
	devices = realloc(devices, (device_count + 1) * sizeof(*devices));
	if (!devices)
		die("no memory");
	snprintf(devices[device_count].name, sizeof(devices[0].name), "%s", name);
	devices[device_count].limits = *limits;
	devices[device_count].refused = refused;
	devices[device_count++].partition_start = partition_start;
}

static void finish(const char *name, int result, const struct topo_limits *l)
{
	if (result < 0)
		refused = true;
	if (refused)
		printf("%s refused\n", name);
	else
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64
		       " %d\n",
		       name, l->logical_bytes, l->physical_bytes, l->min_bytes, l->opt_bytes, topo_device_alignment(l), l->chunk_sectors512,
		       l->max_sectors512 / 2, l->max_hw_sectors512 / 2, l->read_ahead_bytes / KIB, l->rotational);
	add(name, l, 0);
}

static int scsi(struct topo_limits *ret)
{
	struct topo_scsi s = { .logical_bytes = number32() };

	s.physical_exponent = number32();
	s.lowest_aligned_lba = number32();
	s.blocks = number();
	s.granularity_blocks = number32();
	s.max_transfer_blocks = number32();
	s.opt_transfer_blocks = number32();
	s.rotational = number();
	s.host_max_sectors512 = number32();
	return topo_sd_limits(&kernel, &s, ret);
}

static int virtio(struct topo_limits *ret)
{
	struct topo_virtio v = { .logical_bytes = number32() };

	v.physical_exponent = number32();
	v.min_blocks = number32();
	v.opt_blocks = number32();
	return topo_virtio_limits(&kernel, &v, ret);
}

static int nvme(struct topo_limits *ret)
{
	struct topo_nvme n = { .lba_bytes = number32(), .npwg_blocks = 1, .nows_blocks = 1, .awupf_blocks = 1 };

	n.max_sectors512 = number32();
	return topo_nvme_limits(&kernel, &n, ret);
}

static void part(const char *name)
{
	const struct device *disk = find(token());
	uint64_t start = number();

	if (refused)
		printf("%s refused\n", name);
	else
		printf("%s %" PRIu64 "\n", name, topo_partition_alignment_sysfs(&kernel, &disk->limits, start));
	add(name, &disk->limits, start);
}

static void target(struct topo_dm_target *ret, struct topo_area *areas)
{
	const char *type = token();
	uint64_t length = number();

	*ret = (struct topo_dm_target){ .type = TOPO_DM_LINEAR, .areas = areas };
	if (!strcmp(type, "striped")) {
		ret->type = TOPO_DM_STRIPED;
		ret->chunk_sectors512 = number32();
	} else if (!strcmp(type, "crypt")) {
		ret->type = TOPO_DM_CRYPT;
		ret->sector_bytes = number32();
	} else if (!strcmp(type, "raid")) {
		ret->type = TOPO_DM_RAID;
		ret->chunk_sectors512 = number32();
		ret->parity_devices = number32();
	}
	while (more() && *rest != '+' && ret->area_count < AREAS_MAX)
		areas[ret->area_count++] = area(length);
}

static int dm(struct topo_limits *ret)
{
	static struct topo_area areas[TARGETS_MAX][AREAS_MAX];
	struct topo_dm_target targets[TARGETS_MAX];
	size_t count = 0;

	do {
		if (count && *rest == '+')
			token();
		target(&targets[count], areas[count]);
	} while (++count < TARGETS_MAX && more());
	return topo_dm_limits(&kernel, targets, count, ret);
}

static int md(struct topo_limits *ret)
{
	static const char *const levels[] = { "linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10" };
	const char *level = token();
	struct topo_area members[AREAS_MAX];
	struct topo_md array = { .level = TOPO_MD_LINEAR, .members = members };
	uint64_t data_offset;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(level, levels[i]))
			array.level = (enum topo_md_level)i;
	array.chunk_sectors512 = number32();
	array.near_copies = number32();
	data_offset = number();
	while (more() && array.member_count < AREAS_MAX) {
		const struct device *below = find(token());

		members[array.member_count++] = (struct topo_area){ &below->limits, below->partition_start, data_offset, 0 };
	}
	array.raid_disks = (uint32_t)array.member_count;
	return topo_md_limits(&kernel, &array, ret);
}

static void line(void)
{
	static const struct {
		const char *kind;
		int (*limits)(struct topo_limits *);
	} kinds[] = { { "scsi", scsi }, { "virtio", virtio }, { "nvme", nvme }, { "dm", dm }, { "md", md } };
	const char *kind = token(), *name;
	struct topo_limits limits = { 0 };

	refused = false;
	if (!strcmp(kind, "kernel")) {
		if (topo_kernel_parse(rest, 4096, &kernel) < 0)
			die("no kernel version");
		return;
	}
	name = token();
	if (!strcmp(kind, "part"))
		part(name);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i].kind))
			finish(name, kinds[i].limits(&limits), &limits);
}

int main(void)
{
	char *text = NULL;
	size_t size = 0;

	while (getline(&text, &size, stdin) > 0) {
		rest = text;
		line();
	}
	free(text);
	free(devices);
	return 0;
}
