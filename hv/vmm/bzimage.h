/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the header of a bzImage, and says where the 64-bit Linux boot protocol allows to load the kernel and the initrd
 * (Documentation/arch/x86/boot.rst). The functions have no side effects, so that unit tests need no machine.
 */
#ifndef OUTRIDER_VMM_BZIMAGE_H
#define OUTRIDER_VMM_BZIMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/bootparam.h>

#include "hv/base/err.h"
#include "hv/vmm/ram.h"

/* Number of bytes to read from the start of a file. They include the setup header, which ends at offset 0x202 + 255 at most. */
#define BZIMAGE_HEAD_MAX 1024

struct bzimage {
	struct setup_header hdr;
	uint64_t payload_offset; /* offset in the file of the protected-mode code, in bytes */
	uint64_t payload_size;	 /* size of the protected-mode code in bytes */
};

/* Returns true if a file that starts with these `len` bytes has the magic number of a bzImage. */
bool bzimage_matches(const uint8_t *head, size_t len);

/*
 * Read the setup header from the first `len` bytes of a file of `file_size` bytes. Returns 0, or -1 with EXIT_INPUT when the
 * file is truncated or corrupt, or does not support the 64-bit boot protocol (2.12 or newer). `path` is for the message.
 */
int bzimage_parse(const uint8_t *head, size_t len, uint64_t file_size, const char *path, struct bzimage *out, struct err *err);

/*
 * Returns the GPA at which to load the kernel, in a machine with `low` bytes of RAM at GPA 0: the kernel's preferred address,
 * or 0 if init_size bytes do not fit between that address and `low`. A lower address would not help: even a relocatable kernel
 * moves itself up to its preferred address before it unpacks.
 */
uint64_t bzimage_place(const struct setup_header *hdr, uint64_t low);

/*
 * Returns the highest page-aligned GPA for an initrd of `size` bytes, in a machine with `low` bytes of RAM at GPA 0, at which
 * the kernel can reach the initrd (initrd_addr_max) and the initrd does not overlap [start, end), the GPAs that the kernel uses
 * for itself. Returns 0 if there is no such GPA.
 */
uint64_t bzimage_place_initrd(const struct setup_header *hdr, uint64_t size, uint64_t low, uint64_t start, uint64_t end);

#endif
