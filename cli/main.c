/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <malloc.h>
#include <stdio.h>

#include "cli.h"
#include "verbs.h"

const struct cli_verb cli_verbs[] = {
	{ "check", CHECK, "[TARGET...]", "judge every layer, name the guilty one, price it, say how to mend it", cmd_check },
	{ "show", SHOW, "[TARGET...]", "draw the stack with offsets and limits", cmd_show },
	{ "explain", EXPLAIN, "[ID...]", "explain a finding: what it proves, how to mend it, what would refute it", cmd_explain },
	{ "capture", CAPTURE, "[TARGET...]", "write the stack as a snapshot that all reading verbs accept", cmd_capture },
	{ "map", LOCATE, "MEMBER... NODE OFFSET[+LENGTH]", "say on which disks a byte lives, or what a disk's byte is part of", cmd_map },
	{ "copy", COPY, "MEMBER...", "write an array's or volume's contents to a file, whatever can be read", cmd_copy },
	{ "serve", SERVE, "MEMBER...", "give contents to NBD clients: read-only, with --cow, or with --rw", cmd_serve },
	{ "scrub", SCRUB, "MEMBER...", "compare all members of an md array, name the wrong one, and repair it if told", cmd_scrub },
	{ "rebuild", REBUILD, "MEMBER... --onto=TARGET", "compute a missing member of an md array onto a new one", cmd_rebuild },
	{ "create", CREATE, "pv DEVICE... | vg NAME PV... | lv VG [PV...]", "make LVM2 volumes that are aligned by construction",
	  cmd_create },
	{ "undo", UNDO, "LOG MEMBER...", "put back what a repair has overwritten", cmd_undo },
};
const size_t cli_verbs_count = sizeof(cli_verbs) / sizeof(cli_verbs[0]);

int main(int argc, char **argv)
{
	struct cli_options options = { 0 };
	const struct cli_verb *verb;
	int status;

	setlocale(LC_CTYPE, "");
	/* A fleet's graphs come and go: giving memory back to the kernel each time costs more than the work on it. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 8 << 20);
	if (cli_parse(argc, argv, &options, &verb, &status))
		return status;
	status = verb->run(&options);
	/* A full disk or a closed pipe must not pass for a good answer. */
	if (fflush(stdout) || ferror(stdout)) {
		return cli_say("cannot write the output");
	}
	return status;
}
