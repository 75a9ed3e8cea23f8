/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In which unit an MBR counts. It does not say, so the unit is the device's own unless there is proof of another: superblocks where the
 * partitions begin in that unit and none where they begin in the device's own, with something else that agrees; extended boot records
 * likewise; or entries that do not fit the device in its own unit and end at its very end in the other.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/mbr/mbr.h"
#include "stack/signature.h"
#include "stack/table.h"

#define SIGNATURES_LOOKED_FOR 16U	/* partitions looked at in each unit */
#define AT_END_BYTES	      (1 * MIB) /* tools end the last partition at the last block or at the last whole MiB */

/* The table as it looks in one unit. */
struct view {
	struct mbr_table mbr;
	bool fits;	    /* every partition ends on the device */
	bool inside;	    /* at least one begins on it */
	uint64_t end_bytes; /* of the last partition */
	unsigned known;	    /* partitions that begin with something known, and the first of them: */
	struct mbr_partition first_known;
	struct signature signature;
};

static void view_done(struct view *v) { mbr_table_done(&v->mbr); }

static int look_at(struct dev *dev, const struct mbr_partition *p, struct view *v)
{
	struct signature s;
	int r = signature_at(dev, p->start_bytes, &s);

	if (r == 0 && !v->known++) {
		v->first_known = *p;
		v->signature = s;
	}
	return r < 0 ? r : 0;
}

static int look(struct dev *dev, struct view *v)
{
	unsigned looked = 0;
	int r = 0;

	v->fits = true;
	for (size_t i = 0; r >= 0 && i < v->mbr.partitions.count; i++) {
		const struct mbr_partition *p = &v->mbr.partitions.data[i];
		uint64_t end = p->start_bytes + p->length_bytes; /* both are below 2^45 */

		v->fits = v->fits && end <= dev->size_bytes;
		v->inside = v->inside || p->start_bytes < dev->size_bytes;
		v->end_bytes = end > v->end_bytes ? end : v->end_bytes;
		if (!p->extended && looked++ < SIGNATURES_LOOKED_FOR)
			r = look_at(dev, p, v);
	}
	return r;
}

static bool ends_at_end(const struct view *v, uint64_t device_bytes) { return v->fits && device_bytes - v->end_bytes < AT_END_BYTES; }

/* The file system is as large as its partition in this unit, and larger than that would be in the device's own. */
static bool size_agrees(const struct view *other, const struct view *nominal)
{
	uint64_t length = other->first_known.length_bytes, own_length = length / other->mbr.unit_bytes * nominal->mbr.unit_bytes;
	uint64_t size = other->signature.size_bytes;

	return size != BLKALIGN_UNKNOWN && size <= length && size > own_length;
}

static bool block_agrees(const struct view *other) { return other->signature.device_block_bytes == other->mbr.unit_bytes; }

/* One superblock alone may be left over from an earlier partition that began there: something else has to agree. */
static bool proves(const struct view *other, const struct view *nominal, uint64_t device_bytes)
{
	bool chain_found = other->mbr.chain == MBR_CHAIN_OK && nominal->mbr.chain > MBR_CHAIN_OK;
	bool at_end = ends_at_end(other, device_bytes);

	if (!other->fits || other->mbr.chain > MBR_CHAIN_OK || nominal->known)
		return false;
	if (!other->known)
		return chain_found || (!nominal->fits && at_end);
	return chain_found || !nominal->fits || at_end || other->known > 1 || block_agrees(other) || size_agrees(other, nominal);
}

static void say_proof(struct table *t, const struct view *other, const struct view *nominal, uint64_t device_bytes)
{
	uint32_t unit = other->mbr.unit_bytes, own = nominal->mbr.unit_bytes;

	if (other->known) {
		table_say(t,
			  "in blocks of %u bytes partition %u starts with %s at byte %" PRIu64
			  ", in blocks of %u bytes no partition starts with anything known",
			  unit, other->first_known.number, other->signature.type, other->first_known.start_bytes, own);
		if (block_agrees(other))
			table_say(t, "that %s counts in sectors of %u bytes", other->signature.type, unit);
		if (size_agrees(other, nominal))
			table_say(t, "that %s is %" PRIu64 " bytes long, which fits the partition only in blocks of %u bytes",
				  other->signature.type, other->signature.size_bytes, unit);
	}
	if (nominal->mbr.chain > MBR_CHAIN_OK && other->mbr.chain == MBR_CHAIN_OK)
		table_say(t, "the extended boot records are found in blocks of %u bytes and not in blocks of %u", unit, own);
	if (!nominal->fits)
		table_say(t,
			  "in blocks of %u bytes the last partition ends at byte %" PRIu64
			  ", beyond the end of the device at byte %" PRIu64,
			  own, nominal->end_bytes, device_bytes);
	if (other->end_bytes == device_bytes)
		table_say(t, "in blocks of %u bytes it ends exactly at the end of the device", unit);
	else if (ends_at_end(other, device_bytes))
		table_say(t, "in blocks of %u bytes it ends at byte %" PRIu64 ", just before the end of the device at byte %" PRIu64, unit,
			  other->end_bytes, device_bytes);
}

