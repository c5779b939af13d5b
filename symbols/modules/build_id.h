/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H
#define OUTRIDER_SYMBOLS_MODULES_BUILD_ID_H

#include "hv/base/guest_reader.h"
#include "symbols/btf/btf.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/module.h"

/*
 * Fill in the build id, if the guest's memory tells it: from module.build_id (CONFIG_STACKTRACE_BUILD_ID), else from the ELF
 * notes that the kernel keeps for sysfs (struct module_notes_attrs, kernel/module/sysfs.c).
 */
void module_read_build_id(const struct guest_reader *reader, const struct btf *btf, const struct module_layout *layout,
			  struct module_info *module);

#endif
