/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the server does when clients leave without a word, or stay when it is to end. */
#ifndef NBDKIT_CONNECTION_H
#define NBDKIT_CONNECTION_H

#include <stdbool.h>

/**
 * Watch over the end: after a signal that ends the server, connections that are still there some seconds later are shut down. Without that a client that is
 * stopped, or connects and says nothing, would keep nbdkit from ever ending, and the array from being marked clean. To be called behind the
 * fork. 0 or negative errno.
 */
int connection_watch_start(void);
/** All connections are gone. */
void connection_watch_stop(void);

#endif
