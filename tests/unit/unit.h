/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What cmocka wants included before it, in one place. */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
