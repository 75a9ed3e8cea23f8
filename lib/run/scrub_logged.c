/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An undo log is applied to files and disks, without the stack above them: that is where what members are about to lose is looked up and logged. */
#include "run/run.h"
#include "run/scrub.h"

/* Down to the file or disk, or to a device of several segments. */
static struct dev *whole_of(struct dev *dev, uint64_t *ret_offset_bytes)
{
	*ret_offset_bytes = 0;
	while (dev->ops->part_of) {
		uint64_t offset = 0;
		const struct dev *below = dev->ops->part_of(dev, &offset);

		if (!below)
			break;
		*ret_offset_bytes += offset;
		dev = (struct dev *)(uintptr_t)below; /* ours to write to, as the part is */
	}
	return dev;
}

/* Members may be partitions of one disk: it is logged once. */
static int log_whole(struct scrub_repair *repair, struct dev *whole, struct dev **ret, struct blkalign_error *reterr)
{
	int r;

	for (size_t i = 0; i < repair->wholes.count; i++)
		if (repair->wholes.data[i].dev == whole) {
			*ret = repair->wholes.data[i].logged;
			return 0;
		}
	r = dev_open_undo(whole, repair->undo, ret, reterr);
	if (r < 0)
		return r;
	r = vec_push(&repair->owned, *ret);
	if (r < 0) {
		dev_close(*ret);
		return r;
	}
	return vec_push(&repair->wholes, ((struct scrub_whole){ whole, *ret }));
}

static int refuse(const struct dev *dev, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -ENOTSUP, dev->name, BLKALIGN_UNKNOWN,
				  "is a member that lies on other devices: nothing written to it could be undone");
}

/* The same segments on the logged files and disks. */
static int copy_segments(struct scrub_repair *repair, const struct dev *from, struct map_segment *segments, struct map_area *areas,
			 struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && map_segment_of(from, i, &segments[i]); i++) {
		for (size_t k = 0; r >= 0 && k < segments[i].area_count; k++) {
			uint64_t offset;
			struct dev *whole = segments[i].areas[k].dev ? whole_of(segments[i].areas[k].dev, &offset) : NULL;

			if (!whole || whole->leaf_fd < 0)
				return refuse(from, reterr);
			areas[k] = segments[i].areas[k];
			areas[k].offset_bytes += offset;
			r = log_whole(repair, whole, &areas[k].dev, reterr);
		}
		segments[i].areas = areas;
		areas += segments[i].area_count;
	}
	return r;
}

static int log_segments(struct scrub_repair *repair, const struct dev *from, struct dev **ret, struct blkalign_error *reterr)
{
	_cleanup_free_ struct map_segment *segments = NULL;
	_cleanup_free_ struct map_area *areas = NULL;
	struct map_segment segment;
	size_t count = 0, area_count = 0;
	int r;

	for (; map_segment_of(from, count, &segment); count++)
		area_count += segment.area_count;
	if (!count)
		return refuse(from, reterr);
	segments = calloc(count, sizeof(*segments));
	areas = calloc(area_count + 1, sizeof(*areas));
	r = segments && areas ? copy_segments(repair, from, segments, areas, reterr) : -ENOMEM;
	if (r >= 0)
		r = map_open_segments(from->name, segments, count, ret);
	if (r < 0)
		return r;
	r = vec_push(&repair->owned, *ret);
	if (r < 0)
		dev_close(*ret);
	return r;
}

int scrub_open_logged(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	int r = 0;

	for (uint32_t slot = 0; r >= 0 && slot < s->view.geometry->members; slot++) {
		struct scrub_logged *logged = &s->repair->logged[slot];
		struct dev *whole;

		if (!s->view.members[slot].dev)
			continue;
		whole = whole_of(s->view.members[slot].dev, &logged->offset_bytes);
		r = whole->leaf_fd < 0 ? log_segments(s->repair, whole, &logged->dev, reterr)
				       : log_whole(s->repair, whole, &logged->dev, reterr);
	}
	return r;
}
