/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state an array is in: what its redundancy is worth today. */
#include <inttypes.h>

#include "check/remedy.h"
#include "check/rules.h"

/* From here on mdadm adds a bitmap by itself (Create.c). */
#define LARGE_COMPONENT_BYTES (100 * GIB)
/* More members than these are counted, not named. */
#define NAMES_MAX 4

bool md_is_running(const struct blkalign_node *n)
{
	const struct blkalign_value *state = blkalign_node_value(n, BLKALIGN_ATTR_MD_STATE);

	return state && state->origin != BLKALIGN_ORIGIN_ONDISK && state->origin != BLKALIGN_ORIGIN_SNAPSHOT &&
	       strncmp(state->str, "inactive", strlen("inactive")) != 0;
}

static bool level_is(const struct blkalign_node *n, const char *const *levels)
{
	for (; *levels; levels++)
		if (attr_is(n, BLKALIGN_ATTR_MD_LEVEL, *levels))
			return true;
	return false;
}

/* One of the words of a comma separated attribute. */
static bool has_word(const struct blkalign_node *n, enum blkalign_attr attr, const char *word)
{
	const char *text = blkalign_node_str(n, attr);
	size_t length = strlen(word);

	while (text && *text) {
		size_t next = strcspn(text, ",");

		if (next == length && !strncmp(text, word, length))
			return true;
		text += next + (text[next] == ',');
	}
	return false;
}

static uint64_t count_of(const struct blkalign_node *n, enum blkalign_attr attr)
{
	uint64_t value = blkalign_node_u64(n, attr);

	return value == BLKALIGN_UNKNOWN ? 0 : value;
}

static void tell(struct check *c, enum finding finding, enum impact impact, const struct blkalign_node *n, uint64_t found,
		 const char *message, const char *remedy)
{
	report_add(c->report, &(struct draft){ .finding = finding,
					       .impact = impact,
					       .node = n,
					       .found_bytes = found,
					       .expected_bytes = BLKALIGN_UNKNOWN,
					       .message = message,
					       .remedy = remedy });
}

/* --- not stopped cleanly, and incomplete --- */

/* raid4 keeps parity on its last slot: without that one no data is computed. */
static bool only_parity_is_missing(const struct blkalign_node *n)
{
	uint64_t members = blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS);

	if (!attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid4") || count_of(n, BLKALIGN_ATTR_MD_DEGRADED) != 1)
		return false;
	for (size_t i = 0; i < blkalign_node_edges(n); i++)
		if (blkalign_node_edge(n, i)->slot + UINT64_C(1) == members)
			return false;
	return true;
}

/* Where computed data may be wrong. The bitmap may say: nowhere. */
static const char *say_doubtful(struct check *c, const struct blkalign_node *n)
{
	uint64_t doubtful = blkalign_node_u64(n, BLKALIGN_ATTR_MD_DOUBTFUL);

	if (doubtful == BLKALIGN_UNKNOWN)
		return "what they held may be computed wrong wherever parity does not fit the data";
	if (!doubtful)
		return "by its bitmap nothing is in doubt";
	return report_text(c->report,
			   "in %" PRIu64 " bytes of each member parity may not fit the data, and what they held there be computed wrong",
			   doubtful);
}

static bool is_volume(const struct blkalign_node *n) { return blkalign_node_kind(n) == BLKALIGN_KIND_LV; }

/* dm-raid has no mark of an unclean stop, and computes on. */
static const char *say_start(const struct blkalign_node *n, bool running)
{
	if (is_volume(n))
		return "the kernel may activate it without a word";
	return running ? "stopped now, it would not start again without force" : "it does not start without force";
}

static void rule_dirty_degraded(struct check *c, const struct blkalign_node *n)
{
	static const char *const parity[] = { "raid4", "raid5", "raid6", NULL };
	uint64_t degraded = count_of(n, BLKALIGN_ATTR_MD_DEGRADED), doubtful = blkalign_node_u64(n, BLKALIGN_ATTR_MD_DOUBTFUL);
	bool running = md_is_running(n);

	if (!level_is(n, parity) || blkalign_node_u64(n, BLKALIGN_ATTR_MD_DIRTY) != 1 || !degraded || only_parity_is_missing(n))
		return;
	/* A log or a journal covers the last writes. What cannot be read at all, or has two truths, is not made worse by a torn stripe. */
	if (has_word(n, BLKALIGN_ATTR_MD_EXTRAS, "ppl") || has_word(n, BLKALIGN_ATTR_MD_EXTRAS, "journal") ||
	    has_word(n, BLKALIGN_ATTR_MD_STATE, "failed") || has_word(n, BLKALIGN_ATTR_MD_STATE, "split"))
		return;
	tell(c, FINDING_MD_DIRTY_DEGRADED, running || !doubtful ? IMPACT_BREAKS : IMPACT_AT_RISK, n, doubtful,
	     report_text(c->report, "%s %s and %" PRIu64 " of its %" PRIu64 " members are missing or not in sync: %s; %s", check_name(c, n),
			 running ? "has not finished its resync" : "was not stopped cleanly", degraded,
			 count_of(n, BLKALIGN_ATTR_MD_MEMBERS), say_doubtful(c, n), say_start(n, running)),
	     is_volume(n) ? remedy_for_volume(c, n) : remedy_for_dirty_degraded(c, n));
}

/* --- left out --- */

static const char *stale_names(struct check *c, const struct blkalign_node *n)
{
	_cleanup_strbuf_ struct strbuf names = { .text = NULL };
	unsigned count = 0;

	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		if (!e->state || (strcmp(e->state, "stale") != 0 && strcmp(e->state, "faulty") != 0))
			continue;
		if (count++ < NAMES_MAX)
			strbuf_printf(&names, "%s%s", count > 1 ? ", " : "", check_name(c, e->lower));
	}
	c->failed = c->failed || names.failed;
	return count && count <= NAMES_MAX ? report_keep(c->report, strbuf_text(&names)) : "";
}

