/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Break- and watchpoints in debug registers (SDM vol. 3, 18.2). The functions have no side effects. */
#ifndef OUTRIDER_REPLAY_GDB_WATCHES_H
#define OUTRIDER_REPLAY_GDB_WATCHES_H

#include "hv/replay/copy.h"
#include "hv/replay/gdb/gdb.h"

struct watches {
	struct copy_watches registers;
	/* point[i] is the index of the point in debug register i. */
	uint8_t point[COPY_WATCHES];
	unsigned used;
};

/*
 * Load the watchpoints and, with `breakpoints`, the breakpoints. A datum that is not aligned takes several registers. Returns
 * false, with `out` unchanged, when there are not enough registers.
 */
bool watches_load(struct watches *out, const struct gdb_point *points, size_t count, bool breakpoints);

/* Returns the index of the point that was hit, or -1 if there is none. `bits` are the low bits of DR6. */
int watches_hit(const struct watches *w, unsigned bits);

#endif
