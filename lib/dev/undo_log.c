/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log's bytes. What is read here is hostile: a log may be damaged, cut, forged, or of another device. */
#include <inttypes.h>

#include "dev/undo_priv.h"

#define MAGIC_BYTES 16U
#define HEAD_MAGIC  0x6f646e75U /* "undo" */

static const char magic[MAGIC_BYTES] = { 'b', 'l', 'k', 'a', 'l', 'i', 'g', 'n', ' ', 'u', 'n', 'd', 'o', ' ', '1', '\n' };

struct head {
	uint64_t sequence;
	uint64_t body_bytes;
	uint32_t entries;
	uint32_t body_crc;
};

uint32_t undo_crc(const uint8_t id[16], const void *data, size_t length)
{
	return ~crc32c_raw(crc32c_raw(UINT32_MAX, id, 16), data, length);
}

void undo_encode_header(uint8_t ret[UNDO_HEADER_BYTES], const uint8_t id[16], const char *purpose)
{
	size_t length = 0;

	memset(ret, 0, UNDO_HEADER_BYTES);
	memcpy(ret, magic, MAGIC_BYTES);
	memcpy(ret + 16, id, 16);
	for (; length < UNDO_PURPOSE_MAX_BYTES && purpose[length]; length++)
		ret[40 + length] = (uint8_t)purpose[length];
	store_le(ret + 32, 4, length);
	store_le(ret + 36, 4, undo_crc(id, ret, UNDO_HEADER_BYTES));
}

void undo_encode_head(uint8_t ret[UNDO_HEAD_BYTES], const struct undo_log *log, uint32_t entries, const uint8_t *body, uint64_t body_bytes)
{
	memset(ret, 0, UNDO_HEAD_BYTES);
	store_le(ret, 4, HEAD_MAGIC);
	store_le(ret + 8, 8, log->next_sequence);
	store_le(ret + 16, 8, body_bytes);
	store_le(ret + 24, 4, entries);
	store_le(ret + 28, 4, undo_crc(log->id, body, body_bytes));
	store_le(ret + 32, 8, log->end_bytes);
	store_le(ret + 4, 4, undo_crc(log->id, ret, UNDO_HEAD_BYTES));
}

void undo_encode_entry(uint8_t ret[UNDO_ENTRY_BYTES], const struct undo_entry *entry)
{
	memset(ret, 0, UNDO_ENTRY_BYTES);
	store_le(ret, 4, entry->kind);
	store_le(ret + 4, 4, entry->device);
	store_le(ret + 8, 8, entry->offset_bytes);
	store_le(ret + 16, 8, entry->length_bytes);
	store_le(ret + 24, 4, entry->payload_bytes);
}

/* The stored checksum is one of the bytes without it. */
static bool sound(const uint8_t id[16], const uint8_t *bytes, size_t length, size_t crc_at)
{
	static const uint8_t none[4];
	uint32_t crc = crc32c_raw(UINT32_MAX, id, 16);

	crc = crc32c_raw(crc, bytes, crc_at);
	crc = crc32c_raw(crc, none, 4);
	crc = crc32c_raw(crc, bytes + crc_at + 4, length - crc_at - 4);
	return ~crc == load_le32(bytes + crc_at);
}

static bool decode_head(const uint8_t bytes[UNDO_HEAD_BYTES], const uint8_t id[16], uint64_t position, struct head *ret)
{
	if (load_le32(bytes) != HEAD_MAGIC || load_le64(bytes + 32) != position || !sound(id, bytes, UNDO_HEAD_BYTES, 4))
		return false;
	*ret = (struct head){ .sequence = load_le64(bytes + 8),
			      .body_bytes = load_le64(bytes + 16),
			      .entries = load_le32(bytes + 24),
			      .body_crc = load_le32(bytes + 28) };
	return ret->body_bytes <= UNDO_BODY_MAX_BYTES - UNDO_HEAD_BYTES && ret->entries <= ret->body_bytes / UNDO_ENTRY_BYTES;
}

static int refuse(const struct dev *file, uint64_t position, int code, const char *what, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, code, file->name, position, "the undo log at byte %" PRIu64 " %s", position, what);
}

