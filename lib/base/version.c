/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <blkalign/version.h>

const char *blkalign_version(void) { return BLKALIGN_VERSION; }
