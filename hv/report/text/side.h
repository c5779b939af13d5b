/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints one side of a race, as a part of the text report. */
#ifndef OUTRIDER_REPORT_TEXT_SIDE_H
#define OUTRIDER_REPORT_TEXT_SIDE_H

#include <stdio.h>

#include "hv/race/race.h"
#include "hv/report/text/style.h"

/* Print all facts about one side, indented. A vCPU must have made the access. */
void text_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style);

/* Print the device request of a side, indented. A device must have made the access. */
void text_device_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style);

#endif
