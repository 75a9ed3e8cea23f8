/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nbdkit before 1.34 ends with a failed assertion when a client goes away while two or more answers to it are pending: the first that cannot be sent closes the
 * way out, and the second finds it closed (raw_send_socket() in server/connections.c). An interrupted nbdcopy is enough, all other clients lose their server, and
 * the array stays marked active. So `serve` preloads this library for its send(): answers to a client that is gone count as sent, and
 * nbdkit learns of the end where it reads.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"

#define GRACE_MS 2000 /* for answers that are on their way */
#define AGAIN_MS 200  /* connections that came up meanwhile */

__attribute__((visibility("default"))) ssize_t send(int fd, const void *buffer, size_t length, int flags)
{
	ssize_t n = sendto(fd, buffer, length, flags | MSG_NOSIGNAL, NULL, 0);

	return n < 0 && (errno == EPIPE || errno == ECONNRESET) ? (ssize_t)length : n;
}

static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
static struct sigaction nbdkits[NSIG];
static int ending_fd = -1, ended_fd = -1;
static pthread_t watcher;

static void on_signal(int number)
{
	int error = errno;

	if (write(ending_fd, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0) {
		/* The counter is full: then the watcher knows. */
	}
	if (nbdkits[number].sa_handler != SIG_DFL && nbdkits[number].sa_handler != SIG_IGN)
		nbdkits[number].sa_handler(number);
	errno = error;
}

/* A stream that was accepted; the standard streams may be sockets as well, of a log. */
static bool is_connection(int fd)
{
	int type = 0, listens = 0;
	socklen_t length = sizeof(type);

	if (fd <= STDERR_FILENO || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 || type != SOCK_STREAM)
		return false;
	length = sizeof(listens);
	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && !listens;
}

static void shut_all(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (is_connection(fd))
			shutdown(fd, SHUT_RDWR);
	}
	if (folder)
		closedir(folder);
}

static bool readable_within(int fd, int milliseconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, milliseconds) > 0;
}

static void *watch(void *unused)
{
	struct pollfd p[] = { { .fd = ending_fd, .events = POLLIN }, { .fd = ended_fd, .events = POLLIN } };

	(void)unused;
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		continue;
	for (int wait = GRACE_MS; !readable_within(ended_fd, wait); wait = AGAIN_MS)
		shut_all();
	return NULL;
}

/* Whether nbdkit's send() is the one above; shutting connections would end in that assertion otherwise. */
static bool is_preloaded(void) { return dlsym(RTLD_DEFAULT, "send") == (void *)(uintptr_t)send; }

static int start_thread(void)
{
	sigset_t all, before;
	int r;

	/* Signals are nbdkit's: none is to be handled in this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&watcher, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int connection_watch_start(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int r;

	if (!is_preloaded())
		return 0;
	ending_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ending_fd < 0 || ended_fd < 0)
		return -errno;
	r = start_thread();
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &nbdkits[signals[i]]);
		sigaction(signals[i], &action, NULL);
	}
	return 0;
}

void connection_watch_stop(void)
{
	if (ended_fd < 0)
		return;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &nbdkits[signals[i]], NULL);
	if (write(ended_fd, &(uint64_t){ 1 }, sizeof(uint64_t)) == sizeof(uint64_t))
		pthread_join(watcher, NULL);
	close(ending_fd);
	close(ended_fd);
	ended_fd = -1;
}
