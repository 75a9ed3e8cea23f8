/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Q by Horner's rule from the highest power down: q = 2 q + d, in the field with polynomial 0x11d. Doubling all bytes of a register is one instruction where there is GFNI (an affine
 * map of bits), and four in AVX2: shift, and add 0x1d where the top bit fell out.
 */
#include <stdatomic.h>

#include "raid/compare.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Row masks of the affine map x -> 2 x, output bit 0 in the highest byte. */
#define TWICE UINT64_C(0x8001828488102040)

#define FAST __attribute__((target("avx512f,avx512bw,gfni")))

FAST static inline __m512i load512(const uint8_t *p) { return _mm512_loadu_si512((const void *)p); }

FAST static bool pq_gfni(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	const __m512i twice = _mm512_set1_epi64((long long)TWICE);
	__m512i wrong = _mm512_setzero_si512();

	for (size_t at = 0; at < length; at += COMPARE_BYTES) {
		__m512i sum = load512(sources[count - 1] + at), powers = sum;

		for (uint32_t i = count - 1; i-- > 0;) {
			powers = _mm512_gf2p8affine_epi64_epi8(powers, twice, 0);
			if (!sources[i])
				continue;
			__m512i data = load512(sources[i] + at);

			sum = _mm512_xor_si512(sum, data);
			powers = _mm512_xor_si512(powers, data);
		}
		wrong = _mm512_or_si512(wrong, _mm512_xor_si512(sum, load512(p + at)));
		wrong = _mm512_or_si512(wrong, _mm512_xor_si512(powers, load512(q + at)));
	}
	return _mm512_test_epi64_mask(wrong, wrong) == 0;
}

FAST static bool p_512(uint8_t *const *sources, uint32_t count, const uint8_t *p, size_t length)
{
	__m512i wrong = _mm512_setzero_si512();

	for (size_t at = 0; at < length; at += COMPARE_BYTES) {
		__m512i sum = load512(p + at);

		for (uint32_t i = 0; i < count; i++)
			if (sources[i])
				sum = _mm512_xor_si512(sum, load512(sources[i] + at));
		wrong = _mm512_or_si512(wrong, sum);
	}
	return _mm512_test_epi64_mask(wrong, wrong) == 0;
}

static bool run_gfni(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	return q ? pq_gfni(sources, count, p, q, length) : p_512(sources, count, p, length);
}

static bool has_gfni(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("gfni");
}

#define WIDE __attribute__((target("avx2")))

WIDE static inline __m256i load256(const uint8_t *p) { return _mm256_loadu_si256((const void *)p); }

WIDE static inline __m256i twice256(__m256i v)
{
	__m256i top = _mm256_cmpgt_epi8(_mm256_setzero_si256(), v);

	return _mm256_xor_si256(_mm256_add_epi8(v, v), _mm256_and_si256(top, _mm256_set1_epi8(0x1d)));
}

WIDE static bool pq_avx2(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	__m256i wrong = _mm256_setzero_si256();

	for (size_t at = 0; at < length; at += sizeof(wrong)) {
		__m256i sum = load256(sources[count - 1] + at), powers = sum;

		for (uint32_t i = count - 1; i-- > 0;) {
			powers = twice256(powers);
			if (!sources[i])
				continue;
			__m256i data = load256(sources[i] + at);

			sum = _mm256_xor_si256(sum, data);
			powers = _mm256_xor_si256(powers, data);
		}
		wrong = _mm256_or_si256(wrong, _mm256_xor_si256(sum, load256(p + at)));
		wrong = _mm256_or_si256(wrong, _mm256_xor_si256(powers, load256(q + at)));
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

static bool run_avx2(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length)
{
	return q ? pq_avx2(sources, count, p, q, length) : p_avx2(sources, count, p, length);
}

static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }

const struct compare_kernel compare_kernels[] = { { "gfni", has_gfni, run_gfni }, { "avx2", has_avx2, run_avx2 }, { NULL, NULL, NULL } };
#else
const struct compare_kernel compare_kernels[] = { { NULL, NULL, NULL } };
#endif

compare_fn compare_best(void)
{
	static _Atomic(const struct compare_kernel *) best;
	const struct compare_kernel *kernel = atomic_load_explicit(&best, memory_order_relaxed);

	if (!kernel) {
		for (kernel = compare_kernels; kernel->name && !kernel->supported();)
			kernel++;
		atomic_store_explicit(&best, kernel, memory_order_relaxed);
	}
	return kernel->run;
}
