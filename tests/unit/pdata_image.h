/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Metadata of thin pools and caches in memory: made by the real tools, or by hand, and spoilt with right checksums. */
#ifndef UNIT_PDATA_IMAGE_H
#define UNIT_PDATA_IMAGE_H

#include <stdio.h>
#include <unistd.h>

#include "format/pdata/pdata.h"
#include "unit.h"

#define SALT_THIN  UINT32_C(160774)
#define SALT_CACHE UINT32_C(9031977)

static inline void put_le(uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static inline void seal(uint8_t *block, uint32_t salt) { put_le(block, pdata_checksum(block, salt), 4); }

/* Node `number` of `data`: keys and values of 8 bytes in turn. */
static inline void put_node(uint8_t *data, uint64_t number, bool leaf, const uint64_t (*entries)[2], uint32_t count)
{
	uint8_t *block = data + number * PDATA_BLOCK_BYTES;

	memset(block, 0, PDATA_BLOCK_BYTES);
	put_le(block + 4, leaf ? 2 : 1, 4);
	put_le(block + 8, number, 8);
	put_le(block + 16, count, 4);
	put_le(block + 20, 252, 4);
	put_le(block + 24, 8, 4);
	for (uint32_t i = 0; i < count; i++) {
		put_le(block + 32 + 8 * (size_t)i, entries[i][0], 8);
		put_le(block + 32 + 8 * (size_t)(252 + i), entries[i][1], 8);
	}
	seal(block, PDATA_SALT_NODE);
}

/* `tool -i XML -o FILE` on a file of `bytes`. */
static inline uint8_t *restore(const char *tool, const char *options, const char *xml, size_t bytes)
{
	char in[] = "/tmp/blkalign-xml-XXXXXX", out[] = "/tmp/blkalign-meta-XXXXXX", command[256];
	uint8_t *data = malloc(bytes);
	int xml_fd = mkstemp(in), fd = mkstemp(out), status;

	assert_true(xml_fd >= 0 && fd >= 0 && data);
	assert_int_equal(write(xml_fd, xml, strlen(xml)), strlen(xml));
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin %s %s -i %s -o %s >/dev/null 2>&1", tool, options, in, out);
	status = system(command);
	if (WEXITSTATUS(status) == 127)
		fail_msg("%s is not installed: tools/install-deps", tool);
	assert_int_equal(status, 0);
	assert_int_equal(pread(fd, data, bytes, 0), bytes);
	close(xml_fd);
	close(fd);
	unlink(in);
	unlink(out);
	return data;
}

#endif
