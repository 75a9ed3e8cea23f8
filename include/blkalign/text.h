/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Text that comes from disks and goes to terminals.
 *
 * Names in superblocks and metadata are hostile: they may hold escape sequences, line feeds, direction marks. All output
 * of names goes through blkalign_escape().
 */
#ifndef BLKALIGN_TEXT_H
#define BLKALIGN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <blkalign/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copy `text` to `ret` (capacity `size` bytes, always terminated), with C0 and C1 controls, DEL, backslash, bytes that are not valid
 * UTF-8, bidirectional controls and zero-width characters as \xNN. Cut to fit, never inside an escape. Returns `ret`.
 */
BLKALIGN_API char *blkalign_escape(char *ret, size_t size, const char *text);

/**
 * Format a byte count as people read it: "512 B", "4 KiB", "1 MiB", "33553920 B". A unit is used only where the value is a whole
 * multiple of it or, when `rounded`, with one decimal ("2.7 TiB"). BLKALIGN_UNKNOWN gives "-". Returns `ret`.
 */
BLKALIGN_API char *blkalign_format_bytes(char *ret, size_t size, uint64_t bytes, int rounded);

#ifdef __cplusplus
}
#endif
#endif
