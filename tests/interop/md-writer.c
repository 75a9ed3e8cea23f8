/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seeded random writes to an array, by the library or by the kernel, and the check that they are there.
 *
 *   md-writer fill FILE                        every sector says where it is, tag 0
 *   md-writer write SEED COUNT LOG MEMBER...   COUNT writes through the library, with a flush now and then
 *   md-writer write-file SEED COUNT LOG FILE   the same to a file or block device, past its cache: what is acknowledged is settled
 *   md-writer check LOG FILE                   every sector holds what the log says
 *   md-writer read LOG MEMBER...               the same, read through the library
 *
 * The log, a file or an empty disk, has a line "w FIRST COUNT TAG" before each write and "a TAG" when it was acknowledged, so that it is right as well when the writer is
 * killed: a write that was under way may be there or not, sector by sector. Four threads write, each to its own quarter. SHARE=N: only the first of N parts of the contents
 * is written. BLKALIGN_FORCE=1: dirty degraded arrays are opened.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include <blkalign/run.h>

#include "base/base.h"

#define SECTOR	    512U
#define THREADS	    4U
#define PIECE_BYTES (1024U * 1024U)
#define TAG_SHIFT   40U

/* Where contents are: an open stack, or a file. */
struct target {
	struct blkalign_run *run;
	const struct blkalign_node *node;
	int fd;
	uint64_t sectors;
};

static _Atomic uint32_t next_tag = 1;

static void open_members(struct target *t, bool writable, char **paths)
{
	struct blkalign_run_options options = { .writable = writable, .force = getenv("BLKALIGN_FORCE") != NULL };
	struct blkalign_error error = { 0 };
	size_t count = 0;

	while (paths[count])
		count++;
	if (blkalign_run_open(&options, (const char *const *)paths, count, &t->run, &error) < 0 ||
	    blkalign_run_node(t->run, NULL, &t->node, &error) < 0)
		errx(1, "%s", error.message);
	t->sectors = blkalign_run_size(t->run, t->node) / SECTOR;
}

static void open_file(struct target *t, int flags, const char *path)
{
	struct stat st;
	uint64_t bytes = 0;

	t->fd = open(path, flags | O_CLOEXEC);
	if (t->fd < 0 || fstat(t->fd, &st) < 0 || (S_ISBLK(st.st_mode) && ioctl(t->fd, BLKGETSIZE64, &bytes) < 0))
		err(1, "%s", path);
	t->sectors = (S_ISBLK(st.st_mode) ? bytes : (uint64_t)st.st_size) / SECTOR;
}

static void close_target(struct target *t)
{
	struct blkalign_error error = { 0 };

	if (t->run && blkalign_run_close(t->run, &error) < 0)
		errx(1, "close: %s", error.message);
	if (!t->run && (fsync(t->fd) < 0 || close(t->fd) < 0))
		err(1, "close");
}

static void get(struct target *t, uint64_t sector, uint8_t *data, size_t sectors)
{
	struct blkalign_error error = { 0 };

	if (t->run ? blkalign_run_read(t->run, t->node, sector * SECTOR, data, sectors * SECTOR, &error) < 0
		   : pread(t->fd, data, sectors * SECTOR, (off_t)(sector * SECTOR)) != (ssize_t)(sectors * SECTOR))
		errx(1, "read of sector %llu: %s", (unsigned long long)sector, t->run ? error.message : "failed");
}

static void put(struct target *t, uint64_t sector, const uint8_t *data, size_t sectors)
{
	struct blkalign_error error = { 0 };

	if (t->run ? blkalign_run_write(t->run, t->node, sector * SECTOR, data, sectors * SECTOR, &error) < 0
		   : pwrite(t->fd, data, sectors * SECTOR, (off_t)(sector * SECTOR)) != (ssize_t)(sectors * SECTOR))
		errx(1, "write of sector %llu: %s", (unsigned long long)sector, t->run ? error.message : "failed");
}

