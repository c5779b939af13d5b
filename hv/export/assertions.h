/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes assertions (hv/race/assertion.h) and what broke them, as a section of the output of `outrider locks`. Private to
 * hv/export.
 */
#ifndef OUTRIDER_EXPORT_ASSERTIONS_H
#define OUTRIDER_EXPORT_ASSERTIONS_H

#include <stdio.h>

#include "hv/report/json/write.h"
#include "hv/race/assertion.h"

/*
 * assertions_text(), assertions_html() and assertions_json() write the assertions, broken ones first, then those that were
 * never checked. If `a` is NULL, text and HTML get nothing, and JSON gets null. The caller checks the stream for errors.
 */
void assertions_text(FILE *out, const struct assertions *a);
void assertions_html(FILE *out, const struct assertions *a);
json_t *assertions_json(struct json_builder *b, const struct assertions *a);

#endif
