/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One segment: its type from the table, its numbers, and what it refers to. lvm2: the text_import functions of lib/{striped,mirror,raid,...}. */
#include <inttypes.h>

#include "format/lvm2/lvm2_decode.h"

/* How a type writes down what it lies on. */
enum area_style {
	AREAS_NAMED,   /* one volume per key */
	AREAS_STRIPES, /* [ name, extent, ... ] */
	AREAS_MIRRORS,
	AREAS_RAID0_LVS, /* [ image, ... ] */
	AREAS_RAIDS,	 /* [ metadata, image, ... ] */
};

static const struct style {
	const char *count_key;
	const char *list_key;
} styles[] = {
	[AREAS_STRIPES] = { "stripe_count", "stripes" },
	[AREAS_MIRRORS] = { "mirror_count", "mirrors" },
	[AREAS_RAID0_LVS] = { "stripe_count", "raid0_lvs" },
	[AREAS_RAIDS] = { "device_count", "raids" },
};

static const struct type {
	const char *name;
	enum lvm2_segment_type type;
	enum area_style style;
	struct lvm2_raid raid;
} types[] = {
	{ "striped", LVM2_STRIPED, AREAS_STRIPES, { 0 } },
	{ "linear", LVM2_STRIPED, AREAS_STRIPES, { 0 } },
	{ "mirror", LVM2_MIRROR, AREAS_MIRRORS, { "raid1", NULL, 0, 0 } },
	{ "raid0", LVM2_RAID0, AREAS_RAID0_LVS, { "raid0", NULL, 0, 0 } },
	{ "raid0_meta", LVM2_RAID0, AREAS_RAIDS, { "raid0", NULL, 0, 0 } },
	{ "raid1", LVM2_RAID1, AREAS_RAIDS, { "raid1", NULL, 0, 0 } },
	/* The numbers are those of dm-raid, which runs raid4 as raid5 with parity on the first device: drivers/md/dm-raid.c, raid_types[]. */
	{ "raid4", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "parity-first", 4, 1 } },
	{ "raid5", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "left-symmetric", 2, 1 } },
	{ "raid5_ls", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "left-symmetric", 2, 1 } },
	{ "raid5_la", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "left-asymmetric", 0, 1 } },
	{ "raid5_ra", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "right-asymmetric", 1, 1 } },
	{ "raid5_rs", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "right-symmetric", 3, 1 } },
	{ "raid5_n", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid5", "parity-last", 5, 1 } },
	{ "raid6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "ddf-zero-restart", 8, 2 } },
	{ "raid6_zr", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "ddf-zero-restart", 8, 2 } },
	{ "raid6_nr", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "ddf-N-restart", 9, 2 } },
	{ "raid6_nc", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "ddf-N-continue", 10, 2 } },
	{ "raid6_n_6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "parity-last", 5, 2 } },
	{ "raid6_la_6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "left-asymmetric-6", 16, 2 } },
	{ "raid6_ra_6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "right-asymmetric-6", 17, 2 } },
	{ "raid6_ls_6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "left-symmetric-6", 18, 2 } },
	{ "raid6_rs_6", LVM2_RAID_PARITY, AREAS_RAIDS, { "raid6", "right-symmetric-6", 19, 2 } },
	{ "raid10", LVM2_RAID10, AREAS_RAIDS, { "raid10", "near", 0x100, 0 } },
	{ "raid10_near", LVM2_RAID10, AREAS_RAIDS, { "raid10", "near", 0x100, 0 } },
	{ "snapshot", LVM2_SNAPSHOT, AREAS_NAMED, { 0 } },
	{ "thin-pool", LVM2_THIN_POOL, AREAS_NAMED, { 0 } },
	{ "thin", LVM2_THIN, AREAS_NAMED, { 0 } },
	{ "cache-pool", LVM2_CACHE_POOL, AREAS_NAMED, { 0 } },
	{ "cache", LVM2_CACHE, AREAS_NAMED, { 0 } },
	{ "writecache", LVM2_WRITECACHE, AREAS_NAMED, { 0 } },
	{ "integrity", LVM2_INTEGRITY, AREAS_NAMED, { 0 } },
	{ "vdo-pool", LVM2_VDO_POOL, AREAS_NAMED, { 0 } },
	{ "vdo", LVM2_VDO, AREAS_NAMED, { 0 } },
	{ "error", LVM2_ERROR, AREAS_NAMED, { 0 } },
	{ "zero", LVM2_ZERO, AREAS_NAMED, { 0 } },
};

static const struct named {
	enum lvm2_segment_type type;
	enum lvm2_role role;
	bool required;
	const char *key;
} named[] = {
	{ LVM2_MIRROR, LVM2_ROLE_LOG, false, "mirror_log" },   { LVM2_SNAPSHOT, LVM2_ROLE_ORIGIN, true, "origin" },
	{ LVM2_SNAPSHOT, LVM2_ROLE_COW, false, "cow_store" },  { LVM2_SNAPSHOT, LVM2_ROLE_COW, false, "merging_store" },
	{ LVM2_THIN_POOL, LVM2_ROLE_DATA, true, "pool" },      { LVM2_THIN_POOL, LVM2_ROLE_METADATA, true, "metadata" },
	{ LVM2_THIN, LVM2_ROLE_POOL, true, "thin_pool" },      { LVM2_THIN, LVM2_ROLE_ORIGIN, false, "external_origin" },
	{ LVM2_THIN, LVM2_ROLE_HISTORY, false, "origin" },     { LVM2_THIN, LVM2_ROLE_HISTORY, false, "merge" },
	{ LVM2_CACHE_POOL, LVM2_ROLE_DATA, true, "data" },     { LVM2_CACHE_POOL, LVM2_ROLE_METADATA, true, "metadata" },
	{ LVM2_CACHE, LVM2_ROLE_ORIGIN, true, "origin" },      { LVM2_CACHE, LVM2_ROLE_POOL, true, "cache_pool" },
	{ LVM2_WRITECACHE, LVM2_ROLE_ORIGIN, true, "origin" }, { LVM2_WRITECACHE, LVM2_ROLE_POOL, true, "writecache" },
	{ LVM2_INTEGRITY, LVM2_ROLE_ORIGIN, true, "origin" },  { LVM2_INTEGRITY, LVM2_ROLE_METADATA, false, "meta_dev" },
	{ LVM2_VDO_POOL, LVM2_ROLE_DATA, true, "data" },       { LVM2_VDO, LVM2_ROLE_POOL, true, "vdo_pool" },
};

/* --- type --- */

/* "+FLAG+FLAG": a flag this reader does not know may mean anything, so the segment is not understood. */
static bool known_flags(const char *flags, size_t length)
{
	static const char *const known[] = {
		"RESHAPE",	   "RESHAPE_DATA_OFFSET", "RESHAPE_DELTA_DISKS_PLUS", "RESHAPE_DELTA_DISKS_MINUS", "REMOVE_AFTER_RESHAPE",
		"METADATA_FORMAT", "CROP_METADATA",	  "CACHE_USES_CACHEVOL",
	};

	while (length) {
		const char *end = memchr(flags + 1, '+', length - 1);
		size_t word = end ? (size_t)(end - flags) : length;
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(known) && !found; i++)
			found = strlen(known[i]) == word - 1 && !memcmp(known[i], flags + 1, word - 1);
		if (!found)
			return false;
		flags += word;
		length -= word;
	}
	return true;
}

/* The row of the table; NULL with the type set to unknown and named when there is none. */
static int decode_type(struct lvm2_decoder *d, const struct lvm2_node *section, const struct type **ret_type, struct lvm2_segment *s)
{
	const struct lvm2_node *n = lvm2_get_string(section, "type");
	const char *plus;
	size_t length;

	if (!n || !n->text_length || n->text_length > LVM2_NAME_MAX)
		return LVM2_REFUSE(d, n ? n : section, "a segment without a type of 1 to %u characters", LVM2_NAME_MAX);
	plus = memchr(n->text, '+', n->text_length);
	length = plus ? (size_t)(plus - n->text) : n->text_length;
	*ret_type = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(types) && !*ret_type; i++)
		if (strlen(types[i].name) == length && !memcmp(types[i].name, n->text, length))
			*ret_type = &types[i];
	if (*ret_type && known_flags(n->text + length, n->text_length - length)) {
		s->type = (*ret_type)->type;
		s->type_name = (*ret_type)->name;
		s->raid = (*ret_type)->raid.level ? &(*ret_type)->raid : NULL;
		return 0;
	}
	*ret_type = NULL;
	s->type = LVM2_UNKNOWN;
	s->type_name = arena_strndup(d->vg->arena, n->text, n->text_length);
	return s->type_name ? 0 : -ENOMEM;
}

/* --- references --- */

static int add_ref(struct lvm2_decoder *d, const struct lvm2_node *n, bool pv_allowed, struct lvm2_segment *s, struct lvm2_ref ref)
{
	struct lvm2_slice name = { n->text, n->text_length };
	int64_t index = -1;

	if (n->kind != LVM2_STRING)
		return LVM2_REFUSE(d, n, "expected the name of a volume");
	if (pv_allowed)
		index = lvm2_names_find(&d->pvs, name);
	ref.on_pv = index >= 0;
	if (index < 0)
		index = lvm2_names_find(&d->lvs, name);
	if (index < 0)
		return LVM2_REFUSE(d, n, "no volume is named \"%.*s\"", (int)(name.length < 100 ? name.length : 100), name.text);
	ref.index = (uint32_t)index;
	s->refs[s->ref_count++] = ref;
	return 0;
}

static int decode_named(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		const struct lvm2_node *n = named[i].type == s->type ? lvm2_text_find(section, named[i].key) : NULL;
		int r;

		if (named[i].type != s->type)
			continue;
		if (!n && named[i].required)
			return LVM2_REFUSE(d, section, "a segment of type %s without \"%s\"", s->type_name, named[i].key);
		if (!n)
			continue;
		r = add_ref(d, n, false, s, (struct lvm2_ref){ .role = named[i].role });
		if (r < 0)
			return r;
		s->data_areas += named[i].role == LVM2_ROLE_DATA;
		s->merging = s->merging || !strcmp(named[i].key, "merging_store");
	}
	return 0;
}