static const char *why_stale(struct check *c, const struct blkalign_node *n, bool one)
{
	uint64_t gap = count_of(n, BLKALIGN_ATTR_MD_STALE_GAP);

	if (has_word(n, BLKALIGN_ATTR_MD_STATE, "split"))
		return "the halves of the array were used apart from each other, and each has writes that the other lacks";
	if (!gap)
		return "the other members record it as failed, or it contradicts them";
	return report_text(c->report, "up to %" PRIu64 " events behind: what was written since is missing on %s", gap, one ? "it" : "them");
}

static void rule_stale(struct check *c, const struct blkalign_node *n)
{
	uint64_t stale = count_of(n, BLKALIGN_ATTR_MD_STALE);
	bool needed = count_of(n, BLKALIGN_ATTR_MD_DEGRADED) || count_of(n, BLKALIGN_ATTR_MD_MISSING), one = stale == 1;
	const char *names = stale_names(c, n), *effect = needed ? "" : "; the array is complete without it";

	if (!stale)
		return;
	if (has_word(n, BLKALIGN_ATTR_MD_STATE, "failed"))
		effect = "; the array cannot be read whole without it";
	tell(c, FINDING_MD_STALE_MEMBER, needed ? IMPACT_BREAKS : IMPACT_NONE, n, BLKALIGN_UNKNOWN,
	     report_text(c->report, "%" PRIu64 " member%s of %s left out%s%s: %s%s", stale, one ? "" : "s", check_name(c, n),
			 *names ? ", " : "", names, why_stale(c, n, one), effect),
	     is_volume(n) ? remedy_for_volume(c, n) : remedy_for_stale(c, n));
}

/* --- bad block logs --- */

/* So many members may list a byte before nobody has it. */
static uint64_t spare_copies(const struct blkalign_node *n)
{
	uint64_t members = count_of(n, BLKALIGN_ATTR_MD_MEMBERS);

	if (attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid1"))
		return members ? members - 1 : 1;
	return attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid6") ? 2 : 1;
}

/* raid10: equal places on two members need not be copies of each other. */
static bool is_unreadable(const struct blkalign_node *n, uint64_t shared)
{
	uint64_t lost = count_of(n, BLKALIGN_ATTR_MD_DEGRADED), depth = shared ? 2 : 1;

	return !attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid10") && depth + lost > spare_copies(n);
}

static void rule_bad_blocks(struct check *c, const struct blkalign_node *n)
{
	uint64_t ranges = count_of(n, BLKALIGN_ATTR_MD_BAD_RANGES), bytes = count_of(n, BLKALIGN_ATTR_MD_BAD_BYTES),
		 shared = count_of(n, BLKALIGN_ATTR_MD_BAD_SHARED);
	bool unreadable = is_unreadable(n, shared);
	const char *phantom = "", *effect = "what lies there is taken from the other members, and the redundancy is gone";

	if (!ranges)
		return;
	if (unreadable)
		effect = "what lies there is reported as unreadable, whether the disks can read it or not";
	if (shared)
		phantom = report_text(c->report,
				      "; %" PRIu64
				      " bytes are listed by two or more members, which is how rebuilds spread lists of disks that are fine",
				      shared);
	tell(c, FINDING_MD_BAD_BLOCK_LOG, unreadable ? IMPACT_AT_RISK : IMPACT_BREAKS, n, bytes,
	     report_text(c->report, "bad block logs of %s list %" PRIu64 " range%s, %" PRIu64 " bytes: %s%s", check_name(c, n), ranges,
			 ranges == 1 ? "" : "s", bytes, effect, phantom),
	     remedy_for_bad_blocks(c, n));
}

/* --- bitmap --- */

static void rule_bitmap(struct check *c, const struct blkalign_node *n)
{
	static const char *const redundant[] = { "raid1", "raid4", "raid5", "raid6", "raid10", NULL };
	const char *metadata = blkalign_node_str(n, BLKALIGN_ATTR_MD_METADATA);
	uint64_t component = blkalign_node_u64(n, BLKALIGN_ATTR_MD_COMPONENT);

	if (!level_is(n, redundant) || !attr_is(n, BLKALIGN_ATTR_MD_BITMAP, "none") || !is_set(component) ||
	    component < LARGE_COMPONENT_BYTES)
		return;
	if (has_word(n, BLKALIGN_ATTR_MD_EXTRAS, "ppl") || has_word(n, BLKALIGN_ATTR_MD_EXTRAS, "journal") ||
	    has_word(n, BLKALIGN_ATTR_MD_EXTRAS, "reshape") || (metadata && !strncmp(metadata, "external", strlen("external"))))
		return;
	tell(c, FINDING_MD_BITMAP_MISSING, IMPACT_NONE, n, component,
	     report_text(c->report, "%s has no write-intent bitmap: after a power cut all %" PRIu64 " GiB of each member are resynced",
			 check_name(c, n), component / GIB),
	     remedy_for_missing_bitmap(c, n));
}

/* RAID volumes of LVM whose raid metadata was read. */
void rule_volume_state(struct check *c, const struct blkalign_node *n)
{
	if (!blkalign_node_str(n, BLKALIGN_ATTR_MD_STATE))
		return;
	rule_dirty_degraded(c, n);
	rule_stale(c, n);
}

void rule_md_state(struct check *c, const struct blkalign_node *n)
{
	rule_dirty_degraded(c, n);
	rule_stale(c, n);
	rule_bad_blocks(c, n);
	rule_bitmap(c, n);
}
