/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The secondary LUKS2 header lies behind the primary, whose size is lost when it is damaged: then all the places where it may begin are
 * tried, as cryptsetup does (lib/luks2/luks2_disk_metadata.c, LUKS2_disk_hdr_read). Where there is no primary magic, a secondary is
 * taken for a leftover: whatever overwrote the primary owns the device now.
 */
#include "format/luks/luks.h"
#include "format/luks/luks_ondisk.h"

static bool has_magic(const uint8_t *buffer, const char *magic) { return memcmp(buffer, magic, LUKS_MAGIC_BYTES) == 0; }

/* Read and decode the copy at `offset_bytes`. 0, BLKALIGN_NOT_THIS, negative errno. */
static int read_copy(struct dev *dev, uint64_t offset_bytes, const char *magic, struct luks_header *ret, struct blkalign_error *reterr)
{
	uint8_t head[sizeof(struct luks2_ondisk)];
	_cleanup_free_ uint8_t *whole = NULL;
	struct luks_header h;
	uint64_t claimed;
	int r;

	if (!range_inside(offset_bytes, sizeof(head), dev->size_bytes))
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, offset_bytes, head, sizeof(head), reterr);
	if (r < 0)
		return r;
	if (!has_magic(head, magic))
		return BLKALIGN_NOT_THIS;
	if (load_be16(head + LUKS_MAGIC_BYTES) != 2)
		return luks_decode(head, sizeof(head), ret, reterr);
	claimed = luks2_claimed_bytes(head, sizeof(head));
	if (!claimed || !range_inside(offset_bytes, claimed, dev->size_bytes))
		return blkalign_error_set(reterr, -EBADMSG, dev->name, offset_bytes, "LUKS header: impossible header size");
	whole = malloc(claimed);
	if (!whole)
		return -ENOMEM;
	r = dev_read(dev, offset_bytes, whole, claimed, reterr);
	if (r == 0)
		r = luks_decode(whole, claimed, &h, reterr);
	if (r)
		return r;
	if (h.offset_bytes != offset_bytes)
		return blkalign_error_set(reterr, -EBADMSG, dev->name, offset_bytes, "LUKS header: it says that it lies somewhere else");
	*ret = h;
	return 0;
}

static enum luks_copy_state state_of(int r)
{
	if (r == BLKALIGN_NOT_THIS)
		return LUKS_COPY_ABSENT;
	if (r == -EBADMSG || r == -ENOTSUP)
		return LUKS_COPY_DAMAGED;
	return r < 0 ? LUKS_COPY_UNREADABLE : LUKS_COPY_OK;
}

/* Only the place behind the primary when that is good; else every place. */
static int read_secondary(struct dev *dev, const struct luks_header *primary, struct luks_header *ret)
{
	uint64_t first = primary ? primary->header_bytes : LUKS2_HEADER_MIN_BYTES;
	uint64_t last = primary ? primary->header_bytes : LUKS2_HEADER_MAX_BYTES;
	int r = BLKALIGN_NOT_THIS;

	for (uint64_t at = first; r && r != -ENOMEM && at <= last; at *= 2) {
		int found = read_copy(dev, at, LUKS_MAGIC_SECONDARY, ret, NULL);

		if (found != BLKALIGN_NOT_THIS)
			r = found;
	}
	return r;
}

int luks_read(struct dev *dev, struct luks_found *ret, struct blkalign_error *reterr)
{
	struct luks_found f = { 0 };
	struct luks_header secondary = { 0 };
	int r = read_copy(dev, 0, LUKS_MAGIC, &f.header, reterr), r2;

	f.primary = state_of(r);
	if (r == -ENOMEM || r == BLKALIGN_NOT_THIS)
		return r;
	if (f.primary != LUKS_COPY_OK || f.header.version == 2) {
		r2 = read_secondary(dev, f.primary == LUKS_COPY_OK ? &f.header : NULL, &secondary);
		if (r2 == -ENOMEM)
			return r2;
		f.secondary = state_of(r2);
		if (f.secondary == LUKS_COPY_OK && (f.primary != LUKS_COPY_OK || secondary.seqid > f.header.seqid))
			f.header = secondary;
	}
	if (f.primary != LUKS_COPY_OK && f.secondary != LUKS_COPY_OK)
		return r;
	f.detached = !f.header.payload_offset_bytes || f.header.payload_offset_bytes >= dev->size_bytes;
	*ret = f;
	return 0;
}