/* [ name, extent, ... ] */
static int decode_pairs(struct lvm2_decoder *d, const struct lvm2_node *list, uint64_t count, struct lvm2_segment *s)
{
	const struct lvm2_node *n = list->first;

	for (; n && s->data_areas < count; n = n->next->next) {
		int r;

		if (!n->next || n->next->kind != LVM2_INTEGER || n->next->integer < 0 || n->next->integer > UINT32_MAX)
			return LVM2_REFUSE(d, n, "expected an extent number behind this name");
		r = add_ref(d, n, true, s,
			    (struct lvm2_ref){ .role = LVM2_ROLE_DATA, .slot = s->data_areas, .extent = (uint64_t)n->next->integer });
		if (r < 0)
			return r;
		s->data_areas++;
	}
	if (n || s->data_areas < count)
		return LVM2_REFUSE(d, list, "the list of areas does not have the %" PRIu64 " areas that the segment says it has", count);
	return 0;
}

static bool is_rmeta(const struct lvm2_node *n)
{
	return n->kind == LVM2_STRING && memmem(n->text, n->text_length, "_rmeta_", strlen("_rmeta_"));
}

/* Images, each with its metadata volume in front where there is one: lvm2 tells them by the name, so does this. */
static int decode_images(struct lvm2_decoder *d, const struct lvm2_node *list, uint64_t count, struct lvm2_segment *s)
{
	const struct lvm2_node *n = list->first;

	for (; n && s->data_areas < count; n = n->next) {
		int r = 0;

		if (is_rmeta(n)) {
			r = add_ref(d, n, false, s, (struct lvm2_ref){ .role = LVM2_ROLE_METADATA, .slot = s->data_areas });
			n = n->next;
		}
		if (!n || is_rmeta(n))
			return LVM2_REFUSE(d, n ? n : list, "a raid metadata volume without its image");
		if (r >= 0)
			r = add_ref(d, n, false, s, (struct lvm2_ref){ .role = LVM2_ROLE_DATA, .slot = s->data_areas });
		if (r < 0)
			return r;
		s->data_areas++;
	}
	if (n || s->data_areas < count)
		return LVM2_REFUSE(d, list, "the list of images does not have the %" PRIu64 " images that the segment says it has", count);
	return 0;
}

