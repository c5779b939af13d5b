/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a kernel into guest RAM by the boot protocol that the kernel's file supports. */
#ifndef OUTRIDER_VMM_BOOT_H
#define OUTRIDER_VMM_BOOT_H

#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/boot_entry.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/vmm.h"

/*
 * Load the kernel and the initrd of `config` into `ram`, and write what the first CPU needs there: GDT, page tables, command
 * line and boot parameters. `rsdp` is the GPA of the RSDP. Returns 0 with *out filled in, or -1 with `err` set: EXIT_INPUT for
 * a file that cannot be used, EXIT_USAGE for a command line that is too long.
 */
int boot_load(struct ram *ram, const struct vmm_config *config, uint64_t rsdp, struct boot_entry *out, struct err *err);

#endif
