/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Remedies as shell text: each command stands on a line of its own as it is to be typed, everything else on lines that begin with "# ". The
 * whole can be pasted into bash, zsh or ksh.
 */
#ifndef CHECK_SHELL_H
#define CHECK_SHELL_H

#include "check/check.h"

/**
 * `text` as one word, quoted where a shell or a terminal would act on it; bytes that a terminal acts on become $'\NNN'. `guard` is put in front of a word that
 * would look like an option: "./" for files, "/dev/" for volume groups (lvm2 takes it away again).
 */
const char *shell_word(struct check *c, const char *text, const char *guard);
/** The device's path as a word. A partition of an image file is "${LOOP}pN": see script_attach(). */
const char *shell_device(struct check *c, const struct blkalign_node *node);

/** A remedy being written. */
struct script {
	struct check *c;
	struct strbuf text;
};

/** A comment, wrapped. Names in it come from check_name() or shell_word(). */
void script_note(struct script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A command line. */
void script_run(struct script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A command of a way not taken, or one that lacks a value: "#   COMMAND", never wrapped. */
void script_run_not(struct script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/**
 * `node` as a block device: its path; for image files a loop device is attached first, by a command that sets LOOP, and named by "$LOOP".
 */
const char *script_block_device(struct script *s, const struct blkalign_node *node);
/** The whole, kept in the report; the script is done with. */
const char *script_finish(struct script *s);
/** A remedy of comments alone: the general text of the findings table. */
const char *script_general(struct check *c, enum finding finding);

#endif
