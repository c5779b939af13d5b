/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a text report calls a place in the code, in the source or in memory. What comes from the guest is made printable. */
#ifndef OUTRIDER_REPORT_TEXT_PLACE_H
#define OUTRIDER_REPORT_TEXT_PLACE_H

#include "hv/race/race.h"

#define TEXT_SITE_MAX 320
#define TEXT_SOURCE_MAX 320

/* Name an address by the symbol that contains it: "function+0x1c [module]". */
void text_place(const struct guest_symbol *symbol, uint64_t address, char out[TEXT_SITE_MAX]);

/* Name the place of a side's access in the same way. A side without a symbol is named by its address. */
void text_site(const struct race_side *side, char out[TEXT_SITE_MAX]);

/* Name a line of source: "fs/inode.c:451". "" when nothing is known of it. */
void text_source(const struct source_line *line, char out[TEXT_SOURCE_MAX]);

/* The better of the two names of what was raced on. NULL: it has none. */
const struct datum_name *text_datum(const struct race *race);

#endif
