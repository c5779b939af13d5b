/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings that are given to callers but are not in the file as they are: paths put together of a directory and a name. */
#ifndef OUTRIDER_SYMBOLS_DWARF_STRINGS_H
#define OUTRIDER_SYMBOLS_DWARF_STRINGS_H

#include "symbols/dwarf/state.h"

/* A copy of `s` that lives as long as `di`; equal strings share one copy. NULL with the error set: memory is out. */
const char *di_string_keep(struct debuginfo *di, const char *s);

/* Free all copies. `s` may be NULL. */
void di_strings_free(struct di_strings *s);

#endif
