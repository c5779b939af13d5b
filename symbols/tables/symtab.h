/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel symbols: their names and bounds, from a vmlinux, a System.map or the kallsyms tables in the guest's own memory. There
 * is no machine in here: guest memory is read through a struct guest_reader.
 *
 * A symtab holds link-time addresses. Once symtab_set_slide() has told it the KASLR slide, every address that goes in or comes
 * out is a run-time address. After that a symtab does not change, so lookups need no lock.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct symtab;

struct symbol {
	const char *name; /* owned by the symtab, and lives as long as it */
	uint64_t addr;	  /* run-time GVA */
	uint64_t size;	  /* bytes; where the source gives no size, those up to the next symbol */
	/*
	 * The letter of nm(1): 't', 'T', 'd', 'D', 'b', 'B', 'r', 'R', 'W' and so on. Per-CPU and absolute symbols have 'A' or
	 * 'a', and stay at their addresses when KASLR moves the kernel.
	 */
	char type;
};

/*
 * Read the .symtab of an ELF vmlinux, or a System.map. Which of them the file is, is told by its content. Returns NULL with
 * EXIT_INPUT when it is neither or is corrupt, and with EXIT_INTERNAL when memory is out. symtab_free() frees the result.
 */
struct symtab *symtab_load(const char *path, struct err *err);

/*
 * Find the kallsyms tables in the guest's memory and read all names. The mapped kernel image is the range of GVAs from `start`
 * up to `end`. Any layout of the tables of Linux 5.10 to 6.12 and later is known. The addresses are run-time addresses, so the
 * slide is 0. Returns NULL with err like symtab_load().
 */
struct symtab *symtab_from_kallsyms(const struct guest_reader *reader, uint64_t start, uint64_t end, struct err *err);

/* Make a symtab of `n` symbols, whose names are copied. Returns NULL with err like symtab_load(). */
struct symtab *symtab_from_array(const struct symbol *symbols, size_t n, struct err *err);

/* `st` may be NULL. */
void symtab_free(struct symtab *st);

/* Set the KASLR slide in bytes. It must be set before other threads look anything up. */
void symtab_set_slide(struct symtab *st, uint64_t slide);

/* Point *id to the build id of the file that the symbols come from. Returns its length in bytes, which is 0 unless that was a
 * vmlinux. */
size_t symtab_build_id(const struct symtab *st, const uint8_t **id);

/* Find a symbol by its exact name. Of several with that name it is the one at the lowest address. Returns 0, or -1 when there
 * is none. */
int symtab_find(const struct symtab *st, const char *name, struct symbol *out);

/* The run-time address of the symbol that symtab_find() finds; 0 when there is none. */
uint64_t symtab_addr(const struct symtab *st, const char *name);

/*
 * Find the symbol that contains run-time address `addr`. Where several begin at one address, a function's own name is preferred
 * to the markers of sections. Returns 0, or -1 when there is none.
 */
int symtab_at(const struct symtab *st, uint64_t addr, struct symbol *out);

/*
 * Roughly the bytes of memory that it takes up. Whoever keeps the tables of many modules must set them a limit, since a hostile
 * guest may have made up the modules.
 */
size_t symtab_bytes(const struct symtab *st);

/* The number of symbols. */
size_t symtab_count(const struct symtab *st);

/* The symbol that is number `index`, below symtab_count(), in address order. */
void symtab_get(const struct symtab *st, size_t index, struct symbol *out);

#endif
