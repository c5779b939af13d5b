/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM: one lazily reserved host mapping, [0, low) of it at GPA 0 and the rest at 4 GiB (layout.h).
 */
#ifndef OUTRIDER_VMM_RAM_H
#define OUTRIDER_VMM_RAM_H

#include <stddef.h>
#include <stdint.h>

#include <asm/bootparam.h>

#include "hv/base/err.h"

#define RAM_E820_MAX 8

struct ram {
	uint8_t *host;
	uint64_t low;  /* bytes at GPA 0 */
	uint64_t high; /* bytes at RAM_HOLE_END */
};

/* Reserve `size` bytes (a multiple of the page size; checked: EXIT_USAGE). Costs host memory only as the guest touches it. */
int ram_map(struct ram *ram, uint64_t size, struct err *err);
void ram_unmap(struct ram *ram);

/* Give the RAM to the VM (KVM_SET_USER_MEMORY_REGION). */
int ram_attach(const struct ram *ram, int vm_fd, struct err *err);

/* Host address of [gpa, gpa + len), or NULL when any byte of it is not RAM. Arithmetic cannot wrap for any argument. */
void *ram_at(const struct ram *ram, uint64_t gpa, size_t len);

/* The machine's address map as INT 15h, E820h would give it (ACPI 6.4, chapter 15). Returns the number of entries. */
unsigned ram_e820(const struct ram *ram, struct boot_e820_entry out[RAM_E820_MAX]);

#endif
