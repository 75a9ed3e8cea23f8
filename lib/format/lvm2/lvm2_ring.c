/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts in a ring: lvm2 writes each behind the last one, beginning with a sector, so that many earlier ones stand there until the ring has come round. Each
 * sector is looked at once, whatever it holds: a text ends with its NUL, and at the latest where another begins.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/lvm2/lvm2.h"
#include "format/lvm2/lvm2_ondisk.h"
#include "format/lvm2/lvm2_text.h"

#define PIECE_BYTES (256 * KIB)

struct scan {
	struct dev *dev;
	const struct lvm2_mda *mda;
	const char *pv_id; /* or NULL */
	struct lvm2_ring *ring;
	struct lvm2_left left; /* the text that is open */
	VEC(char) text;	       /* of it, so far */
	bool open;
};

/* --- the first lines --- */

struct cursor {
	const char *at, *end;
};

static bool take(struct cursor *c, const char *expected)
{
	size_t length = strlen(expected);

	if ((size_t)(c->end - c->at) < length || memcmp(c->at, expected, length) != 0)
		return false;
	c->at += length;
	return true;
}

static bool take_name(struct cursor *c, struct lvm2_slice *ret)
{
	*ret = (struct lvm2_slice){ .text = c->at };
	while (c->at < c->end && lvm2_is_name_character(*c->at) && ret->length < LVM2_NAME_MAX) {
		c->at++;
		ret->length++;
	}
	return ret->length;
}

static bool take_id(struct cursor *c, char ret[LVM2_ID_LENGTH + 1])
{
	char formatted[LVM2_ID_TEXT];
	unsigned count = 0;

	memset(ret, 0, LVM2_ID_LENGTH + 1);
	if (c->end - c->at < LVM2_ID_TEXT)
		return false;
	for (unsigned i = 0; i < LVM2_ID_TEXT - 1 && count < LVM2_ID_LENGTH; i++)
		if (c->at[i] != '-')
			ret[count++] = c->at[i];
	if (count != LVM2_ID_LENGTH || !lvm2_id_valid(ret))
		return false;
	lvm2_id_format(formatted, ret);
	return take(c, formatted);
}

