/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>

/* Decode one UTF-8 character; 0 when the bytes are not valid (overlong, surrogate, beyond U+10FFFF, cut short). */
static size_t utf8_decode(const unsigned char *s, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	uint32_t c;

	if (length <= 1) {
		*ret = s[0];
		return length;
	}
	c = s[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fU);
	}
	if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return length;
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

void utf8_from_utf16le(char *ret, size_t size, const uint8_t *text, size_t length_bytes)
{
	size_t out = 0;

	for (size_t i = 0; i + 2 <= length_bytes; i += 2) {
		uint32_t c = load_le16(text + i), low = i + 4 <= length_bytes ? load_le16(text + i + 2) : 0;
		char utf8[4];
		size_t n;

		if (!c)
			break;
		if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
			i += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		n = utf8_put(utf8, c);
		if (out + n >= size)
			break;
		memcpy(ret + out, utf8, n);
		out += n;
	}
	ret[out] = '\0';
}

/* Characters that move the cursor, reorder text or hide: a name with them could imitate another. */
static bool is_treacherous(uint32_t c)
{
	return c < 0x20 || c == '\\' || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

char *blkalign_escape(char *ret, size_t size, const char *text)
{
	size_t used = 0;

	if (!size)
		return ret;
	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		uint32_t c = 0;
		size_t length = utf8_decode(s, &c);
		bool escape = !length || is_treacherous(c);

		if (!length)
			length = 1;
		if (used + (escape ? 4 * length : length) >= size)
			break;
		for (size_t i = 0; i < length; i++) {
			if (escape)
				used += (size_t)snprintf(ret + used, size - used, "\\x%02x", s[i]);
			else
				ret[used++] = (char)s[i];
		}
		s += length;
	}
	ret[used] = '\0';
	return ret;
}

char *blkalign_format_bytes(char *ret, size_t size, uint64_t bytes, int rounded)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned unit = 0;
	uint64_t whole = bytes;

	if (bytes == BLKALIGN_UNKNOWN) {
		snprintf(ret, size, "-");
		return ret;
	}
	if (rounded) {
		double value = (double)bytes;

		while (value >= 1024.0 && unit + 1 < ARRAY_SIZE(units)) {
			value /= 1024.0;
			unit++;
		}
		snprintf(ret, size, value == (double)(uint64_t)value ? "%.0f %s" : "%.1f %s", value, units[unit]);
		return ret;
	}
	while (whole && whole % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		whole /= 1024;
		unit++;
	}
	snprintf(ret, size, "%" PRIu64 " %s", whole, units[unit]);
	return ret;
}

void uuid_format(char ret[37], const uint8_t u[16])
{
	snprintf(ret, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6],
		 u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

char *text_join(char *ret, size_t size, const char *a, const char *b, const char *c)
{
	const char *const parts[] = { a, b, c };
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t length = strnlen(parts[i], size - 1 - used);

		memcpy(ret + used, parts[i], length);
		used += length;
	}
	ret[used] = '\0';
	return ret;
}
