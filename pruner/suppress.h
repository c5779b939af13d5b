/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: a file that people keep with their kernel, of races that they know and do not want to see on top, each with a
 * reason. What none of the races needed, and what has expired, is said, so that the file does not rot. docs/pruning.md.
 */
#ifndef OUTRIDER_PRUNER_SUPPRESS_H
#define OUTRIDER_PRUNER_SUPPRESS_H

#include "hv/base/err.h"
#include "hv/race/store.h"

struct suppressions;

/* `today` as 20270131: entries that expired before it match nothing. NULL: see err. */
struct suppressions *suppress_read(const char *path, unsigned today, struct err *err);
void suppress_free(struct suppressions *s);

/* The reason of the first entry that fits the race, NULL: none does; all that do count as used. `s` may be NULL. */
const char *suppress_find(struct suppressions *s, const struct race *race);

/* Calls `each` for every entry that has expired or that fitted no race, with a line that says where and what. */
void suppress_leftover(const struct suppressions *s, void (*each)(void *ctx, const char *line), void *ctx);

#endif
