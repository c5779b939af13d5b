/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What debug files say of a race, to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_NAMES_JSON_H
#define OUTRIDER_REPORT_JSON_NAMES_JSON_H

#include "hv/report/json/read.h"
#include "hv/report/json/write.h"
#include "hv/race/names.h"

/* The source lines of one call as a list, innermost first. null: none are known. `names` may be NULL. */
json_t *names_source_json(struct json_builder *b, const struct race_names *names, unsigned side, unsigned frame);

/* What a side's code calls the datum, as an object. null: it has no name. `names` may be NULL. */
json_t *names_datum_json(struct json_builder *b, const struct race_names *names, unsigned side);

/*
 * Read back into *names member "source" of the object of a frame or a side, and member "datum" of the object of a side. *names
 * may be NULL, and is made when there is something to keep. Either member may be missing: files that were written without debug
 * files have none.
 */
void names_source_read(struct json_reader *r, const json_t *object, unsigned side, unsigned frame, struct race_names **names);
void names_datum_read(struct json_reader *r, const json_t *object, unsigned side, struct race_names **names);

#endif
