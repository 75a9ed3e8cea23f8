/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Cases of tests/golden/md: unpacked, what mdadm printed about them, and the stack of their images. */
#ifndef UNIT_STACK_MD_GOLDEN_H
#define UNIT_STACK_MD_GOLDEN_H

#include "scratch.h"

#include <dirent.h>
#include <fnmatch.h>
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack/md.h"

#define MEMBERS 10

/* --- what mdadm printed --- */

struct printed {
	char metadata[8], uuid[40], name[64], level[16], layout[32], role[48];
	unsigned long long raid_devices, data_offset_sectors512, chunk_kib, events;
	bool superblock, bitmap;
};

struct golden {
	char folder[256], name[64];
	unsigned shown;	 /* members that mdadm showed */
	char letter;	 /* of the images that are open */
	unsigned images; /* of that letter */
	struct printed member[MEMBERS];
	uint64_t size_bytes;   /* of the array, from the kernel */
	char after_sha256[65]; /* of the "a" images */
};

static inline void parse_line(struct printed *p, const char *line)
{
	unsigned number;
	char role[16];

	sscanf(line, " Version : %4[0-9.]", p->metadata);
	sscanf(line, " Array UUID : %39s", p->uuid);
	sscanf(line, " UUID : %39s", p->uuid);
	sscanf(line, " Name : %63s", p->name);
	sscanf(line, " Raid Level : %15s", p->level);
	sscanf(line, " Raid Devices : %llu", &p->raid_devices);
	sscanf(line, " Data Offset : %llu", &p->data_offset_sectors512);
	sscanf(line, " Layout : %31[^\n]", p->layout);
	sscanf(line, " Chunk Size : %lluK", &p->chunk_kib);
	sscanf(line, " Events : %llu", &p->events);
	sscanf(line, " Device Role : %47[^\n]", p->role);
	p->bitmap = p->bitmap || strstr(line, "Internal Bitmap");
	p->superblock = p->superblock || strstr(line, "Magic : a92b4efc");
	if (sscanf(line, "this %*u %*u %*u %u active %15s", &number, role) == 2)
		snprintf(p->role, sizeof(p->role), "Active device %u", number);
}

static inline bool member_header(const char *line, unsigned *ret)
{
	return sscanf(line, "--: mdadm --examine m%u", ret) == 1 || sscanf(line, "--: examine /dev/loop%u", ret) == 1;
}

static inline void parse_case(struct golden *g)
{
	char path[512], line[512];
	unsigned m = MEMBERS;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/case.txt", g->folder, g->name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long size;

		if (sscanf(line, "size: %llu", &size) == 1)
			g->size_bytes = size;
		sscanf(line, "after_sha256: %64s", g->after_sha256);
		if (member_header(line, &m))
			g->shown = m + 1;
		else if (!strncmp(line, "--:", 3))
			m = MEMBERS;
		else if (m < MEMBERS)
			parse_line(&g->member[m], line);
	}
	fclose(f);
}

static inline void unpack(struct golden *g, const char *name)
{
	char archive[272], path[128];

	*g = (struct golden){ 0 };
	snprintf(g->name, sizeof(g->name), "%s", name);
	snprintf(archive, sizeof(archive), "md/%s", name);
	scratch_unpack(archive, g->folder, path);
	parse_case(g);
}

static inline void discard(const struct golden *g) { scratch_remove(g->folder); }

/* --- the stack of the images --- */

static inline void add_image(struct stack *stack, const char *folder, const char *file)
{
	struct blkalign_error err;
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (stack_add_image(stack, path, &err) < 0)
		fail_msg("%s", err.message);
}

/* Images m0.img, m1.img, ... or a0.img, ... in their order, without those of the bits in `absent`. NULL when there are none. */
static inline struct stack *open_some(struct golden *g, char letter, unsigned absent, const struct stack_running *running)
{
	struct stack *stack = NULL;
	char folder[512], file[32], path[1024];

	snprintf(folder, sizeof(folder), "%s/%s", g->folder, g->name);
	g->letter = letter;
	for (g->images = 0; g->images < MEMBERS; g->images++) {
		snprintf(file, sizeof(file), "%c%u.img", letter, g->images);
		snprintf(path, sizeof(path), "%s/%s", folder, file);
		if (access(path, R_OK) < 0)
			break;
		if (!stack)
			assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
		if (running && g->images == 0)
			stack_set_running(stack, running);
		if (!(absent & 1U << g->images))
			add_image(stack, folder, file);
	}
	if (stack)
		assert_int_equal(stack_run(stack, NULL), 0);
	return stack;
}

static inline struct stack *open_images(struct golden *g, char letter) { return open_some(g, letter, 0, NULL); }

static inline struct blkalign_node *the_array(const struct golden *g, struct stack *stack)
{
	struct blkalign_node *found = NULL;

	for (size_t i = 0; i < blkalign_graph_size(stack_graph(stack)); i++) {
		struct blkalign_node *node = graph_node(stack_graph(stack), i);

		if (blkalign_node_kind(node) != BLKALIGN_KIND_MD)
			continue;
		if (found)
			fail_msg("%s: more than one array", g->name);
		found = node;
	}
	if (!found)
		fail_msg("%s: no array", g->name);
	return found;
}

static inline void print_remarks(const struct golden *g, struct stack *stack)
{
	for (size_t i = 0; i < blkalign_graph_remarks(stack_graph(stack)); i++)
		print_message("%s: remark: %s\n", g->name, blkalign_graph_remark(stack_graph(stack), i));
}

/* --- content --- */

static inline void hash(const struct golden *g, struct dev *dev, char ret[65])
{
	_cleanup_free_ uint8_t *buffer = malloc(MIB);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t digest[32];
	struct blkalign_error err;

	EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
	for (uint64_t at = 0; at < dev->size_bytes; at += MIB) {
		size_t length = dev->size_bytes - at < MIB ? dev->size_bytes - at : MIB;

		if (dev_read(dev, at, buffer, length, &err) < 0)
			fail_msg("%s: %s", g->name, err.message);
		EVP_DigestUpdate(ctx, buffer, length);
	}
	EVP_DigestFinal_ex(ctx, digest, NULL);
	EVP_MD_CTX_free(ctx);
	for (unsigned i = 0; i < 32; i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

#endif
