/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Type, layout and role of a volume, by its own type and by what it is a part of. lvm2: lib/metadata/lv.c, lv_attr_dup_with_info_and_seg_status(), lv_layout_and_role(). */
#include <string.h>

#include "columns_lvm.h"

/* What it is to the volumes on it. */
struct place {
	const char *type;  /* its own */
	const char *upper; /* type of the volume that it is a part of; "" when it is none */
	bool metadata;	   /* and holds that one's metadata or log */
	bool snapshot;	   /* store or origin of classic snapshots: users see it */
	unsigned snapshots;
	bool merging;
};

static const char *type_of(const struct blkalign_node *node)
{
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE);

	return type ? type : "";
}

static bool has_flag(const struct blkalign_node *node, const char *flag)
{
	const char *flags = blkalign_node_str(node, BLKALIGN_ATTR_LV_FLAGS), *at = flags ? strstr(flags, flag) : NULL;
	size_t length = strlen(flag);

	return at && (at == flags || at[-1] == ',') && (at[length] == ',' || !at[length]);
}

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }
static bool is_raid(const char *type) { return starts(type, "raid"); }
static bool is_pool(const char *type) { return strstr(type, "-pool"); }

static const struct blkalign_edge *edge_to(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	for (size_t i = 0; i < blkalign_node_edges(upper); i++)
		if (blkalign_node_edge(upper, i)->lower == lower)
			return blkalign_node_edge(upper, i);
	return NULL;
}

static struct place place_of(const struct blkalign_node *node)
{
	struct place p = { .type = type_of(node), .upper = "" };

	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);
		const char *type = type_of(upper);
		const struct blkalign_edge *e = edge_to(upper, node);
		/* A pool is no part of its volumes, nor an origin of its snapshots. */
		bool part = *type && !is_pool(p.type) && strcmp(type, "thin") != 0;

		if (part && !strcmp(type, "snapshot")) {
			p.snapshot = true;
			p.snapshots += e->slot != BLKALIGN_SLOT_NONE;
			p.merging = p.merging || has_flag(upper, "merging");
		} else if (part) {
			p.upper = type;
			p.metadata = e->state && !strcmp(e->state, "metadata");
		}
	}
	return p;
}

static bool is_spare(const struct blkalign_node *node)
{
	const char *name = blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME);

	return name && strstr(name, "_pmspare");
}

/* --- attr --- */

static char part_letter(const struct blkalign_node *node, const struct place *p)
{
	if (is_spare(node) || (p->metadata && strcmp(p->upper, "mirror") != 0))
		return 'e';
	if (!strcmp(p->upper, "mirror"))
		return p->metadata ? 'l' : 'i';
	if (is_raid(p->upper))
		return 'i';
	if (!strcmp(p->upper, "thin-pool"))
		return 'T';
	return !strcmp(p->upper, "cache-pool") ? 'C' : !strcmp(p->upper, "vdo-pool") ? 'D' : 'o';
}

static char type_letter(const struct blkalign_node *node, const struct place *p)
{
	static const struct {
		const char *type;
		char letter;
	} letters[] = { { "thin-pool", 't' }, { "thin", 'V' }, { "cache", 'C' },    { "cache-pool", 'C' }, { "writecache", 'C' },
			{ "integrity", 'g' }, { "vdo", 'v' },  { "vdo-pool", 'd' }, { "error", 'v' },	   { "zero", 'v' } };

	if (*p->upper || is_spare(node))
		return part_letter(node, p);
	if (!strcmp(p->type, "snapshot"))
		return has_flag(node, "merging") ? 'S' : 's';
	if (p->snapshots)
		return p->merging ? 'O' : 'o';
	if (is_raid(p->type) || !strcmp(p->type, "mirror"))
		return (char)(p->type[0] - (has_flag(node, "notsynced") ? 'a' - 'A' : 0));
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (!strcmp(letters[i].type, p->type))
			return letters[i].letter;
	return '-';
}

static char target_letter(const struct place *p)
{
	const char *by = *p->upper ? p->upper : p->type;

	if (!strcmp(p->type, "snapshot") || p->snapshot)
		return 's';
	if (is_raid(by) || !strcmp(by, "mirror"))
		return by[0];
	/* Parts of pools are targets of their own. */
	if (is_pool(by))
		return *p->upper || !starts(by, "thin") ? (!*p->upper && starts(by, "cache") ? 'C' : '-') : 't';
	if (starts(by, "cache") || starts(by, "writecache"))
		return 'C';
	return starts(by, "thin") ? 't' : !strcmp(by, "error") || !strcmp(by, "zero") ? 'v' : '-';
}

static char allocation_letter(const struct blkalign_node *node)
{
	static const struct {
		const char *policy;
		char letter;
	} letters[] = { { "contiguous", 'c' }, { "cling", 'l' }, { "normal", 'n' }, { "anywhere", 'a' } };
	const char *policy = blkalign_node_str(node, BLKALIGN_ATTR_LV_ALLOCATION);
	char letter = 'i';

	for (size_t i = 0; policy && i < sizeof(letters) / sizeof(letters[0]); i++)
		letter = starts(policy, letters[i].policy) ? letters[i].letter : letter;
	return (char)(letter - (has_flag(node, "locked") ? 'a' - 'A' : 0));
}

