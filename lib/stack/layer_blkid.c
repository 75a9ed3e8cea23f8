/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nothing else here understands, identified by libblkid's signatures: a name, a label and a UUID.
 *
 * Two layers. Firmware RAID keeps its metadata at the end of whole disks, and the partition table at the start belongs to the array: it is
 * looked for first. Everything else is asked last.
 *
 * libblkid reads from a file descriptor. A device that is a range of an open file is given as that range; of one that only exists by
 * address arithmetic (md, LVM) the parts that libblkid looks at are copied into a sparse memory file of the same size.
 */
#include <blkid/blkid.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack/layers.h"

/* All signatures that libblkid knows lie within these: VMFS at 2 MiB is the furthest from the start, ZFS labels from the end. */
#define WINDOW_HEAD (2U * MIB + 64U * KIB)
#define WINDOW_TAIL (1U * MIB)

/* Not const: the API wants it so. */
static char *firmware_raid[] = {
	(char[]){ "ddf_raid_member" },
	(char[]){ "isw_raid_member" },
	(char[]){ "lsi_mega_raid_member" },
	(char[]){ "via_raid_member" },
	(char[]){ "silicon_medley_raid_member" },
	(char[]){ "nvidia_raid_member" },
	(char[]){ "promise_fasttrack_raid_member" },
	(char[]){ "hpt45x_raid_member" },
	(char[]){ "hpt37x_raid_member" },
	(char[]){ "adaptec_raid_member" },
	(char[]){ "jmicron_raid_member" },
	NULL,
};

struct range {
	int fd;
	int own_fd; /* to close, or -1 */
	uint64_t offset_bytes;
};

static void range_done(struct range *range)
{
	if (range->own_fd >= 0)
		close(range->own_fd);
}

static int copy_window(struct dev *dev, uint64_t offset_bytes, uint64_t length_bytes, int fd)
{
	_cleanup_free_ uint8_t *buffer = malloc(length_bytes);
	int r;

	if (!buffer)
		return -ENOMEM;
	r = dev_read(dev, offset_bytes, buffer, length_bytes, NULL);
	if (r < 0)
		return r;
	return pwrite(fd, buffer, length_bytes, (off_t)offset_bytes) == (ssize_t)length_bytes ? 0 : -EIO;
}

static int copy_windows(struct dev *dev, int fd)
{
	uint64_t size = dev->size_bytes, head = size < WINDOW_HEAD ? size : WINDOW_HEAD;
	uint64_t tail = size - head < WINDOW_TAIL ? size - head : WINDOW_TAIL;
	int r;

	if (size > INT64_MAX || ftruncate(fd, (off_t)size) < 0)
		return -EFBIG;
	r = copy_window(dev, 0, head, fd);
	return r < 0 || !tail ? r : copy_window(dev, size - tail, tail, fd);
}

static int range_of(struct dev *dev, struct range *ret)
{
	int r;

	if (dev_leaf_range(dev, &ret->fd, &ret->offset_bytes))
		return 0;
	ret->own_fd = ret->fd = memfd_create("blkalign-probe", MFD_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	r = copy_windows(dev, ret->fd);
	ret->offset_bytes = 0;
	return r;
}

static void probe_free(blkid_probe *probe)
{
	if (*probe)
		blkid_free_probe(*probe);
}

/*
 * `raid` is BLKID_FLTR_ONLYIN or _NOTIN for firmware RAID, 0 for no filter. Returns 0 with values to be looked up in `pr`, BLKALIGN_NOT_THIS, or
 * -EUCLEAN when several signatures contradict each other.
 */
static int identify(blkid_probe pr, const struct range *range, uint64_t size_bytes, int raid)
{
	int r;

	if (blkid_probe_set_device(pr, range->fd, (blkid_loff_t)range->offset_bytes, (blkid_loff_t)size_bytes) != 0)
		return BLKALIGN_NOT_THIS;
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID);
	if (raid)
		blkid_probe_filter_superblocks_type(pr, raid, firmware_raid);
	r = blkid_do_safeprobe(pr);
	return r == 0 ? 0 : r == -2 ? -EUCLEAN : BLKALIGN_NOT_THIS;
}

static const char *value(blkid_probe pr, const char *name)
{
	const char *data;

	return blkid_probe_lookup_value(pr, name, &data, NULL) == 0 && *data ? data : NULL;
}

