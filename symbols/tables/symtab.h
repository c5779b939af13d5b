/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel symbols: names and bounds, from a vmlinux, a System.map, or the kallsyms tables in the guest's own memory. Guest
 * memory is read only through a struct guest_reader, so these functions do not need a running machine.
 *
 * A symtab stores link-time addresses. After symtab_set_slide() all addresses that its functions take or return are run-time
 * addresses. From then on a symtab is immutable, so lookups need no lock.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct symtab;

struct symbol {
	const char *name; /* owned by the symtab, valid until symtab_free() */
	uint64_t addr;	  /* run-time GVA */
	uint64_t size;	  /* bytes; if the source has no sizes, the distance to the next symbol */
	/*
	 * The nm(1) letter: 't', 'T', 'd', 'D', 'b', 'B', 'r', 'R', 'W' and others. Absolute and per-CPU symbols have 'A' or
	 * 'a', and keep their addresses when KASLR moves the kernel.
	 */
	char type;
};

/*
 * Load the .symtab of an ELF vmlinux, or a System.map; the file's content tells which. Returns NULL with EXIT_INPUT if the file
 * is neither or is corrupt, and with EXIT_INTERNAL if memory runs out. Free the result with symtab_free().
 */
struct symtab *symtab_load(const char *path, struct err *err);

/*
 * Find the kallsyms tables in the guest's memory and read all symbols. `start` and `end` are the GVAs of the mapped kernel
 * image. Supports the layouts of Linux 5.10 and later. The addresses are run-time addresses, so the slide stays 0. Returns NULL
 * with err as symtab_load() does.
 */
struct symtab *symtab_from_kallsyms(const struct guest_reader *reader, uint64_t start, uint64_t end, struct err *err);

/* Make a symtab of `n` symbols. Names are copied. Returns NULL with err as symtab_load() does. */
struct symtab *symtab_from_array(const struct symbol *symbols, size_t n, struct err *err);

/* Free the symbols and their names. `st` may be NULL. */
void symtab_free(struct symtab *st);

/* Set the KASLR slide in bytes. Call it before other threads use the symtab. */
void symtab_set_slide(struct symtab *st, uint64_t slide);

/* Point *id to the build id of the vmlinux that the symbols come from. Returns its length in bytes; 0 for any other source. */
size_t symtab_build_id(const struct symtab *st, const uint8_t **id);

/*
 * Find a symbol by its exact name. If several symbols have this name, find the symbol with the lowest address. Returns 0, or -1
 * if there is no such symbol.
 */
int symtab_find(const struct symtab *st, const char *name, struct symbol *out);

/* Returns the run-time address of the symbol that symtab_find() finds, or 0 if it finds no symbol. */
uint64_t symtab_addr(const struct symtab *st, const char *name);

/*
 * Find the symbol that contains run-time address `addr`. If several symbols begin at one address, prefers a function's name to
 * a section marker. Returns 0, or -1 if there is no such symbol.
 */
int symtab_at(const struct symtab *st, uint64_t addr, struct symbol *out);

/*
 * Returns the approximate memory use in bytes. A caller that keeps the tables of many modules must limit their sum: a hostile
 * guest can invent modules.
 */
size_t symtab_bytes(const struct symtab *st);

size_t symtab_count(const struct symtab *st);

/* Get symbol `index` in address order; `index` is below symtab_count(). */
void symtab_get(const struct symtab *st, size_t index, struct symbol *out);

#endif
