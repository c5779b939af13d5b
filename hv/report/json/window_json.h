/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The course of a window as JSON: the member "window" of a race, as docs/report.schema.json describes it. */
#ifndef OUTRIDER_REPORT_JSON_WINDOW_JSON_H
#define OUTRIDER_REPORT_JSON_WINDOW_JSON_H

#include "hv/race/observation.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns the course of the window as a new object. `window` must be known. */
json_t *window_json(struct json_builder *b, const struct race_window *window);

/* Read the member "window" of a race. Reports of older versions lack this member: window->known is then false. */
void window_read(struct json_reader *r, const json_t *race, struct race_window *window);

#endif
