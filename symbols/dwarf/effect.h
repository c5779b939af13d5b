/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one instruction gives a register that it writes. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_EFFECT_H
#define OUTRIDER_SYMBOLS_DWARF_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/insn/insn.h"

enum di_origin_kind {
	DI_UNKNOWN, /* Something else than the following. */
	DI_SUM,	    /* reg + disp, with the value that `reg` has at `pc`. */
	DI_LOAD,    /* The eight bytes at reg + disp, or at link address `addr` when `reg` is -1. */
	DI_ADDRESS, /* Link address `addr`. */
	DI_RETURN,  /* What the function at link address `addr` returned. */
};

/* Where a register's value comes from. */
struct di_origin {
	enum di_origin_kind kind;
	uint64_t pc; /* Link address of the instruction that made the value. */
	int reg;     /* enum x86_gpr, or -1: see DI_LOAD. */
	int64_t disp;
	uint64_t addr;
};

/* What instruction `i`, which writes the register `reg`, gives it. `relocatable` says whether the file is a module. */
void di_effect(const struct insn *i, int reg, bool relocatable, struct di_origin *out);

#endif
