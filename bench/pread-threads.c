/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a scrub is measured by: threads that merely pread the same files, the same block of each, one after the other, all into one buffer or each into its own, as
 * everything that compares them has to. Usage: pread-threads THREADS BLOCK_BYTES BUFFERS FILE...
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 64
#define FILES_MAX   64

static int fds[FILES_MAX];
static int files;
static int buffers;
static size_t block_bytes;
static size_t size_bytes;
static atomic_size_t next;

static void *reader(void *data)
{
	char *block = aligned_alloc(4096, (size_t)buffers * block_bytes);

	(void)data;
	for (size_t at = 0; block && (at = atomic_fetch_add(&next, block_bytes)) < size_bytes;)
		for (int i = 0; i < files; i++)
			if (pread(fds[i], block + (size_t)(i % buffers) * block_bytes, block_bytes, (off_t)at) <= 0) {
				perror("pread");
				exit(1);
			}
	free(block);
	return NULL;
}

static int open_files(char **names, int count)
{
	struct stat st;

	for (files = 0; files < count && files < FILES_MAX; files++) {
		fds[files] = open(names[files], O_RDONLY);
		if (fds[files] < 0 || fstat(fds[files], &st) < 0)
			return -1;
		size_bytes = (size_t)st.st_size;
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int count = argc > 4 ? atoi(argv[1]) : 0;

	block_bytes = argc > 4 ? strtoul(argv[2], NULL, 10) : 0;
	buffers = argc > 4 ? atoi(argv[3]) : 0;
	if (count < 1 || count > THREADS_MAX || !block_bytes || block_bytes % 4096 || buffers < 1 || buffers > FILES_MAX ||
	    open_files(argv + 4, argc - 4) < 0) {
		fprintf(stderr, "usage: pread-threads THREADS BLOCK_BYTES BUFFERS FILE...\n");
		return 1;
	}
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, reader, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
