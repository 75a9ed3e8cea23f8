/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * How failures are told.
 *
 * Functions return 0 for success, a negative errno for failure, and a positive number for a documented outcome that
 * the caller must handle (enum blkalign_outcome). The detail of a failure goes into a struct owned by the caller, passed
 * as `reterr`; it is written on failure only and NULL is accepted everywhere.
 */
#ifndef BLKALIGN_ERROR_H
#define BLKALIGN_ERROR_H

#include <stdint.h>

#include <blkalign/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A byte count, offset or number that nobody knows. Never shown as a number: JSON says null, tables say "-". */
#define BLKALIGN_UNKNOWN UINT64_MAX

enum blkalign_outcome {
	BLKALIGN_OK = 0,
	BLKALIGN_NOT_THIS = 1, /**< the bytes are not of the format asked for */
	BLKALIGN_ABSENT = 2,   /**< the thing asked for is not there (an attribute, a node, a file of sysfs) */
};

struct blkalign_error {
	int code;	       /**< negative errno, the function's return value */
	char where[256];       /**< device, file or node; safe for a terminal */
	uint64_t offset_bytes; /**< byte offset in `where`, or BLKALIGN_UNKNOWN */
	char message[512];     /**< one sentence: expected, found, what to do; safe for a terminal */
};

/**
 * Fill `reterr` (may be NULL) and return `code`, so that a failing function can end with `return blkalign_error_set(...)`.
 * `where` may be NULL. Bytes that a terminal would act on are escaped. Thread-safe.
 */
BLKALIGN_API int blkalign_error_set(struct blkalign_error *reterr, int code, const char *where, uint64_t offset_bytes, const char *format,
				    ...) __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif
#endif
