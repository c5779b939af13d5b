/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scopes that a PC is in: a function, and in it lexical blocks and inlined functions. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_SCOPE_H
#define OUTRIDER_SYMBOLS_DWARF_SCOPE_H

#include "symbols/dwarf/state.h"

struct di_scope {
	uint64_t where; /* Place of the scope's DIE. */
	Dwarf_Half tag; /* DW_TAG_subprogram, DW_TAG_inlined_subroutine, DW_TAG_lexical_block and so on. */
};

struct di_scopes {
	struct di_scope at[DI_MAX_DEPTH]; /* Outermost first: at[0] is the function. */
	size_t n;			  /* Scopes in `at`. 0: the PC is in no function. */
	uint64_t low, high;		  /* Link addresses [low, high) of the function's stretch of code that the PC is in. */
};

/* The scopes of the unit that contain link address `pc`. -1 with the error set. */
int di_scopes(struct di_unit *u, uint64_t pc, struct di_scopes *out);

#endif
