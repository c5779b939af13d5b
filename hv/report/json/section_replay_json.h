/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the results of running critical sections in copies (hv/race/section_replay.h) to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_SECTION_REPLAY_JSON_H
#define OUTRIDER_REPORT_JSON_SECTION_REPLAY_JSON_H

#include "hv/race/section_replay.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns the result as an object. */
json_t *section_replay_json(struct json_builder *b, const struct section_replay *replay);

/* Read the object into *out. Its content is untrusted. On failure r->failed is set. */
void section_replay_read(struct json_reader *r, const json_t *object, struct section_replay *out);

#endif