static void flush(struct target *t)
{
	struct blkalign_error error = { 0 };

	if (t->run ? blkalign_run_flush(t->run, t->node, &error) < 0 : fdatasync(t->fd) < 0)
		errx(1, "flush: %s", error.message);
}

static void fill_sector(uint8_t *data, uint64_t sector, uint32_t tag)
{
	uint64_t value = sector | (uint64_t)tag << TAG_SHIFT;

	for (unsigned i = 0; i < SECTOR; i += sizeof(value))
		memcpy(data + i, &value, sizeof(value));
}

/* --- writing --- */

struct writer {
	struct target *target;
	int log;
	uint64_t random, first, sectors; /* its part of the array */
	unsigned count;
};

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Of a disk, unlike a file, threads that share it can write to the same place. */
static void note(int log, const char *line)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	ssize_t written;

	pthread_mutex_lock(&mutex);
	written = write(log, line, strlen(line));
	pthread_mutex_unlock(&mutex);
	if (written != (ssize_t)strlen(line))
		err(1, "log");
}

static void one_write(struct writer *w, uint8_t *data)
{
	static const unsigned lengths[] = { 1, 8, 64, 300, PIECE_BYTES / SECTOR };
	uint64_t count = 1 + draw(&w->random) % lengths[draw(&w->random) % ARRAY_SIZE(lengths)], first;
	uint32_t tag = next_tag++;
	char line[96];

	if (count > w->sectors)
		count = w->sectors;
	first = w->first + draw(&w->random) % (w->sectors - count + 1);
	for (uint64_t i = 0; i < count; i++)
		fill_sector(data + i * SECTOR, first + i, tag);
	snprintf(line, sizeof(line), "w %llu %llu %u\n", (unsigned long long)first, (unsigned long long)count, tag);
	note(w->log, line);
	put(w->target, first, data, count);
	snprintf(line, sizeof(line), "a %u\n", tag);
	note(w->log, line);
}

static void *write_part(void *argument)
{
	struct writer *w = argument;
	uint8_t *data = aligned_alloc(4096, PIECE_BYTES); /* O_DIRECT */

	if (!data)
		err(1, "memory");
	for (unsigned i = 0; i < w->count; i++) {
		one_write(w, data);
		if (draw(&w->random) % 8 == 0)
			flush(w->target);
	}
	free(data);
	return NULL;
}

static void write_all(struct target *t, const char *seed, const char *count, int log)
{
	const char *share = getenv("SHARE");
	uint64_t sectors = t->sectors / (share ? strtoull(share, NULL, 10) : 1), quarter = sectors / THREADS;
	struct writer writers[THREADS];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){ .target = t,
					      .log = log,
					      .random = strtoull(seed, NULL, 10) * THREADS + i,
					      .first = quarter * i,
					      .sectors = i + 1 < THREADS ? quarter : sectors - quarter * i,
					      .count = (unsigned)strtoul(count, NULL, 10) / THREADS };
		if (pthread_create(&threads[i], NULL, write_part, &writers[i]) != 0)
			errx(1, "no thread");
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	flush(t);
}

static void fill(struct target *t)
{
	uint8_t *data = malloc(PIECE_BYTES);

	for (uint64_t sector = 0; data && sector < t->sectors;) {
		uint64_t rest = t->sectors - sector, part = rest < PIECE_BYTES / SECTOR ? rest : PIECE_BYTES / SECTOR;

		for (uint64_t i = 0; i < part; i++)
			fill_sector(data + i * SECTOR, sector + i, 0);
		put(t, sector, data, part);
		sector += part;
	}
	free(data);
}

/* --- checking --- */

struct pending {
	uint64_t first, count;
	bool acknowledged;
};

