/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <stdio.h>

int blkalign_error_set(struct blkalign_error *reterr, int code, const char *where, uint64_t offset_bytes, const char *format, ...)
{
	char raw[sizeof(reterr->message)];
	va_list args;

	if (!reterr)
		return code;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	reterr->code = code;
	reterr->offset_bytes = offset_bytes;
	blkalign_escape(reterr->where, sizeof(reterr->where), where ? where : "");
	blkalign_escape(reterr->message, sizeof(reterr->message), raw);
	return code;
}
