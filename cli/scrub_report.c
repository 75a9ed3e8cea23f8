/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scrub found, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "scrub.h"

#define LISTED 20U /* without --verbose */

int scrub_status(const struct scrub_result *r)
{
	const struct blkalign_scrub_progress *p = &r->check;

	if (p->lost_bytes)
		return SCRUB_LOST;
	if (r->repaired && !r->repair.left_bytes && !p->uncompared_bytes)
		return SCRUB_CLEAN;
	return p->mismatch_sectors512 || p->unreadable_bytes || p->uncompared_bytes ? SCRUB_MISMATCHES : SCRUB_CLEAN;
}

/* --- findings --- */

static const char *meaning(const struct blkalign_scrub_finding *f)
{
	static const char *const texts[] = {
		[BLKALIGN_SCRUB_PROVEN] = "proven wrong",
		[BLKALIGN_SCRUB_OUTVOTED] = "differs from all others, which agree",
		[BLKALIGN_SCRUB_ONE_PARITY] = "cannot say who is wrong",
		[BLKALIGN_SCRUB_SEVERAL] = "cannot say: no one member explains it",
		[BLKALIGN_SCRUB_FEW_BYTES] = "cannot say: too few bytes differ",
		[BLKALIGN_SCRUB_DOUBTFUL] = "cannot say: unclean stop",
		[BLKALIGN_SCRUB_DEGRADED] = "cannot say: a member is missing here",
		[BLKALIGN_SCRUB_OVERLAP] = "the layout has another chunk here",
	};

	if (f->kind == BLKALIGN_SCRUB_UNREADABLE && f->verdict == BLKALIGN_SCRUB_SEVERAL)
		return "unreadable; others disagree";
	if (f->kind == BLKALIGN_SCRUB_UNREADABLE)
		return f->verdict == BLKALIGN_SCRUB_DOUBTFUL ? "unreadable; unclean stop" : "unreadable";
	if (f->kind == BLKALIGN_SCRUB_LOST)
		return "LOST: cannot be read nor computed";
	return texts[f->verdict];
}

/* Members of one array begin at the same byte nearly always; where not, what concerns all of them is told from the data area's beginning. */
static bool common_offset(const struct blkalign_scrub *s, uint64_t *ret)
{
	uint64_t count = blkalign_node_u64(blkalign_scrub_node(s), BLKALIGN_ATTR_MD_MEMBERS), offset;

	*ret = BLKALIGN_UNKNOWN;
	for (uint32_t slot = 0; count != BLKALIGN_UNKNOWN && slot < count; slot++) {
		if (!blkalign_scrub_member(s, slot, &offset))
			continue;
		if (*ret != BLKALIGN_UNKNOWN && *ret != offset)
			return false;
		*ret = offset;
	}
	return *ret != BLKALIGN_UNKNOWN;
}

static const struct blkalign_node *place_of(const struct blkalign_scrub *s, const struct blkalign_scrub_finding *f, uint64_t *ret_bytes)
{
	const struct blkalign_node *node = NULL;
	uint64_t offset;

	if (f->slot != BLKALIGN_SLOT_NONE) {
		node = blkalign_scrub_member(s, f->slot, &offset);
		*ret_bytes = node ? offset + f->member_bytes : BLKALIGN_UNKNOWN;
	} else {
		*ret_bytes = common_offset(s, &offset) ? offset + f->member_bytes : BLKALIGN_UNKNOWN;
	}
	return node;
}

static void format_u64(char *ret, size_t size, uint64_t n)
{
	if (n == BLKALIGN_UNKNOWN)
		snprintf(ret, size, "-");
	else
		snprintf(ret, size, "%" PRIu64, n);
}

static void print_finding(const struct blkalign_scrub *s, const struct blkalign_scrub_finding *f)
{
	uint64_t at;
	const struct blkalign_node *node = place_of(s, f, &at);
	char where[24], first[24], slot[24] = "the row";

	if (!node && f->slot != BLKALIGN_SLOT_NONE)
		snprintf(slot, sizeof(slot), "slot %u", f->slot);
	format_u64(where, sizeof(where), at);
	format_u64(first, sizeof(first), f->array_first_bytes);
	printf("  %-16s %14s %9s %15s  ", node ? cli_safe(blkalign_node_name(node)) : slot, where, cli_bytes(f->length_bytes),
	       f->array_first_bytes == BLKALIGN_UNKNOWN ? "parity" : first);
	cli_wrap(f->repaired_bytes ? "repaired" : meaning(f), 61);
}

