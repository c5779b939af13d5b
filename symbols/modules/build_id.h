/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build id of a loaded module. Private to symbols/modules. */
#ifndef OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H
#define OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H

#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/module.h"

/*
 * Read the build id of the module at module->addr into module->build_id and build_id_len. The source is module.build_id
 * (CONFIG_STACKTRACE_BUILD_ID). On a kernel without that member, the source is the module's ELF notes, which the kernel keeps
 * for sysfs (struct module_notes_attrs, kernel/module/sysfs.c). build_id_len is 0 if the guest's memory holds no build id.
 */
void module_read_build_id(const struct guest_reader *reader, const struct btf *btf, const struct module_layout *layout,
			  struct module_info *module);

#endif
