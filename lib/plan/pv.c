/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A PV comes into being by its label, which is written last: one sector. */
#include <inttypes.h>
#include <stdio.h>

#include "plan/plan.h"

#define AREA_AT	      4096U
#define PV_MIN_BYTES  (2 * MIB) /* lvm2: devices/pv_min_size */
#define MAGICS_MAX    32U
#define LABEL_SECTORS 4U
#define LABEL_AT      1U

/* --- what is there --- */

bool plan_is_left_over(const struct blkalign_node *member)
{
	size_t arrays = 0;

	for (size_t i = 0; i < blkalign_node_uppers(member); i++) {
		const struct blkalign_node *n = blkalign_node_upper(member, i);
		const char *state = blkalign_node_str(n, BLKALIGN_ATTR_MD_STATE);

		if (blkalign_node_kind(n) != BLKALIGN_KIND_MD)
			continue;
		if (!state || !strstr(state, "failed"))
			return false;
		arrays++;
	}
	return arrays;
}

/*
 * A volume group that lives here, and an array that can be read with this member, are more than --force asks for. What is left of an array that cannot is a signature as others are.
 */
static int refuse_member(const struct plan_place *place, bool force, struct blkalign_error *reterr)
{
	struct lvm2_label label;

	for (size_t i = 0; i < blkalign_node_uppers(place->node); i++) {
		const struct blkalign_node *n = blkalign_node_upper(place->node, i);
		const char *vg = blkalign_node_str(n, BLKALIGN_ATTR_VG_NAME);

		if (blkalign_node_kind(n) == BLKALIGN_KIND_MD && !(force && plan_is_left_over(place->node)))
			return blkalign_error_set(reterr, -EBUSY, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
						  "is a member of array %s: put the volume on the array (--node), or take the member out "
						  "of it and remove its superblock by `wipefs`",
						  blkalign_node_name(n));
		if (blkalign_node_kind(n) == BLKALIGN_KIND_PV && vg)
			return blkalign_error_set(reterr, -EBUSY, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
						  "is a physical volume of volume group %s", vg);
	}
	if (lvm2_label_read(place->dev, &label, NULL) == 0 && label.extension_flags & 1)
		return blkalign_error_set(reterr, -EBUSY, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
					  "carries an LVM2 label which says that a volume group uses it; `wipefs` removes it");
	return 0;
}

/* Each kind once, where it was found first. */
static void list_signatures(struct strbuf *text, const struct stack_magic *magics, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known = known || !strcmp(magics[k].type, magics[i].type);
		if (!known)
			strbuf_printf(text, "%s%s at byte %" PRIu64, text->length ? ", " : "", magics[i].type, magics[i].offset_bytes);
	}
}

static int refuse_signatures(const struct plan_place *place, const char *list, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EEXIST, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
				  "holds something already: %s; nothing is written. --force overwrites it", list);
}

static int wipe_each(struct plan *plan, const struct plan_place *place, const struct stack_magic *magics, size_t count,
		     struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		uint64_t at = magics[i].offset_bytes;
		char reason[80];

		/* In its place comes the label, at once. */
		if (at / 512 == LABEL_AT && (at + magics[i].length_bytes - 1) / 512 == LABEL_AT)
			continue;
		snprintf(reason, sizeof(reason), "wipe the signature of %s", magics[i].type);
		r = plan_write(plan, place, at, NULL, magics[i].length_bytes, reason, reterr);
	}
	return r;
}

/* What would be recognised afterwards beside the label. */
static int wipe(struct plan *plan, const struct plan_place *place, bool force, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct stack_magic magics[MAGICS_MAX];
	char name[256];
	size_t count;
	int r = stack_find_magics(place->dev, magics, MAGICS_MAX, &count);

	if (r < 0)
		return blkalign_error_set(reterr, r, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
					  "what it holds cannot be found out: %s", strerror(-r));
	if (!count)
		return 0;
	list_signatures(&text, magics, count);
	if (!force)
		return refuse_signatures(place, strbuf_text(&text), reterr);
	if (count == MAGICS_MAX)
		return blkalign_error_set(reterr, -E2BIG, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
					  "holds %u signatures or more, the first being %s; `wipefs` removes them", MAGICS_MAX,
					  magics[0].type);
	blkalign_escape(name, sizeof(name), blkalign_node_name(place->node));
	r = plan_say(plan, "%s: what it holds is overwritten, as forced: %s", name, strbuf_text(&text));
	return r < 0 ? r : wipe_each(plan, place, magics, count, reterr);
}

