/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Small text files that verbs keep account in: read whole, replaced whole. Failures are told on standard error. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stddef.h>

/** 0: *ret_text (terminated, freed by the caller) has its contents; 1: there is no such file; CLI errors are told and -1. */
int cli_read_file(const char *path, char **ret_text, size_t *ret_length);
/** Write a file of mode 0600 beside it, sync it, and rename it: there is the old one or the new one, whatever happens. 0 or -1. */
int cli_replace_file(const char *path, const char *text);

/** Where an undo log goes that nobody named: "blkalign-undo-WHAT-DATE.log", here, with a number behind it where there is one already. Returns `ret`. */
const char *cli_undo_name(const char *what, char *ret, size_t size);

#endif
