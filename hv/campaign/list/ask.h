/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_CAMPAIGN_LIST_ASK_H
#define OUTRIDER_CAMPAIGN_LIST_ASK_H

#include <stdbool.h>

#include "hv/campaign/list/subsystem.h"

/* Which rounds are looked at. A round is named by its number, or by the first characters of its uuid. All zero: the last one.
 */
struct morning_ask {
	const char *campaign; /* NULL: the campaign whose round was started last. */
	const char *round;    /* NULL: the last round. */
	const char *since;    /* Look at the rounds after this one, too, and compare with it. NULL: with the round before. */
	const char *against;  /* Compare the two rounds only, whatever other rounds have seen. NULL: do not. */
	const struct subsystems *subsystems; /* NULL: races belong to folders of the source, and to modules. */
	bool all;			     /* Fill in the builds of all races, and not only of those that are shown. */
};

#endif
