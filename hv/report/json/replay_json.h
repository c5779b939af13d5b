/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the results of running a race in both orders to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_REPLAY_JSON_H
#define OUTRIDER_REPORT_JSON_REPLAY_JSON_H

#include "hv/race/race.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns one instance as an object. */
json_t *replay_instance_json(struct json_builder *b, const struct replay_instance *instance);

/* Returns the result of one order as an object: how both regions and the free run ended, and the trouble. */
json_t *replay_order_json(struct json_builder *b, const struct replay_order *order);

/* Returns the replay as an object. */
json_t *replay_json(struct json_builder *b, const struct race_replay *replay);

/*
 * Read the member "replay" of a race's object, if present, into race->replay. Its counts and lengths must satisfy
 * replay_wrong() of hv/race/replay.h.
 */
void replay_read(struct json_reader *r, const json_t *object, struct race *race);

#endif
