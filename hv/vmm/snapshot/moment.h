/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One moment on all of the host's clocks. Whatever tells time in the machine is saved as it was at one moment, and loaded so
 * that it is the same at another one. So the clocks of a copy agree with each other as those of the saved machine did, however
 * long saving and loading takes.
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_MOMENT_H
#define OUTRIDER_VMM_SNAPSHOT_MOMENT_H

#include <stdint.h>

struct moment {
	uint64_t tsc;	  /* of the host */
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t real_ns; /* CLOCK_REALTIME */
};

/* The moment of now. It takes a few looks until one of them was not interrupted. */
struct moment moment_now(void);

#endif
