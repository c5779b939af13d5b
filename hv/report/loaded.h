/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules that are loaded now, and those of them that a race keeps: the ones that an address of the race may be in. A guest
 * can load modules as often as it likes, and a document that had them all would grow without end.
 */
#ifndef OUTRIDER_REPORT_LOADED_H
#define OUTRIDER_REPORT_LOADED_H

#include <stdbool.h>

#include "hv/race/race.h"
#include "hv/report/modules.h"

/*
 * Let race->modules be the ids of those of `loaded` that an address of the race may be in: of its calls, its data or its
 * registers. Copies of these are added to `kept`, as long as they all take at most `most` bytes (report_module_bytes()). *full
 * is set when one is left out because of that. 0, or -1 with err set: memory ran out.
 */
int loaded_keep(const struct report_modules *loaded, struct race *race, struct report_modules *kept, size_t most, bool *full,
		struct err *err);

#endif
