/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What to do about the state of an array. Steps that trust or discard what is on a member are left for the reader to choose. */
#include "check/remedy.h"
#include "check/shell.h"

/* More members than these are not spelled out. */
#define MEMBERS_SHOWN	 32
#define REBUILT_TOGETHER 2 /* members that one command computes */

static bool is_degraded(const struct blkalign_node *array)
{
	uint64_t degraded = blkalign_node_u64(array, BLKALIGN_ATTR_MD_DEGRADED);

	return degraded && degraded != BLKALIGN_UNKNOWN;
}

/* Each device once, whatever segments it has; of idle members those that are stale or faulty. */
static bool is_wanted(const struct blkalign_node *array, size_t i, bool idle)
{
	const struct blkalign_edge *e = blkalign_node_edge(array, i);
	bool dropped = e->state && (!strcmp(e->state, "stale") || !strcmp(e->state, "faulty"));

	return !e->segment && (idle ? dropped : !edge_is_idle(e));
}

/* " /dev/sda /dev/sdb", and " ..." for more. */
static const char *members(struct check *c, const struct blkalign_node *array, bool idle)
{
	_cleanup_strbuf_ struct strbuf text = { .text = NULL };
	unsigned count = 0;

	for (size_t i = 0; i < blkalign_node_edges(array) && count < MEMBERS_SHOWN; i++)
		if (is_wanted(array, i, idle) && ++count)
			strbuf_printf(&text, " %s", shell_device(c, blkalign_node_edge(array, i)->lower));
	c->failed = c->failed || text.failed;
	return report_keep(c->report, strbuf_text(&text));
}

/* One command for each member. */
static void run_each(struct script *s, const struct blkalign_node *array, bool idle, const char *command)
{
	unsigned count = 0;

	for (size_t i = 0; i < blkalign_node_edges(array) && count < MEMBERS_SHOWN; i++)
		if (is_wanted(array, i, idle) && ++count)
			script_run(s, "%s %s", command, shell_device(s->c, blkalign_node_edge(array, i)->lower));
}

const char *remedy_for_dirty_degraded(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };
	const char *device = script_block_device(&s, array), *present = members(c, array, false);

	script_note(
		&s,
		"look for the missing member first: with it the array starts and resyncs, and nothing is computed. What the members say:");
	run_each(&s, array, false, "mdadm --examine");
	if (*members(c, array, true)) {
		script_note(&s, "left out, but perhaps not far behind:");
		run_each(&s, array, true, "mdadm --examine");
	}
	script_note(&s, "if it is gone for good: save the content without writing to anything (put a name for OUTPUT),");
	script_run_not(&s, "blkalign copy%s -o OUTPUT", present);
	script_note(&s, "and only then start the array; this declares its parity right without looking:");
	script_run_not(&s, "mdadm --stop %s", device);
	script_run_not(&s, "mdadm --assemble --force %s%s", device, present);
	script_note(&s, "check the file system, read-only at first (fsck -n, xfs_repair -n, btrfs check), before it is mounted");
	return script_finish(&s);
}

/* Two halves, each current in its own eyes: nothing here may prefer one. */
static const char *for_split(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };

	script_note(&s, "give one half at a time, and look which one holds the later work; nothing is written by this:");
	for (size_t i = 0; i < blkalign_node_edges(array) && i < MEMBERS_SHOWN; i++)
		if (!blkalign_node_edge(array, i)->segment)
			script_run(&s, "blkalign show %s", shell_device(c, blkalign_node_edge(array, i)->lower));
	script_note(&s, "save what only the other half has; then add that one anew, which destroys what is on it");
	return script_finish(&s);
}

