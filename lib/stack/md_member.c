/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From superblocks to struct md_member: the last place that knows about formats. */
#include <inttypes.h>

#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "format/mdbitmap/mdbitmap.h"
#include "stack/md.h"

#define MD0_BITMAP_FROM_SUPER_BYTES 4096

void md_member_free(struct md_member *m)
{
	if (!m)
		return;
	free(m->roles);
	free(m->bad);
	free(m);
}

static int set_roles(struct md_member *m, uint32_t count)
{
	m->roles = calloc(count ? count : 1, sizeof(*m->roles));
	m->roles_count = count;
	return m->roles ? 0 : -ENOMEM;
}

/* --- 1.x --- */

static struct md_role role_v1(uint16_t role)
{
	if (MD1_ROLE_IS_SLOT(role))
		return (struct md_role){ MD_ROLE_SLOT, role };
	if (role == MD1_ROLE_JOURNAL)
		return (struct md_role){ .kind = MD_ROLE_JOURNAL };
	return (struct md_role){ .kind = role == MD1_ROLE_FAULTY ? MD_ROLE_FAULTY : MD_ROLE_SPARE };
}

static int say_oddities(struct stack *stack, const struct md_member *m, const struct md1_superblock *sb)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < MD1_ODDITIES; i++)
		if (sb->oddities & 1U << i)
			r = graph_remark(stack_graph(stack), "%s: md superblock %s at byte %" PRIu64 ": %s", blkalign_node_name(m->host),
					 m->metadata, m->super_bytes, md1_oddity_text(i));
	return r;
}

/* Of the data area. A log that cannot be read leaves the member usable: its ranges are found out when they are read. */
static int read_bad_blocks(struct stack *stack, struct md_member *m, const struct md1_superblock *sb)
{
	_cleanup_free_ struct md1_bad_range *ranges = NULL;
	struct blkalign_error err = { 0 };
	size_t count = 0;
	int r = md1_badblocks_read(m->dev, sb, &ranges, &count, &err);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return graph_remark(stack_graph(stack), "%s: %s", blkalign_node_name(m->host), err.message);
	if (!count)
		return 0;
	m->bad = calloc(count, sizeof(*m->bad));
	if (!m->bad)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = ranges[i].from_device_start_bytes, end = begin + ranges[i].length_bytes;

		if (end <= sb->data_offset_bytes)
			continue;
		if (begin < sb->data_offset_bytes)
			begin = sb->data_offset_bytes;
		m->bad[m->bad_count++] = (struct byte_range){ begin - sb->data_offset_bytes, end - begin };
	}
	return 0;
}

/* BLKALIGN_UNKNOWN when the superblock's sum makes no sense. */
static uint64_t new_data_offset(const struct md1_superblock *sb)
{
	int64_t moved = sb->features & MD1_RESHAPE ? sb->new_offset_bytes : 0;

	if (moved < 0 && (uint64_t)-moved > sb->data_offset_bytes)
		return BLKALIGN_UNKNOWN;
	return sb->data_offset_bytes + (uint64_t)moved;
}

static void member_facts_v1(struct md_member *m, const struct md1_superblock *sb)
{
	m->features = sb->features;
	m->dev_number = sb->dev_number;
	memcpy(m->device_uuid, sb->device_uuid, sizeof(m->device_uuid));
	m->role = role_v1(sb->role);
	m->super_bytes = sb->super_bytes;
	m->data_offset_bytes = sb->data_offset_bytes;
	m->new_data_offset_bytes = new_data_offset(sb);
	m->data_bytes = sb->data_bytes;
	m->recovery_bytes = m->role.kind == MD_ROLE_SLOT ? sb->recovery_bytes : UINT64_MAX;
	m->journal_tail_bytes = sb->journal_tail_bytes;
	m->replacement = sb->features & MD1_REPLACEMENT;
	m->write_mostly = sb->devflags & MD1_DEV_WRITE_MOSTLY;
	m->failfast = sb->devflags & MD1_DEV_FAILFAST;
	m->vendor_error = sb->oddities & MD1_ODD_VENDOR_ROLE;
	m->journal = sb->features & MD1_JOURNAL;
	m->ppl = sb->features & (MD1_PPL | MD1_MULTIPLE_PPLS);
	m->clustered = sb->features & MD1_CLUSTERED;
}

