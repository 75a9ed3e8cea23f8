/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reproduces every row of golden/kernel-limits.tsv: what real kernels (5.10, 6.1, 6.12, 7.2) showed in sysfs. Members of md and dm rows were
 * scsi_debug disks, so each such row also goes through the SCSI rules.
 */
#include "unit.h"

#include <inttypes.h>

#include "topo/topo.h"

#define DISK_BYTES    (64 * MIB) /* scsi_debug: also its maximum transfer length */
#define MEMBERS_MAX   16
#define LINE_MAX_SIZE 1024

static unsigned rows;
static unsigned wrong;

/* The number behind `key` in `text`, or `fallback`. The key starts the text or follows a blank, a comma or a bracket. */
static int64_t number(const char *text, const char *key, int64_t fallback)
{
	size_t length = strlen(key);

	for (const char *p = strstr(text, key); p; p = strstr(p + 1, key))
		if ((p == text || strchr(" ,[(/", p[-1])) && p[length] == '=')
			return strtoll(p + length + 1, NULL, 10);
	return fallback;
}

static struct topo_scsi scsi_debug(int64_t sector_size, int64_t physblk_exp, int64_t lowest, int64_t opt_exp, int64_t opt_blocks)
{
	return (struct topo_scsi){
		.logical_bytes = (uint32_t)sector_size,
		.physical_exponent = (uint32_t)physblk_exp,
		.lowest_aligned_lba = (uint32_t)lowest,
		.blocks = DISK_BYTES / (uint64_t)sector_size,
		.granularity_blocks = 1U << (opt_exp > physblk_exp ? opt_exp : physblk_exp),
		.max_transfer_blocks = (uint32_t)(DISK_BYTES / (uint64_t)sector_size),
		.opt_transfer_blocks = (uint32_t)opt_blocks,
	};
}

/* "physblk_exp=3 opt_blks=9": parameters of the scsi_debug module. */
static struct topo_scsi scsi_by_parameters(const char *text)
{
	return scsi_debug(number(text, "sector_size", 512), number(text, "physblk_exp", 0), number(text, "lowest_aligned", 0),
			  number(text, "opt_xferlen_exp", 0), number(text, "opt_blks", 1024));
}

/* "member[lbs=512,pbs=4096,min=4096,opt=0,ao=3584]": the scsi_debug disk that shows these limits. */
static struct topo_scsi scsi_by_limits(const char *text)
{
	int64_t lbs = number(text, "lbs", 0), pbs = number(text, "pbs", 0), min = number(text, "min", 0);

	return scsi_debug(lbs, __builtin_ctzll((uint64_t)(pbs / lbs)), number(text, "ao", 0) / lbs, __builtin_ctzll((uint64_t)(min / lbs)),
			  number(text, "opt", 0) / lbs);
}

static void format_limits(char *ret, size_t size, const struct topo_limits *l)
{
	snprintf(ret, size,
		 "lbs=%" PRIu32 " pbs=%" PRIu32 " min=%" PRIu32 " opt=%" PRIu32 " ao=%" PRId64 " chunk_s=%" PRIu32
		 " max_sectors_kb=%" PRIu32 " read_ahead_kb=%" PRIu64,
		 l->logical_bytes, l->physical_bytes, l->min_bytes, l->opt_bytes, topo_device_alignment(l), l->chunk_sectors512,
		 l->max_sectors512 / 2, l->read_ahead_bytes / KIB);
}

static int sd_row(const struct topo_kernel *kernel, const char *input, struct topo_limits *ret)
{
	struct topo_scsi scsi = scsi_by_parameters(input);

	return topo_sd_limits(kernel, &scsi, ret);
}

static int blk_row(const struct topo_kernel *kernel, const char *input, struct topo_limits *ret)
{
	uint32_t lbs = (uint32_t)number(input, "lbs", 512);

	if (!strncmp(input, "qemu nvme", 9)) {
		/* The emulated controller takes 128 pages at once. */
		struct topo_nvme nvme = { .lba_bytes = lbs, .npwg_blocks = 1, .nows_blocks = 1, .awupf_blocks = 1, .max_sectors512 = 1024 };

		return topo_nvme_limits(kernel, &nvme, ret);
	}
	return topo_virtio_limits(kernel,
				  &(struct topo_virtio){
					  .logical_bytes = lbs,
					  .physical_exponent = (uint32_t)__builtin_ctzll((uint64_t)number(input, "pbs", 512) / lbs),
					  .min_blocks = (uint32_t)number(input, "min_io", 0) / lbs,
					  .opt_blocks = (uint32_t)number(input, "opt_io", 0) / lbs,
				  },
				  ret);
}

static enum topo_md_level md_level(int64_t number)
{
	switch (number) {
	case 0:
		return TOPO_MD_RAID0;
	case 1:
		return TOPO_MD_RAID1;
	case 4:
		return TOPO_MD_RAID4;
	case 5:
		return TOPO_MD_RAID5;
	case 6:
		return TOPO_MD_RAID6;
	default:
		return TOPO_MD_RAID10;
	}
}

static int md_row(const struct topo_kernel *kernel, const char *input, struct topo_limits *ret)
{
	const char *layout = strstr(input, "layout=");
	struct topo_scsi scsi = scsi_by_limits(strstr(input, "member["));
	struct topo_area members[MEMBERS_MAX];
	struct topo_limits disk;
	struct topo_md md = {
		.level = md_level(number(input, "level", -1)),
		.chunk_sectors512 = (uint32_t)number(input, "chunk_k", 0) * 2,
		.raid_disks = (uint32_t)number(input, "n", 0),
		.near_copies = layout && layout[7] == 'n' ? (uint32_t)strtoul(layout + 8, NULL, 10) : 1,
		.members = members,
	};

	md.member_count = md.raid_disks;
	assert_in_range(md.member_count, 2, MEMBERS_MAX);
	assert_int_equal(topo_sd_limits(kernel, &scsi, &disk), 0);
	for (size_t i = 0; i < md.member_count; i++)
		members[i] = (struct topo_area){ .limits = &disk, .offset_sectors512 = (uint64_t)number(input, "data_offset_s", -1) };
	return topo_md_limits(kernel, &md, ret);
}

