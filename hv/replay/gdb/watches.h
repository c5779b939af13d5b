/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points in debug registers (SDM vol. 3, 18.2). Pure functions. */
#ifndef OUTRIDER_REPLAY_GDB_WATCHES_H
#define OUTRIDER_REPLAY_GDB_WATCHES_H

#include "hv/replay/copy.h"
#include "hv/replay/gdb/gdb.h"

struct watches {
	struct copy_watches registers;
	/* The index of the point that each register is for. */
	uint8_t point[COPY_WATCHES];
	unsigned used;
};

/*
 * Load the watchpoints, and with `breakpoints` the breakpoints too. A datum that is not aligned takes several registers.
 * Returns false when there are not enough of them; `out` is as it was then.
 */
bool watches_load(struct watches *out, const struct gdb_point *points, size_t count, bool breakpoints);

/* The index of the point that was met, of which `bits` are the low bits of DR6. -1: none of them. */
int watches_met(const struct watches *w, unsigned bits);

#endif
