/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a race to JSON (docs/report-format.md, docs/report.schema.json). */
#ifndef OUTRIDER_REPORT_JSON_RACE_JSON_H
#define OUTRIDER_REPORT_JSON_RACE_JSON_H

#include <jansson.h>

#include "hv/race/store.h"

/* Returns the race's object, with null as its verdict, or NULL if memory runs out. The caller calls json_decref(). */
json_t *race_json(const struct race *race);

#endif
