/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a text report is shown. */
#ifndef OUTRIDER_REPORT_TEXT_STYLE_H
#define OUTRIDER_REPORT_TEXT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/report/listing.h"

struct text_style {
	/* Use ANSI colours. Only for a terminal. */
	bool colour;
	/*
	 * Find the function that contains a kernel address, to name words of a call stack that could not be unwound. 0, or -1
	 * when there is none. NULL: no words are named.
	 */
	int (*symbol_at)(void *ctx, uint64_t addr, struct guest_symbol *out);
	/* Handed to symbol_at(). */
	void *ctx;
	/* Makes listings of the code around the accesses. NULL: the code is shown as bytes. */
	struct listing_maker *listing;
	/* Whole lines that stand under the first line of a race, or NULL. */
	const char *remark;
};

enum text_colour { TEXT_PLAIN, TEXT_TITLE, TEXT_STRONG, TEXT_FAINT };

/* The escape sequence that starts `colour`, or "" where colours are off. */
const char *text_colour(const struct text_style *style, enum text_colour colour);

#endif
