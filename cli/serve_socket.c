/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve.h"

static int fail(const char *where, const char *what, int error)
{
	return cli_say("%s: %s%s%s", cli_safe(where), what, error ? ": " : "", error ? strerror(error) : "");
}

static int absolute(const char *path, char **ret)
{
	char folder[PATH_MAX];
	int n;

	if (*path == '/')
		*ret = strdup(path);
	else if (!getcwd(folder, sizeof(folder)))
		return -errno;
	else {
		n = asprintf(ret, "%s/%s", folder, path);
		if (n < 0)
			*ret = NULL;
	}
	return *ret ? 0 : -ENOMEM;
}

/* A socket on which nobody listens any more is left by a server that was killed, or by nbdkit, which removes none. Nothing else is removed. */
static int remove_dead(const struct sockaddr_un *address)
{
	struct stat st;
	int fd, error;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? CLI_ALIGNED : fail(address->sun_path, "cannot look at it", errno);
	if (!S_ISSOCK(st.st_mode))
		return fail(address->sun_path, "exists and is no socket: give another name", 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(address->sun_path, "cannot make a socket", errno);
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;
	close(fd);
	if (!error)
		return fail(address->sun_path, "another server listens there", 0);
	if (error != ECONNREFUSED || unlink(address->sun_path) < 0)
		return fail(address->sun_path, "cannot replace the socket that is there", error != ECONNREFUSED ? error : errno);
	return CLI_ALIGNED;
}

static int listen_unix(const char *path, struct serve_socket *ret)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int r;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return fail(path, "a socket's path has 1 to 107 bytes: give a shorter one", 0);
	memcpy(address.sun_path, path, strlen(path));
	if (remove_dead(&address) != CLI_ALIGNED)
		return CLI_FAILED;
	ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mask = umask(0177); /* whoever may write to the socket may connect */
	r = ret->fd < 0 ? -1 : bind(ret->fd, (const struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (r < 0 || listen(ret->fd, SOMAXCONN) < 0)
		return fail(path, "cannot listen there", errno);
	r = absolute(path, &ret->path);
	return r < 0 ? fail(path, "cannot find its absolute path", -r) : CLI_ALIGNED;
}

static int parse_port(const char *text, unsigned *ret)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || value > 65535) {
		return cli_say("--port=%s: expected a number from 0 (any free port) to 65535; NBD's own is 10809", cli_safe(text));
	}
	*ret = (unsigned)value;
	return CLI_ALIGNED;
}

/* The port that was found for port 0. */
static int bound_port(int fd, unsigned *ret)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char port[16];

	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	if (getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
		return -EINVAL;
	*ret = (unsigned)strtoul(port, NULL, 10);
	return 0;
}

static int listen_port(const char *host, const char *port, struct serve_socket *ret)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int r = CLI_ALIGNED;

	if (parse_port(port, &ret->port) != CLI_ALIGNED)
		return CLI_FAILED;
	if (getaddrinfo(host, port, &hints, &found) != 0)
		return fail(host, "is no IP address of this machine: give one like 127.0.0.1 or ::1", 0);
	ret->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ret->fd < 0 || setsockopt(ret->fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
	    bind(ret->fd, found->ai_addr, found->ai_addrlen) < 0 || listen(ret->fd, SOMAXCONN) < 0) {
		cli_say("cannot listen on port %s of %s: %s", cli_safe(port), cli_safe(host), strerror(errno));
		r = CLI_FAILED;
	} else if (bound_port(ret->fd, &ret->port) < 0)
		r = fail(host, "cannot find the port that was taken", 0);
	freeaddrinfo(found);
	snprintf(ret->host, sizeof(ret->host), "%s", host);
	snprintf(ret->reach, sizeof(ret->reach), "%s", host);
	if (!strcmp(host, "0.0.0.0") || !strcmp(host, "::"))
		gethostname(ret->reach, sizeof(ret->reach) - 1);
	ret->is_local = !strncmp(host, "127.", 4) || !strcmp(host, "::1");
	return r;
}

int serve_listen(const struct cli_options *o, struct serve_socket *ret)
{
	*ret = (struct serve_socket){ .fd = -1, .is_local = true };
	return o->socket ? listen_unix(o->socket, ret) : listen_port(o->address ? o->address : "127.0.0.1", o->port, ret);
}
