/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions in a range of text, by its symbols. Several symbols at one address are one function. Any thread. */
#ifndef OUTRIDER_DETECT_STEER_FUNCTIONS_H
#define OUTRIDER_DETECT_STEER_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/tables/symtab.h"

/* A function that seems larger than this many bytes is left out: its size includes a gap after the function. */
#define FUNCTIONS_SIZE_MAX (64u << 10)

struct functions {
	const struct symtab *symbols;
	/* The text: GVAs [start, end). */
	uint64_t start, end;
	/* Whether to take a function, given all symbols at its address: those with the indices [first, end). */
	bool (*wanted)(void *ctx, const struct symtab *symbols, size_t first, size_t end);
	void *ctx;
};

/*
 * Find the next function that is wanted, from symbol *i on. Advances *i past all names of the function. A function that would
 * reach beyond the next symbol or the text's end is cut there, so that no address is in two functions. Returns false at the
 * end.
 */
bool functions_next(const struct functions *f, size_t *i, struct symbol *out);

/* Whether a symbol of this type (struct symbol) is a function's name. */
bool functions_is_text(char type);

#endif
