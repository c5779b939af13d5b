/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What text, mail and page say of a round in the same words. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_SENTENCES_H
#define OUTRIDER_CAMPAIGN_LIST_SENTENCES_H

#include <stdio.h>

#include "hv/campaign/list/morning.h"

/* The answers of a morning, one line each. */
enum list_answer { LIST_NEW, LIST_GONE, LIST_CHANGED, LIST_BROKE, LIST_COVERED, LIST_ANSWERS };

/* The word before an answer, "new"; and the answer, a clause without a full stop. */
const char *list_answer_word(enum list_answer answer);
void list_answer_put(FILE *out, const struct morning *m, enum list_answer answer);

/* Whether the answer is one to look at: something new and harmful, or something that broke. */
bool list_answer_is_bad(const struct morning *m, enum list_answer answer);

/* "3 new races, 1 of them a harmful candidate; 1 run broke". It fits a mail's subject. */
void list_headline_put(FILE *out, const struct morning *m);

/* "round 12 against round 11", "rounds 9 to 12 against round 8", "round 1, the first". */
void list_rounds_put(FILE *out, const struct morning *m);

/* "2026-11-22 01:00 to 06:58 UTC, 48 of 48 runs done; 1 attempt was cut off". */
void list_when_put(FILE *out, const struct morning *m);

/* "; 2 attempts were cut off", or nothing where there is none. */
void list_cut_off_put(FILE *out, uint64_t attempts);

/* How much was sampled, and how long CPUs were stopped for it. */
void list_effort_put(FILE *out, const struct morning *m);

/* "seen 14 times in 3 runs, first in round 9; in 6.1.0-56-cloud-amd64". */
void list_seen_put(FILE *out, const struct morning *m, const struct morning_race *r);

/* "2 panics, 1 hang": how many findings there are of each kind. */
void list_kinds_put(FILE *out, const struct morning *m);

/* A number with its unit: "1 race", "2 races". */
void list_count_put(FILE *out, uint64_t n, const char *unit);

/* A number with a comma after each three digits. */
#define LIST_NUMBER_MAX 32
const char *list_number(uint64_t n, char out[LIST_NUMBER_MAX]);

/* "2026-11-22 01:00" of "2026-11-22T01:00:00Z". Anything else stays as it is. */
#define LIST_TIME_MAX 32
const char *list_time(const char *stamp, char out[LIST_TIME_MAX]);

/* "5 h 12 min", "12 min", "40 s". */
void list_span_put(FILE *out, uint64_t ns);

/* How many new, back or changed races belong to one subsystem, and how many are worse than before. */
struct list_subsystem {
	const char *name;
	size_t worse, shown, all;
};

/*
 * The subsystems that this round has races in, those with what is worse first. Returns an array from malloc() and its length in
 * *count; NULL with *count 0 when there are none or memory ran out.
 */
struct list_subsystem *list_subsystems(const struct morning *m, size_t *count);

#endif
