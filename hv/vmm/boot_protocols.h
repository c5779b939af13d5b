/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loaders, one for each boot protocol. A loader copies kernel and initrd into guest RAM, writes the boot parameters of its
 * protocol, and sets the state in which the first CPU enters the kernel. A loader returns 0, or -1 with `err` set: EXIT_INPUT,
 * or EXIT_USAGE for a command line that is too long for the kernel.
 */
#ifndef OUTRIDER_VMM_BOOT_PROTOCOLS_H
#define OUTRIDER_VMM_BOOT_PROTOCOLS_H

#include <asm/bootparam.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/boot_entry.h"
#include "hv/vmm/boot_file.h"
#include "hv/vmm/ram.h"

/* The input of a loader, which boot_load() (boot.h) fills in. */
struct boot_request {
	struct ram *ram;
	struct boot_file kernel; /* the kernel's file, open */
	const char *initrd;	 /* path of the initrd; NULL: no initrd */
	char *cmdline;		 /* the complete kernel command line */
	uint64_t rsdp;		 /* GPA of the ACPI tables' RSDP */
};

/* Where the loader put the initrd. */
struct boot_initrd {
	uint64_t at;   /* GPA */
	uint64_t size; /* bytes; 0: no initrd */
};

/*
 * If `req` has an initrd, choose an address for the initrd, and read the initrd into guest RAM there. The address is one that a
 * kernel with the setup header `limits` can reach, and is outside [start, end), the GPAs that the kernel uses for itself.
 * Stores the place in *out. Returns 0, or -1 with EXIT_INPUT when the initrd cannot be read or does not fit.
 */
int boot_initrd(const struct boot_request *req, const struct setup_header *limits, uint64_t start, uint64_t end,
		struct boot_initrd *out, struct err *err);

/* Load a bzImage. `head` is the first `len` bytes of the kernel's file. */
int boot_bzimage(const struct boot_request *req, const uint8_t *head, size_t len, struct boot_entry *out, struct err *err);

/* Read the header of an ELF vmlinux, and check that it is for x86-64. Returns 0, or -1 with EXIT_INPUT. */
int boot_pvh_header(const struct boot_file *kernel, Elf64_Ehdr *out, struct err *err);

/* Load an ELF vmlinux that has a PVH entry. */
int boot_pvh(const struct boot_request *req, struct boot_entry *out, struct err *err);

#endif
