/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Arrays of tests/golden/md, unpacked for the time of a test. */
#ifndef UNIT_RUN_GOLDEN_MD_H
#define UNIT_RUN_GOLDEN_MD_H

#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <blkalign/blkalign.h>

#include "scratch.h"

#define GOLDEN_MEMBERS 12U

struct golden_md {
	char folder[64];
	char path[128];
	char *names[GOLDEN_MEMBERS]; /* of the m images, NULL where there is none */
	size_t count;
	unsigned long long mismatch; /* mismatch_cnt after the kernel's first check; 0 when the case does not tell */
	char sha256[65];	     /* of the content, from case.txt; empty when it does not tell */
};

static inline void golden_md_read_case(struct golden_md *g)
{
	char path[256], line[512];
	unsigned long long mismatch;
	FILE *f;

	snprintf(path, sizeof(path), "%s/case.txt", g->path);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "sha256: %64s", g->sha256);
		if (!g->mismatch && sscanf(line, "mismatch_after_check: %llu", &mismatch) == 1)
			g->mismatch = mismatch;
	}
	fclose(f);
}

static inline void golden_md_open(struct golden_md *g, const char *name)
{
	char archive[64];

	*g = (struct golden_md){ .count = 0 };
	snprintf(archive, sizeof(archive), "md/%s", name);
	scratch_unpack(archive, g->folder, g->path);
	g->count = scratch_members(g->path, g->names, GOLDEN_MEMBERS);
	golden_md_read_case(g);
}

static inline void golden_md_close(struct golden_md *g)
{
	scratch_remove(g->folder);
	for (size_t i = 0; i < g->count; i++)
		free(g->names[i]);
}

/** Of all that the array `node` (NULL: the one there is) holds; what a read that fails says. */
static inline int golden_md_try_sha256(struct blkalign_run *run, const struct blkalign_node *node, char ret[65],
				       struct blkalign_error *reterr)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint8_t buffer[65536], digest[32];
	uint64_t size;
	int r = node ? 0 : blkalign_run_node(run, NULL, &node, reterr);

	assert_int_equal(EVP_DigestInit_ex(md, EVP_sha256(), NULL), 1);
	size = r < 0 ? 0 : blkalign_run_size(run, node);
	if (size == BLKALIGN_UNKNOWN)
		r = -EIO;
	for (uint64_t at = 0; r >= 0 && at < size; at += sizeof(buffer)) {
		size_t length = size - at < sizeof(buffer) ? size - at : sizeof(buffer);

		r = blkalign_run_read(run, node, at, buffer, length, reterr);
		assert_int_equal(EVP_DigestUpdate(md, buffer, length), 1);
	}
	assert_int_equal(EVP_DigestFinal_ex(md, digest, NULL), 1);
	EVP_MD_CTX_free(md);
	for (unsigned i = 0; i < 32; i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return r;
}

static inline void golden_md_sha256(struct blkalign_run *run, const struct blkalign_node *node, char ret[65])
{
	struct blkalign_error err = { 0 };

	if (golden_md_try_sha256(run, node, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
}

#endif
