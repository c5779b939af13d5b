/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A round summary that comes from no store: three rounds. The last of them has an example of each kind of change. */
#ifndef OUTRIDER_TESTS_MORNING_MADE_H
#define OUTRIDER_TESTS_MORNING_MADE_H

#include "hv/campaign/list/summary.h"

/* Its races are sorted, and all its strings are printable. summary_free() frees it. */
struct summary summary_made(void);

/* Append a race with this change and class, and return it. It is of round `to`, and has no string but its id and sides. */
struct summary_race *summary_made_race(struct summary *m, enum store_change change, enum summary_class class, const char *id);

#endif
