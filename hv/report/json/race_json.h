/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race as a JSON object. docs/report-format.md and docs/report.schema.json describe it. */
#ifndef OUTRIDER_REPORT_JSON_RACE_JSON_H
#define OUTRIDER_REPORT_JSON_RACE_JSON_H

#include <jansson.h>

#include "hv/race/store.h"

/* The race's object, with null for its verdict, which the caller gives up by json_decref(). NULL: memory ran out. */
json_t *race_json(const struct race *race);

#endif
