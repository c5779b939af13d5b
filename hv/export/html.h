/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the files of the HTML pages share. Private to hv/export. */
#ifndef OUTRIDER_EXPORT_HTML_H
#define OUTRIDER_EXPORT_HTML_H

#include "hv/export/internal.h"

/*
 * html_page_begin() and html_page_end() write the beginning and the end of a page. The page is complete without its script,
 * which adds sorting, filtering and copying. title() writes the title as escaped text. `more_style` is CSS to append to the
 * common style.
 */
void html_page_begin(FILE *out, void (*title)(FILE *out, const void *ctx), const void *ctx, const char *more_style);
void html_page_end(FILE *out, const char *version);

/* Escape and write a text of Outrider itself. */
void html_text(FILE *out, const char *text);

/*
 * Write HTML as fprintf() does, and escape each %s as html_text() does. Knows the conversions %s, %u, %zu and %lu (PRIu64)
 * without flags, width or precision.
 */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write a text of the guest, in the `size` bytes at `text`, at most 256. The text is made printable, then escaped. */
void html_guest(FILE *out, const char *text, size_t size);

/*
 * Write a string of the guest, the host or a file, of any length. The string is made printable, truncated to 1024 bytes, then
 * escaped.
 */
void html_foreign(FILE *out, const char *text);

/* Write the name of a site or datum as html_foreign() does, with optional line breaks between its parts. */
void html_name(FILE *out, const char *text);

/* The level of all suppressed races, whatever their verdict. */
#define HTML_SUPPRESSED (EXPORT_BENIGN + 1)
#define HTML_LEVELS (HTML_SUPPRESSED + 1)

/* Returns the level of a race: an enum export_level, or HTML_SUPPRESSED. */
int html_level(const struct export_race *r);

/* Returns the CSS class for races of this level (html_level()). */
const char *html_level_class(int level);

/* Returns plain words for races of this level, such as "may be harmful". The caller prints them after a count of races. */
const char *html_level_words(int level);

/* Returns the verdict in one or two words; "not judged" if there is no verdict. */
const char *html_verdict(const struct export_race *r);

/* Write the facts about the runs: kernel, time, host and options. */
void html_runs(FILE *out, const struct export_run *run);

/* Write the table of all races, with a link to each race's section. */
void html_table(FILE *out, const struct export_run *run);

/* Write the table of suspicions. If `chart` is NULL (no run followed locks), writes nothing. */
void html_suspicions(FILE *out, const struct lock_chart *chart);

/*
 * List the three critical sections of an atomicity suspicion in the order in which they are executed, with what each does to
 * the datum.
 */
void html_sections(FILE *out, const struct chart_suspicion *c);

/* Write the section of one race. Returns 0, or -1 with err set if memory runs out. */
int html_race(FILE *out, const struct export_run *run, const struct export_race *r, struct err *err);

/* Write one side of a race. */
void html_side(FILE *out, const struct export_run *run, const struct race *race, unsigned which);

/*
 * Write the events around the race's first observation twice: as a drawing with a lane for each CPU or device, and as a list.
 * An event has the same number in both.
 */
void html_timeline(FILE *out, const struct race *race);

/* Write the datum's value before and after the conflict, decoded and as bits. */
void html_values(FILE *out, const struct race *race);

/* Write the results of running the race in both orders. Writes nothing if the race was not run. */
void html_replay(FILE *out, const struct race *race);

/* Draw the times of the recorded instances on an axis as long as the longest run. */
void html_times(FILE *out, const struct export_run *run, const struct race *race);

#endif
