/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What every folder needs: byte order, checked arithmetic, CRCs, scoped clean-up, arenas and string buffers. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <blkalign/error.h>
#include <blkalign/text.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define KIB	      UINT64_C(1024)
#define MIB	      (UINT64_C(1024) * KIB)
#define GIB	      (UINT64_C(1024) * MIB)

#define _cleanup_(fn) __attribute__((cleanup(fn)))
static inline void base_freep(void *p)
{
	void **pp = p;

	free(*pp);
}
#define _cleanup_free_ _cleanup_(base_freep)

/* --- byte order: on-disk integers are types of their own, so that they cannot be used unconverted --- */

typedef struct {
	uint8_t b[2];
} le16;
typedef struct {
	uint8_t b[4];
} le32;
typedef struct {
	uint8_t b[8];
} le64;
typedef struct {
	uint8_t b[2];
} be16;
typedef struct {
	uint8_t b[4];
} be32;
typedef struct {
	uint8_t b[8];
} be64;

static inline uint16_t le16_get(le16 v) { return (uint16_t)(v.b[0] | v.b[1] << 8); }
static inline uint32_t le32_get(le32 v)
{
	return (uint32_t)v.b[0] | (uint32_t)v.b[1] << 8 | (uint32_t)v.b[2] << 16 | (uint32_t)v.b[3] << 24;
}
static inline uint64_t le64_get(le64 v)
{
	uint64_t r = 0;

	for (unsigned i = 8; i-- > 0;)
		r = r << 8 | v.b[i];
	return r;
}
static inline uint16_t be16_get(be16 v) { return (uint16_t)(v.b[0] << 8 | v.b[1]); }
static inline uint32_t be32_get(be32 v)
{
	return (uint32_t)v.b[0] << 24 | (uint32_t)v.b[1] << 16 | (uint32_t)v.b[2] << 8 | (uint32_t)v.b[3];
}
static inline uint64_t be64_get(be64 v)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 8; i++)
		r = r << 8 | v.b[i];
	return r;
}
/** The same from an unaligned place in a buffer; the caller has checked that the bytes are there. */
static inline uint16_t load_le16(const uint8_t *p) { return le16_get((le16){ { p[0], p[1] } }); }
static inline uint32_t load_le32(const uint8_t *p) { return le32_get((le32){ { p[0], p[1], p[2], p[3] } }); }
static inline uint64_t load_le64(const uint8_t *p) { return (uint64_t)load_le32(p) | (uint64_t)load_le32(p + 4) << 32; }
static inline uint16_t load_be16(const uint8_t *p) { return be16_get((be16){ { p[0], p[1] } }); }
static inline uint32_t load_be32(const uint8_t *p) { return be32_get((be32){ { p[0], p[1], p[2], p[3] } }); }
static inline uint64_t load_be64(const uint8_t *p) { return (uint64_t)load_be32(p) << 32 | load_be32(p + 4); }

