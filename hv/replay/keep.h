/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a race that is run in both orders. Plain data, part of replay.h. */
#ifndef OUTRIDER_REPLAY_KEEP_H
#define OUTRIDER_REPLAY_KEEP_H

#include "hv/replay/scenario/scenario.h"

/* Where the copy writes a scenario to, if its instance is one of the wanted ones. */
struct replay_keep {
	/* An empty file, which stays the caller's. It is still empty when there is no scenario. */
	int fd;
	/* A bit (1u << kind) for each enum replay_kept that is wanted. */
	unsigned wanted;
	/* All but the instance. */
	struct scenario_facts facts;
};

#endif
