/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <strings.h>

#include "check/report.h"

static const struct blkalign_finding_info infos[FINDINGS] = {
#define FINDING(symbol, id, severity, title, text, remedy, refutation) { id, BLKALIGN_##severity, title, text, remedy, refutation },
#include "check/findings.def"
#undef FINDING
};

size_t blkalign_finding_infos(void) { return FINDINGS; }

const struct blkalign_finding_info *blkalign_finding_info(size_t index) { return index < FINDINGS ? &infos[index] : NULL; }

const struct blkalign_finding_info *blkalign_finding_find(const char *id)
{
	for (size_t i = 0; i < FINDINGS; i++)
		if (!strcasecmp(infos[i].id, id))
			return &infos[i];
	return NULL;
}
