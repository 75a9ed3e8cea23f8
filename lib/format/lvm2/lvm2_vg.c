/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group itself and its physical volumes. The tree lives only as long as the decoding; what is kept is copied. */
#include <assert.h>
#include <inttypes.h>

#include "format/lvm2/lvm2_decode.h"

static int decode_pv(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_pv *pv)
{
	uint64_t end_bytes, sectors512 = 0, data_bytes;
	int r = lvm2_get_id(d, section, pv->id);

	if (r >= 0)
		r = lvm2_copy_string(d, section, "device", &pv->device);
	if (r >= 0)
		r = lvm2_get_flags(d, section, LVM2_FLAGS_PV, &pv->flags);
	if (r >= 0)
		r = lvm2_copy_strings(d, section, "tags", &pv->tags);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "dev_size", UINT64_MAX / 512, &pv->size_bytes);
	if (r >= 0)
		r = lvm2_get_number(d, section, "pe_start", UINT64_MAX / 512, &sectors512);
	if (r >= 0)
		r = lvm2_get_number(d, section, "pe_count", UINT32_MAX, &pv->pe_count);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "ba_start", UINT64_MAX / 512, &pv->bootloader.offset_bytes);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "ba_size", UINT64_MAX / 512, &pv->bootloader.size_bytes);
	if (r < 0)
		return r;
	pv->pe_start_bytes = sectors512 * 512;
	if (!u64_mul(pv->pe_count, d->vg->extent_bytes, &data_bytes) || !u64_add(pv->pe_start_bytes, data_bytes, &end_bytes))
		return LVM2_REFUSE(d, section, "the extents of this physical volume reach beyond 2^64 bytes");
	return 0;
}

static int check_pv_ids(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	struct lvm2_names ids = { .names = calloc(d->vg->pv_count ? d->vg->pv_count : 1, sizeof(*ids.names)) };
	int64_t twice;

	if (!ids.names)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->vg->pv_count; i++)
		ids.names[ids.count++] = (struct lvm2_name){ { d->vg->pvs[i].id, LVM2_ID_LENGTH }, i };
	twice = lvm2_names_sort(&ids);
	free(ids.names);
	if (twice >= 0)
		return LVM2_REFUSE(d, section, "the id of physical volume \"%s\" is listed twice", d->vg->pvs[twice].key);
	return 0;
}

/* Checks that the entries are sections and counts them: what is allocated is never more than what was read. */
static int count_sections(struct lvm2_decoder *d, const struct lvm2_node *section, uint32_t max, uint32_t *ret)
{
	uint32_t count = 0;

	for (const struct lvm2_node *n = section ? section->first : NULL; n; n = n->next) {
		if (n->kind != LVM2_SECTION)
			return LVM2_REFUSE(d, n, "expected the section of a volume");
		if (count++ == max)
			return lvm2_text_error(d->reterr, -E2BIG, d->text, n->offset, "more than %" PRIu32 " volumes", max);
	}
	*ret = count;
	return 0;
}

static int decode_pvs(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	struct lvm2_vg *vg = d->vg;
	int r = count_sections(d, section, LVM2_PVS_MAX, &vg->pv_count);

	if (r < 0 || !vg->pv_count)
		return r;
	vg->pvs = arena_alloc(vg->arena, vg->pv_count * sizeof(*vg->pvs));
	d->pvs.names = arena_alloc(vg->arena, vg->pv_count * sizeof(*d->pvs.names));
	if (!vg->pvs || !d->pvs.names)
		return -ENOMEM;
	for (const struct lvm2_node *n = section->first; n; n = n->next) {
		struct lvm2_pv *pv = &vg->pvs[d->pvs.count];

		r = lvm2_copy_name(d, n, &pv->key);
		if (r >= 0)
			r = decode_pv(d, n, pv);
		if (r < 0)
			return r;
		d->pvs.names[d->pvs.count] = (struct lvm2_name){ { pv->key, n->key_length }, (uint32_t)d->pvs.count };
		d->pvs.count++;
	}
	lvm2_names_sort(&d->pvs);
	return check_pv_ids(d, section);
}

static int decode_group(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	struct lvm2_vg *vg = d->vg;
	uint64_t extent_sectors512 = 0;
	int r;

	assert(section);
	r = lvm2_copy_name(d, section, &vg->name);
	if (r >= 0)
		r = lvm2_get_id(d, section, vg->id);
	if (r >= 0)
		r = lvm2_get_number(d, section, "seqno", UINT32_MAX, &vg->seqno);
	if (r >= 0)
		r = lvm2_get_number(d, section, "extent_size", UINT32_MAX, &extent_sectors512);
	if (r >= 0 && !extent_sectors512)
		r = LVM2_REFUSE(d, section, "the extent size of this volume group is 0");
	vg->extent_bytes = extent_sectors512 * 512;
	if (r >= 0)
		r = lvm2_get_flags(d, section, LVM2_FLAGS_VG, &vg->flags);
	if (r >= 0)
		r = lvm2_copy_string(d, section, "system_id", &vg->system_id);
	if (r >= 0)
		r = lvm2_copy_string(d, section, "lock_type", &vg->lock_type);
	return r;
}

