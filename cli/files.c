/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"

#define FILE_MAX_BYTES (256 << 20)

static int tell(const char *path, const char *what, int error)
{
	cli_say("%s: cannot be %s: %s", cli_safe(path), what, strerror(error));
	return -1;
}

static int read_all(int fd, char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		ssize_t n = read(fd, text + at, length - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += (size_t)n;
	}
	return 0;
}

int cli_read_file(const char *path, char **ret_text, size_t *ret_length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = fd < 0 ? errno : 0;
	struct stat st = { 0 };
	char *text = NULL;

	if (error == ENOENT)
		return 1;
	if (!error && fstat(fd, &st) < 0)
		error = errno;
	if (!error && (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES))
		error = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
	if (!error) {
		text = calloc(1, (size_t)st.st_size + 1);
		error = text ? read_all(fd, text, (size_t)st.st_size) : ENOMEM;
	}
	if (fd >= 0)
		close(fd);
	if (error) {
		free(text);
		return tell(path, "read", error);
	}
	*ret_text = text;
	*ret_length = (size_t)st.st_size;
	return 0;
}

static int sync_folder(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = !copy ? ENOMEM : fd < 0 || fsync(fd) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return error;
}

static int write_all(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		text += n;
		length -= (size_t)n;
	}
	return fsync(fd) < 0 ? errno : 0;
}

int cli_replace_file(const char *path, const char *text)
{
	size_t size = strlen(path) + sizeof(".XXXXXX");
	char *beside = malloc(size);
	int fd, error;

	if (!beside)
		return tell(path, "written", ENOMEM);
	snprintf(beside, size, "%s.XXXXXX", path);
	fd = mkostemp(beside, O_CLOEXEC);
	error = fd < 0 ? errno : write_all(fd, text);
	if (!error && rename(beside, path) < 0)
		error = errno;
	if (error && fd >= 0)
		unlink(beside);
	if (fd >= 0)
		close(fd);
	if (!error)
		error = sync_folder(path);
	free(beside);
	return error ? tell(path, "written", error) : 0;
}

const char *cli_undo_name(const char *what, char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[32];

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	for (unsigned n = 1; n < 1000; n++) {
		char number[16] = "";

		if (n > 1)
			snprintf(number, sizeof(number), "-%u", n);
		snprintf(ret, size, "blkalign-undo-%s-%s%s.log", what, date, number);
		for (char *c = ret; *c; c++)
			if (*c == ':' || *c == '/')
				*c = '-';
		if (access(ret, F_OK) < 0)
			break;
	}
	return ret;
}