static void array_facts_v1(struct md_member *m, const struct md1_superblock *sb)
{
	memcpy(m->array_uuid, sb->array_uuid, sizeof(m->array_uuid));
	memcpy(m->name, sb->name, sizeof(m->name));
	m->preferred_minor = BLKALIGN_UNKNOWN;
	m->created_seconds = sb->created_seconds;
	m->level = sb->level;
	m->stored_layout = m->layout = sb->layout;
	if (sb->level == RAID_0 && !(sb->features & MD1_RAID0_LAYOUT))
		m->layout = RAID0_UNRECORDED;
	m->component_bytes = sb->component_bytes;
	m->chunk_bytes = sb->chunk_bytes;
	m->raid_disks = sb->raid_disks;
	m->events = sb->events;
	m->resync_bytes = sb->resync_bytes;
	m->reshaping = sb->features & MD1_RESHAPE;
	m->logical_block_bytes = sb->oddities & MD1_ODD_LOGICAL_BLOCK ? 0 : sb->logical_block_bytes;
	if (!m->reshaping)
		return;
	m->reshape_position_bytes = sb->reshape_position_bytes;
	m->reshape_backwards = sb->delta_disks < 0 || sb->features & MD1_RESHAPE_BACKWARDS;
	m->delta_disks = sb->oddities & MD1_ODD_RESHAPE ? 0 : sb->delta_disks;
	m->new_level = sb->new_level;
	m->new_layout = sb->new_layout;
	m->new_chunk_bytes = sb->new_chunk_bytes;
}

/* --- 0.90 --- */

static struct md_role role_v0(const struct md0_disk *disk)
{
	if (disk->state & MD0_DISK_FAULTY)
		return (struct md_role){ .kind = MD_ROLE_FAULTY };
	if (disk->state & MD0_DISK_SYNC && disk->raid_disk < MD0_DISKS_MAX)
		return (struct md_role){ MD_ROLE_SLOT, disk->raid_disk };
	return (struct md_role){ .kind = MD_ROLE_SPARE };
}

static void member_facts_v0(struct md_member *m, const struct md0_superblock *sb)
{
	m->features = BLKALIGN_UNKNOWN;
	m->dev_number = sb->self.number;
	m->role = role_v0(&sb->self);
	m->super_bytes = m->data_bytes = sb->super_bytes;
	m->recovery_bytes = m->journal_tail_bytes = UINT64_MAX;
	m->write_mostly = sb->self.state & MD0_DISK_WRITE_MOSTLY;
	m->failfast = sb->self.state & MD0_DISK_FAILFAST;
	m->vendor_error = sb->self.state & MD0_DISK_VENDOR_ERROR;
	m->big_endian = sb->big_endian;
	m->clustered = sb->state & MD0_CLUSTERED;
}

static void array_facts_v0(struct md_member *m, const struct md0_superblock *sb)
{
	memcpy(m->array_uuid, sb->array_uuid, sizeof(m->array_uuid));
	m->preferred_minor = sb->preferred_minor;
	m->created_seconds = sb->created_seconds;
	m->level = sb->level;
	m->stored_layout = sb->layout;
	m->layout = sb->level == RAID_0 ? RAID0_UNRECORDED : sb->layout; /* super_90_validate() ignores the field */
	m->component_bytes = sb->component_bytes;
	m->chunk_bytes = sb->chunk_bytes;
	m->raid_disks = sb->raid_disks;
	m->events = sb->events;
	m->resync_bytes = sb->resync_bytes;
	m->reshaping = sb->minor_version == 91 && sb->reshape_position_bytes != UINT64_MAX;
	if (!m->reshaping)
		return;
	m->reshape_position_bytes = sb->reshape_position_bytes;
	m->reshape_backwards = sb->delta_disks < 0;
	m->delta_disks = sb->delta_disks >= (int32_t)sb->raid_disks || sb->delta_disks < -(int32_t)MD0_DISKS_MAX ? 0 : sb->delta_disks;
	m->new_level = sb->new_level;
	m->new_layout = sb->new_layout;
	m->new_chunk_bytes = sb->new_chunk_bytes;
}

/* --- both --- */

/* `at` may be nonsense: then the read says so. */
static int read_bitmap(struct stack *stack, struct md_member *m, uint64_t at)
{
	struct blkalign_error err = { 0 };
	struct mdbitmap bitmap;
	int r = mdbitmap_read(m->dev, at, &bitmap, &err);

	m->bitmap = m->clustered ? "clustered" : "internal";
	m->bitmap_damaged = r != 0;
	if (r == -ENOMEM)
		return r;
	if (r != 0)
		return graph_remark(stack_graph(stack),
				    "%s: the bitmap that the md superblock promises at byte %" PRIu64 " is not there%s%s",
				    blkalign_node_name(m->host), at, r < 0 ? ": " : "", r < 0 ? err.message : "");
	if (bitmap.version == MDBITMAP_LOCKLESS)
		m->bitmap = "lockless";
	m->bitmap_chunk_bytes = bitmap.chunk_bytes;
	m->bitmap_at_bytes = at;
	return 0;
}

