/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the HTML page share. */
#ifndef OUTRIDER_EXPORT_HTML_H
#define OUTRIDER_EXPORT_HTML_H

#include "hv/export/internal.h"

/*
 * Begin and end a page, which is complete without its script; the script sorts, filters and copies. title() writes the title,
 * as text that is escaped already. `more_style` is CSS of our own behind the common style.
 */
void html_page_begin(FILE *out, void (*title)(FILE *out, const void *ctx), const void *ctx, const char *more_style);
void html_page_end(FILE *out, const char *version);

/* Write text of our own, and escape the characters that mean something in HTML. */
void html_text(FILE *out, const char *text);

/* Write the guest's text in the `size` bytes at `text`, at most 256 of them. It is made printable and then escaped. */
void html_guest(FILE *out, const char *text, size_t size);

/* Write a string of the guest's, the host's or a file's, of any length. It is made printable, cut after 1024 bytes, and
 * escaped. */
void html_foreign(FILE *out, const char *text);

/* Write the name of a site or datum as html_foreign() does, with places between its parts where a narrow cell may break it. */
void html_name(FILE *out, const char *text);

/* A suppressed race is of a level of its own, whatever its verdict. */
#define HTML_SUPPRESSED (EXPORT_BENIGN + 1)
#define HTML_LEVELS (HTML_SUPPRESSED + 1)

/* The level of a race: an enum export_level, or HTML_SUPPRESSED. */
int html_level(const struct export_race *r);

/* The class of the style sheet that races of this level are shown in. */
const char *html_level_class(int level);

/* What the races of this level are, behind their number. */
const char *html_level_words(int level);

/* The verdict in a word or two, also where there is none. */
const char *html_verdict(const struct export_race *r);

/* Write what is known of the runs: the kernel, when and where they were made, and as what they were asked for. */
void html_runs(FILE *out, const struct export_run *run);

/* Write the table of all races, with a link to the section of each. */
void html_table(FILE *out, const struct export_run *run);

/* Write the table of suspicions, or nothing where no run followed locks (NULL). */
void html_suspicions(FILE *out, const struct lock_chart *chart);

/* Write the section of one race of `run`. Returns 0, or -1 with err set when memory ran out. */
int html_race(FILE *out, const struct export_run *run, const struct export_race *r, struct err *err);

/* Write one side of a race. */
void html_side(FILE *out, const struct export_run *run, const struct race *race, unsigned which);

/* Write the datum's value before and after, decoded and in bits. */
void html_values(FILE *out, const struct race *race);

/* Write what came of running the race in both orders. Nothing is written of a race that never was. */
void html_replay(FILE *out, const struct race *race);

/* Draw when the race was seen: the kept instances on the time that the longest of the runs took. */
void html_times(FILE *out, const struct export_run *run, const struct race *race);

#endif
