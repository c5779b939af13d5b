/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of running a race in both orders, in words. They are the same in text and in JSON, and the JSON format promises
 * those that are one word.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_REPORT_REPLAY_H
#define OUTRIDER_REPORT_REPLAY_H

#include "hv/race/race.h"

#define REPLAY_LINES_MAX 3
#define REPLAY_LINE_MAX 640
#define REPLAY_DATUM_MAX (REPLAY_NAME_MAX + 32)

/* "no-state-change", "state-change" or "replay-failure". */
const char *replay_outcome_word(enum replay_outcome outcome);

/* "fault", "warning", "deadlock", "endless" or "cannot-load". NULL: there was no failure. */
const char *replay_failure_word(enum replay_failure why);

/* "not-run", "return", "blocked", "limit" or "fault". */
const char *replay_end_word(enum replay_end end);

/* "not-run", "runs", "off", "panic", "triple-fault" or "hang". */
const char *replay_machine_word(enum replay_machine machine);

/* The same words read back: the enum's value, or -1 for a word that is none of these. */
int replay_outcome_from_word(const char *word);
int replay_failure_from_word(const char *word);
int replay_end_from_word(const char *word);
int replay_machine_from_word(const char *word);

/* "first" and "second": what people call order 0 and order 1. */
const char *replay_order_word(unsigned order);

/* What ended an order in trouble, in one phrase: the guest's own words if there are any. "" if the order was not in trouble. */
const char *replay_trouble(const struct replay_order *order);

/* What differs: its name, or where it is. */
void replay_datum(const struct replay_difference *difference, char out[REPLAY_DATUM_MAX]);

/*
 * All that is said of the race's replays, in lines for people without a newline, printable: how often each outcome was seen,
 * which order alone ended in trouble, and what differs first or why it failed. Returns how many lines there are: 0 when the
 * race was never run in both orders.
 */
unsigned replay_lines(const struct race *race, char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX]);

#endif