static int from_v1(struct stack *stack, const struct md1_superblock *sb, struct md_member *m)
{
	int r = set_roles(m, sb->max_dev);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < sb->max_dev; i++)
		m->roles[i] = role_v1(sb->roles[i]);
	array_facts_v1(m, sb);
	member_facts_v1(m, sb);
	r = say_oddities(stack, m, sb);
	if (r >= 0)
		r = read_bad_blocks(stack, m, sb);
	if (r >= 0 && sb->features & MD1_BITMAP)
		r = read_bitmap(stack, m, sb->super_bytes + (uint64_t)sb->bitmap_from_super_bytes);
	return r;
}

static int from_v0(struct stack *stack, const struct md0_superblock *sb, struct md_member *m)
{
	int r = set_roles(m, MD0_DISKS_MAX);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < MD0_DISKS_MAX; i++)
		m->roles[i] = role_v0(&sb->disks[i]);
	array_facts_v0(m, sb);
	member_facts_v0(m, sb);
	if (m->vendor_error)
		r = graph_remark(stack_graph(stack), "%s: md superblock 0.90: a vendor's error bit (Synology) is set in its state",
				 blkalign_node_name(m->host));
	if (r >= 0 && sb->state & MD0_BITMAP)
		r = read_bitmap(stack, m, sb->super_bytes + MD0_BITMAP_FROM_SUPER_BYTES);
	return r;
}

/* --- which superblock --- */

struct found {
	struct md1_superblock v1[3]; /* 1.0, 1.1, 1.2 */
	struct md0_superblock v0;
	bool valid[4]; /* v1[0..2], v0 */
};
static const char *const metadata_names[4] = { "1.0", "1.1", "1.2", "0.90" };

static uint64_t created(const struct found *f, unsigned i) { return i < 3 ? f->v1[i].created_seconds : f->v0.created_seconds; }

/* Damage is told, and so is one place that cannot be read; a device whose very beginning cannot be read is told by the last layers. */
static int say_failures(struct stack *stack, const struct blkalign_node *host, const struct blkalign_error errors[4])
{
	bool unreadable = errors[1].code && errors[1].code != -EBADMSG;

	for (unsigned i = 0; i < 4; i++) {
		if (!errors[i].code || (errors[i].code != -EBADMSG && unreadable))
			continue;
		unreadable = unreadable || errors[i].code != -EBADMSG;
		if (graph_remark(stack_graph(stack), "%s: %s", blkalign_node_name(host), errors[i].message) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int look(struct stack *stack, const struct blkalign_node *host, struct dev *dev, struct found *f)
{
	struct blkalign_error errors[4] = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		int r = i < 3 ? md1_read(dev, i, &f->v1[i], &errors[i]) : md0_read(dev, &f->v0, &errors[i]);

		if (r == -ENOMEM)
			return r;
		f->valid[i] = r == 0;
	}
	return say_failures(stack, host, errors);
}

/* mdadm loads all formats it knows and believes the youngest array. */
static int choose(struct stack *stack, const struct blkalign_node *host, const struct found *f, unsigned *ret)
{
	unsigned best = 4;

	for (unsigned i = 0; i < 4; i++)
		if (f->valid[i] && (best == 4 || created(f, i) > created(f, best)))
			best = i;
	if (best == 4)
		return BLKALIGN_NOT_THIS;
	for (unsigned i = 0; i < 4; i++) {
		if (!f->valid[i] || i == best)
			continue;
		if (graph_remark(stack_graph(stack), "%s: holds md superblocks %s and %s; %s belongs to the younger array and is used",
				 blkalign_node_name(host), metadata_names[best], metadata_names[i], metadata_names[best]) < 0)
			return -ENOMEM;
	}
	*ret = best;
	return 0;
}

int md_member_read(struct stack *stack, struct blkalign_node *host, struct dev *dev, struct md_member **ret_member)
{
	_cleanup_free_ struct found *f = calloc(1, sizeof(*f));
	_cleanup_md_member_ struct md_member *m = calloc(1, sizeof(*m));
	unsigned which = 0;
	int r;

	if (!f || !m)
		return -ENOMEM;
	r = look(stack, host, dev, f);
	if (r == 0)
		r = choose(stack, host, f, &which);
	if (r != 0)
		return r;
	m->host = host;
	m->dev = m->records = dev;
	m->metadata = metadata_names[which];
	m->bitmap = "none";
	m->bitmap_at_bytes = BLKALIGN_UNKNOWN;
	m->slot = BLKALIGN_SLOT_NONE;
	r = which < 3 ? from_v1(stack, &f->v1[which], m) : from_v0(stack, &f->v0, m);
	if (r < 0)
		return r;
	m->maybe_partition = which == 3 || (which == 0 && f->v1[0].oddities & MD1_ODD_SUPER_OFFSET);
	*ret_member = m;
	m = NULL;
	return 0;
}
