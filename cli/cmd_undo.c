/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

static void tell_uses(const struct cli_options *o, const enum blkalign_undo_use *uses)
{
	for (size_t i = 1; i < o->target_count; i++) {
		if (uses[i - 1] == BLKALIGN_UNDO_REPEATED)
			printf("note: %s: is given twice, and used once\n", cli_safe(o->targets[i]));
		else if (uses[i - 1] == BLKALIGN_UNDO_NOT_OURS)
			printf("note: %s: takes no part: the log has nothing of it\n", cli_safe(o->targets[i]));
	}
}

static int undo(const struct cli_options *o, enum blkalign_undo_use *uses)
{
	struct blkalign_error err = { 0 };
	uint64_t bytes = 0;

	err.code = blkalign_undo_apply(o->targets[0], o->targets + 1, o->target_count - 1, &bytes, uses, &err);
	tell_uses(o, uses);
	if (err.code < 0)
		return cli_fail(&err);
	if (bytes)
		printf("%s put back; %s may be removed\n", cli_bytes(bytes), cli_safe(o->targets[0]));
	else
		printf("nothing to put back: the members hold already what they held before the repair\n");
	return CLI_ALIGNED;
}

int cmd_undo(const struct cli_options *o)
{
	enum blkalign_undo_use *uses;
	int status;

	if (o->target_count < 2)
		return cli_usage(o, "undo needs the log and the files or disks that it is of");
	uses = calloc(o->target_count, sizeof(*uses));
	status = uses ? undo(o, uses) : cli_fail(&(struct blkalign_error){ .message = "out of memory" });
	free(uses);
	return status;
}
