/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Parity the slow way, bit by bit and byte by byte: what the fast code is compared with. It shares nothing with that, nor with isa-l, not even the rule
 * for exponents. Built into tests only.
 */
#ifndef RAID_REFERENCE_H
#define RAID_REFERENCE_H

#include "raid/raid.h"

/** The product of two polynomials over GF(2), modulo x^8 + x^4 + x^3 + x^2 + 1. */
uint8_t reference_times(uint8_t a, uint8_t b);
/** 2 to the power of `exponent`. */
uint8_t reference_power(uint32_t exponent);
/** As raid_exponent(), by walking from slot to slot. */
uint32_t reference_exponent(const struct raid_geometry *geometry, const struct raid_stripe *stripe, uint32_t slot);
/** As raid_generate(). */
void reference_generate(const struct raid_row *row);

#endif
