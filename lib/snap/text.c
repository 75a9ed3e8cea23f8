/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Getting at the text of a file, compressed or not, without ever holding more than the cap. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include "snap/snap.h"

#define GZIP_WINDOW_BITS (15 + 16)

static void close_fdp(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* O_NONBLOCK: a FIFO must not hang us before fstat() has told what it is. */
static int open_target(const char *path, struct stat *ret_st, struct blkalign_error *reterr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;

	if (fd < 0)
		return blkalign_error_set(reterr, -errno, path, BLKALIGN_UNKNOWN, "cannot open: %s", strerror(errno));
	if (fstat(fd, ret_st) < 0) {
		r = -errno;
		close(fd);
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "cannot stat: %s", strerror(-r));
	}
	return fd;
}

static int not_regular(const char *path, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -ENOTSUP, path, BLKALIGN_UNKNOWN, "is neither a regular file nor a folder");
}

/* Up to `size` bytes from the start of the file; the count, or negative errno. */
static ssize_t read_front(int fd, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buffer + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static bool is_gzip(const unsigned char *bytes, size_t length) { return length >= 18 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

/* Inflate until `out` is full or the input ends. Z_STREAM_END, Z_OK (more would come), Z_BUF_ERROR (input cut) or zlib's error. */
static int inflate_once(const unsigned char *in, size_t in_length, void *out, size_t out_room, size_t *ret_length)
{
	z_stream z = { .next_in = in, .avail_in = (uInt)in_length, .next_out = out, .avail_out = (uInt)out_room };
	int r = inflateInit2(&z, GZIP_WINDOW_BITS);

	if (r != Z_OK)
		return r;
	r = inflate(&z, Z_FINISH);
	if (r == Z_BUF_ERROR && z.avail_out == 0)
		r = Z_OK;
	*ret_length = out_room - z.avail_out;
	inflateEnd(&z);
	return r;
}

int snap_probe(const char *path, struct snap_probe *ret_probe, struct blkalign_error *reterr)
{
	unsigned char raw[SNAP_HEAD_MAX];
	struct stat st = { 0 };
	_cleanup_(close_fdp) int fd = open_target(path, &st, reterr);
	ssize_t n;
	int r;

	if (fd < 0)
		return fd;
	ret_probe->path = path;
	ret_probe->directory = S_ISDIR(st.st_mode);
	ret_probe->head_length = 0;
	ret_probe->head[0] = '\0';
	if (ret_probe->directory)
		return 0;
	if (!S_ISREG(st.st_mode))
		return not_regular(path, reterr);
	n = read_front(fd, raw, sizeof(raw));
	if (n < 0)
		return blkalign_error_set(reterr, (int)n, path, 0, "cannot read: %s", strerror((int)-n));
	if (is_gzip(raw, (size_t)n)) {
		r = inflate_once(raw, (size_t)n, ret_probe->head, SNAP_HEAD_MAX, &ret_probe->head_length);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
	} else {
		memcpy(ret_probe->head, raw, (size_t)n);
		ret_probe->head_length = (size_t)n;
	}
	ret_probe->head[ret_probe->head_length] = '\0';
	return 0;
}

bool snap_looks_like_text(const struct snap_probe *probe)
{
	for (size_t i = 0; i < probe->head_length; i++) {
		unsigned char c = (unsigned char)probe->head[i];

		if (c < ' ' && !strchr("\t\n\v\f\r\033", c))
			return false;
		if (c == 0x7f || c == 0)
			return false;
	}
	return probe->head_length > 0;
}

/* A terminated text. The room is doubled from a guess, so that a bomb costs no more than the cap. */
static int inflate_text(const char *path, const unsigned char *in, size_t in_length, char **ret_text, size_t *ret_length,
			struct blkalign_error *reterr)
{
	uint64_t stated = load_le32(in + in_length - 4); /* ISIZE: a hint only, it may lie */
	size_t room = stated < SNAP_TEXT_MAX ? (size_t)stated + 1 : SNAP_TEXT_MAX;

	for (;; room = room * 2 < SNAP_TEXT_MAX ? room * 2 : SNAP_TEXT_MAX) {
		_cleanup_free_ char *text = malloc(room + 1);
		int r;

		if (!text)
			return -ENOMEM;
		r = inflate_once(in, in_length, text, room, ret_length);
		if (r == Z_STREAM_END) {
			text[*ret_length] = '\0';
			*ret_text = text;
			text = NULL;
			return 0;
		}
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r != Z_OK)
			return blkalign_error_set(reterr, -EBADMSG, path, BLKALIGN_UNKNOWN, "the gzip data is damaged or cut short");
		if (room >= SNAP_TEXT_MAX)
			return blkalign_error_set(reterr, -EFBIG, path, BLKALIGN_UNKNOWN, "is larger than 64 MiB when decompressed");
	}
}

/* A terminated text. */
static int read_whole(int fd, const char *path, size_t size, char **ret_text, size_t *ret_length, struct blkalign_error *reterr)
{
	_cleanup_free_ char *text = malloc(size + 1);
	ssize_t n;

	if (!text)
		return -ENOMEM;
	n = read_front(fd, text, size);
	if (n < 0)
		return blkalign_error_set(reterr, (int)n, path, 0, "cannot read: %s", strerror((int)-n));
	text[n] = '\0';
	*ret_length = (size_t)n;
	*ret_text = text;
	text = NULL;
	return 0;
}

int snap_read_text(const char *path, char **ret_text, size_t *ret_length, struct blkalign_error *reterr)
{
	struct stat st = { 0 };
	_cleanup_(close_fdp) int fd = open_target(path, &st, reterr);
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	int r;

	if (fd < 0)
		return fd;
	if (!S_ISREG(st.st_mode))
		return not_regular(path, reterr);
	if (st.st_size > (off_t)SNAP_TEXT_MAX)
		return blkalign_error_set(reterr, -EFBIG, path, BLKALIGN_UNKNOWN, "is larger than 64 MiB");
	r = read_whole(fd, path, (size_t)st.st_size, &text, &length, reterr);
	if (r < 0)
		return r;
	if (is_gzip((const unsigned char *)text, length)) {
		char *packed = text;

		text = NULL;
		r = inflate_text(path, (const unsigned char *)packed, length, &text, &length, reterr);
		free(packed);
		if (r < 0)
			return r;
	}
	*ret_length = length;
	*ret_text = text;
	text = NULL;
	return 0;
}
