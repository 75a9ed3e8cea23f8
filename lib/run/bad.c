/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of which a ddrescue map file says what could not be read. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/ddrescue/ddrescue.h"
#include "run/run.h"

#define MAP_MAX_BYTES (256 * MIB)

static int read_all(int fd, char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		ssize_t n = read(fd, text + at, length - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
	}
	return 0;
}

static int read_file(const char *path, char **ret_text, size_t *ret_length, struct blkalign_error *reterr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = fd < 0 ? -errno : 0;
	_cleanup_free_ char *text = NULL;
	struct stat st = { 0 };

	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r == 0 && (!S_ISREG(st.st_mode) || st.st_size > (off_t)MAP_MAX_BYTES))
		r = S_ISREG(st.st_mode) ? -EFBIG : -ENOTSUP;
	if (r == 0) {
		text = malloc((size_t)st.st_size + 1);
		r = text ? read_all(fd, text, (size_t)st.st_size) : -ENOMEM;
	}
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "the map file cannot be read: %s", strerror(-r));
	*ret_text = text;
	*ret_length = (size_t)st.st_size;
	text = NULL;
	return 0;
}

static int read_bad(const char *map_path, struct byte_range **ret_ranges, size_t *ret_count, struct blkalign_error *reterr)
{
	_cleanup_ddrescue_map_ struct ddrescue_map map = { 0 };
	_cleanup_free_ char *text = NULL;
	struct blkalign_error err = { 0 };
	size_t length = 0;
	int r = read_file(map_path, &text, &length, reterr);

	if (r < 0)
		return r;
	r = ddrescue_decode(text, length, &map, &err);
	if (r < 0)
		return blkalign_error_set(reterr, r, map_path, BLKALIGN_UNKNOWN, "%s", *err.message ? err.message : strerror(-r));
	/* The device's size is not known yet; behind the map nothing is finished. */
	return ddrescue_unfinished(&map, INT64_MAX, ret_ranges, ret_count);
}

const char *run_map_of(const struct blkalign_run_options *options, const char *path)
{
	for (size_t i = 0; options && i < options->bad_count; i++)
		if (!strcmp(options->bad[i].path, path))
			return options->bad[i].map_path;
	return NULL;
}

int run_add_member(struct blkalign_run *run, const struct blkalign_run_options *options, const char *path, struct blkalign_error *reterr)
{
	const char *map_path = run_map_of(options, path);
	_cleanup_free_ struct byte_range *bad = NULL;
	size_t count = 0;
	int r = map_path ? read_bad(map_path, &bad, &count, reterr) : 0;

	return r < 0 ? r : stack_add_rescued(run->stack, path, bad, count, reterr);
}

int run_check_bad(const struct blkalign_run_options *options, const char *const *paths, size_t count, struct blkalign_error *reterr)
{
	/* Its map would have to follow what is written. */
	if (options && options->bad_count && options->writable && !options->cow)
		return blkalign_error_set(
			reterr, -EINVAL, options->bad[0].path, BLKALIGN_UNKNOWN,
			"has a map file of what could not be read: such a member is only read, or written over with an overlay");
	for (size_t i = 0; options && i < options->bad_count; i++) {
		const struct blkalign_run_bad *bad = &options->bad[i];
		bool found = false;

		for (size_t k = 0; k < count; k++)
			found = found || !strcmp(paths[k], bad->path);
		if (!found)
			return blkalign_error_set(reterr, -EINVAL, bad->path, BLKALIGN_UNKNOWN,
						  "is none of the members, but has the map file %s; write both alike", bad->map_path);
		if (run_map_of(options, bad->path) != bad->map_path)
			return blkalign_error_set(reterr, -EINVAL, bad->path, BLKALIGN_UNKNOWN, "has two map files");
	}
	return 0;
}
