/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the kallsyms tables in a kernel image (kernel/kallsyms.c, scripts/kallsyms.c). Private to symbols/tables.
 *
 * The name of each symbol is a string of one-byte tokens. A token stands for one of 256 short strings. kallsyms_token_table
 * holds these strings, and kallsyms_token_index, directly after it, their offsets. kallsyms_markers holds the offset of every
 * 256th name. The order of the tables depends on the version:
 *
 *   up to 6.3:  offsets, relative_base, num_syms, names, markers, [seqs_of_names,] token_table, token_index
 *   since 6.4:  num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs_of_names
 *   since 7.0:  as since 6.4, without relative_base
 *
 * Each table is aligned to eight bytes, and since 7.0 to four bytes. The versions are those of the stock kernels that were
 * examined. The search never relies on the version: it recognises the tables by their content.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H
#define OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H

#include <stdbool.h>

#include "symbols/tables/guest_image.h"

#define KALLSYMS_TOKENS 256

/* How to calculate a symbol's address from its entry in the table of offsets. */
enum kallsyms_encoding {
	KALLSYMS_RELATIVE, /* relative_base plus the entry, which is unsigned */
	/*
	 * KALLSYMS_ABSOLUTE_PERCPU, up to 6.14: an entry >= 0 is the address itself. For an entry < 0, the address is
	 * relative_base - 1 minus the entry.
	 */
	KALLSYMS_PERCPU,
	KALLSYMS_SELF, /* the address of the entry plus the entry, which is signed */
};

/* The tables that were found so far. Positions are byte offsets into the image. */
struct kallsyms {
	const struct guest_image *image;
	size_t align; /* alignment of the tables in bytes: 8 or 4 */
	size_t token_table;
	size_t token_index;
	uint32_t num; /* number of symbols */
	size_t names;
	size_t names_end; /* the end of the last name */
	bool long_names;  /* since 6.1: if the top bit of the length byte is set, a second length byte follows */
	size_t offsets;
	uint64_t relative_base; /* GVA */
	enum kallsyms_encoding encoding;
	uint64_t budget; /* remaining steps of the search; bounds the time that a hostile image can cost */
};

/*
 * Find a token table and its index, searching from *from on. Moves *from to where the search for the next table begins. Returns
 * false if no table is found.
 */
bool kallsyms_find_tokens(struct kallsyms *k, size_t *from);

/* After kallsyms_find_tokens(): find the names and check them against the markers. Returns false if no names are found. */
bool kallsyms_find_names(struct kallsyms *k);

/* After kallsyms_find_names(): find the table of offsets. Returns false if no candidate gives sorted kernel addresses. */
bool kallsyms_find_offsets(struct kallsyms *k);

/*
 * Read the length in tokens of the name at *pos, and move *pos to its first token. Returns false if there is no valid name at
 * *pos.
 */
bool kallsyms_name_length(const struct kallsyms *k, size_t *pos, size_t *len);

/*
 * Expand the `len` tokens at `pos` to one letter, the symbol's type, and the symbol's name. Writes at most `size` bytes to out,
 * without a NUL. Returns the number of bytes, or 0 if they do not fit.
 */
size_t kallsyms_expand(const struct kallsyms *k, size_t pos, size_t len, char *out, size_t size);

/* Returns the run-time address of symbol `index`, which must be below k->num. */
uint64_t kallsyms_address(const struct kallsyms *k, uint32_t index);

#endif
