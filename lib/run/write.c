/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may be written, and writing it. */
#include "run/run.h"

#define DEPTH_MAX 64U

/* Whether an array or volume group lies on the node, directly or on its partitions: writing past it would break what it keeps. */
static bool is_part(const struct blkalign_node *node, unsigned depth)
{
	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);
		enum blkalign_kind kind = blkalign_node_kind(upper);

		if (kind == BLKALIGN_KIND_MD)
			return true;
		if (kind == BLKALIGN_KIND_PARTITION && depth < DEPTH_MAX && is_part(upper, depth + 1))
			return true;
	}
	return false;
}

const char *run_why_not(const struct blkalign_run *run, const struct blkalign_node *node)
{
	const struct dev *dev = stack_dev(run->stack, node);
	const char *why;

	if (!dev)
		return "its contents cannot be read";
	if (!run->writable)
		return "the stack was opened for reading only";
	why = stack_read_only_because(run->stack, node);
	if (why)
		return why;
	if (is_part(node, 0))
		return "it is a member of an array, which would not know of the change";
	return dev->writable ? NULL : "what it lies on cannot be written";
}

bool blkalign_run_writable(const struct blkalign_run *run, const struct blkalign_node *node, const char **ret_why)
{
	const char *why = run->nodes[blkalign_node_index(node)].why_not;

	if (ret_why)
		*ret_why = why;
	return !why;
}

static int refuse_broken(const struct blkalign_node *node, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EIO, blkalign_node_name(node), BLKALIGN_UNKNOWN,
				  "an earlier flush failed, so that nobody knows what is on the disks: nothing more is written");
}

static int refuse_unaligned(const struct blkalign_node *node, uint64_t offset_bytes, size_t length_bytes, uint64_t minimum_bytes,
			    struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), offset_bytes,
				  "write of %zu bytes at byte %llu is not a whole number of logical blocks of %llu bytes", length_bytes,
				  (unsigned long long)offset_bytes, (unsigned long long)minimum_bytes);
}

int blkalign_run_write(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, const void *buffer,
		       size_t length_bytes, struct blkalign_error *reterr)
{
	struct dev_request q = {
		.op = DEV_WRITE, .offset_bytes = offset_bytes, .length_bytes = length_bytes, .buffer = (void *)(uintptr_t)buffer
	};
	const char *why;
	uint64_t minimum_bytes;
	int r = run_dev(run, node, &q.dev, reterr);

	if (r < 0)
		return r;
	if (!blkalign_run_writable(run, node, &why))
		return blkalign_error_set(reterr, -EROFS, blkalign_node_name(node), BLKALIGN_UNKNOWN, "cannot be written: %s", why);
	if (atomic_load(&run->flush_failed))
		return refuse_broken(node, reterr);
	minimum_bytes = run->nodes[blkalign_node_index(node)].blocks.minimum_bytes;
	if (offset_bytes % minimum_bytes || length_bytes % minimum_bytes)
		return refuse_unaligned(node, offset_bytes, length_bytes, minimum_bytes, reterr);
	gate_enter(&run->gate, length_bytes);
	r = dev_run(&q, 1, reterr);
	gate_leave(&run->gate, length_bytes);
	return r;
}

int blkalign_run_flush(struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_error *reterr)
{
	struct dev_request q = { .op = DEV_FLUSH };
	int r = run_dev(run, node, &q.dev, reterr);

	if (r < 0)
		return r;
	if (!blkalign_run_writable(run, node, NULL))
		return 0;
	if (atomic_load(&run->flush_failed))
		return refuse_broken(node, reterr);
	r = dev_run(&q, 1, reterr);
	if (r < 0 && !dev_error_is_ours(r))
		atomic_store(&run->flush_failed, true);
	return r;
}

int blkalign_run_extent(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, uint64_t length_bytes,
			bool *ret_zero, uint64_t *ret_length_bytes, struct blkalign_error *reterr)
{
	struct dev *dev;
	int r = run_dev(run, node, &dev, reterr);

	if (r < 0)
		return r;
	*ret_length_bytes = length_bytes;
	r = dev_extent(dev, offset_bytes, ret_length_bytes, ret_zero);
	if (r < 0)
		return blkalign_error_set(reterr, r, blkalign_node_name(node), offset_bytes, "is asked about bytes that it does not have");
	return 0;
}
