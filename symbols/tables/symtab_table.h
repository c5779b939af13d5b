/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a symtab consists of, for the files that make it and look things up in it. Private to symbols/tables. */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_TABLE_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMTAB_MAX_BUILD_ID 64u /* bytes */

struct symtab_entry {
	uint64_t addr;	/* link-time GVA */
	uint64_t size;	/* bytes; 0 when not known, as for the last symbol of a source without sizes */
	uint32_t name;	/* offset in names[] */
	uint32_t order; /* how many symbols were added before it */
	/*
	 * Of the last entry at an address: 1 + the index of the entry to name this address by, and those behind it up to the
	 * next entry. 0: no symbol is there. Found once, since a guest can give millions of symbols one address.
	 */
	uint32_t named_by;
	char type;  /* the letter of nm(1) */
	bool sized; /* the source gave the size */
};

struct symtab {
	struct symtab_entry *entries;
	size_t count;
	char *names; /* one behind the other, each with its NUL */
	size_t names_len;
	uint32_t *hash;	  /* the index of an entry plus 1; 0 marks an empty slot */
	size_t hash_size; /* slots: a power of two, larger than count */
	uint64_t slide;	  /* of KASLR, in bytes */
	uint8_t build_id[SYMTAB_MAX_BUILD_ID];
	size_t build_id_len;
};

/* Fill in `named_by` of all entries, which are in the order of their addresses. */
void symtab_choose_names(struct symtab *st);

/* The slot of `name`, or the empty slot that it would take; hash_size when a search that is long enough finds neither. */
size_t symtab_hash_slot(const struct symtab *st, const char *name);

#endif
