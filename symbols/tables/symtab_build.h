/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the readers of symbol sources (ELF, System.map, kallsyms, module tables) hand what they found to the symtab. Private to
 * symbols/.
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
#define SYMTAB_MAX_NAME 1024u
#define SYMTAB_MAX_NAMES (128u << 20) /* bytes of all names together: kallsyms tokens make gigabytes out of a few megabytes */
#define SYMTAB_MAX_BUILD_ID 64u

/* NULL: out of memory. */
struct symtab_builder *symtab_builder_new(void);
void symtab_builder_free(struct symtab_builder *b);

/* Printable ASCII without blanks, of 1 to SYMTAB_MAX_NAME - 1 bytes. */
bool symtab_name_ok(const char *name, size_t len);

/*
 * Add one symbol; `name` is `len` bytes and copied. `size` 0: not given by the source. Symbols outside the kernel half of the
 * address space get type 'A' or 'a'. -1 with err: a name that is not symtab_name_ok(), too many or too long ones, out of
 * memory.
 */
int symtab_builder_add(struct symtab_builder *b, const char *name, size_t len, uint64_t addr, uint64_t size, char type,
		       struct err *err);

void symtab_builder_set_build_id(struct symtab_builder *b, const uint8_t *id, size_t len);

/* Sort and index. Consumes `b` in every case. */
struct symtab *symtab_builder_finish(struct symtab_builder *b, struct err *err);

/* The readers. `fd` is an open regular file of `size` bytes, `path` is for messages. NULL with err on bad content. */
struct symtab *symtab_from_elf(int fd, const char *path, struct err *err);
struct symtab *symtab_from_sysmap(int fd, uint64_t size, const char *path, struct err *err);

#endif
