/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raid4, raid5, raid6. All layouts are one rule with four choices, so that they are a table and not twenty functions: where P goes from stripe
 * to stripe, where Q goes beside it, and in which order the data takes the slots that are left.
 */
#include <assert.h>

#include "raid/raid_priv.h"

enum p_rule { P_FIRST, P_LAST, P_LEFT, P_LEFT_NEXT, P_RIGHT };
enum q_rule { Q_NONE, Q_AFTER_P, Q_BEFORE_P, Q_LAST /* fixed; P and data rotate among the others */ };
enum data_rule { DATA_ASCENDING, DATA_CYCLIC /* onward from behind the parity, wrapping round */ };

struct raid_parity_layout {
	const char *name;
	int32_t level;
	uint32_t number;
	enum p_rule p;
	enum q_rule q;
	enum data_rule data;
};

static const struct raid_parity_layout layouts[] = {
	{ "left-asymmetric", RAID_5, 0, P_LEFT, Q_NONE, DATA_ASCENDING },
	{ "right-asymmetric", RAID_5, 1, P_RIGHT, Q_NONE, DATA_ASCENDING },
	{ "left-symmetric", RAID_5, 2, P_LEFT, Q_NONE, DATA_CYCLIC },
	{ "right-symmetric", RAID_5, 3, P_RIGHT, Q_NONE, DATA_CYCLIC },
	{ "parity-first", RAID_5, 4, P_FIRST, Q_NONE, DATA_ASCENDING },
	{ "parity-last", RAID_5, 5, P_LAST, Q_NONE, DATA_ASCENDING },
	{ "left-asymmetric", RAID_6, 0, P_LEFT, Q_AFTER_P, DATA_ASCENDING },
	{ "right-asymmetric", RAID_6, 1, P_RIGHT, Q_AFTER_P, DATA_ASCENDING },
	{ "left-symmetric", RAID_6, 2, P_LEFT, Q_AFTER_P, DATA_CYCLIC },
	{ "right-symmetric", RAID_6, 3, P_RIGHT, Q_AFTER_P, DATA_CYCLIC },
	{ "parity-first", RAID_6, 4, P_FIRST, Q_AFTER_P, DATA_ASCENDING },
	{ "parity-last", RAID_6, 5, P_LAST, Q_LAST, DATA_ASCENDING },
	{ "ddf-zero-restart", RAID_6, 8, P_RIGHT, Q_AFTER_P, DATA_ASCENDING },
	{ "ddf-N-restart", RAID_6, 9, P_LEFT_NEXT, Q_AFTER_P, DATA_ASCENDING },
	{ "ddf-N-continue", RAID_6, 10, P_LEFT, Q_BEFORE_P, DATA_CYCLIC },
	{ "left-asymmetric-6", RAID_6, 16, P_LEFT, Q_LAST, DATA_ASCENDING },
	{ "right-asymmetric-6", RAID_6, 17, P_RIGHT, Q_LAST, DATA_ASCENDING },
	{ "left-symmetric-6", RAID_6, 18, P_LEFT, Q_LAST, DATA_CYCLIC },
	{ "right-symmetric-6", RAID_6, 19, P_RIGHT, Q_LAST, DATA_CYCLIC },
	{ "parity-first-6", RAID_6, 20, P_FIRST, Q_LAST, DATA_ASCENDING },
};
static const struct raid_parity_layout raid4 = { "", RAID_4, 0, P_LAST, Q_NONE, DATA_ASCENDING };

const struct raid_parity_layout *parity_layout_find(int32_t level, uint32_t layout)
{
	if (level == RAID_4)
		return &raid4;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].level == level && layouts[i].number == layout)
			return &layouts[i];
	return NULL;
}

const char *parity_layout_name(const struct raid_parity_layout *layout) { return layout->name; }

/* Slots among which P and the data move. */
static uint32_t rotating(const struct raid_geometry *g)
{
	uint32_t slots = g->members - (g->parity->q == Q_LAST);

	assert(slots);
	return slots;
}

static uint32_t p_slot(const struct raid_geometry *g, uint64_t stripe)
{
	uint32_t m = rotating(g);

	switch (g->parity->p) {
	case P_FIRST:
		return 0;
	case P_LAST:
		return m - 1;
	case P_LEFT:
		return m - 1 - (uint32_t)(stripe % m);
	case P_LEFT_NEXT:
		return m - 1 - (uint32_t)((stripe + 1) % m);
	case P_RIGHT:
		break;
	}
	return (uint32_t)(stripe % m);
}

static uint32_t q_slot(const struct raid_geometry *g, uint32_t p)
{
	uint32_t n = g->members;

	switch (g->parity->q) {
	case Q_AFTER_P:
		return (p + 1) % n;
	case Q_BEFORE_P:
		return (p + n - 1) % n;
	case Q_LAST:
		return n - 1;
	case Q_NONE:
		break;
	}
	return RAID_SLOT_NONE;
}

struct raid_stripe raid_stripe_at(const struct raid_geometry *g, uint64_t device_bytes)
{
	struct raid_stripe s = { .number = device_bytes / g->chunk_bytes };

	s.p_slot = p_slot(g, s.number);
	s.q_slot = q_slot(g, s.p_slot);
	return s;
}

uint32_t raid_data_slot(const struct raid_geometry *g, const struct raid_stripe *s, uint32_t index)
{
	uint32_t low = s->p_slot < s->q_slot ? s->p_slot : s->q_slot;
	uint32_t high = s->p_slot < s->q_slot ? s->q_slot : s->p_slot;
	uint32_t behind = g->parity->q == Q_AFTER_P ? s->q_slot : s->p_slot;

	if (g->parity->data == DATA_CYCLIC)
		return (behind + 1 + index) % rotating(g);
	if (index >= low)
		index++;
	if (index >= high)
		index++;
	return index;
}

bool parity_exponent_is_slot(const struct raid_parity_layout *layout)
{
	return layout->level == RAID_6 && layout->number >= 8 && layout->number <= 10;
}

enum raid_role raid_role_at(const struct raid_stripe *stripe, uint32_t slot)
{
	if (slot == stripe->p_slot)
		return RAID_ROLE_P;
	return slot == stripe->q_slot ? RAID_ROLE_Q : RAID_ROLE_DATA;
}

/* Slots in cyclic order from behind Q, P not counted (raid5.c, set_syndrome_sources()); DDF counts P and Q as well and starts at slot 0. */
uint32_t raid_exponent(const struct raid_geometry *g, const struct raid_stripe *s, uint32_t slot)
{
	uint32_t n = g->members, from_q, p_from_q;

	if (s->q_slot == RAID_SLOT_NONE)
		return 0;
	if (parity_exponent_is_slot(g->parity))
		return slot;
	from_q = (slot + n - s->q_slot - 1) % n;
	p_from_q = (s->p_slot + n - s->q_slot - 1) % n;
	return from_q - (p_from_q < from_q);
}

void parity_locate(const struct raid_geometry *g, uint64_t array_bytes, struct raid_place *ret)
{
	uint64_t chunk = array_bytes / g->chunk_bytes, within = array_bytes % g->chunk_bytes;
	uint32_t data = raid_data_members(g);
	uint64_t row_bytes = chunk / data * g->chunk_bytes;
	struct raid_stripe stripe = raid_stripe_at(g, row_bytes);

	*ret = (struct raid_place){
		.slot = raid_data_slot(g, &stripe, (uint32_t)(chunk % data)),
		.device_bytes = row_bytes + within,
		.run_bytes = g->chunk_bytes - within,
	};
}
