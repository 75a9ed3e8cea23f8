/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stack/live_resolve.h"
#include "stack/live_root.h"

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

int live_root_open(const char *sysroot, struct live_root *ret_root, struct blkalign_error *reterr)
{
	const char *path = sysroot ? sysroot : "/";
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return blkalign_error_set(reterr, -errno, path, BLKALIGN_UNKNOWN, "cannot open the root folder: %s", strerror(errno));
	*ret_root = (struct live_root){ .fd = fd, .foreign = sysroot != NULL };
	return 0;
}

void live_root_close(struct live_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

static int open_in_root(struct live_root *root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root->fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int live_open(struct live_root *root, const char *path, int flags)
{
	int r;

	flags |= flags & O_PATH ? O_CLOEXEC : READ_FLAGS; /* openat2() refuses what means nothing for O_PATH */
	if (!root->foreign) {
		r = openat(root->fd, path, flags);
		return r < 0 ? -errno : r;
	}
	if (!root->no_openat2) {
		r = open_in_root(root, path, flags);
		if (r != -ENOSYS && r != -EPERM)
			return r;
		root->no_openat2 = true; /* before 5.6, or a sandbox that does not know the call */
	}
	return live_resolve_open(root->fd, path, flags);
}

/* The errors with which sysfs says "there is no such value", next to those of a missing file. */
static bool means_absent(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ENODATA || error == -EOPNOTSUPP || error == -EINVAL || error == -ENXIO ||
	       error == -ENODEV || error == -ELOOP;
}

static int count_failure(struct live_root *root, const char *path, int error)
{
	bool refused = error == -EACCES || error == -EPERM;
	size_t *count = refused ? &root->refused : &root->failed;
	char *first = refused ? root->first_refused : root->first_failed;

	if (means_absent(error))
		return BLKALIGN_ABSENT;
	if (error == -ENOMEM)
		return error;
	if (!(*count)++)
		snprintf(first, sizeof(root->first_failed), "%s", path);
	return error;
}

static int read_all(int fd, char **ret_bytes, size_t *ret_length)
{
	_cleanup_free_ char *bytes = NULL;
	size_t length = 0, room = 4096; /* attributes of sysfs fit into a page */

	for (;; room *= 2) {
		char *grown = realloc(bytes, room + 1);
		ssize_t n = 1;

		if (!grown)
			return -ENOMEM;
		bytes = grown;
		while (length < room && n > 0) {
			n = read(fd, bytes + length, room - length);
			if (n < 0 && errno != EINTR)
				return -errno;
			length += n > 0 ? (size_t)n : 0;
		}
		if (length < room || room >= LIVE_FILE_MAX)
			break;
	}
	bytes[length] = '\0';
	*ret_length = length;
	*ret_bytes = bytes;
	bytes = NULL;
	return 0;
}

int live_read(struct live_root *root, const char *path, char **ret_bytes, size_t *ret_length)
{
	size_t length = 0;
	struct stat st;
	int fd = live_open(root, path, 0), r;

	if (fd < 0)
		return count_failure(root, path, fd);
	/* A dumped tree may hold anything under these names: FIFOs, devices. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return BLKALIGN_ABSENT;
	}
	r = read_all(fd, ret_bytes, &length);
	close(fd);
	if (r < 0)
		return count_failure(root, path, r);
	if (ret_length)
		*ret_length = length;
	return 0;
}

int live_text(struct live_root *root, const char *path, char **ret_text)
{
	char *text = NULL;
	int r = live_read(root, path, &text, NULL);
	size_t length;

	if (r != 0)
		return r;
	assert(text);
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		text[--length] = '\0';
	if (!length) {
		free(text);
		return BLKALIGN_ABSENT;
	}
	*ret_text = text;
	return 0;
}

bool live_exists(struct live_root *root, const char *path)
{
	int fd = live_open(root, path, O_PATH);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int live_link(struct live_root *root, const char *path, char **ret_target)
{
	char target[PATH_MAX];
	int fd = live_open(root, path, O_PATH | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return count_failure(root, path, fd);
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	close(fd);
	if (n <= 0)
		return BLKALIGN_ABSENT;
	target[n] = '\0';
	*ret_target = strdup(target);
	return *ret_target ? 0 : -ENOMEM;
}

int live_link_name(struct live_root *root, const char *path, char **ret_name)
{
	_cleanup_free_ char *target = NULL;
	int r = live_link(root, path, &target);

	if (r != 0)
		return r;
	*ret_name = strdup(basename(target));
	return *ret_name ? 0 : -ENOMEM;
}

static int by_number(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strverscmp(*x, *y);
}

int live_list(struct live_root *root, const char *path, struct live_names *ret_names)
{
	_cleanup_names_ struct live_names names = { 0 };
	int fd = live_open(root, path, O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (fd < 0)
		return count_failure(root, path, fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (r == 0 && (entry = readdir(dir))) {
		char *name = entry->d_name[0] == '.' ? NULL : strdup(entry->d_name);

		if (name && vec_push(&names, name) < 0) {
			free(name);
			r = -ENOMEM;
		}
	}
	closedir(dir);
	if (r < 0)
		return r;
	if (names.count)
		qsort(names.data, names.count, sizeof(*names.data), by_number);
	*ret_names = names;
	names = (struct live_names){ 0 };
	return 0;
}

void live_names_done(struct live_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->data[i]);
	vec_done(names);
}

char *live_join(const char *a, const char *b)
{
	char *path;

	return asprintf(&path, "%s/%s", a, b) < 0 ? NULL : path;
}