static int add_identified(struct stack *stack, struct blkalign_node *host, blkid_probe pr)
{
	const char *label = value(pr, "LABEL"), *uuid = value(pr, "UUID");
	struct blkalign_node *node;
	int r = stack_add_content(stack, BLKALIGN_KIND_CONTENT, value(pr, "TYPE"), host, &node);

	if (r >= 0 && label)
		r = graph_set_str(node, BLKALIGN_ATTR_FS_LABEL, label, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && uuid)
		r = graph_set_str(node, BLKALIGN_ATTR_FS_UUID, uuid, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

static int ask(struct stack *stack, struct blkalign_node *host, struct dev *dev, int raid)
{
	_cleanup_(range_done) struct range range = { .fd = -1, .own_fd = -1 };
	_cleanup_(probe_free) blkid_probe pr = blkid_new_probe();
	int r;

	if (!pr)
		return -ENOMEM;
	r = range_of(dev, &range);
	if (r < 0)
		return r == -ENOMEM ? r : BLKALIGN_NOT_THIS;
	r = identify(pr, &range, dev->size_bytes, raid);
	if (r == -EUCLEAN)
		r = graph_remark(stack_graph(stack), "%s: carries signatures that contradict each other; none is believed",
				 blkalign_node_name(host));
	else if (r == 0 && value(pr, "TYPE"))
		return add_identified(stack, host, pr);
	return r < 0 ? r : BLKALIGN_NOT_THIS;
}

/* --- all of them, where they lie --- */

/* What the probe has just found; false when it has no place that could be wiped. */
static bool take_magic(blkid_probe pr, const char *type_key, const char *magic_key, const char *offset_key, struct stack_magic *ret)
{
	const char *type = value(pr, type_key), *offset = value(pr, offset_key), *magic;
	size_t length = 0;

	if (!type || !offset || blkid_probe_lookup_value(pr, magic_key, &magic, &length) != 0 || !length)
		return false;
	*ret = (struct stack_magic){ .offset_bytes = strtoull(offset, NULL, 10), .length_bytes = length };
	text_join(ret->type, sizeof(ret->type), type, "", "");
	return true;
}

/* Each is hidden once it is found, so that its copies come to light: the second header of a GPT, the further superblocks of btrfs. */
static int collect_magics(blkid_probe pr, struct stack_magic *magics, size_t max, size_t *ret_count)
{
	*ret_count = 0;
	while (*ret_count < max && blkid_do_probe(pr) == 0) {
		struct stack_magic *m = &magics[*ret_count];

		if (!take_magic(pr, "TYPE", "SBMAGIC", "SBMAGIC_OFFSET", m) && !take_magic(pr, "PTTYPE", "PTMAGIC", "PTMAGIC_OFFSET", m))
			continue;
		++*ret_count;
		if (blkid_probe_hide_range(pr, m->offset_bytes, m->length_bytes) != 0 || blkid_probe_step_back(pr) != 0)
			break;
	}
	return 0;
}

int stack_find_magics(struct dev *dev, struct stack_magic *magics, size_t max, size_t *ret_count)
{
	_cleanup_(range_done) struct range range = { .fd = -1, .own_fd = -1 };
	_cleanup_(probe_free) blkid_probe pr = blkid_new_probe();
	int r = pr ? range_of(dev, &range) : -ENOMEM;

	if (r < 0)
		return r;
	if (blkid_probe_set_device(pr, range.fd, (blkid_loff_t)range.offset_bytes, (blkid_loff_t)dev->size_bytes) != 0)
		return -EIO;
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
	return collect_magics(pr, magics, max, ret_count);
}

static bool may_be_raid(const struct blkalign_node *host) { return blkalign_node_kind(host) == BLKALIGN_KIND_DISK; }

static int blkid_last_probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	return ask(stack, host, dev, may_be_raid(host) ? BLKID_FLTR_NOTIN : 0);
}

static int blkid_raid_probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	int r;

	if (!may_be_raid(host))
		return BLKALIGN_NOT_THIS;
	r = ask(stack, host, dev, BLKID_FLTR_ONLYIN);
	if (r != 0)
		return r;
	r = graph_remark(stack_graph(stack),
			 "%s: belongs to a firmware RAID, whose layout is not read; what is found on the disk itself may be a part of it",
			 blkalign_node_name(host));
	return r < 0 ? r : STACK_GO_ON;
}

const struct layer layer_blkid_raid = { .name = "blkid-raid", .probe = blkid_raid_probe };
const struct layer layer_blkid = { .name = "blkid", .probe = blkid_last_probe };
