/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: a file in which users list races that they know, each with a reason. `outrider report` shows such a race on one
 * line. It names entries that fit no race or have expired, so that users can remove them. docs/pruning.md describes the file.
 */
#ifndef OUTRIDER_PRUNER_LISTS_SUPPRESS_H
#define OUTRIDER_PRUNER_LISTS_SUPPRESS_H

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
 * may be NULL.
 */
const char *suppress_find(struct suppressions *s, const struct race *race);

/*
 * Write a suppression of the race to `out`: a comment with the race's id, sites and `verdict`, then a stanza with its identity
 * and its alias (hv/race/race_key.h). The `reason` is empty, and suppress_read() refuses the stanza until the user fills it in.
 * The stanza then fits the race in other builds of the kernel too, with debug files and without.
 */
void suppress_write(FILE *out, const struct race *race, const char *verdict);

/*
 * Call `each` for every entry that has expired or fitted no race. `line` names the file and line of the entry, and the reason.
 */
void suppress_leftover(const struct suppressions *s, void (*each)(void *ctx, const char *line), void *ctx);

#endif
