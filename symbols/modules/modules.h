/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's loaded modules, walked from outside: the list that kernel/module keeps in `modules`, its structures' layouts
 * taken from BTF. The guest runs meanwhile and may be hostile: every loop is bounded, a list caught changing is read again, and
 * what does not fit together is an error, never a guess.
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
 * A value that changes when modules come, go or change state: compare it to know whether to read the list again. Reads 24 bytes
 * or so a module. 0 and *stamp, or -1: caught changing, or not readable.
 */
int modules_stamp(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf, uint64_t *stamp);

/*
 * All modules that have a state above, newest first. `kernel` has run-time addresses. 0 and *list, to be freed with free()
 * (NULL if *n is 0); or -1 with EXIT_INPUT in err: the kernel has no modules or no layout for them, or the list changed each
 * time it was read.
 */
int modules_read(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
		 struct module_info **list, size_t *n, struct err *err);

#define MODULE_SECTIONS_MAX 256

/*
 * Where the module's sections are, as the kernel keeps it for sysfs (struct module_sect_attrs, kernel/module/sysfs.c). At most
 * `max` are written to out[]; returns how many, 0 when the kernel does not tell.
 */
unsigned module_sections(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			 struct image_section *out, unsigned max);

/*
 * The symbols of one module as kallsyms has them (struct mod_kallsyms), at run-time addresses, with sizes. NULL with
 * EXIT_INPUT: it has gone, or its tables make no sense.
 */
struct symtab *module_symbols(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
			      const struct module_info *module, struct err *err);

#endif
