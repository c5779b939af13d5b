/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A round summary that comes from no store: three rounds. The last of them has an example of each kind of change. */
#ifndef OUTRIDER_TESTS_MORNING_MADE_H
#define OUTRIDER_TESTS_MORNING_MADE_H

#include "hv/campaign/list/morning.h"

/* Its races are sorted, and all its strings are printable. morning_free() frees it. */
struct morning morning_made(void);

/* Append a race with this change and class, and return it. It is of round `to`, and has no string but its id and sides. */
struct morning_race *morning_made_race(struct morning *m, enum morning_change change, enum morning_class class, const char *id);

#endif
