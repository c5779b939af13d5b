/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of a boot protocol's loader, which boot_load() (boot.h) fills in; and boot_initrd(), which all loaders use to load
 * the initrd.
 */
#ifndef OUTRIDER_VMM_BOOT_REQUEST_H
#define OUTRIDER_VMM_BOOT_REQUEST_H

#include <stdint.h>

#include <asm/bootparam.h>

#include "hv/base/err.h"
#include "hv/vmm/boot_file.h"
#include "hv/vmm/ram.h"

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
 * If `req` has an initrd, read it into guest RAM, at an address that a kernel with the setup header `limits` can reach and that
 * is outside [start, end), the GPAs that the kernel uses for itself. Returns 0, or -1 with EXIT_INPUT when the initrd cannot be
 * read or does not fit.
 */
int boot_initrd(const struct boot_request *req, const struct setup_header *limits, uint64_t start, uint64_t end,
		struct boot_initrd *out, struct err *err);

#endif
