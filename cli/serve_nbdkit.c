/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding nbdkit and the plugin, and becoming nbdkit: no shell, no second process whose end would have to be watched. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve.h"

#define ACTIVATED_FD 3 /* sd_listen_fds(3): the first socket that is passed on */
#define CLIENTS_MAX  "64"
#define THREADS	     "8" /* of each client, and each with a buffer as large as its largest request */

static bool is_file(const char *path, int mode)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, mode) == 0;
}

static bool find_program(char *ret, size_t size)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/sbin:/usr/bin"; *p;) {
		size_t length = strcspn(p, ":");
		int n = snprintf(ret, size, "%.*s/nbdkit", (int)length, p);

		if (length && n > 0 && (size_t)n < size && is_file(ret, X_OK))
			return true;
		p += length + (p[length] == ':');
	}
	return false;
}

/* Beside this program while both are in the folder they were built in. */
static bool find_built(char *ret, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int m;

	if (n <= 0)
		return false;
	self[n] = '\0';
	m = snprintf(ret, size, "%s/../nbdkit/nbdkit-blkalign-plugin.so", dirname(self));
	return m > 0 && (size_t)m < size && is_file(ret, R_OK);
}

static bool find_plugin(char *ret, size_t size)
{
	const char *named = secure_getenv("BLKALIGN_NBDKIT_PLUGIN");

	if (named) {
		snprintf(ret, size, "%s", named);
		return is_file(named, R_OK);
	}
	if (find_built(ret, size))
		return true;
	snprintf(ret, size, "%s/nbdkit-blkalign-plugin.so", NBDKIT_PLUGINDIR);
	return is_file(ret, R_OK);
}

int serve_find_nbdkit(struct serve_nbdkit *ret)
{
	if (!find_program(ret->program, sizeof(ret->program))) {
		return cli_say("nbdkit is not installed (Debian: apt install nbdkit)");
	}
	if (find_plugin(ret->plugin, sizeof(ret->plugin)))
		return CLI_ALIGNED;
	return cli_say("%s: the nbdkit plugin is not there; BLKALIGN_NBDKIT_PLUGIN names another place", cli_safe(ret->plugin));
}

struct arguments {
	char **list; /* ends with NULL */
	size_t count;
	bool failed;
};

/* `key` and `value` in one word; the word is nbdkit's from here on. */
static void add(struct arguments *a, const char *key, const char *value)
{
	char *word = NULL;

	if (asprintf(&word, "%s%s", key, value) < 0)
		a->failed = true;
	else
		a->list[a->count++] = word;
}

static int make_arguments(const struct cli_options *o, const struct serve_nbdkit *nbdkit, struct arguments *ret)
{
	*ret = (struct arguments){ .list = calloc(o->target_count + 16, sizeof(char *)) };
	if (!ret->list)
		return -ENOMEM;
	add(ret, nbdkit->program, "");
	add(ret, "--foreground", "");
	if (!o->rw && !o->cow)
		add(ret, "--readonly", "");
	add(ret, "--threads=", THREADS);
	add(ret, "--filter=limit", "");
	add(ret, nbdkit->plugin, "");
	add(ret, "limit=", CLIENTS_MAX);
	for (size_t i = 0; i < o->target_count; i++)
		add(ret, "member=", o->targets[i]);
	if (o->node)
		add(ret, "node=", o->node);
	if (o->rw)
		add(ret, "rw=", "true");
	if (o->cow)
		add(ret, "cow=", "true");
	if (o->force)
		add(ret, "force=", "true");
	return ret->failed ? -ENOMEM : 0;
}

/* What sd_listen_fds(3) expects: the socket as descriptor 3, and a note for whom it is. */
static int pass_socket(int fd)
{
	char pid[32];

	if (fd == ACTIVATED_FD ? fcntl(fd, F_SETFD, 0) < 0 : dup2(fd, ACTIVATED_FD) < 0)
		return -errno;
	if (fd != ACTIVATED_FD)
		close(fd);
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (setenv("LISTEN_PID", pid, 1) < 0 || setenv("LISTEN_FDS", "1", 1) < 0 || unsetenv("LISTEN_FDNAMES") < 0)
		return -errno;
	return 0;
}

int serve_become_nbdkit(const struct cli_options *o, const struct serve_nbdkit *nbdkit, int fd)
{
	struct arguments arguments;
	int r = make_arguments(o, nbdkit, &arguments);

	if (r >= 0)
		r = pass_socket(fd);
	/* For its send(): see nbdkit/connection.c. */
	if (r >= 0 && setenv("LD_PRELOAD", nbdkit->plugin, 1) < 0)
		r = -errno;
	if (r >= 0) {
		execv(nbdkit->program, arguments.list);
		r = -errno;
	}
	return cli_say("%s: cannot start it: %s", cli_safe(nbdkit->program), strerror(-r));
}
