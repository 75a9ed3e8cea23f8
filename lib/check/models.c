/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Only models for which a write test or the maker's own data sheet contradicts the reported size. Prefixes of the MODEL string,
 * with the vendor's name that SCSI puts in front left out.
 */
#include <strings.h>

#include "check/models.h"

static const char *const hide_4096[] = {
	"WD10EARS",	   "WD15EARS",	 "WD20EARS", "WD10EARX", "WD20EARX", /* Caviar Green, first with 4096-byte sectors */
	"SSDSA2M080",	   "SSDSA2M160",				     /* Intel X25-M G2 */
	"M4-CT",							     /* Crucial m4 */
	"Samsung SSD 850", "SSD 850",					     /* 850 EVO and Pro */
};

bool model_hides_4096(const struct blkalign_node *node)
{
	const char *model = blkalign_node_str(node, BLKALIGN_ATTR_MODEL);

	if (!model)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(hide_4096); i++)
		if (strcasestr(model, hide_4096[i]))
			return true;
	return false;
}
