/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: a file in which users list races that they know, each with a reason. `outrider report` shows such a race on one
 * line. The report also names entries that fit no race or have expired, so that users can remove these entries. docs/pruning.md
 * describes the file.
 */
#ifndef OUTRIDER_PRUNER_LISTS_SUPPRESS_H
#define OUTRIDER_PRUNER_LISTS_SUPPRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"

struct suppressions;

/*
 * Read a file of suppressions. `today` is a date as a decimal number, for example 20270131. An entry that expired before that
 * day fits no race. The caller gives the result to suppress_free(). Returns NULL with err set on failure.
 */
struct suppressions *suppress_read(const char *path, unsigned today, struct err *err);

/* As suppress_read(), with today's date in the time zone of this host. */
struct suppressions *suppress_read_today(const char *path, struct err *err);

/* Free the suppressions. `s` may be NULL. */
void suppress_free(struct suppressions *s);

/*
 * Returns the reason of the first entry that fits the race, or NULL if no entry fits. Marks all entries that fit as used. `s`
 * may be NULL. `section` is as for group_key().
 */
const char *suppress_find(struct suppressions *s, const struct race *race, bool section);

/*
 * Write a suppression of a group of races to `out`: a comment with the id and the sites of its lead and with `verdict`, then a
 * stanza with the group's id and its alias (hv/race/group_key.h). The `reason` is empty, and suppress_read() refuses the stanza
 * until the user fills it in. The stanza then fits the group in other builds of the kernel too, with debug files and without.
 */
void suppress_write(FILE *out, const struct race *lead, const char *group, const char *alias, const char *verdict);

/*
 * Call `each` for every entry that has expired or fitted no race. The text `line` has the entry's file, line number and reason.
 */
void suppress_leftover(const struct suppressions *s, void (*each)(void *ctx, const char *line), void *ctx);

#endif
