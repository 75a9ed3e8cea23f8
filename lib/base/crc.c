/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <isa-l/crc.h>

/* isa-l's gzip CRC inverts on the way in and out; undone here so that LVM2's seed can be given as it stands in lvm2's sources. */
uint32_t crc32_raw(uint32_t seed, const void *data, size_t length) { return ~crc32_gzip_refl(~seed, data, length); }

uint32_t crc32_zlib(const void *data, size_t length) { return crc32_gzip_refl(0, data, length); }

/* isa-l takes the length as int and, in 2.30, a pointer to non-const. */
uint32_t crc32c_raw(uint32_t seed, const void *data, size_t length)
{
	const uint8_t *p = data;

	while (length) {
		size_t part = length < (1U << 30) ? length : 1U << 30;

		seed = crc32_iscsi((unsigned char *)(uintptr_t)p, (int)part, seed);
		p += part;
		length -= part;
	}
	return seed;
}

uint64_t gcd_u64(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}
