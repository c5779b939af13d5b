/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a machine's memory and registers as an ELF core that crash and drgn open, in the form of QEMU's (docs/interop,
 * "vmcoreinfo") and kdump's cores. The core has a PT_LOAD for each range of RAM, and one PT_NOTE. The PT_NOTE contains, for
 * each CPU, NT_PRSTATUS and QEMU's note of the control registers, and also the kernel's VMCOREINFO.
 */
#ifndef OUTRIDER_REPLAY_VMCORE_H
#define OUTRIDER_REPLAY_VMCORE_H

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"
#include "hv/replay/vmcore/core.h"
#include "symbols/tables/symtab.h"

/*
 * Read the facts from the memory of the kernel with these symbols. Returns 0, or -1 with EXIT_INPUT when the kernel has no
 * VMCOREINFO (built without CONFIG_CRASH_CORE), or none yet. `out` has all facts that were found, in either case.
 */
int vmcore_kernel_read(struct vmcore_kernel *out, const struct guest_reader *reader, const struct symtab *symtab,
		       struct err *err);

/*
 * Write the core to `path`. Pages of zeros take no space on the disk. RAM must not change meanwhile. Returns 0, or -1 with
 * EXIT_INPUT when the file cannot be written; an existing file at `path` is then unchanged.
 */
int vmcore_write(const struct vmcore *core, const char *path, struct err *err);

#endif
