/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the text report. */
#ifndef OUTRIDER_REPORT_TEXT_INTERNAL_H
#define OUTRIDER_REPORT_TEXT_INTERNAL_H

#include "hv/report/text/text.h"

#define TEXT_SITE_MAX 320

enum text_colour { TEXT_PLAIN, TEXT_TITLE, TEXT_STRONG, TEXT_FAINT };

/* The escape sequence that starts `colour`, or "" where colours are off. */
const char *text_colour(const struct text_style *style, enum text_colour colour);

/* "function+0x1c [module]" of a symbol and an address in it. */
void text_place(const struct guest_symbol *symbol, uint64_t address, char out[TEXT_SITE_MAX]);

/* The same of a side, whatever is known of it. */
void text_site(const struct race_side *side, char out[TEXT_SITE_MAX]);

/* Everything that is known of one side, indented. */
void text_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style);

/* The calls that led to a side, one a line, what was inlined into them on lines of its own; guesses have a question mark. */
void text_calls(FILE *out, const struct race *race, unsigned which);

#define TEXT_SOURCE_MAX 320

/* "fs/inode.c:451", or "" when it is not known. */
void text_source(const struct source_line *line, char out[TEXT_SOURCE_MAX]);

/* The better of the two names of what was raced on; NULL: it has none. */
const struct datum_name *text_datum(const struct race *race);

#endif
