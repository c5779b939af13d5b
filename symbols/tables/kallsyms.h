/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kallsyms tables as they lie in a kernel image (kernel/kallsyms.c, scripts/kallsyms.c). Private to symbols/.
 *
 * Names are strings of tokens; a token is one of 256 short strings in kallsyms_token_table, whose offsets are in
 * kallsyms_token_index right behind it. kallsyms_markers has the offset of each 256th name. These orders of tables exist:
 *   up to 6.3:  offsets, relative_base, num_syms, names, markers, [seqs_of_names,] token_table, token_index
 *   since 6.4:  num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs_of_names
 *   since 7.0:  the same without relative_base
 * each aligned to eight bytes, in the last to four. The range of versions is what stock kernels were seen to have; the search
 * goes by what it finds and never by version.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H
#define OUTRIDER_SYMBOLS_TABLES_KALLSYMS_H

#include <stdbool.h>

#include "symbols/tables/guest_image.h"

#define KALLSYMS_TOKENS 256

enum kallsyms_encoding {
	KALLSYMS_RELATIVE, /* relative_base + offset */
	KALLSYMS_PERCPU,   /* ABSOLUTE_PERCPU, up to 6.14: >= 0 is absolute, < 0 counts from relative_base - 1 downwards */
	KALLSYMS_SELF,	   /* from the place of the offset itself, signed */
};

/* Offsets into the image. */
struct kallsyms {
	const struct guest_image *image;
	size_t align;
	size_t token_table, token_index;
	uint32_t num;
	size_t names, names_end;
	bool long_names; /* since 6.1 a length byte with its top bit set has a second one */
	size_t offsets;
	uint64_t relative_base;
	enum kallsyms_encoding encoding;
	uint64_t budget; /* steps left: a made-up image must not keep us busy */
};

/* Find a token table and its index at or after *from; false: none. *from is then where to go on. */
bool kallsyms_find_tokens(struct kallsyms *k, size_t *from);

/* With the tokens known, find the names and check them against their markers; then the addresses. */
bool kallsyms_find_names(struct kallsyms *k);
bool kallsyms_find_offsets(struct kallsyms *k);

/* The length of the name at *pos, which is moved to its first token. False: none there. */
bool kallsyms_name_length(const struct kallsyms *k, size_t *pos, size_t *len);

/* Expand `len` tokens at `pos` into type and name, `size` bytes at `out`, not terminated. Returns the length, 0: not a name. */
size_t kallsyms_expand(const struct kallsyms *k, size_t pos, size_t len, char *out, size_t size);

/* Run-time address of symbol `index` < num. */
uint64_t kallsyms_address(const struct kallsyms *k, uint32_t index);

#endif
