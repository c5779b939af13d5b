/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_TEXT_CALLS_H
#define OUTRIDER_REPORT_TEXT_CALLS_H

#include <stdio.h>

#include "hv/race/race.h"

/*
 * Print the calls that led to a side's access, one a line, the innermost first. A function that was inlined has a line of its
 * own. A guess has a question mark.
 */
void text_calls(FILE *out, const struct race *race, unsigned which);

#endif
