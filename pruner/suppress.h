/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions are a file that people keep with their kernel. It lists races that they know and do not want to see on top, each
 * with a reason. Entries that no race needed and entries that have expired are told of, so that the file does not rot.
 * docs/pruning.md describes the file.
 */
#ifndef OUTRIDER_PRUNER_SUPPRESS_H
#define OUTRIDER_PRUNER_SUPPRESS_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/store.h"

struct suppressions;

/*
 * Read a file of suppressions. `today` is a date as a number, for example 20270131. Entries that expired before that day match
 * nothing. Returns NULL with err set on failure.
 */
struct suppressions *suppress_read(const char *path, unsigned today, struct err *err);

/* The same, with the date of this day in this host's time zone. */
struct suppressions *suppress_read_today(const char *path, struct err *err);

/* `s` may be NULL. */
void suppress_free(struct suppressions *s);

/*
 * Returns the reason of the first entry that fits the race, or NULL when none fits. All entries that fit count as used. `s` may
 * be NULL.
 */
const char *suppress_find(struct suppressions *s, const struct race *race);

/*
 * Write a suppression of this race to `out`: a comment with the race's id, its sites and `verdict`, then a stanza by its
 * functions and by the datum's name. The stanza has no reason yet, and suppress_read() refuses it until the user has given one.
 * With the reason it fits the race, on another build of the kernel too.
 */
void suppress_write(FILE *out, const struct race *race, const char *verdict);

/* Call `each` for every entry that has expired or that fitted no race, with a line that says where the entry is and why. */
void suppress_leftover(const struct suppressions *s, void (*each)(void *ctx, const char *line), void *ctx);

#endif
