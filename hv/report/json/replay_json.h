/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of running a race in both orders as a JSON object, and read back. */
#ifndef OUTRIDER_REPORT_JSON_REPLAY_JSON_H
#define OUTRIDER_REPORT_JSON_REPLAY_JSON_H

#include "hv/race/race.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* One instance as an object. */
json_t *replay_instance_json(struct json_builder *b, const struct replay_instance *instance);

/* The regions of one order, its machine and its trouble as an object. */
json_t *replay_order_json(struct json_builder *b, const struct replay_order *order);

/* The replay as an object. */
json_t *replay_json(struct json_builder *b, const struct race_replay *replay);

/*
 * Read member "replay" of a race's object back, if it is there, into race->replay. Counts and lengths must fit together as
 * hv/race/replay.h says.
 */
void replay_read(struct json_reader *r, const json_t *object, struct race *race);

#endif
