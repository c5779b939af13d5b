/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out from the writer's code alone whether a race is in a section of a sequence count. Only the pruner uses this header.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_SECTION_H
#define OUTRIDER_PRUNER_PATTERNS_SECTION_H

#include "pruner/patterns/view.h"

/*
 * Returns whether the code of a side that writes shows a section of a sequence count around its store, or that its store is to
 * the count. The reader's code is not examined: it may lack the check of the count. A pure function.
 */
bool section_of_writer(const struct view *v);

#endif
