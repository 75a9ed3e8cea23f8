/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** `show --metadata`: the texts of LVM2 instead of the stack. */
#ifndef CLI_METADATA_H
#define CLI_METADATA_H

#include "cli.h"

int show_metadata(const struct cli_options *options);

#endif
