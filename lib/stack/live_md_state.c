/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a running array, as sysfs shows it (Linux: drivers/md/md.c). */
#include "stack/live.h"
#include "stack/md.h"

static int set_word(struct live *live, struct live_dev *md, const char *array)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	const char *action = blkalign_node_str(md->node, BLKALIGN_ATTR_MD_SYNC_ACTION);
	uint64_t degraded = 0;
	int r = live_dev_u64(live, md, "md/degraded", &degraded);

	strbuf_add(&text, array);
	if (r == 0 && degraded)
		strbuf_add(&text, ",degraded");
	if (action && !strcmp(action, "resync"))
		strbuf_add(&text, ",resyncing");
	else if (action && !strcmp(action, "recover"))
		strbuf_add(&text, ",recovering");
	else if (action && !strcmp(action, "reshape"))
		strbuf_add(&text, ",reshaping");
	r = text.failed ? -ENOMEM : 0;
	if (r == 0)
		r = graph_set_str(md->node, BLKALIGN_ATTR_MD_STATE, strbuf_text(&text), BLKALIGN_ORIGIN_SYSFS);
	return r;
}

/* "none", or where a resync stands that is still to come: the redundancy behind it does not count. While data is written the word stays "none". */
static int set_dirty(struct live *live, struct live_dev *md)
{
	_cleanup_free_ char *start = NULL;
	uint64_t sector;
	int r = live_dev_text(live, md, "md/resync_start", &start);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	if (strcmp(start, "none") != 0 && live_number(start, &sector) < 0)
		return 0;
	return graph_set_bool(md->node, BLKALIGN_ATTR_MD_DIRTY, strcmp(start, "none") != 0, BLKALIGN_ORIGIN_SYSFS);
}

/* "8192 / 28672" in sectors; "none", "delayed" */
static int set_progress(struct live *live, struct live_dev *md)
{
	_cleanup_free_ char *text = NULL;
	uint64_t done, total;
	const char *slash;
	int r = live_dev_text(live, md, "md/sync_completed", &text);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	slash = strstr(text, "/ ");
	if (!slash || live_number(text, &done) < 0 || live_number(slash + 2, &total) < 0 || !u64_mul(done, 512, &done) ||
	    !u64_mul(total, 512, &total))
		return 0;
	return md_set_progress(md->node, done, total, BLKALIGN_ORIGIN_SYSFS);
}

/* Arrays that the kernel has the members of without running them have no state of their own: the superblocks tell it. */
int live_md_state(struct live *live, struct live_dev *md)
{
	static const struct live_attr attrs[] = { { BLKALIGN_ATTR_MD_DEGRADED, "md/degraded", LIVE_U64, 1 } };
	_cleanup_free_ char *array = NULL;
	int r = live_dev_text(live, md, "md/array_state", &array);

	if (r != 0)
		return r == -ENOMEM ? r : 0;
	r = set_word(live, md, array);
	if (r < 0 || !strcmp(array, "inactive") || !strcmp(array, "clear"))
		return r;
	r = live_set_attrs(live, md, attrs, ARRAY_SIZE(attrs));
	if (r == 0)
		r = set_dirty(live, md);
	return r == 0 ? set_progress(live, md) : r;
}

/* A line "SECTOR COUNT" per range. A page full of them is cut off by the kernel. */
int live_md_bad_blocks(struct live *live, const struct live_dev *md, const char *name, struct blkalign_node *member)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	uint64_t ranges = 0, sectors = 0, count;
	int r;

	if (asprintf(&path, "md/dev-%s/bad_blocks", name) < 0)
		return -ENOMEM;
	r = live_dev_text(live, md, path, &text);
	if (r != 0)
		return r == -ENOMEM ? r : 0;
	for (const char *line = text, *space; line && *line; line = strchr(space, '\n')) {
		line += *line == '\n';
		space = strchr(line, ' ');
		if (!space || live_number(line, &count) < 0 || live_number(space + 1, &count) < 0 || !u64_add(sectors, count, &sectors))
			return 0;
		ranges++;
	}
	if (!ranges || !u64_mul(sectors, 512, &sectors))
		return 0;
	r = graph_set_u64(member, BLKALIGN_ATTR_MD_BAD_RANGES, ranges, BLKALIGN_ORIGIN_SYSFS);
	return r < 0 ? r : graph_set_u64(member, BLKALIGN_ATTR_MD_BAD_BYTES, sectors, BLKALIGN_ORIGIN_SYSFS);
}
