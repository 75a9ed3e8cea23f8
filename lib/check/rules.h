/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The rules, one file per subject: each looks at one node and reports. rules.c says which kinds it is asked about. */
#ifndef CHECK_RULES_H
#define CHECK_RULES_H

#include "check/check.h"

/** Before the judge: which nodes are not to be judged, and the findings that say why. */
void rules_exempt(struct check *c);
/** After the judge. */
void rules_run(struct check *c);

/* rule_hint.c */
void rule_hint(struct check *c, const struct blkalign_node *node);
void rule_minimum(struct check *c, const struct blkalign_node *node);
/* rule_read_ahead.c */
void rule_read_ahead(struct check *c, const struct blkalign_node *node);
/* rule_round.c */
void rule_round_partition(struct check *c, const struct blkalign_node *node);
void rule_round_pv(struct check *c, const struct blkalign_node *node);

#endif
