/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM: one mapping in this process. Its first `low` bytes are at GPA 0, and the remaining `high` bytes at RAM_HOLE_END
 * (layout.h). The host allocates a page when it is first touched.
 */
#ifndef OUTRIDER_VMM_RAM_H
#define OUTRIDER_VMM_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/bootparam.h>

#include "hv/base/err.h"

#define RAM_E820_MAX 8

struct ram {
	uint8_t *host; /* start of the mapping; NULL: no RAM is mapped */
	uint64_t low;  /* bytes at GPA 0 */
	uint64_t high; /* bytes at RAM_HOLE_END */
};

/*
 * Map `size` bytes. Returns 0, or -1: with EXIT_USAGE if the size is no multiple of the page size, below 64 MiB or above 1024
 * GiB, or with EXIT_INPUT if the host refuses the mapping.
 */
int ram_map(struct ram *ram, uint64_t size, struct err *err);

/* Unmap the RAM, if it is mapped. */
void ram_unmap(struct ram *ram);

/*
 * Give the VM `vm_fd` this RAM (KVM_SET_USER_MEMORY_REGION). With `log_dirty`, KVM tracks the pages that the guest writes.
 * Returns 0, or -1 with EXIT_INPUT.
 */
int ram_attach(const struct ram *ram, int vm_fd, bool log_dirty, struct err *err);

/* Returns the number of 64-bit words in a bitmap with one bit for each page. */
size_t ram_bitmap_words(const struct ram *ram);

/*
 * Get the set of pages that the guest has written since the last call, or since ram_attach() with `log_dirty`: page n of the
 * mapping is bit n % 64 of bitmap[n / 64]. `bitmap` must have ram_bitmap_words() words. Returns 0, or -1 with EXIT_INTERNAL.
 */
int ram_dirty(const struct ram *ram, int vm_fd, uint64_t *bitmap, struct err *err);

/*
 * Returns the host address of the GPAs [gpa, gpa + len), or NULL if any of them is not RAM. Safe against overflow for any
 * arguments.
 */
void *ram_at(const struct ram *ram, uint64_t gpa, size_t len);

/* Returns the GPA of the byte at `offset` in the mapping; `offset` must lie within the mapping. */
uint64_t ram_gpa(const struct ram *ram, uint64_t offset);

/* Write the machine's address map in the form of INT 15h, E820h (ACPI 6.4, chapter 15). Returns the number of entries. */
unsigned ram_e820(const struct ram *ram, struct boot_e820_entry out[RAM_E820_MAX]);

#endif
