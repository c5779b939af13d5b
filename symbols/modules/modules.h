/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's loaded modules, read from outside: the list that the kernel keeps in `modules` (kernel/module), through the
 * layouts that BTF gives of its structures. The guest may be running meanwhile, and it may be hostile. Therefore every loop is
 * bounded, a list that changed while it was read is read again, and what does not fit together is an error and never a guess.
 *
 * `kernel` always stands for the kernel's symbols with run-time addresses. Nothing here locks.
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
 * Calculate a value that changes whenever a module comes, goes or changes its state: compare it to know whether the list must
 * be read again. This reads only some 24 bytes a module. Returns 0 and *stamp, or -1 when the list cannot be read or was caught
 * changing.
 */
int modules_stamp(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf, uint64_t *stamp);

/*
 * Read all modules whose state is one of enum module_state, the newest first. Returns 0 with *n of them in *list, which the
 * caller frees with free(); *list is NULL when *n is 0. Returns -1 with EXIT_INPUT when the kernel has no modules, its BTF has
 * no layout for them, or the list changed each time it was read, and with EXIT_INTERNAL when memory is out.
 */
int modules_read(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
		 struct module_info **list, size_t *n, struct err *err);

#define MODULE_SECTIONS_MAX 256 /* a sensible `max` for module_sections() */

/*
 * Find where the module's sections are, from what the kernel keeps for sysfs (struct module_sect_attrs, kernel/module/sysfs.c).
 * At most `max` are written to out[]. Returns how many, which is 0 when the kernel does not tell.
 */
unsigned module_sections(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			 struct image_section *out, unsigned max);

/*
 * Read the symbols of one module as the kernel keeps them for kallsyms (struct mod_kallsyms), with run-time addresses and with
 * sizes. The caller frees them with symtab_free(). Returns NULL with EXIT_INPUT when the module has gone or its tables make no
 * sense, and with EXIT_INTERNAL when memory is out.
 */
struct symtab *module_symbols(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			      struct err *err);

#endif
