/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the targets of the command line are. Block devices of this machine are looked at live with their stack, files that a reader recognises are
 * read by it, other files are images. Devices and images given together make one graph; what readers read is a host of its own.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "snap/snap.h"
#include "stack/stack.h"

enum target { TARGET_DEVICE, TARGET_IMAGE, TARGET_READER };

static bool is_device(const char *target)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (stat(target, &st) == 0)
		return S_ISBLK(st.st_mode);
	/* A bare kernel name; what else names a live device ("VG/LV") is found out when it is read. */
	if (strchr(target, '/'))
		return false;
	return asprintf(&path, "/sys/class/block/%s", target) >= 0 && access(path, F_OK) == 0;
}

static bool exists(const char *target) { return access(target, F_OK) == 0; }

static int classify(const char *target, enum target *ret_kind, const struct snap_reader **ret_reader, struct blkalign_error *reterr)
{
	struct snap_probe probe;
	int r;

	*ret_reader = NULL;
	*ret_kind = TARGET_DEVICE;
	if (is_device(target) || !exists(target))
		return 0;
	r = snap_probe(target, &probe, reterr);
	if (r < 0)
		return r;
	*ret_reader = snap_recognise(&probe);
	*ret_kind = *ret_reader ? TARGET_READER : TARGET_IMAGE;
	if (!*ret_reader && probe.directory)
		return blkalign_error_set(
			reterr, -EISDIR, target, BLKALIGN_UNKNOWN,
			"is a folder without sys/block or sys/class/block: expected the root of a dumped tree or a sosreport");
	return 0;
}

bool blkalign_is_snapshot(const char *path)
{
	const struct snap_reader *reader = NULL;
	enum target kind;

	return classify(path, &kind, &reader, NULL) == 0 && kind == TARGET_READER && !reader->many;
}

/* All targets by one reader; it makes one graph of them. */
static int read_by_reader(const struct blkalign_source_options *options, const struct snap_reader *reader, const char *const *targets,
			  size_t count, struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	if (count > 1 && !reader->many)
		return blkalign_error_set(reterr, -EINVAL, targets[1], BLKALIGN_UNKNOWN,
					  "a target of the kind \"%s\" is a host of its own: give it alone", reader->name);
	for (size_t i = 1; i < count; i++) {
		const struct snap_reader *other = NULL;
		enum target kind;
		int r = classify(targets[i], &kind, &other, reterr);

		if (r < 0)
			return r;
		if (other != reader)
			return blkalign_error_set(reterr, -EINVAL, targets[i], BLKALIGN_UNKNOWN,
						  "cannot be joined with %s, which is of the kind \"%s\"", targets[0], reader->name);
	}
	return reader->read(options, targets, count, ret_graph, reterr);
}

/* Devices and images: the images are added to the live stack, so that both may hold members of one array. */
static int read_stack(const struct blkalign_source_options *options, const char *const *targets, size_t count,
		      struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	_cleanup_free_ const char **devices = calloc(count, sizeof(*devices)), **images = calloc(count, sizeof(*images));
	size_t device_count = 0, image_count = 0;

	if (!devices || !images)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct snap_reader *reader = NULL;
		enum target kind;
		int r = classify(targets[i], &kind, &reader, reterr);

		if (r < 0)
			return r;
		if (reader)
			return blkalign_error_set(reterr, -EINVAL, targets[i], BLKALIGN_UNKNOWN,
						  "a target of the kind \"%s\" cannot be joined with devices or images", reader->name);
		if (kind == TARGET_DEVICE)
			devices[device_count++] = targets[i];
		else
			images[image_count++] = targets[i];
	}
	if (!device_count)
		return blkalign_read_images(options, images, image_count, ret_graph, reterr);
	return stack_read_devices_and_images(options, devices, device_count, images, image_count, ret_graph, reterr);
}

int blkalign_read_targets(const struct blkalign_source_options *options, const char *const *targets, size_t count,
			  struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	const struct snap_reader *reader = NULL;
	enum target kind;
	int r;

	if (!count)
		return blkalign_read_host(options, ret_graph, reterr);
	r = classify(targets[0], &kind, &reader, reterr);
	if (r < 0)
		return r;
	if (reader)
		return read_by_reader(options, reader, targets, count, ret_graph, reterr);
	return read_stack(options, targets, count, ret_graph, reterr);
}
