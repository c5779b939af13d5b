/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making a symtab: how the readers of ELF files, System.map, kallsyms and modules' tables hand over the symbols that they
 * found. Private to symbols/.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_SYMTAB_BUILD_H
#define OUTRIDER_SYMBOLS_TABLES_SYMTAB_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct symtab;
struct symtab_builder;

#define SYMTAB_MAX_SYMBOLS (4u << 20)
#define SYMTAB_MAX_NAME 1024u /* bytes of one name with its final NUL */

/* Bytes of all names together. It is needed because the tokens of kallsyms can make gigabytes out of a few megabytes. */
#define SYMTAB_MAX_NAMES (128u << 20)

/* Returns NULL when memory is out. */
struct symtab_builder *symtab_builder_new(void);

/* `b` may be NULL. */
void symtab_builder_free(struct symtab_builder *b);

/* Whether a name of `len` bytes is allowed: 1 to SYMTAB_MAX_NAME - 1 bytes of printable ASCII without blanks. */
bool symtab_name_ok(const char *name, size_t len);

/*
 * Add one symbol. Its name has `len` bytes and is copied. `size` is 0 where the source gives none. A symbol outside the kernel
 * half of the address space gets type 'A' or 'a'. Returns 0, or -1 with EXIT_INPUT when the name is not allowed or there are
 * too many symbols or names, and with EXIT_INTERNAL when memory is out.
 */
int symtab_builder_add(struct symtab_builder *b, const char *name, size_t len, uint64_t addr, uint64_t size, char type,
		       struct err *err);

/* Set the build id, which is copied. One longer than 64 bytes is left out. */
void symtab_builder_set_build_id(struct symtab_builder *b, const uint8_t *id, size_t len);

/* Sort and index the symbols. `b` is freed, also when this fails. Returns NULL with err when memory is out or names collide. */
struct symtab *symtab_builder_finish(struct symtab_builder *b, struct err *err);

/*
 * The readers of files. `fd` is an open regular file, which stays open; `size` is its size in bytes, and `path` is for
 * messages. They return NULL with EXIT_INPUT when the content is not what it should be, and with EXIT_INTERNAL when memory is
 * out.
 */
struct symtab *symtab_from_elf(int fd, const char *path, struct err *err);
struct symtab *symtab_from_sysmap(int fd, uint64_t size, const char *path, struct err *err);

#endif
