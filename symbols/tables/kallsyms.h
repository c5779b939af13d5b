/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kallsyms tables as they lie in a kernel image (kernel/kallsyms.c, scripts/kallsyms.c). Private to symbols/tables.
 *
 * The names of all symbols are strings of tokens, one byte each. A token stands for one of 256 short strings. These strings are
 * in kallsyms_token_table, and their offsets are in kallsyms_token_index right behind it. kallsyms_markers holds the offset of
 * each 256th name. The tables lie in one of these orders:
 *
 *   up to 6.3:  offsets, relative_base, num_syms, names, markers, [seqs_of_names,] token_table, token_index
 *   since 6.4:  num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs_of_names
 *   since 7.0:  the same without relative_base
 *
 * Each table is aligned to eight bytes, and in the last order to four. The versions are those of the stock kernels that were
 * looked at. The search goes by what it finds and never by version.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H
#define OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H

#include <stdbool.h>

#include "symbols/tables/guest_image.h"

#define KALLSYMS_TOKENS 256

/* How an address is calculated from the number in the table of offsets. */
enum kallsyms_encoding {
	KALLSYMS_RELATIVE, /* relative_base plus the number, which is unsigned */
	/*
	 * KALLSYMS_ABSOLUTE_PERCPU, up to 6.14: a number that is not negative is the address itself. For a negative one the
	 * address is relative_base - 1 minus the number.
	 */
	KALLSYMS_PERCPU,
	KALLSYMS_SELF, /* the address of the number itself plus the number, which is signed */
};

/* The tables that were found so far. Places are byte offsets into the image. */
struct kallsyms {
	const struct guest_image *image;
	size_t align; /* of the tables, in bytes: 8 or 4 */
	size_t token_table;
	size_t token_index;
	uint32_t num; /* symbols */
	size_t names;
	size_t names_end; /* the place behind the last name */
	bool long_names;  /* since 6.1: a length byte whose top bit is set is followed by a second one */
	size_t offsets;
	uint64_t relative_base; /* GVA */
	enum kallsyms_encoding encoding;
	uint64_t budget; /* steps that the search may still take, so that a hostile image cannot keep us busy */
};

/*
 * Find a token table and its index at or behind *from, and move *from to where the search for another one goes on. Returns
 * false when there is none.
 */
bool kallsyms_find_tokens(struct kallsyms *k, size_t *from);

/* When the tokens are known: find the names, and check them against their markers. Returns false when there are none. */
bool kallsyms_find_names(struct kallsyms *k);

/* When the names are known: find the table of offsets. Returns false when there is none that makes sense. */
bool kallsyms_find_offsets(struct kallsyms *k);

/* Read the length of the name at *pos, in tokens, and move *pos to its first token. Returns false when no name is there. */
bool kallsyms_name_length(const struct kallsyms *k, size_t *pos, size_t *len);

/*
 * Expand the `len` tokens at `pos` to the symbol's type, which is one letter, and its name. At most `size` bytes are written to
 * out, without a final NUL. Returns their number, or 0 when they do not fit.
 */
size_t kallsyms_expand(const struct kallsyms *k, size_t pos, size_t len, char *out, size_t size);

/* The run-time address of symbol `index`, which is below k->num. */
uint64_t kallsyms_address(const struct kallsyms *k, uint32_t index);

#endif
