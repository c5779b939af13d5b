/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A race as a JSON object; docs/report-format.md and docs/report.schema.json describe it. */
#ifndef OUTRIDER_REPORT_RACE_JSON_H
#define OUTRIDER_REPORT_RACE_JSON_H

#include <jansson.h>

#include "hv/report/store.h"

/* A new reference, or NULL when memory ran out. */
json_t *race_json(const struct race *race);

/* "0x..." as a JSON string: 64 bits do not survive as JSON numbers. */
json_t *json_hex(uint64_t value);

/* "s.uuuuuu" as a JSON number of seconds, to the microsecond. */
json_t *json_seconds(uint64_t ns);

#endif
