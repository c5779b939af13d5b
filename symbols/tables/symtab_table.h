/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The representation of a symtab, for the files that build and search it. Private to symbols/tables. */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_TABLE_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMTAB_MAX_BUILD_ID 64u /* bytes */

struct symtab_entry {
	uint64_t addr;	/* link-time GVA */
	uint64_t size;	/* bytes; 0 if unknown, as for the last symbol of a source without sizes */
	uint32_t name;	/* offset in names[] */
	uint32_t order; /* number of symbols that were added before this one */
	/*
	 * Index plus 1 of the entry whose symbol names the addresses from this entry up to the next entry. 0: no symbol names
	 * them. The symbol may end before the next entry: its size says which of these addresses it covers. Several entries may
	 * have one address; then only the value of the last of them is used. The value is computed in advance, because a
	 * hostile guest can give millions of symbols one address, and each lookup would have to compare them.
	 */
	uint32_t named_by;
	char type;  /* the nm(1) letter */
	bool sized; /* the source has a size for this symbol */
};

struct symtab {
	struct symtab_entry *entries;
	size_t count;
	char *names; /* concatenated, each with its NUL */
	size_t names_len;
	uint32_t *hash;	  /* index of an entry plus 1; 0 marks an empty slot */
	size_t hash_size; /* slots: a power of two, larger than count */
	uint64_t slide;	  /* KASLR slide in bytes */
	uint8_t build_id[SYMTAB_MAX_BUILD_ID];
	size_t build_id_len;
};

/* Set `named_by` in all entries, which must be sorted by address. */
void symtab_choose_names(struct symtab *st);

/* Returns the slot of `name`, or the empty slot where it belongs; hash_size if MAX_PROBES slots hold neither. */
size_t symtab_hash_slot(const struct symtab *st, const char *name);

#endif
