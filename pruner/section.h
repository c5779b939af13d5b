/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a grace period of RCU's waits for a side of a race, by what was recorded of who ran. */
#ifndef OUTRIDER_PRUNER_SECTION_H
#define OUTRIDER_PRUNER_SECTION_H

#include "pruner/view.h"

enum section {
	SECTION_UNKNOWN,
	/* In each instance a grace period waits for the side. */
	SECTION_INSIDE,
	/* In some instance nothing waits for the side. */
	SECTION_OUTSIDE,
};

/* What is known of side `which` over all kept instances. */
enum section section_of_side(const struct race *race, unsigned which);

/* Sleepable RCU has sections of its own, which nothing counts where it could be read. Its calls or its mark show it. */
bool section_is_sleepable(const struct view_side *s);

#endif
