/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/kernel.h"

#include <assert.h>

struct release {
	uint16_t major, minor, patch;
};

/*
 * Where each behaviour begins: in mainline, and earlier in stable series that took it over. Numbers marked (b) are bracketed: the
 * release before which we saw the old and in which we saw the new behaviour lie further apart, and the first one proven is given.
 */
static const struct {
	enum topo_behaviour behaviour;
	struct release since;
	struct release stable[3];
} table[] = {
	{ TOPO_SD_OPT_LIMITED, { 4, 4, 0 }, { { 0 } } }, /* drivers/scsi/sd.c: sd_revalidate_disk */
	{ TOPO_SD_OPT_FITS_PHYSICAL, { 5, 1, 0 }, { { 4, 14, 108 }, { 4, 19, 31 }, { 5, 0, 4 } } }, /* sd_validate_opt_xfer_size */
	{ TOPO_SD_MIN_VALIDATED, { 5, 18, 0 }, { { 0 } } },					    /* sd_validate_min_xfer_size */
	{ TOPO_SD_OPT_SECTORS, { 6, 0, 0 }, { { 0 } } },					    /* sd_revalidate_disk */
	{ TOPO_SD_OPT_SECTORS_IS_OPT, { 6, 11, 0 }, { { 0 } } },
	{ TOPO_SD_OPT_SECTORS_FILTERED, { 7, 1, 0 }, { { 6, 1, 178 }, { 6, 12, 97 } } },
	{ TOPO_SD_ANY_LOGICAL, { 7, 2, 0 }, { { 0 } } },       /* (b) sd_read_capacity */
	{ TOPO_NVME_NOWS_1_IS_NONE, { 6, 12, 0 }, { { 0 } } }, /* (b) drivers/nvme/host/core.c: nvme_update_disk_info */
	{ TOPO_NVME_IGNORES_AWUPF, { 7, 0, 0 }, { { 0 } } },
	{ TOPO_COMMIT_VALIDATES, { 6, 9, 0 }, { { 0 } } }, /* block/blk-settings.c: blk_validate_limits */
	{ TOPO_COMMIT_ROUNDS_OPT, { 6, 13, 0 }, { { 6, 12, 2 } } },
	{ TOPO_COMMIT_WANTS_POWER_OF_2, { 7, 2, 0 }, { { 0 } } },     /* (b) */
	{ TOPO_MAX_SECTORS_4096K, { 6, 17, 0 }, { { 0 } } },	      /* BLK_DEF_MAX_SECTORS_CAP */
	{ TOPO_PARTITION_TELLS_MISALIGNED, { 5, 11, 0 }, { { 0 } } }, /* bdev_alignment_offset */
	{ TOPO_READ_AHEAD_FROM_OPT, { 5, 10, 0 }, { { 0 } } },	      /* blk_queue_update_readahead, blk_apply_bdi_limits */
	{ TOPO_READ_AHEAD_64_BIT, { 6, 17, 0 }, { { 0 } } },
	{ TOPO_MD_SECOND_PASS, { 6, 9, 0 }, { { 0 } } },	      /* drivers/md/raid5.c: raid5_set_limits */
	{ TOPO_MD_LINEAR_CHUNK, { 6, 14, 0 }, { { 0 } } },	      /* drivers/md/md-linear.c: linear_set_limits */
	{ TOPO_MD_CHUNK_BOUNDARY, { 6, 17, 0 }, { { 0 } } },	      /* drivers/md/raid0.c: raid0_set_limits */
	{ TOPO_MD_RAID10_BOUNDARY, { 6, 17, 0 }, { { 6, 12, 43 } } }, /* drivers/md/raid10.c: raid10_set_queue_limits */
	{ TOPO_MD_RAID1_BOUNDARY, { 7, 2, 0 }, { { 0 } } },	      /* (b) drivers/md/raid1.c: raid1_set_limits */
	{ TOPO_MD_RAID5_MAX_1M, { 6, 0, 0 }, { { 0 } } },	      /* drivers/md/raid5.c: RAID5_MAX_REQ_STRIPES */
	{ TOPO_MD_RAID5_MAX_OPT, { 7, 0, 0 }, { { 0 } } },
	{ TOPO_MD_RAID5_BOUNDARY, { 7, 1, 0 }, { { 0 } } },
	{ TOPO_MD_STORES_LOGICAL, { 6, 19, 0 }, { { 0 } } },		/* drivers/md/md.c: md_init_stacking_limits */
	{ TOPO_DM_STRIPED_BOUNDARY, { 6, 17, 0 }, { { 6, 12, 43 } } },	/* drivers/md/dm-stripe.c: stripe_io_hints */
	{ TOPO_DM_RAID1_KEEPS_HINTS, { 6, 17, 0 }, { { 6, 12, 49 } } }, /* drivers/md/dm-raid.c: raid_io_hints */
};
static_assert(ARRAY_SIZE(table) == TOPO_BEHAVIOURS, "one row per behaviour");

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* One decimal number at *text, moved behind it. */
static int parse_part(const char **text, uint32_t *ret)
{
	uint32_t value = 0;

	for (; is_digit(**text); (*text)++)
		if (__builtin_mul_overflow(value, 10U, &value) || __builtin_add_overflow(value, (uint32_t)(**text - '0'), &value))
			return -EINVAL;
	*ret = value;
	return 0;
}