static int read_header(struct dev *file, struct undo_log *log, struct blkalign_error *reterr)
{
	uint8_t bytes[UNDO_HEADER_BYTES];
	uint32_t length;
	int r;

	if (file->size_bytes < UNDO_HEADER_BYTES)
		return refuse(file, 0, -EBADMSG, "is too short to be one", reterr);
	r = dev_read(file, 0, bytes, sizeof(bytes), reterr);
	if (r < 0)
		return r;
	memcpy(log->id, bytes + 16, sizeof(log->id));
	length = load_le32(bytes + 32);
	if (memcmp(bytes, magic, MAGIC_BYTES) != 0)
		return refuse(file, 0, -EBADMSG, "does not begin like one; the log comes first, then its members", reterr);
	if (!sound(log->id, bytes, sizeof(bytes), 36) || length > UNDO_PURPOSE_MAX_BYTES)
		return refuse(file, 0, -EBADMSG, "has a damaged header", reterr);
	memcpy(log->purpose, bytes + 40, length);
	log->end_bytes = UNDO_HEADER_BYTES;
	return 0;
}

static bool whole_sectors(const struct undo_entry *entry, uint64_t size_bytes)
{
	uint64_t end = entry->offset_bytes + entry->length_bytes;

	return entry->length_bytes && entry->offset_bytes % UNDO_SECTOR_BYTES == 0 && (end % UNDO_SECTOR_BYTES == 0 || end == size_bytes);
}

/* Does it fit its device, and what it carries its kind? */
static bool entry_sensible(const struct undo_log *log, const struct undo_entry *entry)
{
	uint64_t size;

	if (entry->device >= log->devices.count || entry->length_bytes > UNDO_PIECE_BYTES)
		return false;
	size = log->devices.data[entry->device].size_bytes;
	if (!range_inside(entry->offset_bytes, entry->length_bytes, size) || !whole_sectors(entry, size))
		return false;
	if (entry->kind == UNDO_OLD)
		return entry->payload_bytes == entry->length_bytes;
	if (entry->kind == UNDO_NEW)
		return entry->payload_bytes == 4 * ((entry->length_bytes + UNDO_SECTOR_BYTES - 1) / UNDO_SECTOR_BYTES);
	return entry->payload_bytes == 0;
}

static int take_device(struct undo_log *log, const struct undo_entry *entry, const uint8_t *payload)
{
	struct undo_device device = { .size_bytes = entry->length_bytes };
	uint32_t name, identity;
	int r = 0;

	if (entry->device != log->devices.count || entry->device >= UNDO_DEVICES_MAX || entry->payload_bytes < 4)
		return -EBADMSG;
	name = load_le16(&payload[0]);
	identity = load_le16(&payload[2]);
	if (entry->payload_bytes != 4 + name + identity || name > UNDO_NAME_MAX_BYTES || entry->length_bytes > INT64_MAX)
		return -EBADMSG;
	device.name = strndup((const char *)payload + 4, name);
	device.identity = strndup((const char *)payload + 4 + name, identity);
	r = device.name && device.identity ? vec_push(&log->devices, device) : -ENOMEM;
	if (r < 0) {
		free(device.name);
		free(device.identity);
	}
	return r;
}

static int take_entry(struct undo_log *log, const struct undo_entry *entry, const uint8_t *payload)
{
	if ((unsigned)entry->kind - UNDO_DEVICE > UNDO_LOST - UNDO_DEVICE)
		return -ENOTSUP;
	if (entry->kind == UNDO_DEVICE)
		return take_device(log, entry, payload);
	return entry_sensible(log, entry) ? vec_push(&log->entries, *entry) : -EBADMSG;
}

static int take_body(struct undo_log *log, const struct head *head, const uint8_t *body, uint64_t body_at)
{
	uint64_t used = (uint64_t)head->entries * UNDO_ENTRY_BYTES;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < head->entries; i++) {
		const uint8_t *p = body + (size_t)i * UNDO_ENTRY_BYTES;
		struct undo_entry entry = { .kind = (enum undo_kind)load_le32(p),
					    .device = load_le32(p + 4),
					    .offset_bytes = load_le64(p + 8),
					    .length_bytes = load_le64(p + 16),
					    .payload_at = body_at + used,
					    .payload_bytes = load_le32(p + 24) };

		if (!range_inside(used, entry.payload_bytes, head->body_bytes))
			return -EBADMSG;
		r = take_entry(log, &entry, body + used);
		used += entry.payload_bytes;
	}
	return r;
}

