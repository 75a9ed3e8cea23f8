/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following the extended chain. Links may lead backwards (tools append a record for a logical partition made in a gap), so a loop is found by
 * remembering the records, not by demanding that they ascend.
 */
#include <assert.h>

#include "format/mbr/mbr.h"

struct chain {
	uint64_t container_lba; /* links are relative to this */
	uint64_t container_count;
	uint64_t record_lba; /* logical partitions are relative to this */
	uint64_t seen[MBR_CHAIN_MAX];
	size_t seen_count;
	uint32_t next_number;
};

static int add(struct mbr_table *t, uint32_t number, uint64_t base_lba, const struct mbr_entry *e)
{
	struct mbr_partition p = { .number = number,
				   .type = e->type,
				   .active = e->active,
				   .extended = mbr_type_is_extended(e->type),
				   .start_bytes = (base_lba + e->start_lba) * t->unit_bytes,
				   .length_bytes = (uint64_t)e->count_lba * t->unit_bytes };

	return vec_push(&t->partitions, p);
}

static enum mbr_chain_state step_allowed(const struct chain *c, const struct mbr_table *t, uint64_t device_bytes)
{
	for (size_t i = 0; i < c->seen_count; i++)
		if (c->seen[i] == c->record_lba)
			return MBR_CHAIN_LOOP;
	if (c->seen_count == MBR_CHAIN_MAX)
		return MBR_CHAIN_TOO_LONG;
	return range_inside(c->record_lba * t->unit_bytes, MBR_SECTOR_BYTES, device_bytes) ? MBR_CHAIN_OK : MBR_CHAIN_OUTSIDE;
}

/* Slots 2 and 3 are not standard; the kernel believes them only inside the container (parse_extended), and so do we. */
static bool entry_believed(const struct chain *c, const struct mbr_entry *e)
{
	uint64_t end = c->record_lba + e->start_lba + e->count_lba;

	return e->slot < 2 || (c->record_lba + e->start_lba >= c->container_lba && end <= c->container_lba + c->container_count);
}

/* Add the record's logical partitions; *ret_link is the link to the next, or NULL at the end. */
static int take_record(struct mbr_table *t, struct chain *c, const struct mbr_sector *s, const struct mbr_entry **ret_link)
{
	const struct mbr_entry *link = NULL;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->count; i++) {
		const struct mbr_entry *e = &s->entries[i];

		if (mbr_type_is_extended(e->type))
			link = link ? link : e;
		else if (entry_believed(c, e))
			r = add(t, c->next_number++, c->record_lba, e);
	}
	*ret_link = link;
	return r;
}

static int follow(struct dev *dev, struct mbr_table *t, struct chain *c)
{
	const struct mbr_entry *link = NULL;
	uint8_t buffer[MBR_SECTOR_BYTES];
	struct mbr_sector s;
	int r;

	do {
		if (link)
			c->record_lba = c->container_lba + link->start_lba;
		t->chain = step_allowed(c, t, dev->size_bytes);
		t->chain_stop_bytes = c->record_lba * t->unit_bytes;
		if (t->chain != MBR_CHAIN_OK)
			return 0;
		c->seen[c->seen_count++] = c->record_lba;
		if (dev_read(dev, t->chain_stop_bytes, buffer, sizeof(buffer), NULL) < 0) {
			t->chain = MBR_CHAIN_UNREADABLE;
			return 0;
		}
		if (mbr_decode(buffer, sizeof(buffer), &s) != 0) {
			t->chain = MBR_CHAIN_DAMAGED;
			return 0;
		}
		r = take_record(t, c, &s, &link);
		if (r < 0)
			return r;
	} while (link);
	t->chain_stop_bytes = BLKALIGN_UNKNOWN;
	return 0;
}

static int follow_all(struct dev *dev, struct mbr_table *t, const struct mbr_sector *s)
{
	struct chain c = { .next_number = MBR_FIRST_LOGICAL };

	for (size_t i = 0; i < s->count; i++) {
		int r;

		if (!mbr_type_is_extended(s->entries[i].type))
			continue;
		if (t->chain > MBR_CHAIN_OK)
			break;
		c.container_lba = c.record_lba = s->entries[i].start_lba;
		c.container_count = s->entries[i].count_lba;
		r = follow(dev, t, &c);
		if (r < 0)
			return r;
	}
	return 0;
}

int mbr_read(struct dev *dev, uint32_t unit_bytes, struct mbr_table *ret, struct blkalign_error *reterr)
{
	struct mbr_table t = { .unit_bytes = unit_bytes, .chain_stop_bytes = BLKALIGN_UNKNOWN };
	uint8_t buffer[MBR_SECTOR_BYTES];
	struct mbr_sector s;
	int r;

	assert(is_power_of_2(unit_bytes) && unit_bytes >= 512 && unit_bytes <= 4096);
	if (dev->size_bytes < sizeof(buffer))
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, 0, buffer, sizeof(buffer), reterr);
	if (r < 0)
		return r;
	r = mbr_decode(buffer, sizeof(buffer), &s);
	if (r)
		return r;
	t.disk_id = s.disk_id;
	for (size_t i = 0; r >= 0 && i < s.count; i++) {
		t.protective = t.protective || s.entries[i].type == MBR_TYPE_PROTECTIVE;
		r = add(&t, s.entries[i].slot + 1, 0, &s.entries[i]);
	}
	if (r >= 0)
		r = follow_all(dev, &t, &s);
	if (r < 0) {
		mbr_table_done(&t);
		return blkalign_error_set(reterr, r, dev->name, 0, "no memory for the partition table");
	}
	*ret = t;
	return 0;
}

void mbr_table_done(struct mbr_table *table) { vec_done(&table->partitions); }

const char *mbr_chain_name(enum mbr_chain_state state)
{
	static const char *const names[] = {
		[MBR_CHAIN_NONE] = "none",
		[MBR_CHAIN_OK] = "ok",
		[MBR_CHAIN_UNREADABLE] = "unreadable",
		[MBR_CHAIN_OUTSIDE] = "leads beyond the device",
		[MBR_CHAIN_DAMAGED] = "damaged",
		[MBR_CHAIN_LOOP] = "leads back to itself",
		[MBR_CHAIN_TOO_LONG] = "too long",
	};

	return names[state];
}
