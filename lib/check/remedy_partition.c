/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving a partition's start. sfdisk copies the data in the right direction, so a move needs only the room that it moves into: before the
 * partition when it goes down, behind it when it goes up.
 */
#include <inttypes.h>

#include "check/remedy.h"
#include "check/shell.h"

/* A real table holds 128 partitions; of more the room is not worked out, so that a hostile one costs no quadratic time. */
#define NEIGHBOURS_MAX 256
/* The backup GPT. */
#define TABLE_END_SECTORS 33

/* Where the partition may lie, on the device below. */
struct room {
	uint64_t start_bytes; /* of the partition now */
	uint64_t size_bytes;
	uint64_t first_bytes; /* end of the neighbour before it */
	uint64_t end_bytes;   /* start of the neighbour behind it */
};

static uint64_t logical_of(const struct blkalign_node *n)
{
	uint64_t logical = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK);

	return is_set(logical) ? logical : 512;
}

static bool span_of(const struct blkalign_node *n, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start = blkalign_node_edges(n) ? blkalign_node_edge(n, 0)->lower_offset_bytes : BLKALIGN_UNKNOWN;
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);

	if (start == BLKALIGN_UNKNOWN || !is_set(size) || !u64_add(start, size, ret_end))
		return false;
	*ret_start = start;
	return true;
}

/* A neighbour, or the extended partition around a logical one, takes from the room. */
static void narrow(struct room *room, uint64_t start, uint64_t end)
{
	uint64_t own_end = room->start_bytes + room->size_bytes;
	bool around = start <= room->start_bytes && end >= own_end;
	uint64_t first = around ? start : end, last = around ? end : start;

	if ((around || end <= room->start_bytes) && first > room->first_bytes)
		room->first_bytes = first;
	if ((around || start >= own_end) && last < room->end_bytes)
		room->end_bytes = last;
}

static bool find_room(const struct blkalign_node *n, struct room *ret)
{
	const struct blkalign_node *disk = below(n);
	uint64_t size = blkalign_node_u64(disk, BLKALIGN_ATTR_SIZE), tail = TABLE_END_SECTORS * logical_of(disk), start, end;
	struct room room;

	if (!is_set(size) || size < tail || blkalign_node_uppers(disk) > NEIGHBOURS_MAX || !span_of(n, &start, &end))
		return false;
	room = (struct room){ .start_bytes = start, .size_bytes = end - start, .end_bytes = size };
	if (!attr_is(disk, BLKALIGN_ATTR_TABLE_TYPE, "dos"))
		room.end_bytes -= tail;
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++) {
		const struct blkalign_node *other = blkalign_node_upper(disk, i);

		if (other == n || blkalign_node_kind(other) != BLKALIGN_KIND_PARTITION)
			continue;
		if (!span_of(other, &start, &end))
			return false;
		narrow(&room, start, end);
	}
	*ret = room;
	return true;
}

/* Below 1 MiB lie tables and boot loaders: nothing is moved down there. */
static bool fits(const struct room *room, uint64_t target)
{
	uint64_t end;

	if (target < room->start_bytes && target < MIB)
		return false;
	return target >= room->first_bytes && u64_add(target, room->size_bytes, &end) && end <= room->end_bytes;
}

static bool try_unit(const struct room *room, const struct grain *grain, uint64_t unit, uint64_t *ret)
{
	uint64_t first = grain->offset_bytes, from = room->start_bytes > first ? room->start_bytes - first : 0;
	uint64_t down = from - from % unit + first, up = down + unit;

	if (fits(room, up))
		*ret = up;
	else if (fits(room, down))
		*ret = down;
	else
		return false;
	return true;
}

uint64_t remedy_partition_target(const struct blame *b, uint64_t wanted)
{
	struct room room;
	uint64_t target;

	if (!b->grain.bytes || !find_room(b->guilty, &room) || fits(&room, wanted))
		return wanted;
	if (MIB % b->grain.bytes == 0 && try_unit(&room, &b->grain, MIB, &target))
		return target;
	return try_unit(&room, &b->grain, b->grain.bytes, &target) ? target : wanted;
}