/* The table behind a dm row: the lengths are whole physical blocks. */
struct table {
	struct topo_area areas[3];
	struct topo_dm_target targets[2];
	size_t targets_count;
};

static void dm_striped(struct table *table, const char *input, const struct topo_limits *disk)
{
	unsigned stripes = 0, chunk = 0;
	char unit = 0;
	const char *at = strstr(input, " at ");
	uint64_t offsets[3] = { 2048, 40960, 81920 };

	assert_int_equal(sscanf(input, "striped %ux%u%c", &stripes, &chunk, &unit), 3);
	assert_in_range(stripes, 2, 3);
	if (at)
		assert_int_equal(sscanf(at, " at %" SCNu64 "/%" SCNu64, &offsets[0], &offsets[1]), 2);
	for (unsigned i = 0; i < stripes; i++)
		table->areas[i] = (struct topo_area){ .limits = disk, .offset_sectors512 = offsets[i] };
	table->targets[0].type = TOPO_DM_STRIPED;
	table->targets[0].chunk_sectors512 = unit == 'K' ? chunk * 2 : chunk;
	table->targets[0].area_count = stripes;
}

static void dm_table(struct table *table, const char *input, const struct topo_limits *disk)
{
	*table = (struct table){ .targets_count = 1 };
	for (size_t i = 0; i < ARRAY_SIZE(table->targets); i++)
		table->targets[i] = (struct topo_dm_target){ .type = TOPO_DM_LINEAR, .areas = &table->areas[i], .area_count = 1 };
	table->areas[0] = (struct topo_area){ .limits = disk };
	if (!strncmp(input, "striped", 7)) {
		dm_striped(table, input, disk);
	} else if (!strncmp(input, "crypt", 5)) {
		table->targets[0].type = TOPO_DM_CRYPT;
		table->targets[0].sector_bytes = (uint32_t)strtoul(strstr(input, "ss") + 2, NULL, 10);
		table->areas[0].offset_sectors512 = (uint64_t)number(input, "off", -1);
	} else if (!strncmp(input, "2 seg", 5)) {
		assert_int_equal(sscanf(input, "2 seg linear off %" SCNu64 " + off %" SCNu64, &table->areas[0].offset_sectors512,
					&table->areas[1].offset_sectors512),
				 2);
		table->areas[1].limits = disk;
		table->targets_count = 2;
	} else {
		table->areas[0].offset_sectors512 = (uint64_t)number(input, "start", -1);
	}
}

static int dm_row(const struct topo_kernel *kernel, const char *input, struct topo_limits *ret)
{
	struct topo_scsi scsi = scsi_by_limits(strstr(input, "on["));
	struct topo_limits disk;
	struct table table;

	assert_int_equal(topo_sd_limits(kernel, &scsi, &disk), 0);
	dm_table(&table, input, &disk);
	return topo_dm_limits(kernel, table.targets, table.targets_count, ret);
}

static void part_row(const struct topo_kernel *kernel, const char *input, char *ret, size_t size)
{
	struct topo_scsi scsi = scsi_by_parameters(strchr(input, '['));
	uint64_t start = (uint64_t)number(input, "start_s", -1);
	struct topo_limits disk;

	assert_int_equal(topo_sd_limits(kernel, &scsi, &disk), 0);
	snprintf(ret, size, "sysfs_ao=%" PRIu64 " ioctl_ao=%" PRId64, topo_partition_alignment_sysfs(kernel, &disk, start),
		 topo_partition_alignment(kernel, &disk, start));
}

static void check_row(const char *kind, const char *version, const char *input, const char *expected)
{
	static const struct {
		const char *kind;
		int (*limits)(const struct topo_kernel *, const char *, struct topo_limits *);
	} kinds[] = { { "sd", sd_row }, { "blk", blk_row }, { "md", md_row }, { "dm", dm_row } };
	struct topo_kernel kernel;
	struct topo_limits limits;
	char found[256] = "unknown kind of row";

	assert_int_equal(topo_kernel_parse(version, 4096, &kernel), 0);
	if (!strcmp(kind, "part"))
		part_row(&kernel, input, found, sizeof(found));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i].kind)) {
			if (kinds[i].limits(&kernel, input, &limits) < 0)
				snprintf(found, sizeof(found), "rejected by device_area check");
			else
				format_limits(found, sizeof(found), &limits);
		}
	rows++;
	if (strcmp(found, expected)) {
		print_error("%s %s %s\n  kernel: %s\n  ours:   %s\n", kind, version, input, expected, found);
		wrong++;
	}
}

static void test_every_kernel_row(void **state)
{
	char path[4096], line[LINE_MAX_SIZE];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/kernel-limits.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *rest = line, *kind, *version, *input;

		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#')
			continue;
		kind = strsep(&rest, "\t");
		version = strsep(&rest, "\t");
		input = strsep(&rest, "\t");
		assert_non_null(rest);
		check_row(kind, version, input, rest);
	}
	fclose(f);
	print_message("%u rows of real kernels, %u not reproduced\n", rows, wrong);
	assert_int_equal(rows, 473);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kernel_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
