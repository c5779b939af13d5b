/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the maintainers of the source files of a race, by the kernel's own scripts/get_maintainer.pl. */
#ifndef OUTRIDER_CLI_MAINTAINERS_H
#define OUTRIDER_CLI_MAINTAINERS_H

#include <stdio.h>

#include "hv/race/race.h"
#include "symbols/files/sources.h"

/*
 * Write the To: and Cc: lines of a mail about `race`: maintainers, then reviewers and lists. They come from the script of the
 * first folder in `sources` that has a script. The script runs without a shell, with only a PATH in its environment, in that
 * folder, on the files of both accesses that lie below the folder, for 20 seconds at most. Only lines of its output in the form
 * of an address are used.
 *
 * If there is no script, or the script fails, nothing is written, and say(ctx, line) is called with the reason.
 */
void maintainers_write(FILE *out, struct sources *sources, const struct race *race, void (*say)(void *ctx, const char *line),
		       void *ctx);

#endif
