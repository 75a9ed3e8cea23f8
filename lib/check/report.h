/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What rules write into: findings and layer lines, kept in one arena.
 *
 * A lack of memory is remembered in the report and told once, by report_finish(): rules need not look.
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <blkalign/check.h>

#include "base/base.h"

enum finding {
#define FINDING(symbol, id, severity, title, text, remedy, refutation) FINDING_##symbol,
#include "check/findings.def"
#undef FINDING
	FINDINGS
};

/** What a finding means for the data; the severity follows from it, here and nowhere else. */
enum impact {
	IMPACT_NONE,		/**< worth knowing, nothing to do */
	IMPACT_TUNING,		/**< off the full stripe or 1 MiB */
	IMPACT_LOSES_SPEED,	/**< across chunks, or work done twice, where it costs */
	IMPACT_MISLEADS,	/**< a wrong value that the tools of this host would obey next time, or the kernel obeys now */
	IMPACT_BREAKS,		/**< something cannot be opened, joined or mounted, now or after the next assembly */
	IMPACT_ACROSS_PHYSICAL, /**< data lies across physical blocks now */
	IMPACT_AT_RISK,		/**< data is read wrong or not at all, or writing destroys it */
};

enum blkalign_severity impact_severity(enum impact impact);

/** What a rule says. Strings come from report_text(); zero expected_bytes and found_bytes are numbers, unknown is BLKALIGN_UNKNOWN. */
struct draft {
	enum finding finding;
	enum impact impact;
	const struct blkalign_node *node;
	const struct blkalign_node *cause; /**< NULL: the node itself */
	uint64_t found_bytes;
	uint64_t expected_bytes;
	const char *message;
	const char *price;  /**< or NULL */
	const char *remedy; /**< or NULL */
};

struct blkalign_report *report_new(void);
/** A string that lives as long as the report; "" without memory. */
const char *report_text(struct blkalign_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A copy of `text`, however long. */
const char *report_keep(struct blkalign_report *report, const char *text);
/** A copy of `text`, its control characters escaped. */
const char *report_escaped(struct blkalign_report *report, const char *text);
void report_add(struct blkalign_report *report, const struct draft *draft);
/** `text` is copied. Lines are given from the last node of the graph to the first. */
void report_layer(struct blkalign_report *report, const struct blkalign_layer *layer);
/** Sort and sum up. 0 or -ENOMEM when something was lost. */
int report_finish(struct blkalign_report *report);

#endif
