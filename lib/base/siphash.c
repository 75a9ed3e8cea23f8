/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SipHash-2-4 (Aumasson and Bernstein, 2012). Its reference vectors are what the test compares with, by way of libcrypto. */
#include "base/base.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t v, unsigned by) { return v << by | v >> (64 - by); }

static void rounds(struct sip *s, unsigned count)
{
	while (count--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32) + s->v3;
		s->v2 += s->v1;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

static void take(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

uint64_t siphash(const struct sipkey *key, const void *data, size_t length)
{
	const uint8_t *p = data;
	struct sip s = { key->k0 ^ UINT64_C(0x736f6d6570736575), key->k1 ^ UINT64_C(0x646f72616e646f6d),
			 key->k0 ^ UINT64_C(0x6c7967656e657261), key->k1 ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t)length << 56;
	size_t whole = length / 8 * 8;

	for (size_t i = 0; i < whole; i += 8)
		take(&s, load_le64(p + i));
	for (size_t i = whole; i < length; i++)
		last |= (uint64_t)p[i] << 8 * (i - whole);
	take(&s, last);
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
