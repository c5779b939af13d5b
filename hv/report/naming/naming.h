/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Name what raced: a race's registers, code bytes and calls, and the debug files of the images they are in, to source lines and
 * the datum's name. A race record is enough, so this works as well on another machine and years later.
 */
#ifndef OUTRIDER_REPORT_NAMING_NAMING_H
#define OUTRIDER_REPORT_NAMING_NAMING_H

#include "hv/base/err.h"
#include "hv/race/race.h"
#include "hv/report/naming/image.h"

/*
 * Make race->names, in place of those it has if these say as much. What the debug files do not know stays unnamed. 0; -1 with
 * EXIT_INTERNAL: out of memory, and then the race is as it was.
 */
int naming_race(const struct naming *n, struct race *race, struct err *err);

#endif