/** The low `width_bytes` bytes of `value`, little-endian, into an unaligned place or an on-disk field. */
static inline void store_le(void *place, size_t width_bytes, uint64_t value)
{
	uint8_t *p = (uint8_t *)place;

	for (size_t i = 0; i < width_bytes; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

/* --- checked arithmetic: false on overflow, *ret untouched --- */

static inline bool u64_add(uint64_t a, uint64_t b, uint64_t *ret)
{
	uint64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return false;
	*ret = r;
	return true;
}
static inline bool u64_mul(uint64_t a, uint64_t b, uint64_t *ret)
{
	uint64_t r;

	if (__builtin_mul_overflow(a, b, &r))
		return false;
	*ret = r;
	return true;
}
/** True when [offset, offset + length) lies in [0, size). */
static inline bool range_inside(uint64_t offset, uint64_t length, uint64_t size) { return offset <= size && length <= size - offset; }
static inline bool is_power_of_2(uint64_t v) { return v && !(v & (v - 1)); }
static inline uint64_t round_down_u64(uint64_t v, uint64_t unit) { return v - v % unit; }
/** 0 when the result does not fit. */
static inline uint64_t round_up_u64(uint64_t v, uint64_t unit)
{
	uint64_t rest = v % unit, r;

	if (!rest)
		return v;
	return u64_add(v, unit - rest, &r) ? r : 0;
}
uint64_t gcd_u64(uint64_t a, uint64_t b);

/* --- ranges of bytes --- */

struct byte_range {
	uint64_t offset_bytes;
	uint64_t length_bytes;
};
/** Where it ends; UINT64_MAX where that is beyond what can be counted. */
static inline uint64_t range_end(const struct byte_range *range)
{
	uint64_t end;

	return u64_add(range->offset_bytes, range->length_bytes, &end) ? end : UINT64_MAX;
}
/** Index of the first of ascending ranges, apart from each other, that ends behind `at`; `count` when none does. */
size_t ranges_behind(const struct byte_range *ranges, size_t count, uint64_t at);
/** Sort, and join what overlaps or touches. Returns how many are left. */
size_t ranges_tidy(struct byte_range *ranges, size_t count);

/* --- checksums --- */

/** CRC-32 (reflected 0xedb88320) without the initial and final inversions; `seed` is the register. LVM2's flavour starts at 0xf597a6cf. */
uint32_t crc32_raw(uint32_t seed, const void *data, size_t length);
/** The usual CRC-32 of zlib and GPT. */
uint32_t crc32_zlib(const void *data, size_t length);
/** CRC-32C without the inversions; `seed` is the register. */
uint32_t crc32c_raw(uint32_t seed, const void *data, size_t length);

/* --- a hash that nobody can foresee who does not know the key: for tables whose keys come from others --- */

struct sipkey {
	uint64_t k0;
	uint64_t k1;
};
/** SipHash-2-4. */
uint64_t siphash(const struct sipkey *key, const void *data, size_t length);

/* --- arena: memory that is freed all at once --- */

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *arena);
/** Zeroed memory, aligned for pointers and numbers of 64 bits; NULL when there is none. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- string buffer: grows, never fails loudly; `failed` is looked at once at the end --- */

struct strbuf {
	char *text; /* terminated, or NULL while empty */
	size_t length;
	size_t capacity;
	bool failed; /* an allocation failed: the text is incomplete */
};
void strbuf_done(struct strbuf *buf);
/** Empty, for another text in the same memory. */
void strbuf_clear(struct strbuf *buf);
#define _cleanup_strbuf_ _cleanup_(strbuf_done)
void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_addn(struct strbuf *buf, const char *text, size_t length);
/** In decimal. */
void strbuf_add_u64(struct strbuf *buf, uint64_t number);
void strbuf_printf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Never NULL. */
const char *strbuf_text(const struct strbuf *buf);

/* --- growable arrays: VEC(int) v = {0}; vec_push(&v, 7) -> 0 or -ENOMEM; v.data[i], v.count; vec_done(&v) --- */

#define VEC(type)                                                                                                                          \
	struct {                                                                                                                           \
		type *data;                                                                                                                \
		size_t count;                                                                                                              \
		size_t room;                                                                                                               \
	}
int vec_grow_(void **data, size_t *room, size_t count, size_t item_size);
#define vec_push(v, item)                                                                                                                  \
	(vec_grow_((void **)&(v)->data, &(v)->room, (v)->count, sizeof(*(v)->data)) < 0 ? -ENOMEM : ((v)->data[(v)->count++] = (item), 0))
#define vec_done(v) (free((v)->data), (v)->data = NULL, (v)->count = (v)->room = 0)

/**
 * UTF-16LE as UTF-8, up to the first NUL, the end, or where `ret` is full; terminated. Half a pair of surrogates becomes U+FFFD. `size` is at least 1;
 * three bytes for each unit and one more are always enough.
 */
void utf8_from_utf16le(char *ret, size_t size, const uint8_t *text, size_t length_bytes);

/** `a`, `b` and `c` one after the other, cut to fit, always terminated: what snprintf("%s%s%s") does, at a tenth of its price. Returns `ret`. */
char *text_join(char *ret, size_t size, const char *a, const char *b, const char *c);

/** 16 bytes as 8-4-4-4-12 lower case; `ret` holds 37 bytes. */
void uuid_format(char ret[37], const uint8_t uuid[16]);

#endif
