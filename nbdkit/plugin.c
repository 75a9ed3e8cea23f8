/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of a stack as NBD exports.
 *
 * The stack is opened in get_ready, where errors still reach whoever started nbdkit, and again behind a fork: locks and rings do not follow into another
 * process. Everything that a request needs is decided per connection; a request itself takes no lock here. A request that fails is answered
 * with its error, and the server goes on.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <blkalign/blkalign.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "connection.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#define MEMBERS_MAX	4096U
#define MMAP_BYTES	(4 << 20)
#define ZEROS_BYTES	(1U << 20)
#define EXPORTS_MAX	1000U /* that are listed; nbdkit bears 10000 */
#define EXTENTS_MAX	1024U /* in one answer; the client asks again behind them */
#define REOPEN_TRIES	100U
#define REOPEN_PAUSE_NS 20000000L /* the process that was forked from exits meanwhile, and with it its locks */

static const char *members[MEMBERS_MAX];
static size_t members_count;
static const char *node_name;
static struct blkalign_run_options options;
static bool read_write;

static struct blkalign_run *run;
static const struct blkalign_node *default_node; /* NULL: there is no single one that people would mean */
static pid_t opened_by;
static bool close_failed;

static void tell(const struct blkalign_error *err)
{
	nbdkit_error("%s%s%s", err->where, *err->where ? ": " : "", *err->message ? err->message : strerror(-err->code));
}

/* --- members that fail --- */

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
static atomic_size_t told;

static void tell_failure(const struct blkalign_run_failure *f)
{
	char array[256], member[1024], slot[32] = "a spare";

	if (f->slot != BLKALIGN_SLOT_NONE)
		snprintf(slot, sizeof(slot), "slot %" PRIu32, f->slot);
	nbdkit_error("%s: member %s (%s) failed, and is recorded as faulty on the others, which go on without it: %s",
		     blkalign_escape(array, sizeof(array), blkalign_node_name(f->array)),
		     blkalign_escape(member, sizeof(member), f->member), slot, f->why);
}

/* Behind every request: clients see success as long as an array can do without the member, and whoever runs the server must hear of it. */
static void tell_failures(void)
{
	struct blkalign_run_failure f;

	if (!blkalign_run_failure(run, told, &f))
		return;
	pthread_mutex_lock(&telling);
	while (blkalign_run_failure(run, told, &f)) {
		tell_failure(&f);
		told++;
	}
	pthread_mutex_unlock(&telling);
}

/* Of arrays on which something happened. */
static void tell_summary(void)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		struct blkalign_run_events e;
		char name[256];

		if (blkalign_run_events(run, node, &e) < 0 || (!e.failed_members && !e.read_errors && !e.rewritten_bytes))
			continue;
		nbdkit_error("%s: in all, %zu of its members failed, %" PRIu64 " read errors of members were hidden, %" PRIu64
			     " bytes were computed from the others and %" PRIu64 " written back%s%s",
			     blkalign_escape(name, sizeof(name), blkalign_node_name(node)), e.failed_members, e.read_errors,
			     e.computed_bytes, e.rewritten_bytes, e.first_error ? "; the first read error: " : "",
			     e.first_error ? e.first_error : "");
	}
}

/* NBD knows few errors, and nbdkit makes EINVAL of all others: what is wrong with the disks must not look like the client's mistake. */
static int fail_request(int error, struct blkalign_error *err)
{
	static const int passed[] = { EIO, EROFS, ENOMEM, ENOSPC, EINVAL, ENOTSUP };
	int shown = EIO;

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (passed[i] == -error)
			shown = passed[i];
	err->code = error;
	tell(err);
	nbdkit_set_error(shown);
	return -1;
}

/* glibc would raise the threshold to the largest block ever freed, and each thread's arena would keep such blocks: half of the memory under load. */
static void plugin_load(void) { mallopt(M_MMAP_THRESHOLD, MMAP_BYTES); }

/* --- parameters --- */

static int config_bool(const char *value, bool *ret)
{
	int r = nbdkit_parse_bool(value);

	if (r < 0)
		return -1;
	*ret = r;
	return 0;
}

static int config_member(const char *value)
{
	if (members_count == MEMBERS_MAX) {
		nbdkit_error("more than %u members", MEMBERS_MAX);
		return -1;
	}
	members[members_count] = nbdkit_absolute_path(value);
	return members[members_count++] ? 0 : -1;
}

static int plugin_config(const char *key, const char *value)
{
	if (!strcmp(key, "member"))
		return config_member(value);
	if (!strcmp(key, "rw"))
		return config_bool(value, &read_write);
	if (!strcmp(key, "cow"))
		return config_bool(value, &options.cow);
	if (!strcmp(key, "force"))
		return config_bool(value, &options.force);
	if (!strcmp(key, "node")) {
		node_name = value;
		return 0;
	}
	nbdkit_error("unknown parameter \"%s\"", key);
	return -1;
}

