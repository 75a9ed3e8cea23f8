/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "columns.h"

/** Print the stack as a tree of the given columns. An N:M device is drawn once. Returns a CLI exit status. */
int table_print(const struct cli_options *options, const struct columns *columns, const struct blkalign_graph *graph,
		const struct blkalign_report *report);

#endif
