/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON objects that several documents share. Each function returns NULL if memory runs out. Only hv/campaign/list/ uses this
 * header.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_JSON_H
#define OUTRIDER_CAMPAIGN_LIST_JSON_H

#include "hv/campaign/list/summary.h"
#include "hv/report/json/write.h"

json_t *list_json_verdict(struct json_builder *b, const struct summary_verdict *v);
json_t *list_json_race(struct json_builder *b, const struct summary_race *r);

/* Add how runs ended to `o`: the members ok, broke, failed and failures. */
void list_json_ends(struct json_builder *b, json_t *o, const struct store_ends *ends);

#endif
