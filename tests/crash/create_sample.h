/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * A sample of what disks may hold after a power cut, written to a file for other judges. Text lines, and raw bytes where said:
 *
 *   deed VERB TYPE DISKS
 *   state before|after|cut RUNS     and for each run: DISK OFFSET LENGTH, then as many bytes and a line feed; all else is the filler
 *
 * Threads: one.
 */
#ifndef CRASH_CREATE_SAMPLE_H
#define CRASH_CREATE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample;

/** To the new file `path`; at most `each` cuts of every point, those with the smallest keys. NULL when it cannot be made. */
struct sample *sample_open(const char *path, size_t each, size_t disk_bytes, uint8_t filler);
/** What comes next: the verb, the type of volume or "-", and the disks before it. */
void sample_deed(struct sample *s, const char *verb, const char *type, const uint8_t *const *disks, unsigned count);
/** `key`: distinct for distinct states, and random. */
void sample_cut(struct sample *s, uint64_t key, const uint8_t *const *disks);
/** What was sampled since the last point, or sample_deed(), is written. */
void sample_point(struct sample *s);
/** The disks afterwards. */
void sample_done(struct sample *s, const uint8_t *const *disks);
/** 0 or negative errno of any write. */
int sample_close(struct sample *s);

#endif
