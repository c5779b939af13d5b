/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who maintains the source files of a race, by what the kernel's own scripts/get_maintainer.pl says. */
#ifndef OUTRIDER_CLI_MAINTAINERS_H
#define OUTRIDER_CLI_MAINTAINERS_H

#include <stdio.h>

#include "hv/race/race.h"
#include "symbols/files/sources.h"

/*
 * Write the To: and Cc: lines of a mail about `race`: maintainers, then reviewers and lists. They come from the script of the
 * first folder in `sources` that has one. The script is run without a shell, with nothing of the environment but a PATH, in
 * that folder, for the files of both accesses that lie below the folder; and for 20 seconds at most. Only lines that have the
 * form of an address are taken.
 *
 * Nothing is written when there is no such script, or when the script fails. Then note(ctx, line) says so in one line.
 */
void maintainers_write(FILE *out, struct sources *sources, const struct race *race, void (*note)(void *ctx, const char *line),
		       void *ctx);

#endif