/* An image may come with its metadata volume. Most volumes are linear: ten thousand of them should not pay for what they cannot have. */
static size_t refs_max(const struct type *type, size_t count)
{
	size_t max = type->style == AREAS_STRIPES || type->style == AREAS_MIRRORS ? count : 2 * count;

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		max += named[i].type == type->type;
	return max;
}

static int decode_list(struct lvm2_decoder *d, const struct lvm2_node *section, const struct type *type, uint64_t count,
		       struct lvm2_segment *s)
{
	const struct lvm2_node *list = lvm2_text_find(section, styles[type->style].list_key);

	if (!list || list->kind != LVM2_ARRAY)
		return LVM2_REFUSE(d, section, "a segment of type %s without its list \"%s\"", s->type_name, styles[type->style].list_key);
	if (type->style == AREAS_STRIPES || type->style == AREAS_MIRRORS)
		return decode_pairs(d, list, count, s);
	return decode_images(d, list, count, s);
}

static int decode_refs(struct lvm2_decoder *d, const struct lvm2_node *section, const struct type *type, struct lvm2_segment *s)
{
	const char *count_key = s->type == LVM2_RAID0 ? "stripe_count" : styles[type->style].count_key;
	uint64_t count = 0;
	int r = type->style == AREAS_NAMED ? 0 : lvm2_get_number(d, section, count_key, UINT32_MAX, &count);

	if (r < 0)
		return r;
	if (type->style != AREAS_NAMED && (!count || count > LVM2_STRIPES_MAX))
		return LVM2_REFUSE(d, section, "a segment with %" PRIu64 " areas, expected 1 to %u", count, LVM2_STRIPES_MAX);
	s->refs = arena_alloc(d->vg->arena, refs_max(type, count) * sizeof(*s->refs));
	if (!s->refs)
		return -ENOMEM;
	if (count)
		r = decode_list(d, section, type, count, s);
	return r < 0 ? r : decode_named(d, section, s);
}

