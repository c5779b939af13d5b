/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel symbols: names and bounds, from a vmlinux, a System.map, or the kallsyms tables in the guest's own memory.
 * No machine in here: guest memory comes through a struct guest_reader.
 *
 * A symtab holds link-time addresses; symtab_set_slide() gives the KASLR slide and every address in and out is then run-time.
 * Immutable after that, so lookups need no lock.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct symtab;

struct symbol {
	const char *name; /* lives as long as the symtab */
	uint64_t addr;	  /* run-time GVA */
	uint64_t size;	  /* bytes; up to the next symbol where the source gives none */
	char type; /* as nm(1): 't', 'T', 'd', 'D', 'b', 'B', 'r', 'R', 'W'...; per-CPU and absolute ones are 'A' or 'a' */
};

/* Read an ELF vmlinux (.symtab) or a System.map, told apart by content. EXIT_INPUT on anything else. */
struct symtab *symtab_load(const char *path, struct err *err);

/*
 * Find the kallsyms tables (any layout of Linux 5.10 to 6.12+) in [start, end) of guest virtual memory, the mapped kernel
 * image, and read all names. Addresses are run-time already (slide 0).
 */
struct symtab *symtab_from_kallsyms(const struct guest_reader *reader, uint64_t start, uint64_t end, struct err *err);

/* Build from names and addresses (module symbol tables, tests). Copies the names. */
struct symtab *symtab_from_array(const struct symbol *symbols, size_t n, struct err *err);

void symtab_free(struct symtab *st);

void symtab_set_slide(struct symtab *st, uint64_t slide);

/* The build id of the file it came from (vmlinux only): bytes and length, or length 0. */
size_t symtab_build_id(const struct symtab *st, const uint8_t **id);

/* By exact name; the first of several. 0 and *out, or -1. */
int symtab_find(const struct symtab *st, const char *name, struct symbol *out);

/* Run-time address of `name`, or 0. */
uint64_t symtab_addr(const struct symtab *st, const char *name);

/* The symbol that contains `addr`; where several share an address, a function's own name before section markers. 0 or -1. */
int symtab_at(const struct symtab *st, uint64_t addr, struct symbol *out);

/* The memory it takes, roughly: for who keeps the tables of many modules of a guest that may have made them up. */
size_t symtab_bytes(const struct symtab *st);

/* In address order: index 0..symtab_count()-1. */
size_t symtab_count(const struct symtab *st);
void symtab_get(const struct symtab *st, size_t index, struct symbol *out);

#endif
