/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the origin of a register's value in the function's code, for pointers that were just loaded and are in no variable,
 * like inode->i_sb in inode->i_sb->s_flags. Private to symbols/dwarf/.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ORIGIN_H
#define OUTRIDER_SYMBOLS_DWARF_ORIGIN_H

#include "symbols/dwarf/state.h"

enum di_origin_kind {
	DI_UNKNOWN, /* No origin of the following kinds. */
	DI_SUM,	    /* reg + disp, with the value that `reg` has before the instruction at `pc`. */
	DI_LOAD,    /* The eight bytes in memory at reg + disp, or at link address `addr` if `reg` is -1. */
	DI_ADDRESS, /* Link address `addr`. */
	DI_RETURN,  /* The return value of the function at link address `addr`. */
};

/* The origin of a register's value. */
struct di_origin {
	enum di_origin_kind kind;
	uint64_t pc; /* Link address of the instruction that computed the value. */
	int reg;     /* enum x86_gpr, or -1: see DI_LOAD. */
	int64_t disp;
	uint64_t addr;
};

#define DI_MAX_ORIGINS 4 /* at most this many origins of a value are followed; more origins rarely lead to one datum */

/*
 * Find the instructions of the function's code [low, high) that computed the value of `reg` at link address `pc`, along all
 * paths to `pc`. Returns the number of origins: more than one if paths join. On a path that never writes the register, the
 * origin is the register's value at `low`: a DI_SUM with `disp` 0.
 *
 * Returns 0 if there are too many origins, one of them is DI_UNKNOWN, a path has no visible predecessor (an indirect jump leads
 * there), the file has no code, the query has used up its searches, the function is longer than 256 KiB, or `pc` is `low`, not
 * in the function or not at the start of a decoded instruction. Returns -1 with the error set.
 */
int di_origins(struct debuginfo *di, uint64_t low, uint64_t high, uint64_t pc, int reg, struct di_origin out[DI_MAX_ORIGINS]);

/* Free the decoded code of a function, di->sweep. `s` may be NULL. */
void di_sweep_free(struct di_sweep *s);

#endif
