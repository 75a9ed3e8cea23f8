/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is the state of a scrub of one raid6 array, or of a raid10 one. What is understood lies in the array, is the same after being written and read again, and can be planned with. */
#include "fuzz.h"
#include "run/scrub.h"

#define COMPONENT_BYTES (1 * MIB)

static const struct scrub_identity identity = { .uuid = "01234567:89abcdef:01234567:89abcdef", .events = 17, .level = "raid6" };

/* Nothing is read from them. */
static struct dev nothing;
static const struct map_md_member members[] = { { .dev = &nothing, .valid_bytes = UINT64_MAX },
						{ .dev = &nothing, .valid_bytes = UINT64_MAX },
						{ .dev = NULL },
						{ .dev = &nothing, .valid_bytes = 300000 },
						{ .dev = &nothing, .valid_bytes = UINT64_MAX } };

static struct raid_geometry geometry_of(const struct raid_shape *shape)
{
	struct raid_geometry g;

	if (raid_geometry_init(&g, shape, NULL) < 0)
		abort();
	return g;
}

static void forget(struct blkalign_scrub *s) { vec_done(&s->list.items); }

static struct blkalign_scrub scrub_of(const struct raid_geometry *g)
{
	return (struct blkalign_scrub){ .view = { .geometry = g, .members = members },
					.walk = { .total_bytes = g->parity ? g->used_bytes : g->array_bytes },
					.list = { .mirror = !g->parity } };
}

static void check(const struct blkalign_scrub *s)
{
	struct blkalign_scrub_plan plan;

	if (s->walk.position_bytes > s->walk.total_bytes || s->list.items.count > SCRUB_FINDINGS_MAX)
		abort();
	for (size_t i = 0; i < s->list.items.count; i++) {
		const struct scrub_item *item = &s->list.items.data[i];

		if (!range_inside(item->found.member_bytes, item->found.length_bytes, s->view.geometry->used_bytes) ||
		    !range_inside(item->sync_bytes, item->found.length_bytes, s->walk.position_bytes))
			abort();
	}
	blkalign_scrub_plan(s, false, &plan);
	blkalign_scrub_plan(s, true, &plan);
}

static char *text_of(const struct blkalign_scrub *s)
{
	char *text = NULL;

	if (scrub_state_write(s, &identity, &text) < 0)
		abort();
	return text;
}

static void try(const char *input, const struct raid_shape *shape)
{
	struct raid_geometry g = geometry_of(shape);
	struct blkalign_scrub s = scrub_of(&g), again = scrub_of(&g);

	if (scrub_state_read(&s, &identity, input, NULL) >= 0) {
		char *once = text_of(&s), *twice;

		check(&s);
		if (scrub_state_read(&again, &identity, once, NULL) < 0)
			abort();
		twice = text_of(&again);
		if (strcmp(once, twice) != 0)
			abort();
		free(once);
		free(twice);
	}
	forget(&s);
	forget(&again);
	raid_geometry_done(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t component_bytes[] = { COMPONENT_BYTES, COMPONENT_BYTES, COMPONENT_BYTES, COMPONENT_BYTES, COMPONENT_BYTES };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try(text, &(struct raid_shape){ RAID_6, 2, 65536, 5, component_bytes });
	try(text, &(struct raid_shape){ RAID_10, 0x201, 65536, 5, component_bytes });
	free(text);
	return 0;
}
