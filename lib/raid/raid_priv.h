/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RAID_RAID_PRIV_H
#define RAID_RAID_PRIV_H

#include "raid/raid.h"

/** Zones of linear and raid0: set zones, zone_slots and array_bytes. */
int zones_init_linear(struct raid_geometry *g, const uint64_t *component_bytes);
int zones_init_raid0(struct raid_geometry *g, const uint64_t *component_bytes, struct blkalign_error *reterr);
int zones_locate(const struct raid_geometry *g, uint64_t array_bytes, struct raid_place *ret);
int zones_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret);
bool zones_survive(const struct raid_geometry *g, const bool *present);

/** The table row of (level, layout), or NULL; sets nothing. raid4 has one layout whatever number it carries. */
const struct raid_parity_layout *parity_layout_find(int32_t level, uint32_t layout);
const char *parity_layout_name(const struct raid_parity_layout *layout);
void parity_locate(const struct raid_geometry *g, uint64_t array_bytes, struct raid_place *ret);
/** Q's powers are slot numbers (the DDF layouts). */
bool parity_exponent_is_slot(const struct raid_parity_layout *layout);

/** Check and split the layout number, work out used and array bytes of `component_bytes` per member. */
int raid10_init(struct raid_geometry *g, uint64_t component_bytes, struct blkalign_error *reterr);
void raid10_locate(const struct raid_geometry *g, uint64_t array_bytes, uint32_t copy, struct raid_place *ret);
int raid10_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret);
bool raid10_survives(const struct raid_geometry *g, const bool *present);
bool raid10_overlaps(const struct raid_geometry *g);
/** The member that holds the next far copy after the one on `slot`. */
uint32_t raid10_next_far(const struct raid_geometry *g, uint32_t slot);

/** P and Q of `length_bytes` bytes of a row from byte `at` on, to `p` and `q` (NULL: not wanted, and nothing without Q); no parity of the row is read. */
void parity_compute(const struct raid_row *row, size_t at, size_t length_bytes, uint8_t *p, uint8_t *q);
/** Whether `length_bytes` from byte `at` on fit, without storing a sum. False when that cannot be done here; *ret_fits is the answer. */
bool parity_compare(const struct raid_row *row, size_t at, size_t length_bytes, bool *ret_fits);

#endif
