/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The location of a variable at a PC, if registers alone describe it. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_LOCATION_H
#define OUTRIDER_SYMBOLS_DWARF_LOCATION_H

#include "symbols/dwarf/state.h"

enum di_location_kind {
	/*
	 * No register gives the location: the variable is optimised out at the PC, or its location is not one register plus a
	 * constant, but a fixed address, the frame base, pieces or call sites.
	 */
	DI_NOWHERE,
	/* The variable's value is register + offset. */
	DI_VALUE,
	/* The variable is in memory, at address register + offset. */
	DI_MEMORY,
};

struct di_location {
	enum di_location_kind kind;
	int reg; /* enum x86_gpr */
	int64_t offset;
};

/* Evaluate the variable's location (DWARF 5 section 2.6) at link address `pc`. Returns 0, or -1 with the error set. */
int di_location(struct di_unit *u, Dwarf_Die variable, uint64_t pc, struct di_location *out);

#endif