/* 0, BLKALIGN_NOT_THIS for a record that is not whole, or negative errno. */
static int read_record(struct dev *file, struct undo_log *log, uint8_t *body, struct blkalign_error *reterr)
{
	uint64_t at = log->end_bytes;
	uint8_t bytes[UNDO_HEAD_BYTES];
	struct head head;
	int r;

	if (!range_inside(at, UNDO_HEAD_BYTES, file->size_bytes))
		return BLKALIGN_NOT_THIS;
	r = dev_read(file, at, bytes, sizeof(bytes), reterr);
	if (r < 0)
		return r;
	if (!decode_head(bytes, log->id, at, &head) || head.sequence != log->next_sequence ||
	    !range_inside(at + UNDO_HEAD_BYTES, head.body_bytes, file->size_bytes))
		return BLKALIGN_NOT_THIS;
	r = dev_read(file, at + UNDO_HEAD_BYTES, body, head.body_bytes, reterr);
	if (r < 0)
		return r;
	if (undo_crc(log->id, body, head.body_bytes) != head.body_crc)
		return BLKALIGN_NOT_THIS;
	r = take_body(log, &head, body, at + UNDO_HEAD_BYTES);
	if (r < 0)
		return refuse(file, at, r,
			      r == -ENOTSUP ? "has entries of a later version of blkalign"
					    : "has a record that contradicts itself or its devices",
			      reterr);
	log->end_bytes = round_up_u64(at + UNDO_HEAD_BYTES + head.body_bytes, UNDO_SECTOR_BYTES);
	log->next_sequence++;
	return 0;
}

/*
 * A record is synced before the next one begins: behind one that was being written when the machine stopped there is none. When there is, what is not whole
 * was once, and has been damaged since.
 */
static int damaged_in_the_middle(struct dev *file, const struct undo_log *log, uint8_t *buffer, bool *ret, struct blkalign_error *reterr)
{
	uint64_t begin = log->end_bytes + UNDO_SECTOR_BYTES;
	uint64_t length = begin < file->size_bytes ? file->size_bytes - begin : 0;
	uint64_t most = UNDO_BODY_MAX_BYTES; /* the buffer's size, and the longest record's */
	struct head head;
	int r;

	length = round_down_u64(length < most ? length : most, UNDO_SECTOR_BYTES);
	*ret = false;
	r = dev_read(file, length ? begin : 0, buffer, length, reterr);
	for (uint64_t i = 0; r == 0 && i < length && !*ret; i += UNDO_SECTOR_BYTES)
		*ret = decode_head(buffer + i, log->id, begin + i, &head) && head.sequence > log->next_sequence;
	return r;
}

static int read_records(struct dev *file, struct undo_log *log, uint8_t *buffer, struct blkalign_error *reterr)
{
	bool damaged;
	int r;

	do
		r = read_record(file, log, buffer, reterr);
	while (r == 0);
	if (r < 0)
		return r;
	r = damaged_in_the_middle(file, log, buffer, &damaged, reterr);
	if (r == 0 && damaged)
		r = refuse(file, log->end_bytes, -EBADMSG, "has a damaged record with others behind it, so that not all can be put back",
			   reterr);
	return r;
}

int undo_log_read(struct dev *file, struct undo_log *ret, struct blkalign_error *reterr)
{
	_cleanup_free_ uint8_t *buffer = malloc(UNDO_BODY_MAX_BYTES);
	int r;

	*ret = (struct undo_log){ 0 };
	if (!buffer)
		return -ENOMEM;
	r = read_header(file, ret, reterr);
	if (r == 0)
		r = read_records(file, ret, buffer, reterr);
	if (r < 0)
		undo_log_done(ret);
	return r;
}

void undo_log_done(struct undo_log *log)
{
	for (size_t i = 0; i < log->devices.count; i++) {
		free(log->devices.data[i].name);
		free(log->devices.data[i].identity);
		marks_done(&log->devices.data[i].logged);
	}
	vec_done(&log->devices);
	vec_done(&log->entries);
}
