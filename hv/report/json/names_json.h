/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the names from debug files to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_NAMES_JSON_H
#define OUTRIDER_REPORT_JSON_NAMES_JSON_H

#include "hv/report/json/read.h"
#include "hv/report/json/write.h"
#include "hv/race/names.h"

/* Returns the source lines of one frame as a list, innermost first; null if none are known. `names` may be NULL. */
json_t *names_source_json(struct json_builder *b, const struct race_names *names, unsigned side, unsigned frame);

/* Returns the datum's name as seen from a side's code, as an object; null if there is no name. `names` may be NULL. */
json_t *names_datum_json(struct json_builder *b, const struct race_names *names, unsigned side);

/*
 * Read the member "source" of a frame's or side's object, and the member "datum" of a side's object, into *names. If *names is
 * NULL, it is allocated when there is something to store. Either member may be missing, as in a report made without debug
 * files.
 */
void names_source_read(struct json_reader *r, const json_t *object, unsigned side, unsigned frame, struct race_names **names);
void names_datum_read(struct json_reader *r, const json_t *object, unsigned side, struct race_names **names);

#endif
