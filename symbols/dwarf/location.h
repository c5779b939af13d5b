/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a variable's value is at a PC, as far as registers tell. Private to symbols/dwarf*.c. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LOCATION_H
#define OUTRIDER_SYMBOLS_DWARF_LOCATION_H

#include "symbols/dwarf/die.h"

enum di_place {
	DI_NOWHERE, /* optimised out here, or in a way that registers alone do not tell (frame, pieces, call sites) */
	DI_VALUE,   /* its value is register + offset */
	DI_MEMORY,  /* it is in memory, at register + offset */
};

struct di_location {
	enum di_place place;
	int reg; /* enum x86_gpr */
	int64_t offset;
};

/* Evaluate the variable's location (DWARF 5 section 2.6) at link address `pc`. -1 with the error set. */
int di_location(struct di_unit *u, Dwarf_Die variable, uint64_t pc, struct di_location *out);

#endif
