/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The verb serve in three files: what is served and how to connect (cmd_serve.c), the socket (serve_socket.c), nbdkit (serve_nbdkit.c). */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include <limits.h>

#include "cli.h"

/** A socket that listens already, so that clients may connect before nbdkit is up, and that nobody else can take. */
struct serve_socket {
	int fd;
	char host[64];		       /* numeric address; empty for a Unix socket */
	char reach[HOST_NAME_MAX + 1]; /* what clients call it: `host`, or this machine's name when that stands for all addresses */
	unsigned port;
	char *path; /* absolute path of a Unix socket; freed by the caller */
	bool is_local;
};

/** Listen as --socket or --port and --address say. CLI_ALIGNED, or CLI_FAILED after the reason was printed. */
int serve_listen(const struct cli_options *options, struct serve_socket *ret);

/** Where nbdkit and the plugin are. */
struct serve_nbdkit {
	char program[4096];
	char plugin[4096];
};
/** CLI_ALIGNED, or CLI_FAILED after it was printed what is missing and how to get it. */
int serve_find_nbdkit(struct serve_nbdkit *ret);
/** Become nbdkit, in the foreground, on `fd`. Returns only on failure: CLI_FAILED after the reason was printed. */
int serve_become_nbdkit(const struct cli_options *options, const struct serve_nbdkit *nbdkit, int fd);

#endif
