/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race back from its JSON object: race_json() the other way round. Fields that a later version added are passed over. */
#ifndef OUTRIDER_REPORT_JSON_RACE_READ_H
#define OUTRIDER_REPORT_JSON_RACE_READ_H

#include <jansson.h>

#include "hv/race/store.h"

/*
 * A race for race_free(). Nothing in the object is believed: lengths are those that struct race holds, words those that
 * docs/report-format.md lists. NULL with EXIT_INPUT: the object is no race, and the message begins with
 * `what` and says what in it.
 */
struct race *race_read(const json_t *object, const char *what, struct err *err);

#endif
