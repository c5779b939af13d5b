/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a register's value comes from, read from the code: a pointer that was just loaded (inode->i_sb->s_flags) has no
 * variable of its own. Private to symbols/dwarf*.c.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ORIGIN_H
#define OUTRIDER_SYMBOLS_DWARF_ORIGIN_H

#include "symbols/dwarf/unit.h"

enum di_origin_kind {
	DI_UNKNOWN,
	DI_SUM,	    /* register + disp, as that was at `pc` */
	DI_LOAD,    /* eight bytes from register + disp, or at link address `addr` */
	DI_ADDRESS, /* link address `addr` */
	DI_RETURN,  /* what the function at link address `addr` returned */
};

struct di_origin {
	enum di_origin_kind kind;
	uint64_t pc; /* of the instruction that made it */
	int reg;     /* enum x86_gpr; -1: at `addr` */
	int64_t disp;
	uint64_t addr;
};

#define DI_MAX_ORIGINS 4

/*
 * Find the instructions of the function's code [low, high) that gave `reg` the value it has at link address `pc`, along all the
 * ways to there: their number, 1 or, where ways meet, more. On a way that does not write the register at all, the value is the
 * one at `low`: a DI_SUM of 0. 0 where there are too many, where one is not of the plain forms above, where a way comes from
 * nowhere (an indirect jump), or where the file has no code. -1 with the error set.
 */
int di_origins(struct debuginfo *di, uint64_t low, uint64_t high, uint64_t pc, int reg, struct di_origin out[DI_MAX_ORIGINS]);

/* The last function swept, kept for the next question. */
struct di_sweep;
void di_sweep_free(struct di_sweep *s);

#endif