/* --- numbers --- */

static int check_raid(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *s, uint64_t copies)
{
	uint32_t parity = s->raid ? s->raid->parity : 0, data;

	if (s->type == LVM2_RAID1 || s->type == LVM2_MIRROR)
		s->data_copies = s->data_areas;
	else if (s->type == LVM2_RAID10)
		s->data_copies = copies < 2 ? 2 : (uint32_t)copies;
	if (s->data_areas <= parity || s->data_copies > s->data_areas)
		return LVM2_REFUSE(d, section, "a segment of type %s with %" PRIu32 " images: too few to hold data", s->type_name,
				   s->data_areas);
	/* lvm2 takes every image of raid10 for one with data (_data_rimages_count() in its lib/metadata/raid_manip.c). */
	data = s->type == LVM2_RAID10 ? s->data_areas : s->data_areas / s->data_copies - parity;
	if (!u64_mul(s->reshape_extents, data, &s->reshape_extents) || s->reshape_extents >= s->extent_count)
		return LVM2_REFUSE(d, section, "the segment has no extents besides the room for a reshape");
	return 0;
}

/* Rows of chunks must fill the areas: dm-stripe takes no other table. */
static int check_stripes(struct lvm2_decoder *d, const struct lvm2_node *section, const struct lvm2_segment *s)
{
	uint64_t area_bytes;

	if (s->data_areas < 2)
		return 0;
	if (!s->stripe_bytes)
		return LVM2_REFUSE(d, section, "a segment of %" PRIu32 " stripes whose stripe size is 0", s->data_areas);
	if (s->extent_count % s->data_areas || !u64_mul(s->extent_count / s->data_areas, d->vg->extent_bytes, &area_bytes) ||
	    area_bytes % s->stripe_bytes)
		return LVM2_REFUSE(d, section, "%" PRIu64 " extents do not make whole rows of %" PRIu32 " stripes of %" PRIu64 " bytes",
				   s->extent_count, s->data_areas, s->stripe_bytes);
	return 0;
}

