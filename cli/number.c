/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "cli.h"

static const struct {
	const char *suffix;
	uint64_t bytes;
} units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "s", 512 },
	{ "k", UINT64_C(1) << 10 },
	{ "kib", UINT64_C(1) << 10 },
	{ "m", UINT64_C(1) << 20 },
	{ "mib", UINT64_C(1) << 20 },
	{ "g", UINT64_C(1) << 30 },
	{ "gib", UINT64_C(1) << 30 },
	{ "t", UINT64_C(1) << 40 },
	{ "tib", UINT64_C(1) << 40 },
	{ "p", UINT64_C(1) << 50 },
	{ "pib", UINT64_C(1) << 50 },
};

int cli_parse_bytes(const char *text, size_t length, uint64_t *ret_bytes)
{
	char copy[40], *end;
	unsigned long long value;

	if (!length || length >= sizeof(copy) || !isdigit((unsigned char)*text))
		return -EINVAL;
	for (size_t i = 0; i <= length; i++)
		copy[i] = i < length ? text[i] : '\0';
	errno = 0;
	value = strtoull(copy, &end, copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X') ? 16 : 10);
	if (errno)
		return -ERANGE;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(end, units[i].suffix) != 0)
			continue;
		return __builtin_mul_overflow((uint64_t)value, units[i].bytes, ret_bytes) ? -ERANGE : 0;
	}
	return -EINVAL;
}
