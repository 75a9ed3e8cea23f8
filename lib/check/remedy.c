/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "check/remedy.h"
#include "check/shell.h"

/*
 * mdadm gives a member that is added the array's own offset and takes no other in manage mode; only a reshape changes it: downwards, because
 * members that are full have no room for more (mdadm 4.2: "data-offset is too big"). Below 1 MiB the bitmap and the bad-block log may be in the way.
 */
static const char *for_md(struct check *c, const struct blame *b)
{
	static const char *const reshaped[] = { "raid4", "raid5", "raid6", "raid10" };
	uint64_t past = b->own_bytes - b->grain.offset_bytes, down = b->own_bytes - past % b->grain.bytes;
	struct script s = { .c = c };
	const char *array = script_block_device(&s, b->guilty);
	bool can_grow = false;

	for (size_t i = 0; i < ARRAY_SIZE(reshaped); i++)
		can_grow = can_grow || attr_is(b->guilty, BLKALIGN_ATTR_MD_LEVEL, reshaped[i]);
	script_note(&s, "adding members anew does not help: they get the data offset of the array again");
	if (can_grow && b->own_bytes > b->grain.offset_bytes && down >= MIB && down % KIB == 0) {
		script_note(&s, "back up first; the array stays in use while all of its data is rewritten");
		script_run(&s, "mdadm --grow %s --data-offset=%" PRIu64 "K", array, down / KIB);
		script_run(&s, "mdadm --wait %s", array);
		return script_finish(&s);
	}
	script_note(&s, "back up the content, then make the array again with its level, members and chunk;");
	script_note(&s, "destroys what is on it:");
	script_run_not(&s, "mdadm --create %s --data-offset=%" PRIu64 "K ...", array, round_up_u64(b->own_bytes, MIB) / KIB);
	return script_finish(&s);
}

static const char *for_luks(struct check *c, const struct blame *b, uint64_t expected)
{
	uint64_t version = blkalign_node_u64(b->guilty, BLKALIGN_ATTR_LUKS_VERSION);
	const char *type = version == 1 ? "--type luks1 " : version == 2 ? "--type luks2 " : "";
	struct script s = { .c = c };
	const char *device = script_block_device(&s, b->guilty);

	script_note(&s, "back up the content, and close the container");
	script_run(&s, "cryptsetup luksHeaderBackup %s --header-backup-file luks-header.backup", device);
	script_note(&s, "destroys the content and its keys (cryptsetup asks):");
	script_run(&s, "cryptsetup luksFormat %s--offset %" PRIu64 " %s", type, expected / 512, device);
	script_note(&s, "open it, make what was on it, restore");
	return script_finish(&s);
}

const char *remedy_for_start(struct check *c, const struct blame *b, enum finding finding, uint64_t expected)
{
	if (expected == BLKALIGN_UNKNOWN || b->boundary == BOUNDARY_STRIPE)
		return NULL;
	if (finding == FINDING_ALIGNMENT_OFFSET)
		return script_general(c, finding);
	switch (blkalign_node_kind(b->guilty)) {
	case BLKALIGN_KIND_PARTITION:
		return remedy_for_partition(c, b, expected);
	case BLKALIGN_KIND_PV:
		return remedy_for_pv(c, b, expected);
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
	return script_general(c, finding);
}

/* udev matches the kernel's name; names from images or pasted text may be none. */
static bool is_kernel_name(const char *name) { return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name); }

const char *remedy_for_read_ahead(struct check *c, const struct blkalign_node *node)
{
	const char *name = blkalign_node_name(node);
	bool known = is_kernel_name(name) && blkalign_node_kind(node) != BLKALIGN_KIND_PARTITION;
	struct script s = { .c = c };

	script_run(&s, "blockdev --setra 256 %s", shell_device(c, node));
	script_note(&s, "for the next boot%s:", known ? "" : "; fill in the kernel's name of the device for NAME");
	(known ? script_run : script_run_not)(
		&s,
		"echo 'ACTION==\"add|change\", KERNEL==\"%s\", ATTR{queue/read_ahead_kb}=\"128\"' >> /etc/udev/rules.d/60-read-ahead.rules",
		known ? name : "NAME");
	return script_finish(&s);
}

const char *remedy_for_hint(struct check *c, const struct blkalign_node *node)
{
	const struct facts *f = facts_of(c, node);
	uint64_t stripe = f->grains[BOUNDARY_STRIPE].bytes, chunk = f->grains[BOUNDARY_CHUNK].bytes;
	uint64_t grain = stripe && stripe % KIB == 0 ? stripe : MIB, header = round_up_u64(16 * MIB, grain);
	const char *device = shell_device(c, node);
	struct script s = { .c = c };

	script_note(&s, "leave what is there; on an empty device give the grain by hand;");
	script_note(&s, "destroys what is on it, each of these:");
	script_run_not(&s, "echo '%" PRIu64 "KiB,' | sfdisk %s", grain / KIB, device);
	script_run_not(&s, "pvcreate --dataalignment %" PRIu64 "k %s", grain / KIB, device);
	script_run_not(&s, "cryptsetup luksFormat --offset %" PRIu64 " %s", header / 512, device);
	script_run_not(&s, "mkfs.ext4 -b 4096 -E stride=%" PRIu64 ",stripe_width=%" PRIu64 " %s", chunk / 4096, stripe / 4096, device);
	return script_finish(&s);
}
