/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the loaded modules that a race records: those that contain an address of the race. A hostile guest can load modules
 * again and again, so recording all of them would let the document grow without bound.
 */
#ifndef OUTRIDER_REPORT_LOADED_H
#define OUTRIDER_REPORT_LOADED_H

#include <stdbool.h>

#include "hv/race/race.h"
#include "hv/report/modules.h"

/*
 * Set race->modules to the ids of the modules of `loaded` that may contain an address of the race: of its calls, its data or
 * its registers. Adds copies of these modules to `kept`, as long as all of them take at most `most` bytes
 * (report_module_bytes()). If this limit leaves out a module, sets *full. Returns 0, or -1 with err set if memory runs out.
 */
int loaded_keep(const struct report_modules *loaded, struct race *race, struct report_modules *kept, size_t most, bool *full,
		struct err *err);

#endif
