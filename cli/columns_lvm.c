/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "columns_lvm.h"

#define NONE BLKALIGN_ATTR_COUNT

void lvm_add(struct lvm_text *t, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(t->text + t->used, t->size - t->used, format, arguments);
	va_end(arguments);
	t->used = n < 0 || (size_t)n >= t->size - t->used ? t->size - 1 : t->used + (size_t)n;
}

void lvm_add_safe(struct lvm_text *t, const char *text)
{
	blkalign_escape(t->text + t->used, t->size - t->used, text);
	t->used += strlen(t->text + t->used);
}

const char *lvm_name_of(const struct blkalign_node *node)
{
	const char *name = blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME);

	if (blkalign_node_kind(node) == BLKALIGN_KIND_PV && blkalign_node_edges(node))
		return blkalign_node_name(blkalign_node_edge(node, 0)->lower);
	return name ? name : blkalign_node_name(node);
}

/* --- texts --- */

static void pv_name(const struct blkalign_node *node, struct lvm_text *ret) { lvm_add_safe(ret, lvm_name_of(node)); }

static void format_name(const struct blkalign_node *node, struct lvm_text *ret)
{
	(void)node;
	lvm_add(ret, "lvm2");
}

static void pv_missing(const struct blkalign_node *node, struct lvm_text *ret)
{
	const char *attr = blkalign_node_str(node, BLKALIGN_ATTR_PV_ATTR);

	lvm_add(ret, "%s", attr && strchr(attr, 'm') ? "missing" : "");
}

static void full_name(const struct blkalign_node *node, struct lvm_text *ret)
{
	const char *group = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME);

	lvm_add_safe(ret, group ? group : "");
	lvm_add(ret, "/");
	lvm_add_safe(ret, lvm_name_of(node));
}

/* lvm2 makes no link for pools, nor for the parts of others. */
static void path(const struct blkalign_node *node, struct lvm_text *ret)
{
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE);

	if (blkalign_node_u64(node, BLKALIGN_ATTR_LV_HIDDEN) != 0 || (type && strstr(type, "-pool")))
		return;
	lvm_add(ret, "/dev/");
	full_name(node, ret);
}

static void time_of(const struct blkalign_node *node, struct lvm_text *ret)
{
	uint64_t seconds = blkalign_node_u64(node, BLKALIGN_ATTR_LV_TIME);
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[64];

	if (seconds <= INT32_MAX * UINT64_C(100) && localtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm))
		lvm_add(ret, "%s", text);
}

/* That of a cache is told of the volume that is cached, not of the pool. */
static void chunk_size(const struct blkalign_node *node, struct lvm_text *ret)
{
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE);
	bool cache_pool = type && !strcmp(type, "cache-pool") && blkalign_node_uppers(node);
	uint64_t chunk = blkalign_node_u64(cache_pool ? blkalign_node_upper(node, 0) : node, BLKALIGN_ATTR_POOL_BLOCK);

	if (chunk == BLKALIGN_UNKNOWN)
		chunk = blkalign_node_u64(node, BLKALIGN_ATTR_SNAPSHOT_CHUNK);
	lvm_add(ret, "%" PRIu64, chunk == BLKALIGN_UNKNOWN ? 0 : chunk);
}

/* As lvs, which prints 0 for what has none. */
static void region_size(const struct blkalign_node *node, struct lvm_text *ret)
{
	uint64_t region = blkalign_node_u64(node, BLKALIGN_ATTR_LV_REGION);

	lvm_add(ret, "%" PRIu64, region == BLKALIGN_UNKNOWN ? 0 : region);
}

/* --- the table --- */

#define PV    BLKALIGN_KIND_PV, false
#define VG    BLKALIGN_KIND_PV, true
#define LV    BLKALIGN_KIND_LV, false
#define OF(a) BLKALIGN_ATTR_##a, NONE, NONE, NULL

