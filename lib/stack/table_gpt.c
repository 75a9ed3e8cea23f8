/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which GPT is believed, in which unit, and what is said about the copies.
 *
 * A GPT carries its own proof of the unit: its primary lies at LBA 1 and checks by CRC, so one that checks at byte 4096 of a disk with 512-byte
 * blocks was written where blocks were 4096 bytes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/gpt/gpt.h"
#include "stack/table.h"

static void say_copy(struct table *t, const char *which, const struct gpt_copy *c)
{
	table_say(t, "the %s header at byte %" PRIu64 " is %s: %s", which, c->offset_bytes, gpt_copy_state_name(c->state), c->reason);
}

/* The last sectors are hidden (a bridge, a host protected area) or gone (the image or array was shrunk). */
static bool say_lost_end(struct table *t, const struct gpt_table *g, uint64_t device_bytes)
{
	uint64_t alternate = g->primary.header.alternate_bytes, end;

	if (alternate == BLKALIGN_UNKNOWN || alternate < device_bytes || !u64_add(alternate, g->unit_bytes, &end))
		return false;
	table_say(t,
		  "the backup header belongs at byte %" PRIu64 ", but the device ends at byte %" PRIu64 ": its last %" PRIu64
		  " bytes (%" PRIu64 " sectors of 512 bytes) are not there",
		  alternate, device_bytes, end - device_bytes, (end - device_bytes) / 512);
	return true;
}

static void judge_backup(struct table *t, const struct gpt_table *g, uint64_t device_bytes)
{
	uint64_t last = round_down_u64(device_bytes, g->unit_bytes) - g->unit_bytes;
	bool lost = say_lost_end(t, g, device_bytes);

	if (g->backup.state == GPT_COPY_OK) {
		if (!lost && g->backup.offset_bytes != last)
			table_say(t, "the backup header lies %" PRIu64 " bytes before the last block: the device has grown",
				  last - g->backup.offset_bytes);
		if (g->differ)
			table_say(t, "primary and backup are both valid and describe different tables: the primary is used");
		return;
	}
	t->state = g->backup.state == GPT_COPY_ABSENT ? "backup-missing" : "backup-damaged";
	if (!lost)
		say_copy(t, "backup", &g->backup);
}

static void judge(struct table *t, const struct gpt_table *g, uint64_t device_bytes)
{
	t->state = "ok";
	if (g->choice == GPT_CHOICE_BACKUP) {
		t->state = "primary-damaged";
		say_copy(t, "primary", &g->primary);
		table_say(t, "the backup at byte %" PRIu64 " is used", g->backup.offset_bytes);
	} else {
		judge_backup(t, g, device_bytes);
	}
	if (t->unit_bytes == t->nominal_bytes)
		return;
	t->state = "wrong-unit";
	table_say(t,
		  "a valid GPT (header and entry checksums agree) lies at byte %" PRIu64 ", which is LBA %" PRIu64
		  " in blocks of %u bytes, and none where blocks of %u bytes would put it",
		  g->choice == GPT_CHOICE_BACKUP ? g->backup.offset_bytes : g->primary.offset_bytes,
		  (g->choice == GPT_CHOICE_BACKUP ? g->backup.offset_bytes : g->primary.offset_bytes) / t->unit_bytes, t->unit_bytes,
		  t->nominal_bytes);
}

static int fill(struct table *t, const struct gpt_table *g)
{
	const struct gpt_header *h = g->choice == GPT_CHOICE_BACKUP ? &g->backup.header : &g->primary.header;

	t->type = "gpt";
	t->unit_bytes = g->unit_bytes;
	t->first_usable_bytes = h->first_usable_bytes;
	t->made_for_bytes = BLKALIGN_UNKNOWN;
	u64_add(g->choice == GPT_CHOICE_BACKUP ? h->offset_bytes : h->alternate_bytes, g->unit_bytes, &t->made_for_bytes);
	gpt_guid_format(t->id, h->disk_guid);
	for (size_t i = 0; i < g->entries.count; i++) {
		const struct gpt_entry *e = &g->entries.data[i];
		struct table_part p = { .number = e->number,
					.start_bytes = e->start_bytes,
					.length_bytes = e->length_bytes,
					.role = part_role_gpt(e->type_guid) };

		memcpy(p.type, e->type_guid, sizeof(p.type));
		memcpy(p.id, e->unique_guid, sizeof(p.id));
		memcpy(p.name, e->name, sizeof(p.name));
		if (vec_push(&t->parts, p) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The nominal unit first, so that a disk with tables in two units is what the kernel takes it for. */
static int read_any_unit(struct dev *dev, uint32_t nominal_bytes, struct gpt_table *ret)
{
	int r = gpt_read(dev, nominal_bytes, ret, NULL);

	for (size_t i = 0; r == BLKALIGN_NOT_THIS && i < ARRAY_SIZE(table_units); i++)
		if (table_units[i] != nominal_bytes)
			r = gpt_read(dev, table_units[i], ret, NULL);
	return r;
}

/* What the nominal places hold is what the kernel sees; the other units were tried in vain. */
static int both_bad(struct dev *dev, struct table *t, struct table *ret)
{
	_cleanup_gpt_table_ struct gpt_table g = { 0 };
	int r = gpt_read(dev, t->nominal_bytes, &g, NULL);

	if (r < 0)
		return r;
	t->type = "gpt";
	t->unit_bytes = t->nominal_bytes;
	t->state = "primary-damaged";
	t->first_usable_bytes = t->made_for_bytes = BLKALIGN_UNKNOWN;
	table_say(t, "the MBR announces a GPT, but neither copy is valid");
	say_copy(t, "primary", &g.primary);
	say_copy(t, "backup", &g.backup);
	*ret = *t;
	*t = (struct table){ 0 };
	return BLKALIGN_NOT_THIS;
}

int table_read_gpt(struct dev *dev, uint32_t nominal_bytes, enum table_trust trust, struct table *ret)
{
	_cleanup_gpt_table_ struct gpt_table g = { 0 };
	_cleanup_table_ struct table t = { .nominal_bytes = nominal_bytes };
	int r = read_any_unit(dev, nominal_bytes, &g);

	if (r < 0)
		return r;
	if (r == BLKALIGN_NOT_THIS)
		return both_bad(dev, &t, ret);
	if (trust == TABLE_BEYOND_DOUBT && g.primary.state != GPT_COPY_OK)
		return BLKALIGN_NOT_THIS;
	r = fill(&t, &g);
	if (r < 0)
		return r;
	judge(&t, &g, dev->size_bytes);
	*ret = t;
	t = (struct table){ 0 };
	return 0;
}
