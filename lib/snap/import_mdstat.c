/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/mdstat (drivers/md/md.c: md_seq_show). The number in brackets is the member's descriptor, not its slot. */
#include <stdio.h>

#include "snap/import_priv.h"

static const char *const levels[] = { "linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10" };

static bool is_level(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(word, levels[i]))
			return true;
	return false;
}

/* "sdb1[1](S)", with (F), (J), (R), (W) likewise. The members of an inactive array all bear an S that says nothing. */
static void member(struct import *in, struct blkalign_node *array, const char *word, bool active)
{
	char name[IMPORT_NAME_MAX];
	const char *bracket = strchr(word, '['), *state = "in_sync";
	uint32_t slot = IMPORT_SLOT_UNKNOWN;

	if (!bracket || bracket == word)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(bracket - word), word);
	if (strstr(bracket, "(F)"))
		state = "faulty", slot = BLKALIGN_SLOT_NONE;
	else if (strstr(bracket, "(J)"))
		state = "journal", slot = BLKALIGN_SLOT_NONE;
	else if (active && strstr(bracket, "(S)"))
		state = "spare", slot = BLKALIGN_SLOT_NONE;
	import_member(in, array, import_device(in, name), BLKALIGN_UNKNOWN, slot, active ? state : NULL);
}

/* "md0 : active raid6 sdc1[2] sdb1[1] sda1[0]" */
static bool array_line(struct import *in, const char *line)
{
	struct import_fields f;
	struct blkalign_node *array;
	bool active;

	import_split(&f, line, "");
	if (f.count < 3 || !import_starts(f.at[0], "md") || strcmp(f.at[1], ":") != 0)
		return false;
	active = !strcmp(f.at[2], "active");
	if (!active && strcmp(f.at[2], "inactive") != 0)
		return false;
	array = import_node(in, BLKALIGN_KIND_MD, f.at[0]);
	import_heading(in, array);
	for (size_t i = 3; i < f.count; i++) {
		if (is_level(f.at[i]))
			import_str(in, array, BLKALIGN_ATTR_MD_LEVEL, f.at[i]);
		else
			member(in, array, f.at[i], active);
	}
	return true;
}

static void layout(struct import *in, const struct import_fields *f, size_t i)
{
	static const char *const parity[] = { "left-asymmetric", "right-asymmetric", "left-symmetric",
					      "right-symmetric", "parity-first",     "parity-last" };
	char text[32];
	uint64_t number;

	if (i + 1 < f->count && !strcmp(f->at[i], "algorithm") && import_word_number(f->at[i + 1], &number)) {
		import_u64(in, in->node, BLKALIGN_ATTR_MD_LAYOUT, number);
		if (number < ARRAY_SIZE(parity))
			import_str(in, in->node, BLKALIGN_ATTR_MD_LAYOUT_NAME, parity[number]);
	} else if (i && import_word_number(f->at[i - 1], &number) && number < 100 && strstr(f->at[i], "-copies")) {
		snprintf(text, sizeof(text), "%.*s=%u", (int)strcspn(f->at[i], "-"), f->at[i], (unsigned)number);
		import_str(in, in->node, BLKALIGN_ATTR_MD_LAYOUT_NAME, text);
	}
}

/* "      7814057984 blocks super 1.2 level 6, 512k chunk, algorithm 2 [9/9] [UUUUUUUUU]"; without "super" it is 0.90 */
static bool blocks_line(struct import *in, const char *line)
{
	struct import_fields f;
	uint64_t kib, bytes, members;
	bool super = false;
	const char *p;

	import_split(&f, line, ",");
	if (f.count < 2 || strcmp(f.at[1], "blocks") != 0 || !import_word_number(f.at[0], &kib))
		return false;
	if (u64_mul(kib, KIB, &bytes))
		import_u64(in, in->node, BLKALIGN_ATTR_SIZE, bytes);
	for (size_t i = 2; i < f.count; i++) {
		p = f.at[i] + 1;
		if (i && !strcmp(f.at[i - 1], "super")) {
			import_str(in, in->node, BLKALIGN_ATTR_MD_METADATA, f.at[i]);
			super = true;
		} else if (import_starts(f.at[i], "chunk") && import_size(f.at[i - 1], IMPORT_UNITS_BINARY, 0, KIB, &bytes)) {
			import_u64(in, in->node, BLKALIGN_ATTR_MD_CHUNK, bytes);
		} else if (f.at[i][0] == '[' && import_number(&p, &members) && *p == '/') {
			import_u64(in, in->node, BLKALIGN_ATTR_MD_MEMBERS, members);
		} else {
			layout(in, &f, i);
		}
	}
	if (!super && !strstr(line, "external"))
		import_str(in, in->node, BLKALIGN_ATTR_MD_METADATA, "0.90");
	return true;
}

/* "  [>....]  resync =  1.2% (...) finish=... speed=31000K/sec" */
static bool sync_line(struct import *in, const char *line)
{
	static const char *const actions[] = { "resync", "recovery", "check", "reshape" };
	const char *speed = import_after(line, "speed=");
	uint64_t kib;

	for (size_t i = 0; speed && i < ARRAY_SIZE(actions); i++)
		if (strstr(line, actions[i]) && import_number(&speed, &kib)) {
			import_str(in, in->node, BLKALIGN_ATTR_MD_SYNC_ACTION, actions[i]);
			import_u64(in, in->node, BLKALIGN_ATTR_MD_SYNC_SPEED, kib);
			return true;
		}
	return false;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (array_line(in, line))
		return true;
	if (going_on && in->node && import_starts(line + strspn(line, " "), "bitmap: ")) {
		import_str(in, in->node, BLKALIGN_ATTR_MD_BITMAP, strstr(line, "file:") ? "external" : "internal");
		return true;
	}
	return going_on && in->node && (blocks_line(in, line) || sync_line(in, line));
}

const struct import_reader import_reader_mdstat = { "mdstat", line };
