/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loaders, one for each boot protocol. A loader copies kernel and initrd into guest RAM, writes the boot parameters of its
 * protocol, and sets the state in which the first CPU enters the kernel. A loader returns 0, or -1 with `err` set: EXIT_INPUT,
 * or EXIT_USAGE for a command line that is too long for the kernel.
 */
#ifndef OUTRIDER_VMM_BOOT_PROTOCOLS_H
#define OUTRIDER_VMM_BOOT_PROTOCOLS_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/boot_entry.h"
#include "hv/vmm/boot_request.h"

/* Load a bzImage. `head` is the first `len` bytes of the kernel's file. */
int boot_bzimage(const struct boot_request *req, const uint8_t *head, size_t len, struct boot_entry *out, struct err *err);

/* Read the header of an ELF vmlinux, and check that it is for x86-64. Returns 0, or -1 with EXIT_INPUT. */
int boot_pvh_header(const struct boot_file *kernel, Elf64_Ehdr *out, struct err *err);

/* Load an ELF vmlinux that has a PVH entry. */
int boot_pvh(const struct boot_request *req, struct boot_entry *out, struct err *err);

#endif
