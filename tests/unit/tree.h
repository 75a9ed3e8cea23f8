/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Trees of tests/sysfs, made in a temporary folder. */
#ifndef UNIT_TREE_H
#define UNIT_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

/* The folders above the last slash. */
static void tree_make_folders(const char *path)
{
	char folder[2 * PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = 0;
	if (access(folder, F_OK) == 0)
		return;
	folder[strlen(folder)] = '/';
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(folder, 0777) < 0)
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
}

static size_t tree_from_hex(char *text)
{
	size_t length = 0;
	unsigned byte;

	for (const char *p = text; sscanf(p, "%2x", &byte) == 1; p += 2)
		text[length++] = (char)byte;
	return length;
}

static size_t tree_from_text(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++, to++) {
		bool escape = *from == '\\' && from[1] && strchr("nt\\", from[1]);

		from += escape;
		*to = !escape ? *from : *from == 'n' ? '\n' : *from == 't' ? '\t' : '\\';
	}
	*to++ = '\n';
	return (size_t)(to - text);
}

/* The forms of `content` are told in tests/sysfs/expand. */
static void tree_entry(const char *folder, const char *name, char *content)
{
	char path[2 * PATH_MAX];
	bool hex = !strncmp(content, "hex:", 4);
	size_t length;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	tree_make_folders(path);
	if (path[strlen(path) - 1] == '/')
		return;
	if (!strncmp(content, "-> ", 3)) {
		assert_int_equal(symlink(content + 3, path), 0);
		return;
	}
	length = hex ? tree_from_hex(content += 4) : tree_from_text(content);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(content, 1, length, out), length);
	assert_int_equal(fclose(out), 0);
}

static void tree_expand(const char *folder, const char *name)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *in;

	snprintf(path, sizeof(path), "%s/sysfs/%s.tree", getenv("BLKALIGN_TESTS"), name);
	in = fopen(path, "r");
	assert_non_null(in);
	while ((length = getline(&line, &room, in)) > 0) {
		char *tab;

		line[length - 1] = 0;
		tab = strchr(line, '\t');
		if (!*line || *line == '#')
			continue;
		if (tab)
			*tab = 0;
		tree_entry(folder, line, tab ? tab + 1 : line + length - 1);
	}
	free(line);
	fclose(in);
}

/** A new folder that holds the tree `name`; NULL for an empty one. */
static void tree_make(char ret_folder[PATH_MAX], const char *name)
{
	/* Eight hundred small files a test: in memory where that can be had. */
	snprintf(ret_folder, PATH_MAX, "%s/XXXXXX", scratch_top(access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm"));
	assert_non_null(mkdtemp(ret_folder));
	if (name)
		tree_expand(ret_folder, name);
}

static int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void tree_remove(const char *folder) { assert_int_equal(nftw(folder, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0); }

/** Replace or make a file of the tree. */
static void tree_write(const char *folder, const char *file, const char *text)
{
	char path[2 * PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	tree_make_folders(path);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

#endif