/* What no reader needs to find the data. */
static int decode_wishes(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	struct lvm2_vg *vg = d->vg;
	int r = lvm2_copy_strings(d, section, "tags", &vg->tags);

	if (r >= 0)
		r = lvm2_copy_string(d, section, "allocation_policy", &vg->allocation);
	vg->max_lvs = lvm2_any_number(section, "max_lv");
	vg->max_pvs = lvm2_any_number(section, "max_pv");
	vg->metadata_copies = lvm2_any_number(section, "metadata_copies");
	return r;
}

/* The text holds one group, and beside it the entries that say what it is. */
static int find_group(struct lvm2_decoder *d, const struct lvm2_node *root, const struct lvm2_node **ret)
{
	const struct lvm2_node *contents = lvm2_get_string(root, "contents"), *group = NULL;
	static const char expected[] = "Text Format Volume Group";
	uint64_t version = 0;
	int r;

	if (!contents || contents->text_length != strlen(expected) || memcmp(contents->text, expected, strlen(expected)) != 0)
		return LVM2_REFUSE(d, root, "the text does not say that its contents are \"%s\"", expected);
	r = lvm2_get_number(d, root, "version", 1, &version);
	if (r < 0)
		return r;
	for (const struct lvm2_node *n = root->first; n; n = n->next) {
		if (n->kind != LVM2_SECTION)
			continue;
		if (group)
			return LVM2_REFUSE(d, n, "a second volume group in one text");
		if (lvm2_is_signature_key(n->key, n->key_length))
			return LVM2_REFUSE(d, n, "a volume group that bears the name of what stands beside it");
		group = n;
	}
	if (!group || version != 1)
		return LVM2_REFUSE(d, root, group ? "the text has version 0, known is 1" : "the text holds no volume group");
	*ret = group;
	return 0;
}

/* lvm2 does not need these to read a group, so nothing is refused for them. */
static int decode_origin(struct lvm2_decoder *d, const struct lvm2_node *root)
{
	const struct lvm2_node *time = lvm2_text_find(root, "creation_time");
	int r = lvm2_copy_string(d, root, "description", &d->vg->description);

	if (r >= 0)
		r = lvm2_copy_string(d, root, "creation_host", &d->vg->written_on);
	d->vg->written_unix = time && time->kind == LVM2_INTEGER && time->integer >= 0 ? (uint64_t)time->integer : BLKALIGN_UNKNOWN;
	return r;
}

static int decode_tree(struct lvm2_decoder *d, const struct lvm2_node *root)
{
	const struct lvm2_node *group = NULL, *pvs = NULL, *lvs = NULL;
	int r = find_group(d, root, &group);

	if (r >= 0)
		r = decode_group(d, group);
	if (r >= 0)
		r = decode_wishes(d, group);
	if (r >= 0)
		r = decode_origin(d, root);
	if (r >= 0)
		r = lvm2_get_section(d, group, "physical_volumes", &pvs);
	if (r >= 0)
		r = decode_pvs(d, pvs);
	if (r >= 0)
		r = lvm2_get_section(d, group, "logical_volumes", &lvs);
	if (r >= 0)
		r = count_sections(d, lvs, LVM2_LVS_MAX, &d->vg->lv_count);
	if (r >= 0 && d->vg->lv_count)
		r = lvm2_decode_lvs(d, lvs);
	if (r >= 0)
		r = lvm2_check_bounds(d->vg, d->reterr);
	if (r >= 0)
		r = lvm2_order_lvs(d->vg, d->reterr);
	return r;
}

static void arena_freep(struct arena **arena) { arena_free(*arena); }

int lvm2_vg_decode(const char *text, size_t length, struct lvm2_vg **ret_vg, struct blkalign_error *reterr)
{
	_cleanup_(arena_freep) struct arena *tree = arena_new(), *kept = arena_new();
	struct lvm2_decoder d = { .text = text, .reterr = reterr };
	struct lvm2_node *root;
	int r;

	if (!tree || !kept)
		return -ENOMEM;
	d.vg = arena_alloc(kept, sizeof(*d.vg));
	if (!d.vg)
		return -ENOMEM;
	d.vg->arena = kept;
	r = lvm2_text_parse(text, length, tree, &root, reterr);
	if (r >= 0)
		r = decode_tree(&d, root);
	if (r < 0)
		return r;
	*ret_vg = d.vg;
	kept = NULL;
	return 0;
}

void lvm2_vg_free(struct lvm2_vg *vg)
{
	if (vg)
		arena_free(vg->arena);
}
