/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which scenario to save when a race is run in both orders. Plain data, part of replay.h. */
#ifndef OUTRIDER_REPLAY_KEEP_H
#define OUTRIDER_REPLAY_KEEP_H

#include "hv/replay/scenario/scenario.h"

/* The file for the scenario, and which instances to save there. */
struct replay_keep {
	/* An empty file, which the caller closes. It stays empty if no scenario is written. */
	int fd;
	/*
	 * The outcomes of which the race has no scenario yet: a bit (1u << kind) for each enum replay_kept. An instance with
	 * one of these outcomes is to be saved.
	 */
	unsigned wanted;
	/* The facts to write, except the instance, which the holder adds. */
	struct scenario_facts facts;
};

#endif