static bool take_number(struct cursor *c, uint64_t *ret)
{
	const char *from = c->at;

	for (*ret = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9' && *ret <= UINT32_MAX; c->at++)
		*ret = *ret * 10 + (uint64_t)(*c->at - '0');
	return c->at > from && *ret <= UINT32_MAX;
}

/* Sections of PVs and volumes, which may begin with a sector too, have no sequence number. */
static bool read_head(const char *sector, size_t length, struct lvm2_slice *ret_name, struct lvm2_left *left)
{
	struct cursor c = { sector, sector + length };

	return take_name(&c, ret_name) && take(&c, " {\nid = \"") && take_id(&c, left->vg_id) && take(&c, "\"\nseqno = ") &&
	       take_number(&c, &left->seqno) && take(&c, "\n");
}

/* --- the text that is open --- */

static const char *keep_string(struct lvm2_ring *ring, const char *text) { return text ? arena_strdup(ring->arena, text) : NULL; }

static int describe(struct scan *s, const struct lvm2_vg *vg)
{
	struct lvm2_left *left = &s->left;

	left->description = keep_string(s->ring, vg->description);
	left->written_on = keep_string(s->ring, vg->written_on);
	left->written_unix = vg->written_unix;
	for (uint32_t i = 0; s->pv_id && i < vg->pv_count && !left->lists_pv; i++)
		left->lists_pv = !strcmp(vg->pvs[i].id, s->pv_id);
	return (vg->description && !left->description) || (vg->written_on && !left->written_on) ? -ENOMEM : 0;
}

/* `why` NULL: its NUL was met. */
static int finish(struct scan *s, const char *why)
{
	_cleanup_lvm2_vg_ struct lvm2_vg *vg = NULL;
	struct lvm2_left *left = &s->left;
	struct blkalign_error err = { 0 };
	int r = why ? -EPROTO : lvm2_vg_decode(s->text.data, s->text.count - 1, &vg, &err);

	s->open = false;
	if (r == -ENOMEM)
		return r;
	left->location.size_bytes = s->text.count;
	left->location.checksum = lvm2_checksum(s->text.data, s->text.count);
	if (r < 0)
		left->why_not_whole = arena_strdup(s->ring->arena, why ? why : err.message);
	r = r < 0 ? (left->why_not_whole ? 0 : -ENOMEM) : describe(s, vg);
	return r < 0 ? r : vec_push(&s->ring->found, *left);
}

static int begin(struct scan *s, uint64_t at, const struct lvm2_left *head, struct lvm2_slice name)
{
	if (s->ring->found.count >= LVM2_LEFT_MAX) {
		s->ring->more = true;
		return 0;
	}
	s->left = *head;
	s->left.location.offset_bytes = at;
	s->left.written_unix = BLKALIGN_UNKNOWN;
	s->left.vg_name = arena_strndup(s->ring->arena, name.text, name.length);
	s->text.count = 0;
	s->open = true;
	return s->left.vg_name ? 0 : -ENOMEM;
}

static int append(struct scan *s, const char *sector, size_t length)
{
	const char *nul = memchr(sector, 0, length);
	size_t count = nul ? (size_t)(nul - sector) + 1 : length;

	if (s->text.count + count > LVM2_TEXT_MAX)
		return finish(s, "it is longer than any text that is read");
	for (size_t i = 0; i < count; i++)
		if (vec_push(&s->text, sector[i]) < 0)
			return -ENOMEM;
	return nul ? finish(s, NULL) : 0;
}

/* `sector` NULL: it cannot be read. With `again` the ring has come round: what begins here is known. */
static int take_sector(struct scan *s, uint64_t at, const char *sector, size_t length, bool again)
{
	struct lvm2_left head = { 0 };
	struct lvm2_slice name;
	bool begins = sector && read_head(sector, length, &name, &head);
	int r = 0;

	if (s->open && (begins || !sector)) {
		char why[128];

		snprintf(why, sizeof(why),
			 begins ? "another text was written over it, from byte %" PRIu64 " on" : "byte %" PRIu64 " cannot be read",
			 s->mda->offset_bytes + at);
		r = finish(s, why);
	}
	s->ring->unreadable_sectors512 += !sector && !again;
	if (r >= 0 && begins && !again)
		r = begin(s, at, &head, name);
	return r >= 0 && s->open ? append(s, sector, length) : r;
}

/* --- the ring --- */

static int take_piece(struct scan *s, uint64_t at, char *buffer, size_t length, bool again)
{
	bool whole = dev_read(s->dev, s->mda->offset_bytes + at, buffer, length, NULL) >= 0;

	for (size_t i = 0; i < length && (s->open || !again); i += LVM2_SECTOR) {
		size_t n = length - i < LVM2_SECTOR ? length - i : LVM2_SECTOR;
		bool good = whole || dev_read(s->dev, s->mda->offset_bytes + at + i, buffer + i, n, NULL) >= 0;
		int r = take_sector(s, at + i, good ? buffer + i : NULL, n, again);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_ring(struct scan *s, char *buffer, uint64_t end, bool again)
{
	int r = 0;

	for (uint64_t at = LVM2_SECTOR; r >= 0 && at < end && (s->open || !again); at += PIECE_BYTES)
		r = take_piece(s, at, buffer, end - at < PIECE_BYTES ? end - at : PIECE_BYTES, again);
	return r;
}

int lvm2_ring_search(struct dev *dev, const struct lvm2_mda *mda, const char *pv_id, struct lvm2_ring *ret_ring)
{
	_cleanup_lvm2_ring_ struct lvm2_ring ring = { .arena = arena_new() };
	_cleanup_free_ char *buffer = malloc(PIECE_BYTES);
	struct scan s = { .dev = dev, .mda = mda, .pv_id = pv_id, .ring = &ring };
	int r = ring.arena && buffer ? take_ring(&s, buffer, mda->size_bytes, false) : -ENOMEM;

	/* A text that reaches the end of the area goes on behind the header. */
	if (r >= 0 && s.open)
		r = take_ring(&s, buffer, s.left.location.offset_bytes, true);
	if (r >= 0 && s.open)
		r = finish(&s, "it has no end");
	vec_done(&s.text);
	if (r < 0)
		return r;
	*ret_ring = ring;
	ring = (struct lvm2_ring){ 0 };
	return 0;
}

void lvm2_ring_done(struct lvm2_ring *ring)
{
	vec_done(&ring->found);
	if (ring->arena)
		arena_free(ring->arena);
	ring->arena = NULL;
}