static int check_numbers(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *s, uint64_t copies)
{
	switch (s->type) {
	case LVM2_STRIPED:
		/* An image's room for a reshape is a segment of its own, and part of the image. */
		s->reshape_extents = 0;
		if (s->data_areas == 1) {
			s->type_name = "linear";
			s->stripe_bytes = 0;
		}
		return check_stripes(d, section, s);
	case LVM2_RAID0:
		s->reshape_extents = 0;
		return check_stripes(d, section, s);
	case LVM2_RAID_PARITY:
	case LVM2_RAID10:
		if (!s->stripe_bytes)
			return LVM2_REFUSE(d, section, "a segment of type %s whose stripe size is 0", s->type_name);
		return check_raid(d, section, s, copies);
	case LVM2_RAID1:
	case LVM2_MIRROR:
		return check_raid(d, section, s, copies);
	case LVM2_SNAPSHOT:
		if (s->ref_count != 2)
			return LVM2_REFUSE(d, section, "a snapshot needs one of \"cow_store\" and \"merging_store\"");
		if (s->refs[0].index == s->refs[1].index)
			return LVM2_REFUSE(d, section, "a snapshot whose store is its origin");
		s->reshape_extents = 0;
		return 0;
	case LVM2_THIN_POOL:
	case LVM2_THIN:
	case LVM2_CACHE_POOL:
	case LVM2_CACHE:
	case LVM2_WRITECACHE:
	case LVM2_INTEGRITY:
	case LVM2_VDO_POOL:
	case LVM2_VDO:
	case LVM2_ERROR:
	case LVM2_ZERO:
	case LVM2_UNKNOWN:
		break;
	}
	s->reshape_extents = 0;
	return 0;
}

static int decode_cache_areas(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *s)
{
	int r = lvm2_get_sectors_or(d, section, "metadata_start", UINT64_MAX, &s->cache_metadata.offset_bytes);

	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "metadata_len", UINT64_MAX, &s->cache_metadata.size_bytes);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "data_start", UINT64_MAX, &s->cache_data.offset_bytes);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "data_len", UINT64_MAX, &s->cache_data.size_bytes);
	return r;
}

static bool is_word(const struct lvm2_node *section, const char *key, const char *word)
{
	const struct lvm2_node *n = lvm2_get_string(section, key);

	return n && n->text_length == strlen(word) && !memcmp(n->text, word, n->text_length);
}

static int decode_numbers(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *s, uint64_t *copies)
{
	uint64_t device_id = 0;
	int r = lvm2_get_number(d, section, "start_extent", UINT32_MAX, &s->start_extent);

	if (r >= 0)
		r = lvm2_get_number(d, section, "extent_count", UINT32_MAX, &s->extent_count);
	if (r >= 0 && !s->extent_count)
		r = LVM2_REFUSE(d, section, "a segment of 0 extents");
	if (r >= 0)
		r = lvm2_get_number_or(d, section, "reshape_count", UINT32_MAX, &s->reshape_extents);
	/* lvm2 keeps these three in 32 bits. */
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "stripe_size", UINT32_MAX, &s->stripe_bytes);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "region_size", UINT32_MAX, &s->region_bytes);
	if (r >= 0)
		r = lvm2_get_sectors_or(d, section, "chunk_size", UINT32_MAX, &s->chunk_bytes);
	if (r >= 0)
		r = lvm2_get_number_or(d, section, "data_copies", LVM2_STRIPES_MAX, copies);
	if (r >= 0)
		r = lvm2_get_number_or(d, section, "transaction_id", UINT64_MAX, &s->transaction_id);
	if (r >= 0)
		r = lvm2_get_number_or(d, section, "device_id", UINT32_MAX, &device_id);
	s->writes_through = is_word(section, "cache_mode", "writethrough") || is_word(section, "cache_mode", "passthrough");
	s->zeroes = s->type == LVM2_THIN_POOL && lvm2_any_number(section, "zero_new_blocks");
	s->device_id = (uint32_t)device_id;
	return r >= 0 && s->type == LVM2_CACHE ? decode_cache_areas(d, section, s) : r;
}

int lvm2_decode_segment(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *ret)
{
	struct lvm2_segment s = { .data_copies = 1 };
	const struct type *type = NULL;
	uint64_t copies = 0;
	int r = decode_type(d, section, &type, &s);

	/* The keys of unknown types are unknown too, but every segment has its place. */
	if (r >= 0)
		r = decode_numbers(d, section, &s, &copies);
	if (r >= 0 && type)
		r = decode_refs(d, section, type, &s);
	if (r >= 0)
		r = check_numbers(d, section, &s, copies);
	if (r < 0)
		return r;
	*ret = s;
	return 0;
}
