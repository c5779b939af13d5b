/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the page share. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_HTML_H
#define OUTRIDER_CAMPAIGN_LIST_HTML_H

#include <stdio.h>

#include "hv/campaign/list/morning.h"

/* Draw how the rounds of the campaign went: races, coverage, and overhead. Nothing for no round. */
void list_html_plots(FILE *out, const struct morning *m);

/* Write the table of all races, and the section of each. */
void list_html_races(FILE *out, const struct morning *m);

#endif
