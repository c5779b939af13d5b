/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A moment: one point in time, as all clocks of the host show it. Saving stores the values that all clocks of the machine have
 * at one moment. Loading sets each clock so that it has its saved value at one later moment. So the clocks of a copy agree with
 * each other as the clocks of the saved machine did, however long saving and loading take.
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_MOMENT_H
#define OUTRIDER_VMM_SNAPSHOT_MOMENT_H

#include <stdint.h>

struct moment {
	uint64_t tsc;	  /* the host's TSC */
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t real_ns; /* CLOCK_REALTIME */
};

/* Returns the current moment. Reads the clocks several times, and returns the reading that took the least time. */
struct moment moment_now(void);

#endif
