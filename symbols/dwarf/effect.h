/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value that one instruction puts into a register. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_EFFECT_H
#define OUTRIDER_SYMBOLS_DWARF_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/insn/insn.h"

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

/* Describe the value that instruction `i` puts into `reg`, which it must write. `relocatable`: the file is a module. */
void di_effect(const struct insn *i, int reg, bool relocatable, struct di_origin *out);

#endif
