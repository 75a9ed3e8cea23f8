/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The rules, one file per subject: each looks at one node and reports. rules.c says which kinds it is asked about. */
#ifndef CHECK_RULES_H
#define CHECK_RULES_H

#include "check/check.h"

/** rule_exempt.c, before the judge: which nodes are not to be judged, and the findings that say why. */
void rules_exempt(struct check *c);
/** After the judge. */
void rules_run(struct check *c);

/** rule_hint.c: something on `node` bears the fingerprint of a hint that the node does not show; told once. */
void hint_betrayed(struct check *c, const struct blkalign_node *node, uint64_t hint_bytes);

/* rule_hint.c */
void rule_hint(struct check *c, const struct blkalign_node *node);
void rule_minimum(struct check *c, const struct blkalign_node *node);
/* rule_read_ahead.c */
void rule_read_ahead(struct check *c, const struct blkalign_node *node);
/* rule_physical.c */
void rule_physical(struct check *c, const struct blkalign_node *node);
/* rule_size.c */
void rule_size(struct check *c, const struct blkalign_node *node);
/* rule_limits.c */
void rule_alignment_offset(struct check *c, const struct blkalign_node *node);
/* rule_round.c */
void rule_round_partition(struct check *c, const struct blkalign_node *node);
void rule_round_pv(struct check *c, const struct blkalign_node *node);
/* rule_partition.c */
void rule_partition_end(struct check *c, const struct blkalign_node *node);
void rule_table_end(struct check *c, const struct blkalign_node *node);
/* rule_md.c */
void rule_md(struct check *c, const struct blkalign_node *node);
void rule_volume_state(struct check *c, const struct blkalign_node *node);
/* rule_md_state.c */
void rule_md_state(struct check *c, const struct blkalign_node *node);
/** The kernel runs the array: its state is the kernel's word, and not one that was found on disks. */
bool md_is_running(const struct blkalign_node *node);
/* rule_lv_records.c */
void rule_lv_records(struct check *c, const struct blkalign_node *node);
/* rule_mixed.c */
void rule_mixed_md(struct check *c, const struct blkalign_node *node);
void rule_mixed_crypt(struct check *c, const struct blkalign_node *node);
void rule_mixed_groups(struct check *c);
void rule_mixed_free(struct check *c);
/* rule_luks.c */
void rule_luks(struct check *c, const struct blkalign_node *node);
/* rule_fs.c */
void rule_fs(struct check *c, const struct blkalign_node *node);
/* rule_harmless.c */
void rule_container(struct check *c, const struct blkalign_node *node);
void rule_messages(struct check *c, const struct blkalign_node *node);

#endif