static void print_findings(const struct cli_options *o, const struct blkalign_scrub *s)
{
	bool complete;
	size_t count = blkalign_scrub_findings(s, &complete), shown = o->verbose || count <= LISTED ? count : LISTED;

	if (!count)
		return;
	printf("\n%s  %-16s %14s %9s %15s  %s%s\n", cli_style(o, CLI_BOLD), "MEMBER", "AT BYTE", "LENGTH", "ARRAY BYTE", "VERDICT",
	       cli_style(o, CLI_PLAIN));
	for (size_t i = 0; i < shown; i++)
		print_finding(s, blkalign_scrub_finding(s, i));
	if (shown < count)
		printf("  and %zu more places: --verbose lists all\n", count - shown);
	if (!complete)
		printf("  and more, which were counted only\n");
	putchar('\n');
}

/* --- the verdict --- */

static const char *verdict(const struct scrub_result *r)
{
	const struct blkalign_scrub_progress *p = &r->check;

	if (p->lost_bytes)
		return "lost";
	if (p->mismatch_sectors512 || p->unreadable_bytes)
		return scrub_status(r) == SCRUB_CLEAN ? "repaired" : "mismatches";
	return p->uncompared_bytes == p->total_bytes ? "not compared" : "consistent";
}

static void print_counts(const struct blkalign_scrub_progress *p, bool repaired)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "%s of each member have nothing left to be compared with: the others are missing there or list bad blocks",
		 cli_bytes(p->uncompared_bytes));
	if (p->uncompared_bytes)
		cli_wrap(text, 0);
	if (p->mismatch_sectors512)
		printf(repaired ? "%" PRIu64 " sectors mismatched before the repair, as md counts them\n"
				: "%" PRIu64 " sectors mismatch, as md counts them\n",
		       p->mismatch_sectors512);
	if (p->unreadable_bytes)
		printf("%s could not be read%s; the other members have them\n", cli_bytes(p->unreadable_bytes),
		       repaired ? " before it" : "");
	if (p->lost_bytes)
		printf("%s are LOST: they cannot be read, and too little is left to compute them\n", cli_bytes(p->lost_bytes));
}

static bool is_mirror(const struct blkalign_scrub *s)
{
	const char *level = blkalign_node_str(blkalign_scrub_node(s), BLKALIGN_ATTR_MD_LEVEL);

	return level && (!strcmp(level, "raid1") || !strcmp(level, "raid10"));
}

static void print_advice(const struct scrub_result *r)
{
	struct blkalign_scrub_plan proven, parity;

	if (r->repaired || scrub_status(r) == SCRUB_CLEAN)
		return;
	blkalign_scrub_plan(r->scrub, false, &proven);
	blkalign_scrub_plan(r->scrub, true, &parity);
	if (proven.implausible)
		cli_wrap("So many rows blame several members that the members rather are in a wrong order, or the array was created anew "
			 "over an "
			 "old one. Repair nothing before you know.",
			 0);
	else if (proven.proven_bytes || proven.unreadable_bytes)
		cli_wrap("--repair recomputes what is proven wrong or cannot be read, and nothing else.", 0);
	if (blkalign_node_u64(blkalign_scrub_node(r->scrub), BLKALIGN_ATTR_MD_OVERLAPS) == 1)
		cli_wrap("The layout puts copies of different chunks into one place, so that each overwrites the other: what differs there "
			 "is no disk's "
			 "fault, the kernel counts it as well, and nothing can repair it. `blkalign explain MD-LAYOUT-OVERLAP`.",
			 0);
	if (parity.parity_bytes && !proven.implausible)
		cli_wrap(is_mirror(r->scrub)
				 ? "Where nobody can say which copy is wrong, look at both before --repair=parity overwrites the "
				   "others with the first one, as md's repair does."
				 : "Where nobody can say what is wrong, look at what lies there before --repair=parity makes parity "
				   "fit the data, as md's repair does.",
			 0);
}

static void print_repair(const struct cli_options *o, const struct scrub_result *r)
{
	if (!r->repaired)
		return;
	printf("%s repaired", cli_bytes(r->repair.repaired_bytes));
	if (r->repair.left_bytes)
		printf(", %s left as they are", cli_bytes(r->repair.left_bytes));
	putchar('\n');
	if (!r->undo)
		return;
	printf("to undo: blkalign undo %s", cli_safe(r->undo));
	for (size_t i = 0; i < o->target_count; i++)
		printf(" %s", cli_safe(o->targets[i]));
	putchar('\n');
}

void scrub_print_text(const struct cli_options *o, const struct scrub_result *r)
{
	int status = scrub_status(r);
	const struct blkalign_node *node = blkalign_scrub_node(r->scrub);
	const char *level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL);
	static const enum cli_style styles[] = { [SCRUB_CLEAN] = CLI_GREEN, [SCRUB_MISMATCHES] = CLI_YELLOW, [SCRUB_LOST] = CLI_RED };

	printf("%s (%s): %s%s%s, %s read\n", cli_safe(blkalign_node_name(node)), level ? level : "-", cli_style(o, styles[status]),
	       r->repaired && status == SCRUB_MISMATCHES ? "repaired in part" : verdict(r), cli_style(o, CLI_PLAIN),
	       cli_bytes(r->check.read_bytes));
	if (!r->repaired)
		cli_notes(o, stdout, r->graph, 0);
	print_findings(o, r->scrub);
	print_counts(&r->check, r->repaired);
	print_repair(o, r);
	print_advice(r);
}

