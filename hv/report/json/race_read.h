/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a race from the JSON object that race_json() makes. Ignores members of later versions. */
#ifndef OUTRIDER_REPORT_JSON_RACE_READ_H
#define OUTRIDER_REPORT_JSON_RACE_READ_H

#include <jansson.h>

#include "hv/race/store.h"

/*
 * Read a race; free it with race_free(). The object is untrusted: lengths must fit struct race, and words must be those of
 * docs/report-format.md. Returns NULL with EXIT_INPUT if the object is not valid. The message begins with `what` and names the
 * faulty member.
 */
struct race *race_read(const json_t *object, const char *what, struct err *err);

#endif
