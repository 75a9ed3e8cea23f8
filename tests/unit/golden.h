/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Golden images of LVM: tests/golden/lvm/CASE.tar.xz, unpacked to a folder of their own for the time of a test. */
#ifndef UNIT_GOLDEN_H
#define UNIT_GOLDEN_H

#include <openssl/evp.h>
#include <unistd.h>

#include "scratch.h"
#include "stack/stack.h"

struct golden {
	char folder[64];
	char path[128]; /* of the unpacked case, below `folder` */
	char *text;	/* case.txt */
	struct stack *stack;
};

static inline const char *golden_root(void) { return getenv("BLKALIGN_TESTS"); }

static inline char *golden_read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static inline void golden_open(struct golden *g, const char *name)
{
	char text[192];

	*g = (struct golden){ .stack = NULL };
	snprintf(text, sizeof(text), "lvm/%s", name);
	scratch_unpack(text, g->folder, g->path);
	snprintf(text, sizeof(text), "%s/case.txt", g->path);
	g->text = golden_read_text(text);
}

static inline void golden_close(struct golden *g)
{
	stack_free(g->stack);
	free(g->text);
	scratch_remove(g->folder);
}

/** m0.img, m1.img, ... put together but for those of the mask `without`; the stack stays open, so that contents can be read. `running` may be NULL. */
static inline void golden_assemble_as(struct golden *g, unsigned without, const struct stack_running *running)
{
	struct blkalign_error err = { 0 };

	assert_int_equal(stack_new(graph_new("images"), NULL, &g->stack), 0);
	if (running)
		stack_set_running(g->stack, running);
	for (unsigned i = 0; i < 16; i++) {
		char path[192], name[16];
		struct dev *dev;
		struct blkalign_node *node;

		snprintf(name, sizeof(name), "m%u.img", i);
		snprintf(path, sizeof(path), "%s/%s", g->path, name);
		if (without & 1U << i || access(path, R_OK) != 0)
			continue;
		if (running && running->writable)
			assert_int_equal(dev_open_file_exclusive(path, &dev, &err), 0);
		else
			assert_int_equal(dev_open_file(path, &dev, &err), 0);
		assert_int_equal(stack_add(g->stack, BLKALIGN_KIND_DISK, name, dev, &node), 0);
		assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED), 0);
		assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096, BLKALIGN_ORIGIN_ASSUMED), 0);
	}
	assert_int_equal(stack_run(g->stack, &err), 0);
}

static inline void golden_assemble(struct golden *g) { golden_assemble_as(g, 0, NULL); }

/** Close the stack; the images stay. */
static inline void golden_disassemble(struct golden *g)
{
	stack_free(g->stack);
	g->stack = NULL;
}

/** Whether the case has image `image`. */
static inline bool golden_has(const struct golden *g, unsigned image)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/m%u.img", g->path, image);
	return access(path, R_OK) == 0;
}

/** Change an image on the way. */
static inline void golden_patch(const struct golden *g, unsigned image, uint64_t at, const void *data, size_t length)
{
	char path[192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/m%u.img", g->path, image);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
	assert_int_equal(fwrite(data, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
}

static inline void golden_sha256(struct dev *dev, char ret[65])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint8_t buffer[65536], digest[32];

	assert_int_equal(EVP_DigestInit_ex(md, EVP_sha256(), NULL), 1);
	for (uint64_t at = 0; at < dev->size_bytes; at += sizeof(buffer)) {
		size_t length = dev->size_bytes - at < sizeof(buffer) ? dev->size_bytes - at : sizeof(buffer);

		assert_int_equal(dev_read(dev, at, buffer, length, NULL), 0);
		assert_int_equal(EVP_DigestUpdate(md, buffer, length), 1);
	}
	assert_int_equal(EVP_DigestFinal_ex(md, digest, NULL), 1);
	EVP_MD_CTX_free(md);
	for (unsigned i = 0; i < 32; i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

#endif
