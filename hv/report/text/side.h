/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_REPORT_TEXT_SIDE_H
#define OUTRIDER_REPORT_TEXT_SIDE_H

#include <stdio.h>

#include "hv/race/race.h"
#include "hv/report/text/style.h"

/* Print all that is known of one side, indented. A vCPU must have made the access. */
void text_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style);

/* Print which request of a device a side is of, indented. A device must have made the access. */
void text_device_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style);

#endif
