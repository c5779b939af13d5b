/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bzImage container and the 64-bit Linux boot protocol (Documentation/arch/x86/boot.rst). Header checks are pure, so
 * that they are tested without a machine.
 */
#ifndef OUTRIDER_VMM_BZIMAGE_H
#define OUTRIDER_VMM_BZIMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/bootparam.h>

#include "hv/base/err.h"
#include "hv/vmm/ram.h"

#define BZIMAGE_HEAD_MAX 1024 /* more than the setup header can ever reach: it ends at 0x202 + 255 at most */

struct bzimage {
	struct setup_header hdr;
	uint64_t payload_offset; /* in the file, of the protected-mode code */
	uint64_t payload_size;
};

/* Does a file that starts with these bytes claim to be a bzImage? */
bool bzimage_matches(const uint8_t *head, size_t len);

/*
 * Read the setup header out of the file's first `len` bytes. `file_size` is the whole file's. EXIT_INPUT when it is truncated
 * or needs another boot protocol than the 64-bit one (2.12). `path` is for the message.
 */
int bzimage_parse(const uint8_t *head, size_t len, uint64_t file_size, const char *path, struct bzimage *out, struct err *err);

/*
 * Where the kernel goes: its preferred address, or 0 when init_size bytes do not fit between there and `low`. Lower is no use:
 * even a relocatable kernel moves itself up to that address before it unpacks.
 */
uint64_t bzimage_place(const struct setup_header *hdr, uint64_t low);

/* The highest page-aligned address for an initrd that keeps clear of the kernel's [start, end) and of what it can reach; 0:
 * none. */
uint64_t bzimage_place_initrd(const struct setup_header *hdr, uint64_t size, uint64_t low, uint64_t start, uint64_t end);

#endif
