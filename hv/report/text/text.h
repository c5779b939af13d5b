/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Races and the end of a run, for people. */
#ifndef OUTRIDER_REPORT_TEXT_TEXT_H
#define OUTRIDER_REPORT_TEXT_TEXT_H

#include <stdio.h>

#include "hv/race/stats.h"
#include "hv/race/store.h"
#include "hv/race/suspicion.h"
#include "hv/report/run_facts.h"
#include "hv/report/text/style.h"
#include "symbols/files/debug_images.h"

/*
 * Print one race, by its first instance. The first line says what raced, where, and how the value changed. Each side follows
 * with its context, registers, code and the top of its stack. Everything from the guest is made printable. Write errors stay in
 * `out`.
 */
void text_race(FILE *out, const struct race *race, const struct text_style *style);

/* Print what came so far of running a race in both orders, under a line that names the race. It must have been run so. */
void text_replay(FILE *out, const struct race *race, const struct text_style *style);

/*
 * Print what run the races are from, which heads a report: the guest's kernel, when and where the run was started, by which
 * Outrider, with which seed and options, and how it ended. A run that is not finished is said to be none. `file` names what
 * the run was read from.
 */
void text_run(FILE *out, const struct run_facts *run, const char *file, const struct text_style *style);

/* Print the table of all races, most often seen first, and the run's figures. `stats` may be NULL: there are no figures. */
void text_summary(FILE *out, const struct race_store *store, const struct detect_stats *stats, const struct text_style *style);

/* Print where the names of the store's races are from. `images` may be NULL: no debug files were asked. */
void text_names(FILE *out, const struct race_store *store, const struct debug_images *images);

/* Print what is suspected, and what came of looking for each race, in a section of its own; and what the record rests on. */
void text_suspicions(FILE *out, const struct protection *p, const struct suspicions *s, const struct text_style *style);

#endif
