/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a symtab: the interface for the readers of ELF files, System.map, kallsyms and modules' tables. Private to symbols/.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_BUILD_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct symtab;
struct symtab_builder;

#define SYMTAB_MAX_SYMBOLS (4u << 20) /* bounds the memory that hostile input can cost */
#define SYMTAB_MAX_NAME 1024u	      /* bytes of one name, including the NUL */

/* Bytes of all names together. Without this limit, the tokens of a hostile kallsyms could expand megabytes into gigabytes. */
#define SYMTAB_MAX_NAMES (128u << 20)

/* Make a builder without symbols. Returns NULL if memory runs out. */
struct symtab_builder *symtab_builder_new(void);

/* Free a builder and its symbols. `b` may be NULL. */
void symtab_builder_free(struct symtab_builder *b);

/* Returns true if a name of `len` bytes is allowed: 1 to SYMTAB_MAX_NAME - 1 bytes of printable ASCII without blanks. */
bool symtab_name_ok(const char *name, size_t len);

/*
 * Add one symbol. `name` has `len` bytes and is copied. `size` is 0 if the source has no sizes. A symbol outside the kernel
 * half of the address space gets type 'A' or 'a'. Returns 0, or -1 with EXIT_INPUT if the name is not allowed or a limit is
 * exceeded, and with EXIT_INTERNAL if memory runs out.
 */
int symtab_builder_add(struct symtab_builder *b, const char *name, size_t len, uint64_t addr, uint64_t size, char type,
		       struct err *err);

/* Copy the build id. A build id longer than 64 bytes is ignored. */
void symtab_builder_set_build_id(struct symtab_builder *b, const uint8_t *id, size_t len);

/*
 * Sort and index the symbols. Frees `b`, also on failure. Returns NULL with EXIT_INTERNAL if memory runs out, or with
 * EXIT_INPUT if too many names have one hash, which happens only with hostile symbols.
 */
struct symtab *symtab_builder_finish(struct symtab_builder *b, struct err *err);

/*
 * Readers of symbol files. `fd` is an open regular file, which stays open; `size` is its size in bytes; `path` is for messages.
 * Return NULL with EXIT_INPUT if the content is invalid, and with EXIT_INTERNAL if memory runs out.
 */
struct symtab *symtab_from_elf(int fd, const char *path, struct err *err);
struct symtab *symtab_from_sysmap(int fd, uint64_t size, const char *path, struct err *err);

#endif
