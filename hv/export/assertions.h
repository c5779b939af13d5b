/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assertions (hv/race/assertion.h) and what broke them, as a section of what `outrider locks` writes. Only hv/export uses this.
 */
#ifndef OUTRIDER_EXPORT_ASSERTIONS_H
#define OUTRIDER_EXPORT_ASSERTIONS_H

#include <stdio.h>

#include "hv/report/json/write.h"
#include "hv/race/assertion.h"

/* The broken ones first. NULL writes nothing, and is null in JSON. A write error stays in the stream. */
void assertions_text(FILE *out, const struct assertions *a);
void assertions_html(FILE *out, const struct assertions *a);
json_t *assertions_json(struct json_builder *b, const struct assertions *a);

#endif
