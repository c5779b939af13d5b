/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which order a round does its runs: settings whose runs have lately found what no earlier round had come sooner, so that a
 * budget that does not last for all runs is not spent on what is saturated. The order stays random.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_SETTINGS_H
#define OUTRIDER_CAMPAIGN_LEARN_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

/* The setting of a run, by the names of its parts. */
struct learn_setting {
	const char *kernel, *image, *workload, *sampling;
};

/*
 * Set order[0] to order[count - 1] to the indices of the runs in `list`, the one that is to be done first in front. All
 * settings come once before one comes for the second time, and so on. How likely one is to come sooner than another follows
 * from how many new races its runs gave for each second sampled, in the last rounds of the campaign before the round with this
 * id; a setting that these rounds did not run is taken for the best one. `uuid`, the round's, and the settings' names make the
 * rest of the order, so that a round that is resumed has the same order. Returns 0, or -1 with err set.
 */
int learn_order(struct store *s, const char *campaign, int64_t round, const char *uuid, const struct learn_setting *list,
		size_t count, size_t *order, struct err *err);

#endif