/* Which sectors the move goes into, and whether they are free. */
static void say_room(struct script *s, const struct blame *b, uint64_t target, bool known)
{
	uint64_t sector = logical_of(b->below), start = b->own_bytes / sector, to = target / sector;
	const char *state = known ? "which are free" : "which must be free (look with sfdisk --list)";
	uint64_t size = blkalign_node_u64(b->guilty, BLKALIGN_ATTR_SIZE);

	if (to < start)
		script_note(s, "moves %s down into sectors %" PRIu64 " to %" PRIu64 " before it, %s", check_name(s->c, b->guilty), to,
			    start - 1, state);
	else if (is_set(size))
		script_note(s, "moves %s up into the %" PRIu64 " sectors behind it from sector %" PRIu64 " on, %s",
			    check_name(s->c, b->guilty), to - start, start + size / sector, state);
	else
		script_note(s, "moves %s up into the %" PRIu64 " sectors behind it, %s", check_name(s->c, b->guilty), to - start, state);
}

static void unmount(struct script *s, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_uppers(n); i++) {
		const char *mount = blkalign_node_str(blkalign_node_upper(n, i), BLKALIGN_ATTR_MOUNT_POINT);

		if (mount && *mount == '/')
			script_run(s, "umount %s", shell_word(s->c, mount, ""));
		else if (mount)
			script_run(s, "swapoff %s", shell_device(s->c, n));
	}
}

static void edit(struct script *s, const struct blame *b, const char *line, const char *options)
{
	uint64_t number = blkalign_node_u64(b->guilty, BLKALIGN_ATTR_PART_NUMBER);
	const char *disk = shell_device(s->c, b->below);

	if (is_set(number))
		script_run(s, "echo '%s' | sfdisk %s-N %" PRIu64 " %s", line, options, number, disk);
	else {
		script_note(s, "fill in the number of the partition for N:");
		script_run_not(s, "echo '%s' | sfdisk %s-N N %s", line, options, disk);
	}
}

static void move(struct script *s, const struct blame *b, uint64_t target, bool known)
{
	script_note(s, "back up first: an interrupted move loses data; nothing may use %s meanwhile", check_name(s->c, b->guilty));
	say_room(s, b, target, known);
	unmount(s, b->guilty);
	edit(s, b, report_text(s->c->report, "%" PRIu64 ",", target / logical_of(b->below)), "--move-data ");
}

/* Neither side has room: the partition has to get shorter, and its content is restored from a backup. */
static void make_again(struct script *s, const struct blame *b, const struct room *room, uint64_t target)
{
	uint64_t sector = logical_of(b->below), start = target >= room->first_bytes ? target : room->first_bytes;
	uint64_t own_end = room->start_bytes + room->size_bytes, end = own_end < room->end_bytes ? own_end : room->end_bytes;

	start = round_up_u64(start, b->grain.bytes);
	if (!start || start >= end) {
		script_note(s, "there is no room to move %s: copy its content to another place", check_name(s->c, b->guilty));
		return;
	}
	script_note(s, "there is no room to move %s: its start moves, its end stays", check_name(s->c, b->guilty));
	script_note(s, "destroys the content of %s: back it up first, make it anew afterwards and restore", check_name(s->c, b->guilty));
	unmount(s, b->guilty);
	edit(s, b, report_text(s->c->report, "%" PRIu64 ",%" PRIu64, start / sector, (end - start) / sector), "");
}

const char *remedy_for_partition(struct check *c, const struct blame *b, uint64_t target)
{
	struct script s = { .c = c };
	struct room room;
	bool known = find_room(b->guilty, &room);

	if (known && !fits(&room, target))
		make_again(&s, b, &room, target);
	else
		move(&s, b, target, known);
	return script_finish(&s);
}