static int open_log(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_DSYNC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* All writes of a log, by tag. */
static struct pending *read_log(const char *path, uint32_t *ret_tags)
{
	FILE *f = fdopen(open_log(path), "r");
	struct pending *all = NULL;
	unsigned long long first, count;
	uint32_t tag, tags = 1;
	char kind;

	while (f && fscanf(f, " %c", &kind) == 1) {
		if (kind == 'w' ? fscanf(f, "%llu %llu %u", &first, &count, &tag) != 3 : fscanf(f, "%u", &tag) != 1)
			break;
		if (tag >= tags) {
			all = realloc(all, (tag + 1) * sizeof(*all));
			if (!all)
				err(1, "memory");
			memset(all + tags, 0, (tag + 1 - tags) * sizeof(*all));
			tags = tag + 1;
		}
		if (kind == 'w')
			all[tag] = (struct pending){ .first = first, .count = count };
		else
			all[tag].acknowledged = true;
	}
	if (f)
		fclose(f);
	*ret_tags = tags;
	return all;
}

/* Tags rise within each thread's part, so that the highest acknowledged one is the last. */
static bool admits(const struct pending *all, uint32_t tags, uint64_t sector, uint32_t found)
{
	for (uint32_t tag = tags; tag-- > 1;) {
		if (sector < all[tag].first || sector - all[tag].first >= all[tag].count)
			continue;
		if (tag == found || all[tag].acknowledged)
			return tag == found;
	}
	return found == 0;
}

static void check_sector(const struct pending *all, uint32_t tags, uint64_t sector, const uint8_t *data)
{
	uint64_t found, place = (UINT64_C(1) << TAG_SHIFT) - 1;

	memcpy(&found, data, sizeof(found));
	if ((found & place) != sector || memcmp(data, data + sizeof(found), SECTOR - sizeof(found)) != 0)
		errx(1, "sector %llu holds what was never written there: %#llx ...", (unsigned long long)sector, (unsigned long long)found);
	if (!admits(all, tags, sector, (uint32_t)(found >> TAG_SHIFT)))
		errx(1, "sector %llu holds write %u, which is not the last one there", (unsigned long long)sector,
		     (unsigned)(found >> TAG_SHIFT));
}

static void check(struct target *t, const char *log)
{
	uint32_t tags;
	struct pending *all = read_log(log, &tags);
	uint8_t *data = malloc(PIECE_BYTES);

	for (uint64_t sector = 0; data && sector < t->sectors;) {
		uint64_t rest = t->sectors - sector, part = rest < PIECE_BYTES / SECTOR ? rest : PIECE_BYTES / SECTOR;

		get(t, sector, data, part);
		for (uint64_t i = 0; i < part; i++)
			check_sector(all, tags, sector + i, data + i * SECTOR);
		sector += part;
	}
	free(data);
	free(all);
}

/* Lines are added behind those that are there. A disk does not tell where that is: it is an empty one. */
static int continue_log(const char *path)
{
	int log = open_log(path);
	uint32_t tags;
	struct stat st;

	free(read_log(path, &tags));
	next_tag = tags;
	if (fstat(log, &st) < 0 || (S_ISREG(st.st_mode) && lseek(log, 0, SEEK_END) < 0))
		err(1, "%s", path);
	return log;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";
	struct target t = { .fd = -1 };
	bool writes = strncmp(verb, "write", 5) == 0;

	if (strcmp(verb, "fill") == 0) {
		open_file(&t, O_RDWR, argv[2]);
		fill(&t);
	} else if (writes && argc > 5) {
		if (verb[5])
			open_file(&t, O_RDWR | O_DIRECT | O_DSYNC, argv[5]);
		else
			open_members(&t, true, argv + 5);
		write_all(&t, argv[2], argv[3], continue_log(argv[4]));
	} else if (strcmp(verb, "check") == 0 && argc > 3) {
		open_file(&t, O_RDONLY, argv[3]);
		check(&t, argv[2]);
	} else if (strcmp(verb, "read") == 0 && argc > 3) {
		open_members(&t, false, argv + 3);
		check(&t, argv[2]);
	} else
		errx(2, "usage: md-writer fill|write|write-file|check|read ...");
	close_target(&t);
	return 0;
}