/* --- the plan --- */

static void plan_row(const char *text, uint64_t n)
{
	if (!n)
		return;
	printf("  %9s  ", cli_bytes(n));
	cli_wrap(text, 13);
}

void scrub_print_plan(const struct cli_options *o, const struct blkalign_scrub *s, const struct blkalign_scrub_plan *plan)
{
	printf("\n--repair%s:\n", o->repair_parity ? "=parity" : "");
	plan_row("of members proven wrong are recomputed from the others", plan->proven_bytes);
	plan_row("that cannot be read are recomputed from the others and written back", plan->unreadable_bytes);
	plan_row(is_mirror(s) ? "of copies are overwritten with the first copy, which may be the wrong one"
			      : "of rows get parity that fits their data, which may be what is wrong",
		 plan->parity_bytes);
	plan_row("of them: the first copy is the one that all others contradict", plan->outvoted_bytes);
	plan_row("stay as they are", plan->left_bytes);
}

/* --- JSON --- */

static struct json_object *finding_json(const struct blkalign_scrub *s, const struct blkalign_scrub_finding *f)
{
	static const char *const kinds[] = { "mismatch", "unreadable", "lost" };
	struct json_object *o = json_object_new_object();
	uint64_t at;
	const struct blkalign_node *node = place_of(s, f, &at);

	json_add(o, "kind", json_object_new_string(kinds[f->kind]));
	json_add(o, "verdict", json_object_new_string(blkalign_scrub_verdict_name(f->verdict)));
	json_add(o, "slot", f->slot == BLKALIGN_SLOT_NONE ? NULL : json_object_new_uint64(f->slot));
	json_add(o, "member", node ? json_text(blkalign_node_name(node)) : NULL);
	json_add(o, "member_offset_bytes", json_bytes(at));
	json_add(o, "data_area_offset_bytes", json_bytes(f->member_bytes));
	json_add(o, "length_bytes", json_bytes(f->length_bytes));
	json_add(o, "array_first_bytes", json_bytes(f->array_first_bytes));
	json_add(o, "array_last_bytes", json_bytes(f->array_last_bytes));
	json_add(o, "repaired_bytes", json_bytes(f->repaired_bytes));
	return o;
}

static struct json_object *plan_json(const struct blkalign_scrub *s, bool parity)
{
	struct json_object *o = json_object_new_object();
	struct blkalign_scrub_plan plan;

	blkalign_scrub_plan(s, parity, &plan);
	json_add(o, "proven_bytes", json_bytes(plan.proven_bytes));
	json_add(o, "unreadable_bytes", json_bytes(plan.unreadable_bytes));
	json_add(o, "parity_bytes", json_bytes(plan.parity_bytes));
	json_add(o, "outvoted_bytes", json_bytes(plan.outvoted_bytes));
	json_add(o, "left_bytes", json_bytes(plan.left_bytes));
	json_add(o, "implausible", json_object_new_boolean(plan.implausible));
	return o;
}

void scrub_print_json(const struct scrub_result *r)
{
	struct json_object *o = json_document(), *list = json_object_new_array();
	const struct blkalign_node *node = blkalign_scrub_node(r->scrub);
	bool complete;
	size_t count = blkalign_scrub_findings(r->scrub, &complete);

	json_add(o, "array", json_text(blkalign_node_name(node)));
	json_add(o, "md_uuid", json_text(blkalign_node_str(node, BLKALIGN_ATTR_MD_UUID)));
	json_add(o, "md_level", json_text(blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL)));
	json_add(o, "verdict", json_object_new_string(verdict(r)));
	json_add(o, "read_bytes", json_bytes(r->check.read_bytes));
	json_add(o, "mismatch_sectors512", json_bytes(r->check.mismatch_sectors512));
	json_add(o, "unreadable_bytes", json_bytes(r->check.unreadable_bytes));
	json_add(o, "lost_bytes", json_bytes(r->check.lost_bytes));
	json_add(o, "uncompared_bytes", json_bytes(r->check.uncompared_bytes));
	json_add(o, "repair", plan_json(r->scrub, false));
	json_add(o, "repair_parity", plan_json(r->scrub, true));
	json_add(o, "repaired_bytes", r->repaired ? json_bytes(r->repair.repaired_bytes) : NULL);
	json_add(o, "left_bytes", r->repaired ? json_bytes(r->repair.left_bytes) : NULL);
	json_add(o, "undo", r->undo ? json_text(r->undo) : NULL);
	json_add(o, "findings_complete", json_object_new_boolean(complete));
	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, finding_json(r->scrub, blkalign_scrub_finding(r->scrub, i)));
	json_add(o, "findings", list);
	json_add(o, "remarks", json_remarks(r->graph));
	json_print(o, false);
}
