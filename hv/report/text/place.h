/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names places in code, source and memory for text reports. Text from the guest is made printable. */
#ifndef OUTRIDER_REPORT_TEXT_PLACE_H
#define OUTRIDER_REPORT_TEXT_PLACE_H

#include "hv/race/race.h"

#define TEXT_SITE_MAX 320   /* bytes, including the NUL */
#define TEXT_SOURCE_MAX 320 /* bytes, including the NUL */

/* Name an address by its symbol: "function+0x1c [module]". */
void text_place(const struct guest_symbol *symbol, uint64_t address, char out[TEXT_SITE_MAX]);

/* Name the place of a side's access by its symbol, or by its address if there is no symbol. */
void text_site(const struct race_side *side, char out[TEXT_SITE_MAX]);

/* Name a source line: "fs/inode.c:451". "" if nothing is known. */
void text_source(const struct source_line *line, char out[TEXT_SOURCE_MAX]);

/* Returns the better of the two names of the datum, or NULL if the datum has no name. */
const struct datum_name *text_datum(const struct race *race);

#endif
