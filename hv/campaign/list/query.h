/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the rounds of a campaign that a round summary shows, and the parts of the summary that are filled in. */
#ifndef OUTRIDER_CAMPAIGN_LIST_QUERY_H
#define OUTRIDER_CAMPAIGN_LIST_QUERY_H

#include <stdbool.h>

#include "hv/campaign/list/subsystem.h"

/*
 * The rounds that a round summary shows. A round is given by its number, or by the first characters of its uuid, at least four;
 * STORE_ROUND_WORD ("round:") may stand before the number. All zero: the last round.
 */
struct summary_query {
	const char *campaign; /* NULL: the campaign of the round that started last. */
	const char *round;    /* NULL: the last round. */
	/*
	 * Show all rounds after this one, and compare them with this one. NULL: show one round, and compare it with the round
	 * before.
	 */
	const char *since;
	/* Compare `round` with this round only, and ignore all other rounds. NULL: compare with all earlier rounds. */
	const char *against;
	const struct subsystems *subsystems; /* NULL: the subsystem of a race is a folder of the source, or a module */
	/* Read the builds of all races. False: only of races that the summary shows in full. */
	bool all;
	/* Count only the runs of this shard, "I/N", and ignore whether other shards have ended. NULL or "": all shards. */
	const char *shard;
	/* Fill in `bugs` of the summary, which only the HTML page shows. */
	bool bugs;
	/*
	 * Do not read the coverage of the campaign's runs, which takes longer than all else. Only the plots and the line
	 * "covered" need it.
	 */
	bool no_coverage;
};

#endif
