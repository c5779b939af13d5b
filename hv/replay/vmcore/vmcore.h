/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine's memory and registers as an ELF core that crash and drgn open (QEMU's docs/interop, "vmcoreinfo", and kdump's own
 * cores): a PT_LOAD for each range of RAM by its GPA, and in a PT_NOTE, for each CPU, NT_PRSTATUS and the control registers as
 * QEMU keeps them in a core, and the kernel's VMCOREINFO.
 */
#ifndef OUTRIDER_REPLAY_VMCORE_H
#define OUTRIDER_REPLAY_VMCORE_H

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "hv/replay/vmcore/core.h"
#include "symbols/tables/symtab.h"

/*
 * Read this from the memory of the kernel with these symbols. Returns 0, or -1 with EXIT_INPUT when the kernel has no
 * VMCOREINFO, as one without CONFIG_CRASH_CORE, or has none yet. What is known is in `out` in both cases.
 */
int vmcore_kernel_read(struct vmcore_kernel *out, const struct guest_reader *reader, const struct symtab *symtab,
		       struct err *err);

/*
 * Write the core to `path`. Pages of zeros take no space on the disk. Nobody may change RAM meanwhile. Returns 0, or -1 with
 * EXIT_INPUT when the file cannot be written; then what was at `path` is still there.
 */
int vmcore_write(const struct vmcore *core, const char *path, struct err *err);

#endif
