/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the HTML pages share. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_HTML_H
#define OUTRIDER_CAMPAIGN_LIST_HTML_H

#include <stdio.h>

#include "hv/campaign/list/summary.h"

/* Returns the style sheet's class for a class of races: a string constant. */
const char *list_html_class(enum summary_class class);

/* Write a verdict as a paragraph. `begin` is the HTML that the paragraph begins with, such as "<p>". */
void list_html_verdict(FILE *out, const char *begin, const struct summary_verdict *v);

/* Write both sides of a race, and the datum if it has a name. */
void list_html_race(FILE *out, const struct summary_race *r);

/* Draw the plots of races, coverage and overhead over the campaign's rounds. Without rounds, draw nothing. */
void list_html_plots(FILE *out, const struct summary *m);

/* Write a section for each likely bug that needs attention, or nothing if there is none. */
void list_html_bugs(FILE *out, const struct summary *m);

/* Write the table of all races, and a section for each race. */
void list_html_races(FILE *out, const struct summary *m);

#endif
