/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints races and the summary of a run as text for people. */
#ifndef OUTRIDER_REPORT_TEXT_TEXT_H
#define OUTRIDER_REPORT_TEXT_TEXT_H

#include <stdio.h>

#include "hv/race/complaint.h"
#include "hv/race/stats.h"
#include "hv/race/store.h"
#include "hv/race/suspicion.h"
#include "hv/report/locks/chart.h"
#include "hv/report/run_facts.h"
#include "hv/report/text/style.h"
#include "symbols/files/debug_images.h"

/*
 * Print one race by its first instance. The first line says what raced, where, and how the value changed. Then comes each side
 * with its context, registers, code and the top of its stack. Text from the guest is made printable. The caller checks `out`
 * for write errors.
 */
void text_race(FILE *out, const struct race *race, const struct text_style *style);

/* Print the results so far of running a race in both orders, after a line that names the race. The race must have a replay. */
void text_replay(FILE *out, const struct race *race, const struct text_style *style);

/* Print a complaint of the guest's kernel: what it says, where, of which task, and the calls that led there. */
void text_complaint(FILE *out, const struct complaint *c, const struct text_style *style);

/* Print one line with the number of complaints of each kind, or that the guest's log could not be read. */
void text_complaints_sum(FILE *out, const struct run_complaints *complaints);

/*
 * Print the head of a report: the guest's kernel, when and where the run was started, the version of Outrider, seed and
 * options, and how the run ended or that it is not finished. `file` is the path that the run was read from.
 */
void text_run(FILE *out, const struct run_facts *run, const char *file, const struct text_style *style);

/*
 * Print the line with which the output for a run in doubt (run_doubt()) begins, or nothing for a run that is sound. `file` is
 * as for text_run(), or NULL for the run that has just ended.
 */
void text_doubt(FILE *out, const struct run_facts *run, const char *file, const struct text_style *style);

/* A callback for text_summary(): prints the totals of the judged races, and then their list, likely bugs first. */
struct text_list {
	void (*put)(void *ctx, FILE *out);
	void *ctx;
};

/*
 * Print the list of all races, and the counters of the run. `stats` may be NULL: no counters. `list` may be NULL if the races
 * were not judged: the races are then sorted by their number of observations, the highest first.
 */
void text_summary(FILE *out, const struct race_store *store, const struct detect_stats *stats, const struct text_list *list,
		  const struct text_style *style);

/* Print both sites of a race with the kinds of access, without a newline: "write f+0x1c  <->  read g+0x33". */
void text_sites(FILE *out, const struct race *race);

/* Print the source of the races' names. `images` may be NULL: no debug files were used. */
void text_names(FILE *out, const struct race_store *store, const struct debug_images *images);

/*
 * Print the suspicions with the result of confirming each, in a section of their own, and the numbers of the recorded locks and
 * accesses.
 */
void text_suspicions(FILE *out, const struct protection *p, const struct suspicions *s, const struct text_style *style);

/*
 * Print the three sections of an atomicity suspicion in the order in which they are executed, with what each does to the datum,
 * and whether the order was seen and confirmed.
 */
void text_sections(FILE *out, const struct chart_suspicion *c);

#endif