int topo_version_parse(const char *text, struct topo_version *ret)
{
	struct topo_version version = { { 0 } };
	size_t digits;

	while (*text && !is_digit(*text))
		text++;
	digits = strspn(text, "0123456789");
	if (text[digits] == ':' && is_digit(text[digits + 1]))
		text += digits + 1;
	if (!is_digit(*text))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(version.part); i++) {
		int r = parse_part(&text, &version.part[i]);

		if (r < 0)
			return r;
		if (text[0] != '.' || !is_digit(text[1]))
			break;
		text++;
	}
	*ret = version;
	return 0;
}

int topo_version_compare(const struct topo_version *a, const struct topo_version *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(a->part); i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return 0;
}

bool topo_version_at_least(const struct topo_version *version, uint32_t a, uint32_t b, uint32_t c)
{
	return topo_version_compare(version, &(struct topo_version){ { a, b, c } }) >= 0;
}

static bool has_behaviour(const struct topo_version *version, size_t row)
{
	const struct release *since = &table[row].since;

	if (topo_version_at_least(version, since->major, since->minor, since->patch))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(table[row].stable); i++) {
		const struct release *stable = &table[row].stable[i];

		if (stable->major && version->part[0] == stable->major && version->part[1] == stable->minor &&
		    version->part[2] >= stable->patch)
			return true;
	}
	return false;
}

void topo_kernel_init(const struct topo_version *version, uint32_t page_bytes, struct topo_kernel *ret)
{
	*ret = (struct topo_kernel){ .version = *version, .page_bytes = page_bytes ? page_bytes : 4096 };
	for (size_t row = 0; row < ARRAY_SIZE(table); row++)
		ret->has[table[row].behaviour] = has_behaviour(version, row);
}

/* "X.Y.0-N": N counts the distribution's builds, which follow the stable series without saying how far. */
static bool patch_level_hidden(const char *text)
{
	const char *dash = strchr(text, '-');

	return dash && dash - text >= 2 && dash[-1] == '0' && dash[-2] == '.' && is_digit(dash[1]);
}

int topo_kernel_parse(const char *text, uint32_t page_bytes, struct topo_kernel *ret)
{
	static const char debian[] = " Debian ";
	struct topo_version version;
	const char *told = strstr(text, debian);
	int r = topo_version_parse(told ? told + strlen(debian) : text, &version);

	if (r < 0)
		return r;
	if (!told && version.part[2] == 0 && patch_level_hidden(text))
		version.part[2] = UINT32_MAX;
	topo_kernel_init(&version, page_bytes, ret);
	return 0;
}