/* A thin volume does as its pool. */
static bool zeroes(const struct blkalign_node *node)
{
	bool ret = has_flag(node, "zero");

	for (size_t i = 0; !ret && !strcmp(type_of(node), "thin") && i < blkalign_node_edges(node); i++)
		ret = has_flag(blkalign_node_edge(node, i)->lower, "zero");
	return ret;
}

void lvm_volume_attr(const struct blkalign_node *node, struct lvm_text *ret)
{
	const struct place p = place_of(node);

	lvm_add(ret, "%c%c%c%c--%c%c%c%c", type_letter(node, &p), has_flag(node, "read-only") ? 'r' : 'w', allocation_letter(node),
		has_flag(node, "fixed-minor") ? 'm' : '-', target_letter(&p), zeroes(node) ? 'z' : '-',
		has_flag(node, "partial") ? 'p' : '-', has_flag(node, "activation-skip") ? 'k' : '-');
}

/* --- layout and role --- */

/* Segments of one volume may differ in this. */
static void add_plain_layout(const struct blkalign_node *node, struct lvm_text *ret)
{
	char buffer[4096] = "";
	struct lvm_text types = { buffer, sizeof(buffer), 0 };
	bool linear, striped;

	lvm_segment_type(node, &types);
	linear = strstr(buffer, "linear");
	striped = strstr(buffer, "striped");
	if (linear || striped)
		lvm_add(ret, "%s%s%s", linear ? "linear" : "", linear && striped ? "," : "", striped ? "striped" : "");
	else
		lvm_add_safe(ret, type_of(node));
}

void lvm_volume_layout(const struct blkalign_node *node, struct lvm_text *ret)
{
	static const struct {
		const char *type, *layout;
	} layouts[] = { { "thin-pool", "thin,pool" },	    { "thin", "thin,sparse" },		{ "cache-pool", "cache,pool" },
			{ "vdo-pool", "vdo,pool" },	    { "snapshot", "linear" },		{ "raid5_n", "raid,raid5" },
			{ "raid5", "raid,raid5,raid5_ls" }, { "raid6", "raid,raid6,raid6_zr" }, { "raid0_meta", "raid" } };
	const char *type = type_of(node);

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!strcmp(layouts[i].type, type)) {
			lvm_add(ret, "%s", layouts[i].layout);
			return;
		}
	if (!is_raid(type)) {
		add_plain_layout(node, ret);
		return;
	}
	lvm_add(ret, "raid,%.*s", (int)strcspn(type, "_"), type);
	if (strchr(type, '_') && !strstr(type, "_n_6") && !strstr(type, "a_6") && !strstr(type, "s_6"))
		lvm_add(ret, ",%s", type);
}

static void add_part_role(const struct place *p, struct lvm_text *ret)
{
	if (is_raid(p->upper))
		lvm_add(ret, "private,raid,%s", p->metadata ? "metadata" : "image");
	else if (!strcmp(p->upper, "mirror"))
		lvm_add(ret, "private,mirror,%s", p->metadata ? "log" : "image");
	else if (is_pool(p->upper))
		lvm_add(ret, "private,%.*s,pool,%s", (int)strcspn(p->upper, "-"), p->upper, p->metadata ? "metadata" : "data");
	else
		lvm_add(ret, "private,%s,origin,%sorigin", p->upper, p->upper);
}

/* Thin volumes whose pool, and whose origin, are these. */
static unsigned thin_snapshots(const struct blkalign_node *node)
{
	const char *name = blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME);
	unsigned count = 0;

	for (size_t i = 0; name && !strcmp(type_of(node), "thin") && i < blkalign_node_edges(node); i++) {
		const struct blkalign_node *pool = blkalign_node_edge(node, i)->lower;

		for (size_t u = 0; u < blkalign_node_uppers(pool); u++) {
			const char *origin = blkalign_node_str(blkalign_node_upper(pool, u), BLKALIGN_ATTR_LV_ORIGIN);

			count += origin && !strcmp(origin, name);
		}
	}
	return count;
}

void lvm_volume_role(const struct blkalign_node *node, struct lvm_text *ret)
{
	const struct place p = place_of(node);
	unsigned thin = thin_snapshots(node);

	if (*p.upper) {
		add_part_role(&p, ret);
		return;
	}
	if (is_spare(node) || is_pool(p.type)) {
		lvm_add(ret, is_spare(node) ? "private,pool,spare" : "private");
		return;
	}
	lvm_add(ret, "public");
	if (!strcmp(p.type, "snapshot"))
		lvm_add(ret, ",snapshot,thicksnapshot");
	if (!strcmp(p.type, "thin") && blkalign_node_str(node, BLKALIGN_ATTR_LV_ORIGIN))
		lvm_add(ret, ",snapshot,thinsnapshot");
	if (p.snapshots)
		lvm_add(ret, ",origin,thickorigin%s", p.snapshots > 1 ? ",multithickorigin" : "");
	if (thin)
		lvm_add(ret, ",origin,thinorigin%s", thin > 1 ? ",multithinorigin" : "");
}