static int fill(struct table *t, const struct mbr_table *mbr)
{
	t->type = "dos";
	t->unit_bytes = mbr->unit_bytes;
	t->first_usable_bytes = t->made_for_bytes = BLKALIGN_UNKNOWN;
	if (mbr->disk_id)
		snprintf(t->id, sizeof(t->id), "%08x", mbr->disk_id);
	for (size_t i = 0; i < mbr->partitions.count; i++) {
		const struct mbr_partition *from = &mbr->partitions.data[i];
		struct table_part p = { .number = from->number,
					.start_bytes = from->start_bytes,
					.length_bytes = from->length_bytes,
					.role = part_role_mbr(from->type) };

		snprintf(p.type, sizeof(p.type), "0x%02x", from->type);
		if (mbr->disk_id)
			snprintf(p.id, sizeof(p.id), "%08x-%02x", mbr->disk_id, from->number);
		if (vec_push(&t->parts, p) < 0)
			return -ENOMEM;
	}
	if (mbr->chain > MBR_CHAIN_OK)
		table_say(t, "the chain of extended boot records cannot be followed at byte %" PRIu64 ": it %s", mbr->chain_stop_bytes,
			  mbr_chain_name(mbr->chain));
	return 0;
}

/* Inside a partition two bytes of signature are no proof: every entry has to make sense, and nothing else may claim the sector. */
static bool beyond_doubt(struct dev *dev, const struct view *v)
{
	struct signature s;

	if (!v->mbr.partitions.count || !v->known || !v->fits || v->mbr.chain > MBR_CHAIN_OK || signature_at(dev, 0, &s) == 0)
		return false;
	for (size_t i = 0; i < v->mbr.partitions.count; i++)
		if (!v->mbr.partitions.data[i].start_bytes)
			return false;
	return true;
}

/* Look in the other units; `*ret_other` holds the proven one when the result is 0. */
static int find_proof(struct dev *dev, const struct view *nominal, struct view *ret_other)
{
	for (size_t i = 0; i < ARRAY_SIZE(table_units); i++) {
		struct view v = { 0 };
		int r;

		if (table_units[i] == nominal->mbr.unit_bytes)
			continue;
		r = mbr_read(dev, table_units[i], &v.mbr, NULL);
		if (r == 0)
			r = look(dev, &v);
		if (r == 0 && proves(&v, nominal, dev->size_bytes)) {
			*ret_other = v;
			return 0;
		}
		view_done(&v);
		if (r == -ENOMEM)
			return r;
	}
	return BLKALIGN_NOT_THIS;
}

int table_read_mbr(struct dev *dev, uint32_t nominal_bytes, enum table_trust trust, struct table *ret)
{
	_cleanup_(view_done) struct view nominal = { 0 }, other = { 0 };
	_cleanup_table_ struct table t = { .nominal_bytes = nominal_bytes, .state = "ok" };
	bool wrong_unit = false;
	int r = mbr_read(dev, nominal_bytes, &nominal.mbr, NULL);

	if (r == 0)
		r = look(dev, &nominal);
	if (r)
		return r;
	if (trust == TABLE_BEYOND_DOUBT && !beyond_doubt(dev, &nominal))
		return BLKALIGN_NOT_THIS;
	if (nominal.mbr.partitions.count && !nominal.known && trust == TABLE_USUAL) {
		r = find_proof(dev, &nominal, &other);
		if (r < 0)
			return r;
		wrong_unit = r == 0;
	}
	if (!wrong_unit && nominal.mbr.partitions.count && !nominal.inside)
		return BLKALIGN_NOT_THIS;
	r = fill(&t, wrong_unit ? &other.mbr : &nominal.mbr);
	if (r < 0)
		return r;
	if (wrong_unit) {
		t.state = "wrong-unit";
		say_proof(&t, &other, &nominal, dev->size_bytes);
	}
	*ret = t;
	t = (struct table){ 0 };
	return 0;
}
