/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "cli.h"

int cmd_undo(const struct cli_options *o)
{
	struct blkalign_error err = { 0 };
	char text[32];
	uint64_t bytes;

	if (o->target_count < 2) {
		fprintf(stderr, "blkalign: undo needs the log and the files or disks that it is of\nTry `blkalign undo --help`.\n");
		return CLI_FAILED;
	}
	err.code = blkalign_undo_apply(o->targets[0], o->targets + 1, o->target_count - 1, &bytes, &err);
	if (err.code < 0)
		return cli_fail(&err);
	if (!bytes) {
		printf("nothing to put back: the members hold already what they held before the repair\n");
		return CLI_ALIGNED;
	}
	printf("%s put back; %s may be removed\n", blkalign_format_bytes(text, sizeof(text), bytes, true), cli_safe(o->targets[0]));
	return CLI_ALIGNED;
}
