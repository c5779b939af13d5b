/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's loaded modules, read from outside: the list that the kernel keeps in `modules` (kernel/module/), with structure
 * layouts from BTF. The guest may run meanwhile and may be hostile. Therefore every loop is bounded, a list that changed during
 * the walk is read again, and contradictory fields are an error, never a guess.
 *
 * `kernel` always holds the kernel's symbols with run-time addresses. No function here takes a lock.
 */
#ifndef OUTRIDER_SYMBOLS_MODULES_MODULES_H
#define OUTRIDER_SYMBOLS_MODULES_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/modules/module.h"
#include "symbols/modules/section.h"
#include "symbols/tables/symtab.h"

/*
 * Calculate a value that changes when a module is loaded, unloaded or changes its state. If the value is unchanged, the caller
 * need not read the list again. Reads about 24 bytes per module. Returns 0 and sets *stamp, or returns -1 if the list is
 * unreadable or was changing.
 */
int modules_stamp(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf, uint64_t *stamp);

/*
 * Read all modules whose state is in enum module_state, the newest first. Returns 0 with *n modules in *list, which the caller
 * frees with free(); *list is NULL if *n is 0. Returns -1 with EXIT_INPUT if the kernel has no modules, its BTF has no layout
 * for them, or the list changed during each of five attempts; with EXIT_INTERNAL if memory runs out.
 */
int modules_read(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
		 struct module_info **list, size_t *n, struct err *err);

#define MODULE_SECTIONS_MAX 256 /* recommended `max` for module_sections() */

/*
 * Read the load addresses of the module's sections from the attributes that the kernel keeps for /sys/module/NAME/sections
 * (struct module_sect_attrs, kernel/module/sysfs.c). Writes at most `max` sections to out[]. Returns their number, or 0 if the
 * kernel keeps no such attributes.
 */
unsigned module_sections(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			 struct image_section *out, unsigned max);

/*
 * Read the symbols that the kernel keeps of one module for kallsyms (struct mod_kallsyms), with run-time addresses and sizes.
 * Free the result with symtab_free(). Returns NULL with EXIT_INPUT if the module is gone or its tables are invalid, and with
 * EXIT_INTERNAL if memory runs out.
 */
struct symtab *module_symbols(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			      struct err *err);

#endif
