/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <openssl/evp.h>
#include <stdio.h>

#include "format/luks/luks.h"
#include "format/luks/luks_ondisk.h"

static int damaged(struct blkalign_error *reterr, const char *what)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "LUKS header: %s", what);
}

/* Fields are padded with zeros, or full: the terminator comes from `ret`, which starts as zeros and is a byte longer. */
#define take_text(ret, field)                                                                                                              \
	do {                                                                                                                               \
		static_assert(sizeof(ret) > sizeof(field), "room for the terminator");                                                     \
		memcpy(ret, field, strnlen(field, sizeof(field)));                                                                         \
	} while (0)

static int decode1(const uint8_t *buffer, size_t size, struct luks_header *ret, struct blkalign_error *reterr)
{
	struct luks_header h = { .version = 1, .header_bytes = LUKS1_HEADER_BYTES, .payload_bytes = BLKALIGN_UNKNOWN, .sector_bytes = 512 };
	char name[33] = { 0 }, mode[33] = { 0 };
	struct luks1_ondisk raw;

	if (size < LUKS1_HEADER_BYTES)
		return damaged(reterr, "cut short");
	memcpy(&raw, buffer, sizeof(raw));
	take_text(name, raw.cipher_name);
	take_text(mode, raw.cipher_mode);
	snprintf(h.cipher, sizeof(h.cipher), "%.31s-%.31s", name, mode);
	take_text(h.uuid, raw.uuid);
	h.payload_offset_bytes = (uint64_t)be32_get(raw.payload_sectors512) * 512;
	h.key_bytes = be32_get(raw.key_bytes);
	if (!h.key_bytes || h.key_bytes > 1024)
		return damaged(reterr, "impossible key size");
	*ret = h;
	return 0;
}

/* The digest that the header names, over the whole header with the digest's own field zero. */
static int verify2(const uint8_t *buffer, const struct luks2_ondisk *raw, uint64_t header_bytes, struct blkalign_error *reterr)
{
	static const uint8_t zeros[sizeof(raw->checksum)];
	char algorithm[33] = { 0 };
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	size_t at = offsetof(struct luks2_ondisk, checksum), after = at + sizeof(raw->checksum);
	const EVP_MD *md;
	EVP_MD_CTX *context;
	bool done;

	take_text(algorithm, raw->checksum_alg);
	md = EVP_get_digestbyname(algorithm);
	if (!md || (size_t)EVP_MD_size(md) > sizeof(raw->checksum))
		return blkalign_error_set(reterr, -ENOTSUP, NULL, BLKALIGN_UNKNOWN, "LUKS header: unknown checksum '%s'", algorithm);
	context = EVP_MD_CTX_new();
	if (!context)
		return -ENOMEM;
	done = EVP_DigestInit_ex(context, md, NULL) && EVP_DigestUpdate(context, buffer, at) &&
	       EVP_DigestUpdate(context, zeros, sizeof(zeros)) && EVP_DigestUpdate(context, buffer + after, header_bytes - after) &&
	       EVP_DigestFinal_ex(context, digest, &length);
	EVP_MD_CTX_free(context);
	if (!done)
		return -ENOMEM;
	return memcmp(digest, raw->checksum, length) == 0 ? 0 : damaged(reterr, "wrong checksum");
}

uint64_t luks2_claimed_bytes(const uint8_t *buffer, size_t size)
{
	uint64_t claimed;

	if (size < sizeof(struct luks2_ondisk))
		return 0;
	claimed = load_be64(buffer + offsetof(struct luks2_ondisk, header_bytes));
	return is_power_of_2(claimed) && claimed >= LUKS2_HEADER_MIN_BYTES && claimed <= LUKS2_HEADER_MAX_BYTES ? claimed : 0;
}

static int decode2(const uint8_t *buffer, size_t size, struct luks_header *ret, struct blkalign_error *reterr)
{
	struct luks_header h = { .version = 2, .payload_bytes = BLKALIGN_UNKNOWN };
	struct luks2_ondisk raw;
	int r;

	h.header_bytes = luks2_claimed_bytes(buffer, size);
	if (!h.header_bytes)
		return damaged(reterr, "impossible header size");
	if (size < h.header_bytes)
		return damaged(reterr, "cut short");
	memcpy(&raw, buffer, sizeof(raw));
	r = verify2(buffer, &raw, h.header_bytes, reterr);
	if (r < 0)
		return r;
	h.offset_bytes = be64_get(raw.offset_bytes);
	h.seqid = be64_get(raw.seqid);
	take_text(h.uuid, raw.uuid);
	take_text(h.label, raw.label);
	r = luks2_decode_json((const char *)buffer + sizeof(raw), (size_t)h.header_bytes - sizeof(raw), &h, reterr);
	if (r < 0)
		return r;
	*ret = h;
	return 0;
}

int luks_decode(const uint8_t *buffer, size_t size, struct luks_header *ret, struct blkalign_error *reterr)
{
	bool primary = size >= LUKS_MAGIC_BYTES + 2 && memcmp(buffer, LUKS_MAGIC, LUKS_MAGIC_BYTES) == 0;
	bool secondary = size >= LUKS_MAGIC_BYTES + 2 && memcmp(buffer, LUKS_MAGIC_SECONDARY, LUKS_MAGIC_BYTES) == 0;
	uint16_t version;

	if (!primary && !secondary)
		return BLKALIGN_NOT_THIS;
	version = load_be16(buffer + LUKS_MAGIC_BYTES);
	if (version == 1 && primary)
		return decode1(buffer, size, ret, reterr);
	if (version == 2)
		return decode2(buffer, size, ret, reterr);
	return blkalign_error_set(reterr, -ENOTSUP, NULL, BLKALIGN_UNKNOWN, "LUKS header: unknown version %u", version);
}

const char *luks_copy_state_name(enum luks_copy_state state)
{
	static const char *const names[] = {
		[LUKS_COPY_ABSENT] = "absent",
		[LUKS_COPY_UNREADABLE] = "unreadable",
		[LUKS_COPY_DAMAGED] = "damaged",
		[LUKS_COPY_OK] = "ok",
	};

	return names[state];
}
