/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "check/remedy.h"

static uint64_t logical_of(const struct blkalign_node *n)
{
	uint64_t logical = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK);

	return is_set(logical) ? logical : 512;
}

static const char *for_partition(struct check *c, const struct blame *b, uint64_t expected)
{
	const char *disk = check_path(c, b->below);
	uint64_t number = blkalign_node_u64(b->guilty, BLKALIGN_ATTR_PART_NUMBER), sector = expected / logical_of(b->below);

	if (!is_set(number))
		return report_text(c->report,
				   "after a backup, with %s unmounted, move its start to sector %" PRIu64
				   " of %s (sfdisk --move-data, needs free room behind it)",
				   check_name(c, b->guilty), sector, disk);
	return report_text(c->report,
			   "after a backup, with the partition unmounted and free room behind it: echo '%" PRIu64
			   ",' | sfdisk --move-data -N %" PRIu64
			   " %s (moves the data; an interruption loses it). Or delete it (destroys the content) and make it "
			   "again: parted -a none %s unit s rm %" PRIu64 " mkpart primary %" PRIu64 " END, then restore",
			   sector, number, disk, disk, number, sector);
}

static const char *for_pv(struct check *c, const struct blame *b, uint64_t expected)
{
	const char *device = check_path(c, b->guilty), *vg = blkalign_node_str(b->guilty, BLKALIGN_ATTR_VG_NAME);
	const char *create = report_text(c->report, "pvcreate --dataalignment %" PRIu64 "k %s", expected / KIB, device);

	if (expected == MIB)
		create = report_text(c->report, "pvcreate --dataalignment 1m %s", device);
	if (!vg)
		return report_text(
			c->report,
			"if no volume group is on it: pvremove %s && %s (destroys what is on it). Keep the hint out of later runs with "
			"devices/data_alignment_detection = 0 in lvm.conf",
			device, create);
	vg = report_escaped(c->report, vg);
	return report_text(
		c->report,
		"add a second physical volume to %s, made with --dataalignment 1m, then: pvmove %s && vgreduce %s %s && pvremove %s && %s "
		"&& vgextend %s %s "
		"(data stays readable throughout). Without a second device: back up, make it again (destroys the volumes), restore",
		vg, device, vg, device, device, create, vg, device);
}

static const char *for_md(struct check *c, const struct blame *b)
{
	const char *array = check_path(c, b->guilty), *member = check_path(c, b->below);

	return report_text(c->report,
			   "one member at a time, array clean and redundant, backup at hand: mdadm %s --fail %s --remove %s && mdadm "
			   "--zero-superblock %s && mdadm %s --add %s, "
			   "wait for the resync, check the data offset with mdadm --examine %s (redundancy is lost meanwhile; zeroing "
			   "destroys this member's copy)",
			   array, member, member, member, array, member, member);
}

static const char *for_luks(struct check *c, const struct blame *b, uint64_t expected)
{
	const char *device = check_path(c, b->guilty);

	return report_text(
		c->report,
		"cryptsetup luksHeaderBackup %s --header-backup-file FILE; back up the content; cryptsetup luksFormat --offset %" PRIu64
		" %s (destroys the content); restore",
		device, expected / 512, device);
}

const char *remedy_for_start(struct check *c, const struct blame *b, enum finding finding, uint64_t expected)
{
	if (expected == BLKALIGN_UNKNOWN)
		return NULL;
	if (b->boundary == BOUNDARY_STRIPE)
		return NULL;
	if (finding == FINDING_ALIGNMENT_OFFSET)
		return blkalign_finding_info(finding)->remedy;
	switch (blkalign_node_kind(b->guilty)) {
	case BLKALIGN_KIND_PARTITION:
		return for_partition(c, b, expected);
	case BLKALIGN_KIND_PV:
		return for_pv(c, b, expected);
	case BLKALIGN_KIND_MD:
		return for_md(c, b);
	case BLKALIGN_KIND_CRYPT:
		return for_luks(c, b, expected);
	case BLKALIGN_KIND_HOST:
	case BLKALIGN_KIND_DISK:
	case BLKALIGN_KIND_LV:
	case BLKALIGN_KIND_DM:
	case BLKALIGN_KIND_BCACHE:
	case BLKALIGN_KIND_CONTENT:
		break;
	}
	return blkalign_finding_info(finding)->remedy;
}

/* The device whose queue/ directory counts: names from images or pasted text may be no kernel names, then DEVICE stands there. */
static const char *kernel_name(struct check *c, const struct blkalign_node *n)
{
	const char *name = blkalign_node_name(n);

	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name) ? check_name(c, n) : "DEVICE";
}

const char *remedy_for_read_ahead(struct check *c, const struct blkalign_node *disk)
{
	const char *name = kernel_name(c, disk);

	return report_text(
		c->report,
		"now: echo 128 > /sys/block/%s/queue/read_ahead_kb; for the next boot a line in /etc/udev/rules.d/60-read-ahead.rules: "
		"ACTION==\"add|change\", KERNEL==\"%s\", ATTR{queue/read_ahead_kb}=\"128\"",
		name, name);
}

const char *remedy_for_hint(struct check *c, const struct blkalign_node *node)
{
	const char *device = check_path(c, node);

	return report_text(c->report,
			   "leave what is there; give the grain by hand from now on: parted -a none %s mkpart ... 1MiB, pvcreate "
			   "--dataalignment 1m %s, cryptsetup luksFormat --offset "
			   "32768 %s, mkfs.ext4 -E stride=0,stripe_width=0 %s",
			   device, device, device, device);
}
