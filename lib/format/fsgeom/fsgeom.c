/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stdio.h>

#include "format/fsgeom/fsgeom.h"

void fsgeom_init(struct fsgeom *geom, const char *type)
{
	*geom = (struct fsgeom){
		.type = type,
		.size_bytes = BLKALIGN_UNKNOWN,
		.block_bytes = BLKALIGN_UNKNOWN,
		.sector_bytes = BLKALIGN_UNKNOWN,
		.stride_bytes = BLKALIGN_UNKNOWN,
		.stripe_bytes = BLKALIGN_UNKNOWN,
		.log_stride_bytes = BLKALIGN_UNKNOWN,
		.hidden_sectors = BLKALIGN_UNKNOWN,
		.data_offset_bytes = BLKALIGN_UNKNOWN,
	};
}

void fsgeom_set_label(struct fsgeom *geom, const void *text, size_t length)
{
	size_t n = strnlen(text, length < FSGEOM_LABEL_MAX - 1 ? length : FSGEOM_LABEL_MAX - 1);

	memcpy(geom->label, text, n);
	while (n && isspace((unsigned char)geom->label[n - 1]))
		n--;
	geom->label[n] = '\0';
}

/* Room for 4 bytes is the caller's business. Returns how many were written. */
static size_t utf8_put(char *p, uint32_t c)
{
	if (c < 0x80) {
		p[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		p[0] = (char)(0xc0 | c >> 6);
		p[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		p[0] = (char)(0xe0 | c >> 12);
		p[1] = (char)(0x80 | (c >> 6 & 0x3f));
		p[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	p[0] = (char)(0xf0 | c >> 18);
	p[1] = (char)(0x80 | (c >> 12 & 0x3f));
	p[2] = (char)(0x80 | (c >> 6 & 0x3f));
	p[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void fsgeom_set_label_utf16le(struct fsgeom *geom, const uint8_t *text, size_t length_bytes)
{
	char utf8[FSGEOM_LABEL_MAX];
	size_t n = 0;

	for (size_t i = 0; i + 2 <= length_bytes && n + 4 <= sizeof(utf8); i += 2) {
		uint32_t c = load_le16(text + i);
		uint32_t low = i + 4 <= length_bytes ? load_le16(text + i + 2) : 0;

		if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
			i += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		n += utf8_put(utf8 + n, c);
	}
	fsgeom_set_label(geom, utf8, n);
}

void fsgeom_set_uuid(struct fsgeom *geom, const uint8_t uuid[16])
{
	static const uint8_t none[16];

	if (memcmp(uuid, none, sizeof(none)) != 0)
		uuid_format(geom->uuid, uuid);
}

void fsgeom_note(struct fsgeom *geom, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(geom->note, sizeof(geom->note), format, args);
	va_end(args);
}
