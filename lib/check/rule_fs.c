/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File systems: the stripe they were told, their sector, their block. Where they start is the judge's business. */
#include <inttypes.h>

#include "check/rules.h"
#include "check/shell.h"

/* More disks than this in one stripe are nobody's array. */
#define DATA_DISKS_MAX 128
/* ext4's allocator uses a stripe of at most one block group. */
#define EXT_STRIPE_MAX_BLOCKS 32768
/* Larger blocks are not to be had where pages are of this size. */
#define USUAL_BLOCK_BYTES 4096
/* On smaller file systems block size and stripe do not matter. */
#define SMALL_BYTES GIB

static bool is_type(const struct blkalign_node *n, const char *const *types, size_t count)
{
	const char *type = blkalign_node_str(n, BLKALIGN_ATTR_CONTENT);

	for (size_t i = 0; type && i < count; i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static bool is_ext(const struct blkalign_node *n)
{
	static const char *const types[] = { "ext2", "ext3", "ext4" };

	return is_type(n, types, ARRAY_SIZE(types));
}

static bool is_small(const struct blkalign_node *n)
{
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_FS_SIZE);

	if (!is_set(size))
		size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);
	return is_set(size) && size < SMALL_BYTES;
}

/* --- stripe --- */

struct told {
	uint64_t stride; /* 0: told none */
	uint64_t stripe;
	uint64_t block;
};

static const char *xfs_remedy(struct check *c, const struct blkalign_node *n, uint64_t chunk, uint64_t stripe)
{
	const char *mount = blkalign_node_str(n, BLKALIGN_ATTR_MOUNT_POINT);
	struct script s = { .c = c };
	const char *device = shell_device(c, n);

	if (!chunk) {
		script_note(&s, "mount without sunit and swidth options; when it is made again, which");
		script_note(&s, "destroys its content:");
		script_run_not(&s, "mkfs.xfs -d noalign %s", device);
		return script_finish(&s);
	}
	if (mount) {
		const char *where = shell_word(c, mount, "");

		script_run(&s, "umount %s", where);
		script_run(&s, "mount -o sunit=%" PRIu64 ",swidth=%" PRIu64 " %s %s", chunk / 512, stripe / 512, device, where);
		return script_finish(&s);
	}
	script_note(&s, "mount it once with these options; fill in where for MOUNTPOINT:");
	script_run_not(&s, "mount -o sunit=%" PRIu64 ",swidth=%" PRIu64 " %s MOUNTPOINT", chunk / 512, stripe / 512, device);
	return script_finish(&s);
}

static const char *stripe_remedy(struct check *c, const struct blkalign_node *n, const struct told *t, uint64_t chunk, uint64_t stripe)
{
	struct script s = { .c = c };

	if (attr_is(n, BLKALIGN_ATTR_CONTENT, "xfs"))
		return xfs_remedy(c, n, chunk, stripe);
	if (!is_ext(n))
		return NULL;
	script_run(&s, "tune2fs -E stride=%" PRIu64 ",stripe_width=%" PRIu64 " %s", chunk / t->block, stripe / t->block,
		   script_block_device(&s, n));
	return script_finish(&s);
}

static void report_stripe(struct check *c, const struct blkalign_node *n, const struct told *t, enum impact impact,
			  const struct blkalign_node *array, const char *why)
{
	const struct facts *f = array ? facts_of(c, array) : NULL;
	uint64_t chunk = f ? f->grains[BOUNDARY_CHUNK].bytes : 0, stripe = f ? f->grains[BOUNDARY_STRIPE].bytes : 0;

	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_FS_STRIPE,
			   .impact = impact,
			   .node = n,
			   .cause = array,
			   .found_bytes = t->stripe ? t->stripe : t->stride,
			   .expected_bytes = stripe,
			   .message = report_text(c->report, "%s was told a stride of %" PRIu64 " and a stripe of %" PRIu64 " bytes: %s",
						  check_name(c, n), t->stride, t->stripe, why),
			   .remedy = stripe_remedy(c, n, t, chunk, stripe),
		   });
}

/* What cannot be any array's geometry, or NULL. */
static const char *nonsense(const struct blkalign_node *n, const struct told *t)
{
	struct hint_facts h = { .optimal_bytes = t->stripe, .minimum_bytes = t->stride, .physical_bytes = t->block };

	if (t->stride && !t->stripe)
		return is_ext(n) ? NULL : "a stripe unit without a width; mkfs.xfs refuses it when the values are replayed";
	if (t->stride && t->stripe % t->stride)
		return "the stripe is no multiple of the stride";
	if (t->stride && t->stripe / t->stride > DATA_DISKS_MAX)
		return "hundreds of data disks: a bogus hint of the device, no array";
	return hint_is_bogus(hint_classify(&h)) ? "a bogus optimal I/O size of the device, no array" : NULL;
}

static bool is_parity(const struct blkalign_node *array)
{
	const char *level = blkalign_node_str(array, BLKALIGN_ATTR_MD_LEVEL);

	if (!level)
		level = blkalign_node_str(array, BLKALIGN_ATTR_LV_TYPE);
	return level && (!strncmp(level, "raid4", 5) || !strncmp(level, "raid5", 5) || !strncmp(level, "raid6", 5));
}

