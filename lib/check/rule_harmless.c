/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reassurance: what alarms people and needs no action, with the arithmetic that says so. */
#include <inttypes.h>
#include <strings.h>

#include "check/rules.h"

static void reassure(struct check *c, const struct blkalign_node *n, const char *message)
{
	check_report(c, FINDING_HARMLESS_WARNING, IMPACT_NONE, n, BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN, message);
}

/* --- containers --- */

static const char *role_words(const char *role)
{
	if (!role || !strcmp(role, "data") || !strcmp(role, "esp"))
		return "an entry shorter than a block holds no file system";
	if (!strcmp(role, "extended"))
		return "an extended partition is a container: the logical partitions inside are judged by themselves";
	if (!strcmp(role, "bios-boot"))
		return "a BIOS boot partition holds raw boot code that is written once";
	if (!strcmp(role, "msr"))
		return "the Microsoft reserved partition holds no file system";
	if (!strcmp(role, "protective"))
		return "the protective entry only keeps old tools away from a GPT";
	return "a reserved area holds no file system";
}

void rule_container(struct check *c, const struct blkalign_node *n)
{
	const struct blkalign_edge *e = blkalign_node_edges(n) ? blkalign_node_edge(n, 0) : NULL;
	const struct grain *block;

	if (!e || facts_of(c, n)->exempt != EXEMPT_CONTAINER || e->lower_offset_bytes == BLKALIGN_UNKNOWN)
		return;
	block = &facts_of(c, drive_below(n))->grains[BOUNDARY_PHYSICAL];
	if (!grain_residue(block, e->lower_offset_bytes))
		return;
	reassure(c, n,
		 report_text(c->report, "%s starts %" PRIu64 " bytes past a block, which costs nothing: %s", check_name(c, n),
			     grain_residue(block, e->lower_offset_bytes), role_words(blkalign_node_str(n, BLKALIGN_ATTR_PART_ROLE))));
}

/* --- messages of the kernel and of tools --- */

static const struct {
	enum blkalign_attr attr;
	const char *word;	 /* found in the message, without regard to case */
	const char *second;	 /* and this one */
	bool only_when_in_place; /* true comfort only when the judge found nothing */
	const char *answer;
} messages[] = {
	{ BLKALIGN_ATTR_KERNEL_MESSAGES, "optimal transfer size", "not a multiple", false,
	  "the kernel says that it threw a bad optimal transfer size away" },
	{ BLKALIGN_ATTR_KERNEL_MESSAGES, "optimal transfer size", ">", false,
	  "the kernel says that it threw an optimal transfer size away because it exceeds a limit" },
	{ BLKALIGN_ATTR_KERNEL_MESSAGES, "preferred minimum i/o size", "", false,
	  "the kernel says that it threw a bad minimum I/O size away" },
	{ BLKALIGN_ATTR_KERNEL_MESSAGES, "alignment inconsistency", "", true,
	  "the kernel compared sums of sizes and offsets; by position everything lies on physical blocks" },
	{ BLKALIGN_ATTR_KERNEL_MESSAGES, "is misaligned", "", true,
	  "the kernel compared sums of sizes and offsets; by position everything lies on physical blocks" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "log stripe unit", "", false,
	  "XFS keeps its log stripe unit at 256 KiB or below; the data stripe is unaffected" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "not properly aligned", "", true,
	  "measured against the device's hint; by position everything lies on physical blocks. Do not move it" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "not aligned", "", true,
	  "measured against the device's hint; by position everything lies on physical blocks. Do not move it" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "does not start on physical", "", true,
	  "measured against the minimum I/O size or a container; by position all data lies on physical blocks" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "misaligned", "", true,
	  "the tool saw an alignment offset against something larger than a block; by position everything lies on physical blocks" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "boundary", "caution", true,
	  "gdisk measures ends against its own grid; only 4096-byte encryption sectors care" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "ignoring bogus optimal", "", false, "cryptsetup says that it ignores the hint" },
	{ BLKALIGN_ATTR_TOOL_MESSAGES, "ignoring queue/", "", false, "LVM says that it ignores the hint" },
};

static bool in_place(const struct check *c, const struct blkalign_node *n)
{
	if (facts_of(c, n)->misplaced || !is_placed(n))
		return false;
	for (size_t i = 0; i < blkalign_node_uppers(n); i++)
		if (facts_of(c, blkalign_node_upper(n, i))->misplaced)
			return false;
	return true;
}

void rule_messages(struct check *c, const struct blkalign_node *n)
{
	const char *of_kernel = blkalign_node_str(n, BLKALIGN_ATTR_KERNEL_MESSAGES),
		   *of_tools = blkalign_node_str(n, BLKALIGN_ATTR_TOOL_MESSAGES);

	for (size_t i = 0; (of_kernel || of_tools) && i < ARRAY_SIZE(messages); i++) {
		const char *text = messages[i].attr == BLKALIGN_ATTR_KERNEL_MESSAGES ? of_kernel : of_tools;

		if (!text || !strcasestr(text, messages[i].word) || !strcasestr(text, messages[i].second))
			continue;
		if (messages[i].only_when_in_place && !in_place(c, n))
			continue;
		reassure(c, n, report_text(c->report, "%s: %s", check_name(c, n), messages[i].answer));
		return;
	}
}
