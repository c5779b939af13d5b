/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts one atomicity suspicion to a JSON object that is complete without the run's lock record, and back. The store of
 * campaigns keeps this object as the record of the suspicion.
 */
#ifndef OUTRIDER_REPORT_JSON_SECTIONS_JSON_H
#define OUTRIDER_REPORT_JSON_SECTIONS_JSON_H

#include <jansson.h>

#include "hv/report/locks/chart.h"

/* Returns the suspicion, which must be of kind SUSPICION_ATOMICITY, as a new object. NULL if memory runs out. */
json_t *sections_json(const struct chart_suspicion *c);

/*
 * Read the object, whose content is untrusted, into *out. `what` names it in messages. The members of *out that the object does
 * not have, such as indices into a lock record, are 0. Returns 0, or -1 with EXIT_INPUT in err.
 */
int sections_read(const json_t *object, const char *what, struct chart_suspicion *out, struct err *err);

#endif
