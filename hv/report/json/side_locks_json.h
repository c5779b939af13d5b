/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the locks that a race's side held to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_SIDE_LOCKS_JSON_H
#define OUTRIDER_REPORT_JSON_SIDE_LOCKS_JSON_H

#include "hv/race/observation.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns the locks as an object. locks->known must be true. */
json_t *side_locks_json(struct json_builder *b, const struct race_locks *locks);

/* Read the member "locks" of `side`. *locks becomes all zero if the member is missing or invalid. */
void side_locks_read(struct json_reader *r, const json_t *side, struct race_locks *locks);

#endif
