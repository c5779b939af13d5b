/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scenario to save of a race that is run in both orders. Plain data, part of replay.h. */
#ifndef OUTRIDER_REPLAY_KEEP_H
#define OUTRIDER_REPLAY_KEEP_H

#include "hv/replay/scenario/scenario.h"

/* Where the copy writes a scenario, if its instance is wanted. */
struct replay_keep {
	/* An empty file, which the caller closes. It stays empty if no scenario is written. */
	int fd;
	/* A bit (1u << kind) for each enum replay_kept that is wanted. */
	unsigned wanted;
	/* All members except the instance. */
	struct scenario_facts facts;
};

#endif
