/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Name what raced. The debug files of the images that a race's calls are in give source lines, and with its registers and code
 * bytes the name of the datum. The record of the race is enough: no guest is needed, so that it works as well on another
 * machine and years later.
 */
#ifndef OUTRIDER_REPORT_NAMING_NAMING_H
#define OUTRIDER_REPORT_NAMING_NAMING_H

#include "hv/base/err.h"
#include "hv/race/race.h"
#include "hv/report/naming/image.h"

/*
 * Make race->names. They take the place of names that the race has already, unless those have more source lines. What the debug
 * files do not know stays unnamed. 0, or -1 with EXIT_INTERNAL: memory ran out, and the race is as it was.
 */
int naming_race(const struct naming *n, struct race *race, struct err *err);

/* Set the function, file, line and column of a source line to what a frame has. The rest of it stays as it is. */
void naming_line(const struct debuginfo_frame *frame, struct source_line *line);

#endif
