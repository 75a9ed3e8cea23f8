/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Version of the library: at build time as macros, at run time as text. */
#ifndef BLKALIGN_VERSION_H
#define BLKALIGN_VERSION_H

#if defined(__GNUC__)
#define BLKALIGN_API __attribute__((visibility("default")))
#else
#define BLKALIGN_API
#endif

#define BLKALIGN_VERSION_MAJOR 0
#define BLKALIGN_VERSION_MINOR 2
#define BLKALIGN_VERSION_PATCH 0
#define BLKALIGN_VERSION       "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif

/** "MAJOR.MINOR.PATCH" of the library that is running. Static storage. */
BLKALIGN_API const char *blkalign_version(void);

#ifdef __cplusplus
}
#endif
#endif
