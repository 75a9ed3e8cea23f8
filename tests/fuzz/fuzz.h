/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A target: decodes `data` and must neither crash nor hang. Mends checksums in a copy first where the format has them. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
