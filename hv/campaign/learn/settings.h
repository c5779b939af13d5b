/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders the runs of a round. Settings whose runs lately found new races tend to come sooner, so that a limited budget is not
 * spent on saturated settings. The order is random, with weights by new races.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_SETTINGS_H
#define OUTRIDER_CAMPAIGN_LEARN_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

/* The setting of a run: the names of its kernel, image, workload and sampling. */
struct learn_setting {
	const char *kernel, *image, *workload, *sampling;
};

/*
 * Store in order[0] to order[count - 1] the indices of the runs in `list`, in the order in which to run them. Every setting
 * gets its first run before any setting gets its second, and so on. The probability to come sooner depends on the new races for
 * each second of sampling, in the campaign's last rounds before the round with the id `round`; a setting that these rounds did
 * not run counts as the best. The random part depends only on the round's `uuid` and on the names of the settings, so that a
 * resumed round has the same order. Returns 0, or -1 with err set.
 */
int learn_order(struct store *s, const char *campaign, int64_t round, const char *uuid, const struct learn_setting *list,
		size_t count, size_t *order, struct err *err);

#endif
