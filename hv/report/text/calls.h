/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_TEXT_CALLS_H
#define OUTRIDER_REPORT_TEXT_CALLS_H

#include <stdio.h>

#include "hv/race/race.h"

/*
 * Print the call stack of a side, one frame per line, innermost first. An inlined function has its own line. A guessed frame
 * begins with a question mark.
 */
void text_calls(FILE *out, const struct race *race, unsigned which);

#endif
