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

void fsgeom_set_label_utf16le(struct fsgeom *geom, const uint8_t *text, size_t length_bytes)
{
	char utf8[FSGEOM_LABEL_MAX];

	utf8_from_utf16le(utf8, sizeof(utf8), text, length_bytes);
	fsgeom_set_label(geom, utf8, strlen(utf8));
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
