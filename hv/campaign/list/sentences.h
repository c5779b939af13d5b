/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences about a round that text, mail and page share. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_SENTENCES_H
#define OUTRIDER_CAMPAIGN_LIST_SENTENCES_H

#include <stdio.h>

#include "hv/campaign/list/summary.h"

/* The questions that the first lines of a round summary answer, one line each. */
enum list_answer { LIST_NEW, LIST_GONE, LIST_CHANGED, LIST_BROKE, LIST_COVERED, LIST_ANSWERS };

/*
 * The two parts of the answer to one question. list_answer_word() returns the label ("new"), and list_answer_put() writes a
 * clause without a full stop ("3 races: 1 harmful candidate, 2 benign").
 */
const char *list_answer_word(enum list_answer answer);
void list_answer_put(FILE *out, const struct summary *m, enum list_answer answer);

/*
 * Returns whether the answer needs attention: it tells of a harmful candidate that is new or back, of a verdict that became
 * more serious, of a finding, or of a failed run.
 */
bool list_answer_is_bad(const struct summary *m, enum list_answer answer);

/* Returns the word for the file of a finding: "scenario" for what `outrider explore` kept, else "console". */
const char *list_file_word(const char *path);

/* Write a line that is short enough for the subject of a mail: "3 new races (1 harmful), 1 changed, 2 findings". */
void list_headline_put(FILE *out, const struct summary *m);

/* Write "round 12 against round 11", "rounds 9 to 12 against round 8", "round 1, the first". */
void list_rounds_put(FILE *out, const struct summary *m);

/* Write "2026-11-22 01:00 to 06:58 UTC, 48 of 48 runs done, 1 broke; 1 attempt was cut off". */
void list_when_put(FILE *out, const struct summary *m);

/* Write "; 2 attempts were cut off", or nothing if `attempts` is 0. */
void list_cut_off_put(FILE *out, uint64_t attempts);

/* Write the amount of sampling, and the share of time that CPUs were stopped. */
void list_effort_put(FILE *out, const struct summary *m);

/* Write "seen 14 times in 3 runs, first in round 9; in 6.1.0-56-cloud-amd64". */
void list_seen_put(FILE *out, const struct summary *m, const struct summary_race *r);

/*
 * Write the probability that the selected rounds would miss a race that is gone if the kernel still had it: "420 windows at its
 * sites since then would miss it with a probability of 12.0 %".
 */
void list_missed_put(FILE *out, const struct summary_race *r);

/* Write "2 panic, 1 hang": the number of findings of each kind. Failed runs are left out. */
void list_kinds_put(FILE *out, const struct summary *m);

/*
 * A buffer for one of the functions below. Each use of LIST_WORDS makes a new buffer, which lives until the end of the block
 * that uses it.
 */
#define LIST_WORDS_MAX 64
#define LIST_WORDS ((char[LIST_WORDS_MAX]){0})

/* Returns milliseconds since 1970 as "2026-11-22T01:00:00Z", and 0 as "". */
const char *list_stamp(int64_t ms, char out[LIST_WORDS_MAX]);

/*
 * These functions write a text to `out`, for which callers pass LIST_WORDS, and return `out`. list_number() writes a number
 * with a comma between groups of three digits, list_count() a number with its unit ("1 race", "2 races"), and list_span() a
 * span of time ("5 h 12 min", "12 min", "40 s"). list_time() writes "2026-11-22T01:00:00Z" as "2026-11-22 01:00", and any other
 * text unchanged.
 */
const char *list_number(uint64_t n, char out[LIST_WORDS_MAX]);
const char *list_count(uint64_t n, const char *unit, char out[LIST_WORDS_MAX]);
const char *list_span(uint64_t ns, char out[LIST_WORDS_MAX]);
const char *list_time(const char *stamp, char out[LIST_WORDS_MAX]);

/*
 * Numbers of races of one subsystem: `worse` need attention (summary_is_worse()), `shown` are new, back or changed, `all` are
 * all races.
 */
struct list_subsystem {
	const char *name;
	size_t worse, shown, all;
};

/*
 * Returns the subsystems with races of the selected rounds, an array of *count items from malloc(). Those with most races that
 * need attention come first. Returns NULL with *count 0 if there are none, or memory runs out.
 */
struct list_subsystem *list_subsystems(const struct summary *m, size_t *count);

#endif
