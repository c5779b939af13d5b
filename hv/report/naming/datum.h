/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_NAMING_DATUM_H
#define OUTRIDER_REPORT_NAMING_DATUM_H

#include "hv/report/naming/image.h"

/*
 * Name the datum of a race by debug files: by the variable at its address, or by the pointer that an access went through. Fills
 * in names->datum and names->best. A datum that the debug files do not cover stays unnamed.
 */
void naming_datum(const struct naming *n, const struct race *race, struct race_names *names);

#endif
