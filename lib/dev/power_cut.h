/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Power cuts, for tests: the devices of one machine lose power at the same instant, and everything that their media may then hold is gone through.
 *
 * Model. A write is durable when a flush of its device began after it had ended, and succeeded. Of every other write each sector may have reached the
 * medium or not, in any order; a sector that was written several times may hold any of its versions. A failed flush makes nothing durable, and neither does a
 * later one for what the failed one should have covered (Linux drops the dirty mark of pages whose write-back failed). Requests of one batch have no order.
 *
 * Everything is recorded in one go and looked at afterwards: at every point at which a flush began, and at the end. Between two such points the possible states
 * only become more, so these points have them all.
 */
#ifndef DEV_POWER_CUT_H
#define DEV_POWER_CUT_H

#include "dev/dev.h"

#define POWER_DEVICES_MAX 16U

struct power_machine;

/** -ENOMEM. */
int power_machine_new(struct power_machine **ret_machine);
/** After its devices were closed. NULL is accepted. */
void power_machine_free(struct power_machine *machine);
static inline void power_machine_freep(struct power_machine **machine) { power_machine_free(*machine); }
#define _cleanup_power_machine_ _cleanup_(power_machine_freep)

/** One more device of the machine, writable, in memory, durably holding `data` (copied). -ENOSPC beyond POWER_DEVICES_MAX. */
int dev_open_power_cut(struct power_machine *machine, const char *name, const void *data, size_t size_bytes, struct dev **ret_dev);

/** Writes and flushes so far: the moment of an acknowledgement, to be compared with power_point_moment(). */
size_t power_machine_now(struct power_machine *machine);
/** What device `index` (in order of opening) holds as long as the power stays. Owned by the machine. */
const uint8_t *power_machine_contents(const struct power_machine *machine, size_t index);

enum power_failure {
	POWER_FAIL_ONCE,
	POWER_FAIL_DEVICE, /* the device that it hits: from then on every such request */
	POWER_FAIL_ALL,	   /* from then on every such request to any device */
};
/**
 * Requests of the kinds in `ops` (1 << DEV_WRITE ...) are counted from here on over all devices; the `nth` (from 1; 0: none) fails with `error`. A failed write has
 * reached the medium not at all, in part or wholly.
 */
void power_machine_fail(struct power_machine *machine, unsigned ops, size_t nth, enum power_failure failure, int error);
/** From now on flushes of its devices succeed and do nothing: to see whether a test would notice. */
void power_machine_lie(struct power_machine *machine);
/** Requests counted since power_machine_fail(). */
size_t power_machine_counted(struct power_machine *machine);

/* --- what the media may hold --- */

/** Points at which power may be lost, see above. */
size_t power_points(const struct power_machine *machine);
/** Writes and flushes before point `point`. */
size_t power_point_moment(const struct power_machine *machine, size_t point);

/** The states of one point, one at a time. Threads: one. */
struct power_states;

/**
 * With `sector_bytes` (512 or 4096) as what is written whole or not at all. Up to POWER_ALL_SUBSETS sector writes: every subset. More: every
 * prefix, each one dropped, each one alone, each pair dropped, every choice of devices that have all or nothing of theirs, and POWER_RANDOM_SUBSETS of `seed`.
 * The machine must outlive it and not be written to meanwhile. -ENOMEM.
 */
int power_states_open(const struct power_machine *machine, size_t point, uint32_t sector_bytes, uint64_t seed,
		      struct power_states **ret_states);
#define POWER_ALL_SUBSETS    12U
#define POWER_RANDOM_SUBSETS 64U
void power_states_close(struct power_states *states);
static inline void power_states_closep(struct power_states **states) { power_states_close(*states); }
#define _cleanup_power_states_ _cleanup_(power_states_closep)

/** Whether every subset is gone through. */
bool power_states_all(const struct power_states *states);
/** Sector writes of which each may be lost, in the order in which they ended. */
size_t power_states_writes(const struct power_states *states);
/** One of them. */
struct power_write {
	uint32_t device; /* in order of opening */
	uint64_t offset_bytes;
	size_t length_bytes;
	size_t moment; /* writes and flushes before it */
};
struct power_write power_states_write(const struct power_states *states, size_t index);
/** Go to the next state; false: there are no more, and the last one stays. States may come twice, see power_states_hash(). */
bool power_states_next(struct power_states *states);
/** The state in which exactly the sector writes with `keep` have arrived (power_states_writes() entries). */
void power_states_set(struct power_states *states, const bool *keep);
/** Which sector writes have arrived in this state. Owned by the states. */
const bool *power_states_kept(const struct power_states *states);
/** What device `index` holds in this state; valid until the next. Owned by the states. */
const uint8_t *power_states_image(const struct power_states *states, size_t index);
/** Equal for equal contents of all devices, also of other points and sector sizes. */
uint64_t power_states_hash(const struct power_states *states);

#endif
