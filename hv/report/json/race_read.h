/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race read back from its JSON object, as race_json() makes it. Members that a later version added are passed over. */
#ifndef OUTRIDER_REPORT_JSON_RACE_READ_H
#define OUTRIDER_REPORT_JSON_RACE_READ_H

#include <jansson.h>

#include "hv/race/store.h"

/*
 * Make a race, for race_free(). Nothing in the object is believed: lengths must be such as struct race holds, and words those
 * that docs/report-format.md lists. NULL with EXIT_INPUT: the object is no race. The message begins with `what`, and says what
 * is wrong in it.
 */
struct race *race_read(const json_t *object, const char *what, struct err *err);

#endif
