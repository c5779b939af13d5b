/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps strings for callers that are not in the file itself: paths made of a directory and a name. */
#ifndef OUTRIDER_SYMBOLS_DWARF_STRINGS_H
#define OUTRIDER_SYMBOLS_DWARF_STRINGS_H

#include "symbols/dwarf/state.h"

/*
 * Returns a copy of `s` that lives as long as `di`. Equal strings share one copy. Returns NULL with the error set if memory
 * runs out.
 */
const char *di_string_keep(struct debuginfo *di, const char *s);

/* Free all copies. `s` may be NULL. */
void di_strings_free(struct di_strings *s);

#endif
