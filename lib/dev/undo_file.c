/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of an undo log: made, opened again, and added to. */
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "dev/undo_priv.h"

void undo_draft_done(struct undo_draft *draft)
{
	strbuf_done(&draft->entries);
	strbuf_done(&draft->payload);
	draft->count = 0;
}

void undo_draft_add(struct undo_draft *draft, const struct undo_entry *entry, const void *payload)
{
	uint8_t bytes[UNDO_ENTRY_BYTES];

	undo_encode_entry(bytes, entry);
	strbuf_addn(&draft->entries, (const char *)bytes, sizeof(bytes));
	strbuf_addn(&draft->payload, payload, entry->payload_bytes);
	draft->count++;
}

static int write_all(int fd, const uint8_t *data, size_t length, uint64_t offset)
{
	while (length) {
		ssize_t n = pwrite(fd, data, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		length -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int append(struct dev_undo *undo, const struct undo_draft *draft)
{
	size_t body = draft->entries.length + draft->payload.length;
	size_t length = (size_t)round_up_u64(UNDO_HEAD_BYTES + body, UNDO_SECTOR_BYTES);
	_cleanup_free_ uint8_t *record = length >= UNDO_SECTOR_BYTES ? calloc(1, length) : NULL;
	int r;

	if (!record || draft->entries.failed || draft->payload.failed)
		return -ENOMEM;
	if (draft->entries.length)
		memcpy(record + UNDO_HEAD_BYTES, draft->entries.text, draft->entries.length);
	if (draft->payload.length)
		memcpy(record + UNDO_HEAD_BYTES + draft->entries.length, draft->payload.text, draft->payload.length);
	undo_encode_head(record, &undo->log, draft->count, record + UNDO_HEAD_BYTES, body);
	r = write_all(undo->fd, record, length, undo->log.end_bytes);
	if (r == 0 && fdatasync(undo->fd) < 0)
		r = -errno;
	if (r < 0)
		return r;
	undo->log.end_bytes += length;
	undo->log.next_sequence++;
	return 0;
}

/* Granules are marked before they are in the log: when it fails, none of them may ever be written. */
int undo_commit(struct dev_undo *undo, struct undo_draft *draft)
{
	if (!undo->broken && draft->count)
		undo->broken = append(undo, draft);
	undo->appended = undo->appended || draft->count;
	undo_draft_done(draft);
	return undo->broken;
}

static int add_device(struct dev_undo *undo, struct undo_device *device, struct blkalign_error *reterr)
{
	_cleanup_undo_draft_ struct undo_draft draft = { 0 };
	_cleanup_strbuf_ struct strbuf payload = { 0 };
	size_t name = strlen(device->name), identity = strlen(device->identity);
	struct undo_entry entry = { .kind = UNDO_DEVICE, .device = (uint32_t)undo->log.devices.count, .length_bytes = device->size_bytes };
	const uint8_t lengths[4] = { (uint8_t)name, (uint8_t)(name >> 8), (uint8_t)identity, (uint8_t)(identity >> 8) };
	int r;

	if (name > UNDO_NAME_MAX_BYTES || undo->log.devices.count >= UNDO_DEVICES_MAX)
		return blkalign_error_set(reterr, -E2BIG, device->name, BLKALIGN_UNKNOWN, "does not fit the undo log %s", undo->path);
	strbuf_addn(&payload, (const char *)lengths, sizeof(lengths));
	strbuf_add(&payload, device->name);
	strbuf_add(&payload, device->identity);
	entry.payload_bytes = (uint32_t)payload.length;
	if (payload.failed)
		return -ENOMEM;
	undo_draft_add(&draft, &entry, payload.text);
	r = undo_commit(undo, &draft);
	if (r < 0)
		return blkalign_error_set(reterr, r, undo->path, undo->log.end_bytes, "the undo log cannot be written: %s", strerror(-r));
	return vec_push(&undo->log.devices, *device);
}

/* What an old log has of the device, whose size is known to be true only now. */
static int mark_logged(struct undo_log *log, uint32_t number)
{
	struct marks *logged = &log->devices.data[number].logged;
	int r = logged->pages ? 0 : marks_init(logged, log->devices.data[number].size_bytes);

	for (size_t i = 0; r == 0 && i < log->entries.count; i++) {
		const struct undo_entry *e = &log->entries.data[i];

		if (e->device != number || (e->kind != UNDO_OLD && e->kind != UNDO_LOST))
			continue;
		r = marks_prepare(logged, e->offset_bytes, e->length_bytes);
		if (r == 0)
			marks_set(logged, e->offset_bytes, e->length_bytes);
	}
	return r;
}

int undo_find_device(struct dev_undo *undo, const struct dev *below, uint32_t *ret_number, struct blkalign_error *reterr)
{
	struct undo_device device = { .size_bytes = below->size_bytes };
	int r = undo_identify(below, &device.name, &device.identity);
	size_t i = 0;

	if (r < 0)
		return r;
	while (i < undo->log.devices.count && !undo_is_same(&undo->log.devices.data[i], device.size_bytes, device.name, device.identity))
		i++;
	*ret_number = (uint32_t)i;
	if (i == undo->log.devices.count) {
		r = add_device(undo, &device, reterr);
		if (r == 0)
			return mark_logged(&undo->log, *ret_number);
	} else {
		r = mark_logged(&undo->log, *ret_number);
	}
	free(device.name);
	free(device.identity);
	return r;
}

static int undo_new(const char *path, int flags, struct dev_undo **ret_undo, struct blkalign_error *reterr)
{
	struct dev_undo *undo = calloc(1, sizeof(*undo));
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int r;

	if (!undo)
		return -ENOMEM;
	pthread_mutex_init(&undo->lock, NULL);
	undo->path = strdup(path);
	undo->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0600);
	r = undo->fd < 0 ? -errno : undo->path ? 0 : -ENOMEM;
	if (r == 0 && fcntl(undo->fd, F_OFD_SETLK, &whole) < 0 && (errno == EAGAIN || errno == EACCES))
		r = -EBUSY;
	if (r == 0) {
		*ret_undo = undo;
		return 0;
	}
	dev_undo_close(undo);
	return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN,
				  r == -EEXIST	? "there is such a file already; an undo log is never overwritten"
				  : r == -EBUSY ? "the undo log is in use by another blkalign"
						: "the undo log cannot be opened: %s",
				  strerror(-r));
}

static int sync_folder(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = !copy ? -ENOMEM : fd < 0 || fsync(fd) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int write_header(struct dev_undo *undo, const char *purpose)
{
	uint8_t header[UNDO_HEADER_BYTES];
	int r;

	if (getrandom(undo->log.id, sizeof(undo->log.id), 0) != (ssize_t)sizeof(undo->log.id))
		return -EIO;
	undo_encode_header(header, undo->log.id, purpose);
	r = write_all(undo->fd, header, sizeof(header), 0);
	if (r == 0 && fsync(undo->fd) < 0)
		r = -errno;
	undo->log.end_bytes = sizeof(header);
	return r == 0 ? sync_folder(undo->path) : r;
}

int dev_undo_create(const char *path, const char *purpose, struct dev_undo **ret_undo, struct blkalign_error *reterr)
{
	struct dev_undo *undo = NULL;
	int r = undo_new(path, O_CREAT | O_EXCL, &undo, reterr);

	if (r < 0 || !undo)
		return r;
	r = write_header(undo, purpose);
	if (r < 0) {
		unlink(path);
		dev_undo_close(undo);
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "the undo log cannot be written: %s", strerror(-r));
	}
	*ret_undo = undo;
	return 0;
}

/* Its bytes go to disks: they must come from us or from root. */
static int check_owner(const struct dev_undo *undo, struct stat *ret, struct blkalign_error *reterr)
{
	if (fstat(undo->fd, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return blkalign_error_set(reterr, -ENOTSUP, undo->path, BLKALIGN_UNKNOWN,
					  "an undo log is a regular file, which this is not");
	if ((ret->st_uid != geteuid() && ret->st_uid != 0) || (ret->st_mode & (S_IWGRP | S_IWOTH)))
		return blkalign_error_set(
			reterr, -EPERM, undo->path, BLKALIGN_UNKNOWN,
			"other users could have changed this undo log: it must be yours or root's, and writable by nobody else");
	return 0;
}

/* The file as a device for reading; the fd is a copy. */
static int open_for_reading(const struct dev_undo *undo, uint64_t size_bytes, struct dev **ret_dev)
{
	int fd = fcntl(undo->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : file_new(undo->path, fd, size_bytes, false, ret_dev);
}

static int resume(struct dev_undo *undo, struct blkalign_error *reterr)
{
	_cleanup_dev_ struct dev *file = NULL;
	struct stat st;
	int r = check_owner(undo, &st, reterr);

	if (r == 0)
		r = open_for_reading(undo, (uint64_t)st.st_size, &file);
	if (r == 0)
		r = undo_log_read(file, &undo->log, reterr);
	if (r == 0 && (ftruncate(undo->fd, (off_t)undo->log.end_bytes) < 0 || fdatasync(undo->fd) < 0))
		r = blkalign_error_set(reterr, -errno, undo->path, undo->log.end_bytes, "the undo log cannot be written: %s",
				       strerror(errno));
	return r;
}

int dev_undo_resume(const char *path, struct dev_undo **ret_undo, struct blkalign_error *reterr)
{
	struct dev_undo *undo = NULL;
	int r = undo_new(path, 0, &undo, reterr);

	if (r < 0 || !undo)
		return r;
	r = resume(undo, reterr);
	if (r < 0) {
		dev_undo_close(undo);
		return r;
	}
	*ret_undo = undo;
	return 0;
}

/* Behind an empty record a damaged one is known from one that was never finished. Without it the log is good as well. */
static void append_end(struct dev_undo *undo)
{
	const struct undo_draft none = { 0 };

	if (!undo->broken)
		(void)append(undo, &none);
}

bool dev_undo_is_unused(const struct dev_undo *undo) { return !undo->appended; }

void dev_undo_close(struct dev_undo *undo)
{
	if (!undo)
		return;
	if (undo->fd >= 0 && undo->appended)
		append_end(undo);
	if (undo->fd >= 0)
		close(undo->fd);
	undo_log_done(&undo->log);
	pthread_mutex_destroy(&undo->lock);
	free(undo->path);
	free(undo);
}

int dev_undo_apply(struct dev_undo *undo, struct dev *const *devs, size_t count, uint64_t *ret_bytes, struct blkalign_error *reterr)
{
	_cleanup_dev_ struct dev *file = NULL;
	_cleanup_undo_log_ struct undo_log log = { 0 };
	int r;

	pthread_mutex_lock(&undo->lock);
	r = open_for_reading(undo, undo->log.end_bytes, &file);
	if (r == 0)
		r = undo_log_read(file, &log, reterr);
	if (r == 0)
		r = undo_log_apply(file, &log, devs, count, ret_bytes, reterr);
	pthread_mutex_unlock(&undo->lock);
	return r;
}
