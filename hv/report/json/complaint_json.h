/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The complaints of a run in its JSON file (docs/report-format.md, "complaints"). */
#ifndef OUTRIDER_REPORT_JSON_COMPLAINT_JSON_H
#define OUTRIDER_REPORT_JSON_COMPLAINT_JSON_H

#include <jansson.h>

#include "hv/race/complaint_link.h"
#include "hv/report/json/read.h"
#include "hv/report/run_facts.h"

/* Returns the complaint that follows a race, as a JSON object. NULL if memory runs out. */
json_t *race_complaint_json(const struct race_complaint *c);

/* Returns the list of complaints as JSON, or JSON's null if the guest's log was not read. NULL if memory runs out. */
json_t *complaints_json(const struct run_complaints *complaints);

/* Read the member "complaints" of a document, which older files lack. Errors are left in `r`. Free with run_complaints_free().
 */
void complaints_read(struct json_reader *r, const json_t *document, struct run_complaints *out);

#endif