/* Too few are current: the stale ones are all that is left of the rest. */
static const char *for_failed(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };
	const char *device = script_block_device(&s, array);

	script_note(&s, "never zero, add or re-create these members: they hold the only copy. Copy all of them first (ddrescue), then see "
			"how far behind each is:");
	run_each(&s, array, true, "mdadm --examine");
	script_note(&s,
		    "the array comes back with the least stale ones; what was written after they dropped out is mixed with older blocks:");
	script_run_not(&s, "mdadm --stop %s", device);
	script_run_not(&s, "mdadm --assemble --force %s%s%s", device, members(c, array, false), members(c, array, true));
	script_note(&s, "check the file system, read-only at first, before it is mounted");
	return script_finish(&s);
}

/* The other way, which writes the same records; it also works on image files. */
static void add_rebuild(struct script *s, const struct blkalign_node *array)
{
	_cleanup_strbuf_ struct strbuf onto = { .text = NULL };
	unsigned count = 0;

	for (size_t i = 0; i < blkalign_node_edges(array); i++)
		if (is_wanted(array, i, true) && ++count <= REBUILT_TOGETHER)
			strbuf_printf(&onto, " --onto=%s", shell_device(s->c, blkalign_node_edge(array, i)->lower));
	s->c->failed = s->c->failed || onto.failed;
	if (!count || count > REBUILT_TOGETHER || blkalign_node_edges(array) > MEMBERS_SHOWN || !is_degraded(array))
		return;
	script_note(
		s,
		"or while the array is stopped, also from image files: what it missed is computed, by the bitmap where there is one, and "
		"overwritten:");
	script_run_not(s, "blkalign rebuild%s%s", members(s->c, array, false), strbuf_text(&onto));
}

static const char *for_dropped(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };
	const char *device = script_block_device(&s, array), *bitmap = blkalign_node_str(array, BLKALIGN_ATTR_MD_BITMAP);
	const char *dropped = members(c, array, true), *name = *dropped ? dropped : " MEMBER";
	bool has_bitmap = bitmap && strcmp(bitmap, "none") != 0;

	script_note(&s, "why did it drop out? A cable or a port as often as a drive (dmesg, smartctl -a)");
	run_each(&s, array, true, "mdadm --examine");
	if (has_bitmap) {
		script_note(&s, "if it is healthy: what it missed is copied, by the bitmap");
		script_run_not(&s, "mdadm %s --re-add%s", device, name);
	}
	script_note(&s, "%s; destroys what is on the member:",
		    has_bitmap ? "if that is refused, as a new member" : "if it is healthy, as a new member");
	script_run_not(&s, "mdadm --zero-superblock%s", name);
	script_run_not(&s, "mdadm %s --add%s", device, name);
	add_rebuild(&s, array);
	return script_finish(&s);
}

const char *remedy_for_stale(struct check *c, const struct blkalign_node *array)
{
	const char *state = blkalign_node_str(array, BLKALIGN_ATTR_MD_STATE);

	if (state && strstr(state, "split"))
		return for_split(c, array);
	return state && strstr(state, "failed") ? for_failed(c, array) : for_dropped(c, array);
}

const char *remedy_for_bad_blocks(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };
	const char *device = script_block_device(&s, array);

	script_note(&s, "which ranges, of whom (in sectors from the start of the device):");
	run_each(&s, array, false, "mdadm --examine-badblocks");
	script_note(&s, "can the disks read them? For each range of each member:");
	script_run_not(&s, "dd if=MEMBER of=/dev/null bs=512 skip=SECTOR count=LENGTH iflag=direct");
	script_note(
		&s,
		"a range that fails: replace that disk. Ranges that all read well are phantoms: back up what can be read, and the ranges "
		"from the "
		"member that listed them first (on the others they were never written); then drop the lists and write these ranges anew");
	script_run_not(&s, "mdadm --stop %s", device);
	script_run_not(&s, "mdadm --assemble --update=force-no-bbl %s%s", device, members(c, array, false));
	return script_finish(&s);
}

const char *remedy_for_missing_bitmap(struct check *c, const struct blkalign_node *array)
{
	struct script s = { .c = c };
	const char *device = script_block_device(&s, array);

	script_note(&s, "while the array is in use; it must be complete and in sync");
	script_run(&s, "mdadm --grow --bitmap=internal %s", device);
	return script_finish(&s);
}