/* Parity is lost speed when stripes do not fit; striping and mirrors only spread a little worse, and count their stripe in several ways. */
static void compare_stripe(struct check *c, const struct blkalign_node *n, const struct told *t, const struct blkalign_node *array)
{
	const struct grain *grains = facts_of(c, array)->grains;
	bool parity = is_parity(array), off_chunk = t->stride % grains[BOUNDARY_CHUNK].bytes,
	     off_stripe = grains[BOUNDARY_STRIPE].bytes && t->stripe % grains[BOUNDARY_STRIPE].bytes;

	if (!t->stripe && parity)
		report_stripe(c, n, t, IMPACT_TUNING, array,
			      "it lies on parity RAID and was told none, so full-stripe writes are left to chance");
	else if (t->stripe && (off_chunk || (parity && off_stripe)))
		report_stripe(c, n, t, parity ? IMPACT_LOSES_SPEED : IMPACT_TUNING, array,
			      report_text(c->report, "not the geometry of %s", check_name(c, array)));
}

static void rule_stripe(struct check *c, const struct blkalign_node *n)
{
	struct told t = { blkalign_node_u64(n, BLKALIGN_ATTR_FS_STRIDE), blkalign_node_u64(n, BLKALIGN_ATTR_FS_STRIPE),
			  blkalign_node_u64(n, BLKALIGN_ATTR_FS_BLOCK) };
	const struct blkalign_node *array = geometry_below(c, n);
	const char *why;

	if (t.stripe == BLKALIGN_UNKNOWN && t.stride == BLKALIGN_UNKNOWN)
		return;
	t.stripe = t.stripe == BLKALIGN_UNKNOWN ? 0 : t.stripe;
	t.stride = t.stride == BLKALIGN_UNKNOWN ? 0 : t.stride;
	t.block = is_set(t.block) ? t.block : 4096;
	why = nonsense(n, &t);
	if (why) {
		bool used = !is_ext(n) || t.stripe / t.block <= EXT_STRIPE_MAX_BLOCKS;

		report_stripe(c, n, &t, used ? IMPACT_LOSES_SPEED : IMPACT_NONE, array, why);
		return;
	}
	if (array && !is_small(n))
		compare_stripe(c, n, &t, array);
}

/* --- sector and block --- */

/* An array that runs keeps its blocks until it is assembled again. */
static void report_unmountable(struct check *c, const struct blkalign_node *n, uint64_t sector, uint64_t logical)
{
	uint64_t now = blkalign_node_u64(below(n), BLKALIGN_ATTR_LOGICAL_BLOCK);
	bool later = is_set(now) && sector >= now;

	check_report(c, FINDING_FS_SECTOR_SIZE, IMPACT_BREAKS, n, sector, logical,
		     report_text(c->report,
				 "%s writes in units of %" PRIu64 " bytes, its device %s blocks of %" PRIu64 ": it cannot be mounted%s",
				 check_name(c, n), sector, later ? "will have" : "has", logical,
				 later ? " from the next assembly on" : ""));
}

static void rule_sector(struct check *c, const struct blkalign_node *n)
{
	static const char *const rewriting[] = { "zfs_member" }, *const sector_based[] = { "xfs", "zfs_member" };
	uint64_t sector = blkalign_node_u64(n, BLKALIGN_ATTR_FS_SECTOR), logical = below(n) ? facts_of(c, below(n))->logical_bytes : 0;
	const struct facts *drive = facts_of(c, drive_below(n));
	uint64_t block = drive->grains[BOUNDARY_PHYSICAL].bytes;

	/* The superblock of ext lies 1 KiB in, and its unit is the block. */
	if (is_ext(n))
		sector = blkalign_node_u64(n, BLKALIGN_ATTR_FS_BLOCK);
	if (!is_set(sector))
		return;
	if (logical && sector < logical)
		report_unmountable(c, n, sector, logical);
	else if (sector < block && is_type(n, sector_based, ARRAY_SIZE(sector_based)))
		check_report(c, FINDING_FS_SECTOR_SIZE,
			     is_type(n, rewriting, ARRAY_SIZE(rewriting)) && !drive->physical_assumed ? IMPACT_LOSES_SPEED : IMPACT_NONE, n,
			     sector, block,
			     report_text(c->report,
					 "%s writes in units of %" PRIu64 " bytes on physical blocks of %" PRIu64
					 " (%s): such writes are read-modify-writes",
					 check_name(c, n), sector, block, drive->physical_source));
}

static void rule_block(struct check *c, const struct blkalign_node *n)
{
	static const char *const writable[] = { "ext2", "ext3", "ext4", "xfs", "ntfs", "exfat", "vfat" };
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_FS_BLOCK);
	const struct facts *drive = facts_of(c, drive_below(n));
	uint64_t block = drive->grains[BOUNDARY_PHYSICAL].bytes;

	if (!is_set(size) || size >= block || !is_type(n, writable, ARRAY_SIZE(writable)))
		return;
	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_FS_BLOCK_BELOW_PHYSICAL,
			   .impact = size >= USUAL_BLOCK_BYTES || is_small(n) || drive->physical_assumed ||
						     attr_is(n, BLKALIGN_ATTR_CONTENT, "vfat")
					     ? IMPACT_NONE
					     : IMPACT_LOSES_SPEED,
			   .node = n,
			   .found_bytes = size,
			   .expected_bytes = block,
			   .message = report_text(c->report, "%s has blocks of %" PRIu64 " bytes on physical blocks of %" PRIu64 " (%s)",
						  check_name(c, n), size, block, drive->physical_source),
			   .price = report_text(c->report,
						"model: a write of one file-system block: 1 block read + 1 block write instead of 0 + 1"),
			   .remedy = script_general(c, FINDING_FS_BLOCK_BELOW_PHYSICAL),
		   });
}

void rule_fs(struct check *c, const struct blkalign_node *n)
{
	rule_stripe(c, n);
	rule_sector(c, n);
	rule_block(c, n);
}