/* --- what is made --- */

static void add_area(struct lvm2_areas *areas, uint64_t offset_bytes, uint64_t size_bytes)
{
	areas->area[areas->count++] = (struct lvm2_area){ offset_bytes, size_bytes };
}

/* The second area lies at the end, from a whole MiB on, as lvm2 has it. */
static int lay_out(const struct plan_place *place, const struct plan_pv_options *o, const struct plan_pe_start *at, struct lvm2_label *ret,
		   struct blkalign_error *reterr)
{
	uint64_t size = place->dev->size_bytes, metadata = o->metadata_bytes ? o->metadata_bytes : MIB - AREA_AT;
	uint64_t end = round_down_u64(size, 512);
	struct lvm2_label label = { .sector = LABEL_AT, .device_size_bytes = end, .extension_version = 2 };
	int r = lvm2_id_make(label.pv_id);

	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "no random numbers for an identifier");
	if (o->metadata_copies)
		add_area(&label.metadata, AREA_AT, at->pe_start_bytes - AREA_AT);
	if (o->metadata_copies > 1 && size > metadata) {
		uint64_t second = round_down_u64(end - metadata, MIB);

		add_area(&label.metadata, second, end - second);
		end = second;
	}
	add_area(&label.data, at->pe_start_bytes, 0);
	if (size < PV_MIN_BYTES || at->pe_start_bytes >= end)
		return blkalign_error_set(reterr, -ENOSPC, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
					  "is too small: it has %" PRIu64 " bytes, the data would begin at byte %" PRIu64
					  " and end at byte %" PRIu64 "; the least is 2 MiB",
					  size, at->pe_start_bytes, end);
	*ret = label;
	return 0;
}

static int write_areas(struct plan *plan, const struct plan_place *place, const struct lvm2_label *label, struct blkalign_error *reterr)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < label->metadata.count; i++) {
		const struct lvm2_area *a = &label->metadata.area[i];
		uint8_t header[512];

		lvm2_mda_encode(&(struct lvm2_mda){ .offset_bytes = a->offset_bytes, .size_bytes = a->size_bytes }, header);
		r = plan_write(plan, place, a->offset_bytes, header, sizeof(header), "header of an empty metadata area", reterr);
	}
	return r;
}

/* The sectors in which a label is looked for, as `pvcreate` zeroes them, without that of the new label. */
static int zero_label_sectors(struct plan *plan, const struct plan_place *place, struct blkalign_error *reterr)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < LABEL_SECTORS; i++)
		if (i != LABEL_AT)
			r = plan_write(plan, place, i * UINT64_C(512), NULL, 512, "zero a sector in which labels are looked for", reterr);
	return r;
}

static int say_pv(struct plan *plan, struct check *c, const struct blkalign_node *node, uint64_t start_bytes, unsigned areas)
{
	return plan_say(plan, "%s: physical volume, first extent at sector %" PRIu64 ", %u metadata %s", check_name(c, node),
			start_bytes / 512, areas, areas == 1 ? "area" : "areas");
}

int plan_pv(struct plan *plan, const struct plan_facts *facts, const struct plan_place *place, const struct plan_pv_options *options,
	    struct blkalign_error *reterr)
{
	struct check *c;
	const struct blkalign_node *node = plan_judged(facts, place->node, &c);
	struct plan_pe_start at;
	struct lvm2_label label;
	uint8_t sector[512];
	int r = refuse_member(place, options->force, reterr);

	if (r >= 0)
		r = plan_pe_start(plan, c, node, options, &at, reterr);
	if (r >= 0)
		r = lay_out(place, options, &at, &label, reterr);
	if (r >= 0)
		r = wipe(plan, place, options->force, reterr);
	plan_flush(plan);
	if (r >= 0)
		r = zero_label_sectors(plan, place, reterr);
	if (r >= 0)
		r = write_areas(plan, place, &label, reterr);
	if (r >= 0)
		r = lvm2_label_encode(&label, sector);
	if (r < 0)
		return r;
	plan_flush(plan);
	r = plan_write(plan, place, LABEL_AT * UINT64_C(512), sector, sizeof(sector), "the label: from here on it is a physical volume",
		       reterr);
	return r < 0 ? r : say_pv(plan, c, node, at.pe_start_bytes, options->metadata_copies);
}
