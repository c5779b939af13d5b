/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words and phrases for the results of running a race in both orders. Reports in text and in JSON use the same ones. Later
 * versions of the JSON format keep the single words.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_REPORT_REPLAY_H
#define OUTRIDER_REPORT_REPLAY_H

#include "hv/race/race.h"

#define REPLAY_LINES_MAX 3
#define REPLAY_LINE_MAX 640
#define REPLAY_DATUM_MAX (REPLAY_NAME_MAX + 32)

/* Returns "no-state-change", "state-change" or "replay-failure". */
const char *replay_outcome_word(enum replay_outcome outcome);

/* Returns "fault", "warning", "deadlock", "endless" or "cannot-load"; NULL if the replay did not fail. */
const char *replay_failure_word(enum replay_failure why);

/* Returns "not-run", "return", "blocked", "limit" or "fault". */
const char *replay_end_word(enum replay_end end);

/* Returns "not-run", "runs", "off", "panic", "triple-fault" or "hang". */
const char *replay_machine_word(enum replay_machine machine);

/* Each function below is the reverse of a function *_word(): it returns the enum's value, or -1 for any other word. */
int replay_outcome_from_word(const char *word);
int replay_failure_from_word(const char *word);
int replay_end_from_word(const char *word);
int replay_machine_from_word(const char *word);

/* Returns "first" or "second", for orders 0 and 1: in order 0, the access of side 0 goes first. */
const char *replay_order_word(unsigned order);

/*
 * Returns the trouble that an order ended in, as a phrase: the guest's own message if there is one. Returns "" if there was no
 * trouble.
 */
const char *replay_trouble(const struct replay_order *order);

/* Write the name of the memory that differs, or its address if there is no name. */
void replay_datum(const struct replay_difference *difference, char out[REPLAY_DATUM_MAX]);

/*
 * Describe a race's replays in printable lines without newlines. The lines say how often each outcome was seen, which order
 * ended in trouble if the other order did not, and what the first difference or the reason of failure is. Returns the number of
 * lines; 0 if the race was never run in both orders.
 */
unsigned replay_lines(const struct race *race, char lines[REPLAY_LINES_MAX][REPLAY_LINE_MAX]);

#endif
