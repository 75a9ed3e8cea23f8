/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The field that Q is computed in: GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d) and g = 2, as in the kernel's lib/raid6.
 */
#ifndef RAID_FIELD_H
#define RAID_FIELD_H

#include <stdint.h>

/** Distinct powers of g, and so the most data slots that Q can tell apart. */
#define FIELD_POWERS 255U

uint8_t field_power(uint32_t exponent);
/** Which power `value` is, 0 to 254. `value` is not 0. */
uint32_t field_log(uint8_t value);
uint8_t field_times(uint8_t a, uint8_t b);
/** `value` is not 0. */
uint8_t field_inverse(uint8_t value);

#endif
