/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scrub.h"

#define STATE_MAX_BYTES (64LL << 20)

static int failed(struct blkalign_error *reterr, const char *path, const char *what)
{
	return blkalign_error_set(reterr, -errno, path, BLKALIGN_UNKNOWN, "cannot %s the state: %s", what, strerror(errno));
}

static bool read_all(int fd, char *text, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = read(fd, text + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO; /* it became shorter */
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	text[length] = '\0';
	return true;
}

int scrub_state_load(const char *path, char **ret_text, struct blkalign_error *reterr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	struct stat st;

	*ret_text = NULL;
	if (fd < 0)
		return failed(reterr, path, "read");
	if (fstat(fd, &st) < 0)
		r = failed(reterr, path, "read");
	else if (!S_ISREG(st.st_mode) || st.st_size > STATE_MAX_BYTES)
		r = blkalign_error_set(reterr, -EBADMSG, path, BLKALIGN_UNKNOWN, "is no state of a scrub");
	else
		*ret_text = malloc((size_t)st.st_size + 1);
	if (r == 0 && !*ret_text)
		r = -ENOMEM;
	if (r == 0 && !read_all(fd, *ret_text, (size_t)st.st_size))
		r = failed(reterr, path, "read");
	close(fd);
	if (r < 0) {
		free(*ret_text);
		*ret_text = NULL;
	}
	return r;
}

static bool write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		length -= (size_t)n;
	}
	return fsync(fd) == 0;
}

/* So that the new name survives a power cut. */
static bool sync_folder(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return ok;
}

static int save(const char *path, const char *beside, const char *text, struct blkalign_error *reterr)
{
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool ok;

	if (fd < 0)
		return failed(reterr, path, "write");
	ok = write_all(fd, text, strlen(text));
	ok = close(fd) == 0 && ok && rename(beside, path) == 0 && sync_folder(path);
	return ok ? 0 : failed(reterr, path, "write");
}

int scrub_state_save(const char *path, const struct blkalign_scrub *scrub, struct blkalign_error *reterr)
{
	char *text = NULL, *beside = NULL;
	int r = blkalign_scrub_state(scrub, &text, reterr);

	if (r >= 0)
		r = asprintf(&beside, "%s.new", path) < 0 ? -ENOMEM : save(path, beside, text, reterr);
	free(beside);
	free(text);
	return r;
}
