/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locks that a race's side held as a JSON object, and read back. */
#ifndef OUTRIDER_REPORT_JSON_SIDE_LOCKS_JSON_H
#define OUTRIDER_REPORT_JSON_SIDE_LOCKS_JSON_H

#include "hv/race/observation.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* `locks` must be known. */
json_t *side_locks_json(struct json_builder *b, const struct race_locks *locks);

/* Read member "locks" of `side` back. All zero where there is none, and after an error. */
void side_locks_read(struct json_reader *r, const json_t *side, struct race_locks *locks);

#endif
