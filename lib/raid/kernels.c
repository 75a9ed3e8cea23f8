/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Q by Horner's rule from the highest power down: q = 2 q + d, in the field with polynomial 0x11d. Doubling all bytes of a register is one instruction where there is GFNI (an affine
 * map of bits), and four in AVX2: shift, and add 0x1d where the top bit fell out. Two registers at a time, so that the loop over the sources costs half.
 */
#include <stdatomic.h>

#include "raid/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define INLINE inline __attribute__((always_inline))

/* Row masks of the affine map x -> 2 x, output bit 0 in the highest byte. */
#define TWICE UINT64_C(0x8001828488102040)

#define FAST __attribute__((target("avx512f,avx512bw,gfni")))

FAST static INLINE __m512i load512(const uint8_t *p) { return _mm512_loadu_si512((const void *)p); }
FAST static INLINE __m512i twice512(__m512i v) { return _mm512_gf2p8affine_epi64_epi8(v, _mm512_set1_epi64((long long)TWICE), 0); }

FAST static INLINE void store512(uint8_t *p, __m512i low, __m512i high)
{
	_mm512_storeu_si512((void *)p, low);
	_mm512_storeu_si512((void *)(p + 64), high);
}

/* What differs from the 128 bytes at `p`. */
FAST static INLINE __m512i differ512(const uint8_t *p, __m512i low, __m512i high)
{
	return _mm512_or_si512(_mm512_xor_si512(low, load512(p)), _mm512_xor_si512(high, load512(p + 64)));
}

FAST static INLINE bool pq_gfni(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length, bool store)
{
	__m512i wrong = _mm512_setzero_si512();

	for (size_t at = 0; at < length; at += 128) {
		const uint8_t *last = sources[count - 1] + at;
		__m512i sum = load512(last), sum2 = load512(last + 64), powers = sum, powers2 = sum2;

		for (uint32_t i = count - 1; i-- > 0;) {
			powers = twice512(powers);
			powers2 = twice512(powers2);
			if (!sources[i])
				continue;
			__m512i data = load512(sources[i] + at), data2 = load512(sources[i] + at + 64);

			sum = _mm512_xor_si512(sum, data);
			sum2 = _mm512_xor_si512(sum2, data2);
			powers = _mm512_xor_si512(powers, data);
			powers2 = _mm512_xor_si512(powers2, data2);
		}
		if (store) {
			store512(p + at, sum, sum2);
			store512(q + at, powers, powers2);
		} else {
			wrong = _mm512_or_si512(wrong, _mm512_or_si512(differ512(p + at, sum, sum2), differ512(q + at, powers, powers2)));
		}
	}
	return _mm512_test_epi64_mask(wrong, wrong) == 0;
}

FAST static bool p_512(uint8_t *const *sources, uint32_t count, const uint8_t *p, size_t length)
{
	__m512i wrong = _mm512_setzero_si512();

	for (size_t at = 0; at < length; at += 64) {
		__m512i sum = load512(p + at);

		for (uint32_t i = 0; i < count; i++)
			if (sources[i])
				sum = _mm512_xor_si512(sum, load512(sources[i] + at));
		wrong = _mm512_or_si512(wrong, sum);
	}
	return _mm512_test_epi64_mask(wrong, wrong) == 0;
}

FAST static bool fits_gfni(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	return q ? pq_gfni(sources, count, (uint8_t *)(uintptr_t)p, (uint8_t *)(uintptr_t)q, length, false)
		 : p_512(sources, count, p, length);
}

FAST static void make_gfni(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length)
{
	pq_gfni(sources, count, p, q, length, true);
}

static bool has_gfni(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("gfni");
}

#define WIDE __attribute__((target("avx2")))

WIDE static INLINE __m256i load256(const uint8_t *p) { return _mm256_loadu_si256((const void *)p); }

WIDE static INLINE __m256i twice256(__m256i v)
{
	__m256i top = _mm256_cmpgt_epi8(_mm256_setzero_si256(), v);

	return _mm256_xor_si256(_mm256_add_epi8(v, v), _mm256_and_si256(top, _mm256_set1_epi8(0x1d)));
}

WIDE static INLINE void store256(uint8_t *p, __m256i low, __m256i high)
{
	_mm256_storeu_si256((void *)p, low);
	_mm256_storeu_si256((void *)(p + 32), high);
}

/* What differs from the 64 bytes at `p`. */
WIDE static INLINE __m256i differ256(const uint8_t *p, __m256i low, __m256i high)
{
	return _mm256_or_si256(_mm256_xor_si256(low, load256(p)), _mm256_xor_si256(high, load256(p + 32)));
}

WIDE static INLINE bool pq_avx2(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length, bool store)
{
	__m256i wrong = _mm256_setzero_si256();

	for (size_t at = 0; at < length; at += 64) {
		const uint8_t *last = sources[count - 1] + at;
		__m256i sum = load256(last), sum2 = load256(last + 32), powers = sum, powers2 = sum2;

		for (uint32_t i = count - 1; i-- > 0;) {
			powers = twice256(powers);
			powers2 = twice256(powers2);
			if (!sources[i])
				continue;
			__m256i data = load256(sources[i] + at), data2 = load256(sources[i] + at + 32);

			sum = _mm256_xor_si256(sum, data);
			sum2 = _mm256_xor_si256(sum2, data2);
			powers = _mm256_xor_si256(powers, data);
			powers2 = _mm256_xor_si256(powers2, data2);
		}
		if (store) {
			store256(p + at, sum, sum2);
			store256(q + at, powers, powers2);
		} else {
			wrong = _mm256_or_si256(wrong, _mm256_or_si256(differ256(p + at, sum, sum2), differ256(q + at, powers, powers2)));
		}
	}
	return _mm256_testz_si256(wrong, wrong);
}

WIDE static bool p_avx2(uint8_t *const *sources, uint32_t count, const uint8_t *p, size_t length)
{
	__m256i wrong = _mm256_setzero_si256();

	for (size_t at = 0; at < length; at += sizeof(wrong)) {
		__m256i sum = load256(p + at);

		for (uint32_t i = 0; i < count; i++)
			if (sources[i])
				sum = _mm256_xor_si256(sum, load256(sources[i] + at));
		wrong = _mm256_or_si256(wrong, sum);
	}
	return _mm256_testz_si256(wrong, wrong);
}

WIDE static bool fits_avx2(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	return q ? pq_avx2(sources, count, (uint8_t *)(uintptr_t)p, (uint8_t *)(uintptr_t)q, length, false)
		 : p_avx2(sources, count, p, length);
}

WIDE static void make_avx2(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length)
{
	pq_avx2(sources, count, p, q, length, true);
}

static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }

const struct raid_kernel raid_kernels[] = {
	{ "gfni", has_gfni, fits_gfni, make_gfni },
	{ "avx2", has_avx2, fits_avx2, make_avx2 },
	{ NULL, NULL, NULL, NULL },
};
#else
const struct raid_kernel raid_kernels[] = { { NULL, NULL, NULL, NULL } };
#endif

const struct raid_kernel *raid_kernel_best(void)
{
	static _Atomic(const struct raid_kernel *) best;
	const struct raid_kernel *kernel = atomic_load_explicit(&best, memory_order_relaxed);

	if (!kernel) {
		for (kernel = raid_kernels; kernel->name && !kernel->supported();)
			kernel++;
		atomic_store_explicit(&best, kernel, memory_order_relaxed);
	}
	return kernel;
}
