/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a register's value comes from, read from the function's code. This is for pointers that were just loaded and have no
 * variable of their own, as inode->i_sb has none in inode->i_sb->s_flags. Private to symbols/dwarf/.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_ORIGIN_H
#define OUTRIDER_SYMBOLS_DWARF_ORIGIN_H

#include "symbols/dwarf/effect.h"
#include "symbols/dwarf/state.h"

#define DI_MAX_ORIGINS 4

/*
 * Find the instructions of the function's code [low, high) that gave `reg` the value that it has at link address `pc`, along
 * all paths to `pc`. Returns the number of origins: one, or more where paths join. On a path that does not write the register
 * at all, the origin is the register's value at `low`: a DI_SUM with `disp` 0.
 *
 * Returns 0 when there are too many origins, when one of them is DI_UNKNOWN, when a path comes from nowhere (an indirect jump
 * leads there), when the file has no code, or when the query has made too many searches. Returns -1 with the error set.
 */
int di_origins(struct debuginfo *di, uint64_t low, uint64_t high, uint64_t pc, int reg, struct di_origin out[DI_MAX_ORIGINS]);

#endif
