/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what contains the code at an address: a unit, a function of this unit, and the lexical blocks and inlined functions in
 * this function. Private to symbols/dwarf/.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_SCOPE_H
#define OUTRIDER_SYMBOLS_DWARF_SCOPE_H

#include "symbols/dwarf/state.h"

/*
 * Returns the unit with code at link address `pc`. Searches .debug_aranges, then the address ranges of the units that this
 * section leaves out. Returns NULL if there is no such unit, or with the error set.
 */
struct di_unit *di_unit_of_code(struct debuginfo *di, uint64_t pc);

struct di_scope {
	uint64_t where; /* Place of the scope's DIE. */
	Dwarf_Half tag; /* DW_TAG_subprogram, DW_TAG_inlined_subroutine, DW_TAG_lexical_block and so on. */
};

struct di_scopes {
	struct di_scope at[DI_MAX_DEPTH]; /* Outermost first: at[0] is the function. */
	size_t n;			  /* Number of scopes in `at`. 0: no function contains the PC. */
	uint64_t low, high;		  /* Link addresses [low, high) of the function's code range with the PC. */
};

/* Find the scopes of the unit that contain link address `pc`. Returns 0, or -1 with the error set. */
int di_scopes(struct di_unit *u, uint64_t pc, struct di_scopes *out);

#endif
