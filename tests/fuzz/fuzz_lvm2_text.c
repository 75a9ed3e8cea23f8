/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a volume group: grammar, decoding, bounds and order. */
#include "format/lvm2/lvm2.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blkalign_error err;
	struct lvm2_vg *vg;

	if (lvm2_vg_decode((const char *)data, size, &vg, &err) == 0)
		lvm2_vg_free(vg);
	return 0;
}
