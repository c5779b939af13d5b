/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names a race by debug files. The debug files of the images in its call stacks give source lines and, with the registers and
 * code bytes, the name of the datum. The race's record suffices: no guest is needed, so naming works on another machine and
 * years later.
 */
#ifndef OUTRIDER_REPORT_NAMING_NAMING_H
#define OUTRIDER_REPORT_NAMING_NAMING_H

#include "hv/base/err.h"
#include "hv/race/race.h"
#include "hv/report/naming/image.h"

/*
 * Set race->names, replacing existing names unless those have more source lines. What the debug files do not cover stays
 * unnamed. Returns 0, or -1 with EXIT_INTERNAL if memory runs out; the race is then unchanged.
 */
int naming_race(const struct naming *n, struct race *race, struct err *err);

/* Copy function, file, line and column of a frame to a source line. Other members stay. */
void naming_line(const struct debuginfo_frame *frame, struct source_line *line);

#endif