const struct lvm_column lvm_columns[] = {
	{ "pv_name", "PV", "device that the physical volume lies on", LVM_TEXT, PV, NONE, NONE, NONE, pv_name },
	{ "pv_fmt", "FMT", "format of the physical volume", LVM_TEXT, PV, NONE, NONE, NONE, format_name },
	{ "pv_size", "PSIZE", "extents of the physical volume", LVM_BYTES, PV, BLKALIGN_ATTR_PE_COUNT, NONE, BLKALIGN_ATTR_EXTENT, NULL },
	{ "pv_used", "PUSED", "those in use", LVM_BYTES, PV, BLKALIGN_ATTR_PV_ALLOCATED, NONE, BLKALIGN_ATTR_EXTENT, NULL },
	{ "pv_free", "PFREE", "those that are not", LVM_BYTES, PV, BLKALIGN_ATTR_PE_COUNT, BLKALIGN_ATTR_PV_ALLOCATED, BLKALIGN_ATTR_EXTENT,
	  NULL },
	{ "pe_start", "PE-START", "the same as 1ST-PE", LVM_NUMBER, PV, OF(PE_START) },
	{ "pv_pe_count", "#PE", "the same as PE", LVM_NUMBER, PV, OF(PE_COUNT) },
	{ "pv_missing", "MISSING-PV", "missing where the text was last written", LVM_TEXT, PV, NONE, NONE, NONE, pv_missing },
	{ "pv_mda_size", "PMDA-SIZE", "the same as PMDASIZE", LVM_NUMBER, PV, OF(PV_AREA_SIZE) },
	{ "pv_mda_free", "PMDA-FREE", "the same as PMDAFREE", LVM_NUMBER, PV, OF(PV_AREA_FREE) },
	{ "pv_ba_start", "BA-BEGIN", "the same as BA-START", LVM_NUMBER, PV, OF(PV_BOOT_START) },
	{ "pv_ba_size", "BA-LENGTH", "the same as BA-SIZE", LVM_NUMBER, PV, OF(PV_BOOT_SIZE) },
	{ "dev_size", "DEV-SIZE", "device of the physical volume", LVM_BYTES, PV, OF(SIZE) },
	{ "vg_fmt", "VG-FMT", "format of the group", LVM_TEXT, VG, NONE, NONE, NONE, format_name },
	{ "vg_size", "VSIZE", "extents of the group", LVM_BYTES, VG, BLKALIGN_ATTR_VG_EXTENTS, NONE, BLKALIGN_ATTR_EXTENT, NULL },
	{ "vg_free", "VFREE", "those that are not in use", LVM_BYTES, VG, BLKALIGN_ATTR_VG_FREE_EXTENTS, NONE, BLKALIGN_ATTR_EXTENT, NULL },
	{ "vg_extent_size", "EXT", "the same as EXTENT", LVM_NUMBER, VG, OF(EXTENT) },
	{ "lv_full_name", "LV-FULL", "group and volume", LVM_TEXT, LV, NONE, NONE, NONE, full_name },
	{ "lv_path", "LV-PATH", "where its device would be", LVM_TEXT, LV, NONE, NONE, NONE, path },
	{ "lv_size", "LSIZE", "size of the volume; of a classic snapshot that of its store", LVM_BYTES, LV, OF(SIZE) },
	{ "lv_attr", "ATTR", "as lvs prints it for a volume that is not active", LVM_TEXT, LV, NONE, NONE, NONE, lvm_volume_attr },
	{ "lv_layout", "LV-LAYOUT", "linear, striped, raid, thin, pool, cache, ...", LVM_TEXT, LV, NONE, NONE, NONE, lvm_volume_layout },
	{ "lv_role", "ROLE", "public or private, and what it is to other volumes", LVM_TEXT, LV, NONE, NONE, NONE, lvm_volume_role },
	{ "lv_time", "LV-TIME", "when it was created", LVM_TEXT, LV, NONE, NONE, NONE, time_of },
	{ "seg_count", "#SEG", "the same as SEGS", LVM_NUMBER, LV, OF(LV_SEGMENTS) },
	{ "seg_type", "SEG-TYPE", "type of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_type },
	{ "stripes", "#STR", "stripes, or legs, of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_stripes },
	{ "data_stripes", "#DSTR", "those that hold different data, or legs", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_data_stripes },
	{ "stripe_size", "STR-SIZE", "chunk of each segment, 0 for none", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_stripe_size },
	{ "region_size", "REGION-SIZE", "the same as REGION, 0 for none", LVM_TEXT, LV, NONE, NONE, NONE, region_size },
	{ "chunk_size", "CHUNK-SIZE", "unit of snapshots and pools, 0 for none", LVM_TEXT, LV, NONE, NONE, NONE, chunk_size },
	{ "seg_start", "SEG-START", "first byte of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_start },
	{ "seg_start_pe", "SEG-START-PE", "first extent of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_start_pe },
	{ "seg_size", "SSIZE", "bytes of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_size },
	{ "seg_size_pe", "SSIZE-PE", "extents of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_size_pe },
	{ "seg_pe_ranges", "PE-RANGES", "extents that each segment lies on", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_pe_ranges },
	{ "seg_le_ranges", "LE-RANGES", "the same, parts of the volume in brackets", LVM_TEXT, LV, NONE, NONE, NONE,
	  lvm_segment_le_ranges },
	{ "devices", "DEVICES", "devices with first extent, of each segment", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_devices },
	{ "metadata_devices", "METADATA-DEVS", "likewise of RAID metadata", LVM_TEXT, LV, NONE, NONE, NONE, lvm_segment_metadata_devices },
};
const size_t lvm_columns_count = sizeof(lvm_columns) / sizeof(lvm_columns[0]);

/* --- names --- */

/* Without regard to case and underscores. */
static bool alike(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_')
			a++;
		while (*b == '_')
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

bool lvm_is_called(const char *key, const char *name)
{
	static const char *const prefixes[] = { "lv_", "pv_", "vg_", "seg_" };

	if (alike(key, name))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(key, prefixes[i], strlen(prefixes[i])) && alike(key + strlen(prefixes[i]), name))
			return true;
	return false;
}

/* What is called so itself goes before what is with something in front. */
size_t lvm_column_find(const char *name)
{
	for (size_t i = 0; i < lvm_columns_count; i++)
		if (alike(lvm_columns[i].key, name) || alike(lvm_columns[i].heading, name))
			return i;
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < lvm_columns_count; i++)
			if ((lvm_columns[i].kind == BLKALIGN_KIND_LV) == !pass && lvm_is_called(lvm_columns[i].key, name))
				return i;
	return lvm_columns_count;
}

/* --- values --- */

/* Any PV below tells what the group is; depth as in graphs. */
static const struct blkalign_node *any_pv(const struct blkalign_node *node, unsigned depth)
{
	const char *group = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME);

	if (blkalign_node_kind(node) == BLKALIGN_KIND_PV)
		return node;
	for (size_t i = 0; group && depth && i < blkalign_node_edges(node); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(node, i)->lower, *pv;
		const char *its = blkalign_node_str(lower, BLKALIGN_ATTR_VG_NAME);

		pv = its && !strcmp(its, group) ? any_pv(lower, depth - 1) : NULL;
		if (pv)
			return pv;
	}
	return NULL;
}

const struct blkalign_node *lvm_owner(const struct blkalign_node *node, enum blkalign_attr attr)
{
	bool of_group = (attr >= BLKALIGN_ATTR_VG_ATTR && attr <= BLKALIGN_ATTR_VG_TEXT_AREA) || attr == BLKALIGN_ATTR_EXTENT ||
			attr == BLKALIGN_ATTR_VG_UUID || attr == BLKALIGN_ATTR_VG_SEQNO;

	return of_group && blkalign_node_kind(node) == BLKALIGN_KIND_LV && !blkalign_node_value(node, attr) ? any_pv(node, 16) : node;
}

/* The size that lvs prints of a snapshot is its store's. */
static const struct blkalign_node *store_of(const struct blkalign_node *node)
{
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE);

	for (size_t i = 0; type && !strcmp(type, "snapshot") && i < blkalign_node_edges(node); i++)
		if (blkalign_node_edge(node, i)->slot == BLKALIGN_SLOT_NONE)
			return blkalign_node_edge(node, i)->lower;
	return node;
}

static const struct blkalign_node *owner(const struct lvm_column *c, const struct blkalign_node *node)
{
	if (c->kind == BLKALIGN_KIND_LV && c->value == BLKALIGN_ATTR_SIZE)
		node = store_of(node);
	if (c->of_group && blkalign_node_kind(node) == BLKALIGN_KIND_LV)
		return any_pv(node, 16);
	return blkalign_node_kind(node) == c->kind ? node : NULL;
}

uint64_t lvm_column_number(const struct lvm_column *c, const struct blkalign_node *node)
{
	uint64_t value, less = 0, times = 1;

	node = owner(c, node);
	if (!node || c->value == NONE)
		return BLKALIGN_UNKNOWN;
	value = blkalign_node_u64(node, c->value);
	if (c->less != NONE)
		less = blkalign_node_u64(node, c->less);
	if (c->times != NONE)
		times = blkalign_node_u64(node, c->times);
	if (value == BLKALIGN_UNKNOWN || less > value || times == BLKALIGN_UNKNOWN || __builtin_mul_overflow(value - less, times, &value))
		return BLKALIGN_UNKNOWN;
	return value;
}

void lvm_column_text(const struct lvm_column *c, const struct blkalign_node *node, char *buffer, size_t size)
{
	struct lvm_text t = { buffer, size, 0 };
	uint64_t value;

	buffer[0] = '\0';
	if (c->text) {
		node = owner(c, node);
		if (node && blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME))
			c->text(node, &t);
		return;
	}
	value = lvm_column_number(c, node);
	if (value == BLKALIGN_UNKNOWN)
		return;
	if (c->form == LVM_BYTES)
		blkalign_format_bytes(buffer, size, value, true);
	else
		lvm_add(&t, "%" PRIu64, value);
}