static int plugin_config_complete(void)
{
	if (!members_count) {
		nbdkit_error("no members are given: the image files or disks of the stack");
		return -1;
	}
	if (read_write && options.cow) {
		nbdkit_error("rw=true writes to the members, cow=true writes nothing to them: give one of the two");
		return -1;
	}
	options.writable = read_write;
	return 0;
}

/* --- opening and closing the stack --- */

/* Asked to write, but the one node that is meant cannot be: better no server than one that disappoints later. */
static int check_default(struct blkalign_error *reterr)
{
	const char *why;

	if (!default_node)
		return 0;
	if (blkalign_run_size(run, default_node) == BLKALIGN_UNKNOWN)
		return blkalign_run_read(run, default_node, 0, &(char){ 0 }, 1, reterr);
	if ((read_write || options.cow) && !blkalign_run_writable(run, default_node, &why))
		return blkalign_error_set(reterr, -EROFS, blkalign_node_name(default_node), BLKALIGN_UNKNOWN, "cannot be written: %s", why);
	return 0;
}

static bool any_content(void)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		if (blkalign_run_is_content(run, blkalign_graph_node(graph, i)))
			return true;
	return false;
}

static int open_stack(struct blkalign_error *reterr)
{
	int r = blkalign_run_open(&options, members, members_count, &run, reterr);

	if (r < 0)
		return r;
	default_node = NULL;
	r = blkalign_run_node(run, node_name, &default_node, reterr);
	/* Several volumes, or none but partitions: clients name what they want. */
	if (r < 0 && !node_name && any_content())
		r = 0;
	if (r >= 0)
		r = check_default(reterr);
	if (r < 0) {
		blkalign_run_close(run, NULL);
		run = NULL;
		return r;
	}
	opened_by = getpid();
	return 0;
}

static int plugin_get_ready(void)
{
	struct blkalign_error err = { 0 };

	err.code = open_stack(&err);
	if (err.code >= 0)
		return 0;
	tell(&err);
	return -1;
}

static int plugin_after_fork(void)
{
	struct blkalign_error err = { 0 };
	int r = connection_watch_start();

	if (r < 0) {
		nbdkit_error("cannot watch the connections: %s", strerror(-r));
		return -1;
	}
	if (opened_by == getpid())
		return 0;
	err.code = blkalign_run_close(run, &err);
	run = NULL;
	for (unsigned tries = 0; err.code >= 0 && tries < REOPEN_TRIES; tries++) {
		err.code = open_stack(&err);
		if (err.code != -EBUSY)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = REOPEN_PAUSE_NS }, NULL);
	}
	if (err.code >= 0)
		return 0;
	tell(&err);
	return -1;
}

/* Every connection is closed: arrays are marked clean now. */
static void plugin_cleanup(void)
{
	struct blkalign_error err = { 0 };

	connection_watch_stop();
	err.code = blkalign_run_settle(run, &err);
	tell_failures();
	tell_summary();
	if (err.code >= 0)
		err.code = blkalign_run_close(run, &err);
	else
		blkalign_run_close(run, NULL);
	run = NULL;
	if (err.code >= 0)
		return;
	tell(&err);
	close_failed = true;
}

/* The last call. nbdkit would exit with success, whatever became of the data. */
static void plugin_unload(void)
{
	if (run)
		blkalign_run_close(run, NULL); /* nbdkit failed before it served */
	for (size_t i = 0; i < members_count; i++)
		free((void *)(uintptr_t)members[i]);
	if (close_failed)
		_exit(EXIT_FAILURE);
}

/* --- exports --- */

static bool is_offered(const struct blkalign_node *node) { return node_name ? node == default_node : blkalign_run_is_content(run, node); }

/* Names are bytes from disks. What is no plain text is not listed, and can still be asked for. */
static bool is_plain(const char *name)
{
	char escaped[4096];

	return strlen(name) < sizeof(escaped) && !strcmp(blkalign_escape(escaped, sizeof(escaped), name), name);
}

static int plugin_list_exports(int readonly, int is_tls, struct nbdkit_exports *exports)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);

	(void)readonly;
	(void)is_tls;
	for (size_t i = 0, listed = 0; listed < EXPORTS_MAX && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		char description[256];

		if (!is_offered(node) || !is_plain(blkalign_node_name(node)))
			continue;
		blkalign_run_describe(run, node, description, sizeof(description));
		if (nbdkit_add_export(exports, blkalign_node_name(node), description) < 0)
			return -1;
		listed++;
	}
	return 0;
}

static const char *plugin_default_export(int readonly, int is_tls)
{
	(void)readonly;
	(void)is_tls;
	return default_node ? blkalign_node_name(default_node) : NULL;
}

static void *plugin_open(int readonly)
{
	const char *name = nbdkit_export_name();
	const struct blkalign_node *node = name && *name ? blkalign_graph_find(blkalign_run_graph(run), name) : default_node;

	(void)readonly;
	if (node && (!node_name || node == default_node) && blkalign_run_size(run, node) != BLKALIGN_UNKNOWN)
		return (void *)(uintptr_t)node;
	nbdkit_error("there is no export of that name that can be read");
	return NULL;
}

