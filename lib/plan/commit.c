/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a volume group goes to disk as lvm2's vg_write(), its precommit and its commit: into the ring beside the old one, named in the header as being written, then as the
 * one that counts. Each header is one sector, so that an area has the old text or the new one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/lvm.h"

#define HEADER_BYTES 512U

struct area {
	const struct group_pv *pv;
	const struct lvm2_mda *mda;
	struct lvm2_room room;
};
typedef VEC(struct area) areas_t;

static int find_room(struct group *g, const char *text, size_t length, areas_t *ret, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < g->count; i++)
		for (unsigned k = 0; k < g->pvs[i].mda_count; k++) {
			struct area a = { .pv = &g->pvs[i], .mda = &g->pvs[i].mdas[k] };

			if (a.mda->committed.ignored)
				continue;
			if (lvm2_mda_room(a.mda, text, length, &a.room) < 0)
				return blkalign_error_set(reterr, -ENOSPC, blkalign_node_name(a.pv->place.node), a.mda->offset_bytes,
							  "the metadata area of %" PRIu64
							  " bytes has no room for a text of %zu bytes beside the old one",
							  a.mda->size_bytes, length);
			if (vec_push(ret, a) < 0)
				return -ENOMEM;
		}
	return ret->count ? 0
			  : blkalign_error_set(reterr, -ENOSPC, g->name, BLKALIGN_UNKNOWN,
					       "no physical volume has a metadata area in use: where should the group be described?");
}

/* Up to the end of its last sector. `text` has room for that. */
static int write_text(struct plan *plan, const struct area *a, const char *text, uint64_t seqno, struct blkalign_error *reterr)
{
	uint64_t length = round_up_u64(a->room.location.size_bytes, HEADER_BYTES), first = a->room.first_bytes;
	char reason[100];
	int r;

	if (first == a->room.location.size_bytes)
		first = length;
	snprintf(reason, sizeof(reason), "the text with sequence number %" PRIu64 ", in the ring beside the old one", seqno);
	r = plan_write(plan, &a->pv->place, a->mda->offset_bytes + a->room.location.offset_bytes, text, first, reason, reterr);
	if (r >= 0 && first < length)
		r = plan_write(plan, &a->pv->place, a->mda->offset_bytes + HEADER_BYTES, text + first, length - first, reason, reterr);
	return r;
}

static int write_header(struct plan *plan, const struct area *a, bool committed, struct blkalign_error *reterr)
{
	struct lvm2_mda mda = *a->mda;
	uint8_t header[HEADER_BYTES];

	if (committed) {
		mda.committed = a->room.location;
		memset(&mda.precommitted, 0, sizeof(mda.precommitted));
	} else {
		mda.precommitted = a->room.location;
	}
	lvm2_mda_encode(&mda, header);
	return plan_write(plan, &a->pv->place, mda.offset_bytes, header, sizeof(header),
			  committed ? "header of the metadata area: the new text counts"
				    : "header of the metadata area: a text is being written",
			  reterr);
}

static int make_text(struct group *g, uint64_t seqno, const struct plan_author *author, char **ret_text, size_t *ret_length)
{
	const struct lvm2_signature signature = {
		.description = author->command, .host = author->host, .system = author->system, .unix_time = author->unix_time
	};
	_cleanup_free_ char *text = NULL;
	int r = lvm2_edit_set_seqno(g->edit, seqno);

	if (r >= 0)
		r = lvm2_edit_text(g->edit, &signature, &text, ret_length);
	if (r < 0)
		return r;
	*ret_text = calloc(1, *ret_length + HEADER_BYTES);
	if (!*ret_text)
		return -ENOMEM;
	memcpy(*ret_text, text, *ret_length);
	return 0;
}

/* Nothing goes to disk that our own reader would refuse. */
static int read_back(const char *text, size_t length, struct blkalign_error *reterr)
{
	struct blkalign_error err = { 0 };
	struct lvm2_vg *vg;
	int r = lvm2_vg_decode(text, length - 1, &vg, &err);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "the new metadata would be refused: %s", err.message);
	lvm2_vg_free(vg);
	return 0;
}

int group_commit(struct plan *plan, struct group *g, uint64_t seqno, const struct plan_author *author, struct blkalign_error *reterr)
{
	_cleanup_free_ char *text = NULL;
	areas_t areas = { 0 };
	size_t length = 0;
	int r = make_text(g, seqno, author, &text, &length);

	if (r >= 0)
		r = read_back(text, length, reterr);
	if (r >= 0)
		r = find_room(g, text, length, &areas, reterr);
	plan_flush(plan);
	for (size_t i = 0; r >= 0 && i < areas.count; i++)
		r = write_text(plan, &areas.data[i], text, seqno, reterr);
	plan_flush(plan);
	for (size_t i = 0; r >= 0 && i < areas.count; i++)
		r = write_header(plan, &areas.data[i], false, reterr);
	plan_flush(plan);
	for (size_t i = 0; r >= 0 && i < areas.count; i++)
		r = write_header(plan, &areas.data[i], true, reterr);
	plan_flush(plan);
	vec_done(&areas);
	return r;
}
