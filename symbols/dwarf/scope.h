/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function, and in it the blocks and inlined functions, that a PC is in. Private to symbols/dwarf*.c. */
#ifndef OUTRIDER_SYMBOLS_DWARF_SCOPE_H
#define OUTRIDER_SYMBOLS_DWARF_SCOPE_H

#include "symbols/dwarf/unit.h"

struct di_scope {
	uint64_t where; /* its DIE */
	Dwarf_Half tag; /* DW_TAG_subprogram, _inlined_subroutine, _lexical_block... */
};

struct di_scopes {
	struct di_scope at[DI_MAX_DEPTH]; /* outermost first: at[0] is the function */
	size_t n;
	uint64_t low, high; /* the function's stretch of code that the PC is in: link addresses */
};

/* The scopes of `u` that contain link address `pc`; n is 0 when it is in no function. -1 with the error set. */
int di_scopes(struct di_unit *u, uint64_t pc, struct di_scopes *out);

#endif
