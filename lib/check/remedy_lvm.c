/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making a physical volume anew with its extents in the right place. LVM cannot shift extents inside a volume: they move to another one and back,
 * or the group is made again.
 */
#include <inttypes.h>

#include "check/remedy.h"
#include "check/shell.h"

/* More volumes than these are not spelled out. */
#define VOLUMES_SHOWN 16
/* With more guilty physical volumes than this, others of the same group are not looked for: no quadratic time on hostile input. */
#define SEARCHES_MAX 64

struct pv_words {
	const char *device;
	const char *group;
	const char *create; /* pvcreate with its alignment, without the device */
};

static const char *create_command(struct check *c, const struct blame *b, uint64_t expected)
{
	const char *shift = "";

	if (b->grain.offset_bytes)
		shift = report_text(c->report, " --dataalignmentoffset %" PRIu64 "s", b->grain.offset_bytes / 512);
	if (MIB % b->grain.bytes == 0)
		return report_text(c->report, "pvcreate --dataalignment 1m%s", shift);
	return report_text(c->report, "pvcreate --dataalignment %" PRIu64 "k%s", expected / KIB, shift);
}

static const struct blkalign_node *other_volume(const struct check *c, const struct blkalign_node *pv, const char *group)
{
	if (c->blames.count > SEARCHES_MAX)
		return NULL;
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);

		if (n != pv && blkalign_node_kind(n) == BLKALIGN_KIND_PV && attr_is(n, BLKALIGN_ATTR_VG_NAME, group))
			return n;
	}
	return NULL;
}

/* --- another physical volume takes the extents meanwhile --- */

static void move_and_return(struct script *s, const struct pv_words *w)
{
	script_run(s, "pvmove %s", w->device);
	script_run(s, "vgreduce %s %s", w->group, w->device);
	script_run(s, "pvremove %s", w->device);
	script_run(s, "%s %s", w->create, w->device);
	script_run(s, "vgextend %s %s", w->group, w->device);
}

static void through_second_disk(struct script *s, const struct pv_words *w)
{
	script_note(s, "with a second disk, for good or for the time of the move; data stays in use; fill in its name:");
	script_note(s, "NEW=/dev/...");
	script_note(s, "destroys what is on the second disk:");
	script_run(s, "%s \"$NEW\"", w->create);
	script_run(s, "vgextend %s \"$NEW\"", w->group);
	move_and_return(s, w);
	script_note(s, "to give the second disk back:");
	script_run_not(s, "pvmove \"$NEW\"");
	script_run_not(s, "vgreduce %s \"$NEW\"", w->group);
}

/* --- without one --- */

static bool is_linear(const struct blkalign_node *lv)
{
	return blkalign_node_edges(lv) == 1 && !blkalign_node_uppers(lv) ? true : attr_is(lv, BLKALIGN_ATTR_LV_TYPE, "linear");
}

static void make_volume(struct script *s, const struct pv_words *w, const struct blkalign_node *lv, uint64_t extent)
{
	uint64_t size = blkalign_node_u64(lv, BLKALIGN_ATTR_SIZE);
	const char *name = blkalign_node_str(lv, BLKALIGN_ATTR_LV_NAME), *type = blkalign_node_str(lv, BLKALIGN_ATTR_LV_TYPE);

	if (blkalign_node_u64(lv, BLKALIGN_ATTR_LV_HIDDEN) == 1)
		return;
	if (name && is_set(size) && is_set(extent) && is_linear(lv))
		script_run_not(s, "lvcreate -l %" PRIu64 " -n %s %s", size / extent, shell_word(s->c, name, ""), w->group);
	else
		script_note(s, "  make %s again (%s)", check_name(s->c, lv),
			    type ? report_escaped(s->c->report, type) : "with the size that lvs shows");
}

static void without_second_disk(struct script *s, const struct pv_words *w, const struct blkalign_node *pv)
{
	uint64_t extent = blkalign_node_u64(pv, BLKALIGN_ATTR_EXTENT);
	size_t volumes = blkalign_node_uppers(pv);

	script_note(s, "without a second disk: back up the content of every volume and take down what uses them;");
	script_note(s, "destroys all volumes of %s:", w->group);
	script_run_not(s, "vgremove --yes %s", w->group);
	script_run_not(s, "%s %s", w->create, w->device);
	if (is_set(extent))
		script_run_not(s, "vgcreate --physicalextentsize %" PRIu64 "k %s %s", extent / KIB, w->group, w->device);
	else
		script_run_not(s, "vgcreate %s %s", w->group, w->device);
	for (size_t i = 0; i < volumes && i < VOLUMES_SHOWN; i++)
		if (blkalign_node_kind(blkalign_node_upper(pv, i)) == BLKALIGN_KIND_LV)
			make_volume(s, w, blkalign_node_upper(pv, i), extent);
	if (volumes > VOLUMES_SHOWN)
		script_note(s, "  and %zu more", volumes - VOLUMES_SHOWN);
	script_note(s, "and restore");
}

const char *remedy_for_pv(struct check *c, const struct blame *b, uint64_t expected)
{
	const char *group = blkalign_node_str(b->guilty, BLKALIGN_ATTR_VG_NAME);
	struct script s = { .c = c };
	struct pv_words w = { .device = script_block_device(&s, b->guilty), .create = create_command(c, b, expected) };

	if (!group) {
		script_note(&s, "destroys the LVM label (refused while a volume group is on it):");
		script_run(&s, "pvremove %s", w.device);
		script_run(&s, "%s %s", w.create, w.device);
		return script_finish(&s);
	}
	w.group = shell_word(c, group, "/dev/");
	if (other_volume(c, b->guilty, group)) {
		script_note(&s, "data stays in use throughout; needs free extents on the other physical volumes of %s (pvs)", w.group);
		move_and_return(&s, &w);
		return script_finish(&s);
	}
	through_second_disk(&s, &w);
	without_second_disk(&s, &w, b->guilty);
	return script_finish(&s);
}

/* --- RAID volumes --- */

const char *remedy_for_volume(struct check *c, const struct blkalign_node *volume)
{
	struct script s = { .c = c };
	const char *name = shell_word(c, blkalign_node_name(volume), "./"), *state = blkalign_node_str(volume, BLKALIGN_ATTR_MD_STATE);

	script_note(&s, "which PV is it, and why did it drop out? A cable or a port as often as a drive (pvs, dmesg, smartctl -a)");
	if (state && strstr(state, "split")) {
		script_note(&s, "both halves were in use without the other: give the PVs of one half at a time, and look which one holds "
				"the later work");
		script_run_not(&s, "blkalign copy --node=%s -o OUTPUT PV...", name);
		return script_finish(&s);
	}
	script_note(&s, "save what matters before anything is activated; nothing is written to the PVs by this (put their names for PV, "
			"and one for OUTPUT):");
	script_run_not(&s, "blkalign copy --node=%s -o OUTPUT PV...", name);
	script_note(&s, "with all PVs there, what an image missed is filled by the bitmap: by the kernel,");
	script_run_not(&s, "lvchange --refresh %s", name);
	script_note(&s, "or, while the volume is not active, without it, onto the PV that was away:");
	script_run_not(&s, "blkalign rebuild --node=%s PV... --onto=PV", name);
	script_note(&s, "a PV that is gone for good is replaced by free space on another one:");
	script_run_not(&s, "lvconvert --repair %s", name);
	return script_finish(&s);
}