static const char *plugin_export_description(void *handle)
{
	char description[256];

	return nbdkit_strdup_intern(blkalign_run_describe(run, handle, description, sizeof(description)));
}

/* --- what a connection can do --- */

static int64_t plugin_get_size(void *handle)
{
	uint64_t size = blkalign_run_size(run, handle);

	if (size <= INT64_MAX)
		return (int64_t)size;
	nbdkit_error("%" PRIu64 " bytes are more than NBD can address", size);
	return -1;
}

static int plugin_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	struct blkalign_run_blocks blocks;

	blkalign_run_blocks(run, handle, &blocks);
	*minimum = (uint32_t)blocks.minimum_bytes;
	*preferred = (uint32_t)blocks.preferred_bytes;
	*maximum = (uint32_t)blocks.maximum_bytes;
	return 0;
}

static int plugin_can_write(void *handle) { return blkalign_run_writable(run, handle, NULL); }

static int plugin_yes(void *handle)
{
	(void)handle;
	return 1;
}

static int plugin_no(void *handle)
{
	(void)handle;
	return 0;
}

static int plugin_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

/* --- requests --- */

/* Filled on failure only; to clear its 800 bytes for each request would cost more than many a read. */
static struct blkalign_error *fresh(struct blkalign_error *err)
{
	*err->where = '\0';
	*err->message = '\0';
	return err;
}

static int plugin_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	struct blkalign_error err;
	int r = blkalign_run_read(run, handle, offset, buffer, count, fresh(&err));

	(void)flags;
	tell_failures();
	return r < 0 ? fail_request(r, &err) : 0;
}

static int plugin_flush(void *handle, uint32_t flags)
{
	struct blkalign_error err;
	int r = blkalign_run_flush(run, handle, fresh(&err));

	(void)flags;
	tell_failures();
	return r < 0 ? fail_request(r, &err) : 0;
}

static int plugin_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	struct blkalign_error err;
	int r = blkalign_run_write(run, handle, offset, buffer, count, fresh(&err));

	tell_failures();
	if (r < 0)
		return fail_request(r, &err);
	return flags & NBDKIT_FLAG_FUA ? plugin_flush(handle, 0) : 0;
}

static int plugin_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	static uint8_t zeros[ZEROS_BYTES]; /* without const: no megabyte of zeros in the file */

	while (count) {
		uint32_t part = count < ZEROS_BYTES ? count : ZEROS_BYTES;

		if (plugin_pwrite(handle, zeros, part, offset, 0) < 0)
			return -1;
		offset += part;
		count -= part;
	}
	return flags & NBDKIT_FLAG_FUA ? plugin_flush(handle, 0) : 0;
}

static int plugin_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags, struct nbdkit_extents *extents)
{
	uint64_t left = count, length;

	for (unsigned i = 0; left && i < EXTENTS_MAX; i++) {
		struct blkalign_error err;
		bool zero;
		int r = blkalign_run_extent(run, handle, offset, left, &zero, &length, fresh(&err));

		if (r < 0)
			return fail_request(r, &err);
		if (nbdkit_add_extent(extents, offset, length, zero ? NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO : 0) < 0)
			return -1;
		if (flags & NBDKIT_FLAG_REQ_ONE)
			break;
		offset += length;
		left -= length;
	}
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "blkalign",
	.longname = "blkalign",
	.version = BLKALIGN_VERSION,
	.description = "Contents of md arrays, LVM volumes and partitions, from image files and raw disks, without kernel devices",
	.load = plugin_load,
	.magic_config_key = "member",
	.config = plugin_config,
	.config_complete = plugin_config_complete,
	.config_help = "[member=]PATH  an image file or disk of the stack; repeated\n"
		       "node=NAME      serve this node only\n"
		       "rw=true        write to the members; alone\n"
		       "cow=true       keep writes apart, and lose them at the end\n"
		       "force=true     arrays that are dirty and degraded: give out and write what may be wrong",
	.get_ready = plugin_get_ready,
	.after_fork = plugin_after_fork,
	.cleanup = plugin_cleanup,
	.unload = plugin_unload,
	.list_exports = plugin_list_exports,
	.default_export = plugin_default_export,
	.export_description = plugin_export_description,
	.open = plugin_open,
	.get_size = plugin_get_size,
	.block_size = plugin_block_size,
	.can_write = plugin_can_write,
	.can_flush = plugin_yes,
	.can_fua = plugin_can_fua,
	.can_multi_conn = plugin_yes,
	.can_extents = plugin_yes,
	.can_trim = plugin_no,
	.can_fast_zero = plugin_no,
	.pread = plugin_pread,
	.pwrite = plugin_pwrite,
	.flush = plugin_flush,
	.zero = plugin_zero,
	.extents = plugin_extents,
};

/* The macro defines it without a declaration, which clang minds. */
struct nbdkit_plugin *plugin_init(void);

NBDKIT_REGISTER_PLUGIN(plugin)
