/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build id of a loaded module. Private to symbols/modules. */
#ifndef OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H
#define OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H

#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/module.h"

/*
 * Read the build id of the module at module->addr into module->build_id and build_id_len. It is read from module.build_id
 * (CONFIG_STACKTRACE_BUILD_ID). A kernel without that member keeps the module's ELF notes for sysfs, and they are looked
 * through (struct module_notes_attrs, kernel/module/sysfs.c). build_id_len is 0 when the guest's memory does not tell the build
 * id.
 */
void module_read_build_id(const struct guest_reader *reader, const struct btf *btf, const struct module_layout *layout,
			  struct module_info *module);

#endif
