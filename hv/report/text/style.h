/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a text report: colours, and how it shows code and stacks. */
#ifndef OUTRIDER_REPORT_TEXT_STYLE_H
#define OUTRIDER_REPORT_TEXT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/report/listing.h"

struct text_style {
	/* Use ANSI colours. Only for terminals. */
	bool colour;
	/*
	 * Find the function that contains a kernel address, to name the words of a stack that could not be unwound. Returns 0,
	 * or -1 if no function contains the address. NULL: words are not named.
	 */
	int (*symbol_at)(void *ctx, uint64_t addr, struct guest_symbol *out);
	/* First argument of symbol_at(). */
	void *ctx;
	/* Disassembles the code near the accesses. NULL: code is printed as bytes. */
	struct listing_maker *listing;
	/* Whole lines to print after the first line of a race, or NULL. */
	const char *remark;
};

enum text_colour { TEXT_PLAIN, TEXT_TITLE, TEXT_STRONG, TEXT_FAINT };

/* Returns the escape sequence that selects `colour`, or "" without colours. */
const char *text_colour(const struct text_style *style, enum text_colour colour);

#endif
