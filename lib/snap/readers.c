/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "snap/import.h"
#include "snap/snap.h"
#include "snap/snapshot.h"

/* Those with a signature of their own come first, loose text last: it is recognised by weaker signs. */
/* One per line. */
/* clang-format off */
const struct snap_reader *const snap_readers[] = {
	&snapshot_reader,
	&import_lsblk_reader,
	&import_sosreport_reader, /* may hold a sys folder with a few files only */
	&sysroot_reader,
	&import_text_reader,
	NULL,
};
/* clang-format on */

const struct snap_reader *snap_recognise(const struct snap_probe *probe)
{
	for (size_t i = 0; snap_readers[i]; i++)
		if (snap_readers[i]->recognise(probe))
			return snap_readers[i];
	return NULL;
}
