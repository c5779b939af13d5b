/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM: one mapping of the host. Its first `low` bytes are at GPA 0, and the rest at RAM_HOLE_END (layout.h). The host
 * allocates a page when it is first touched.
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
	uint8_t *host; /* start of the mapping; NULL: nothing is mapped */
	uint64_t low;  /* bytes at GPA 0 */
	uint64_t high; /* bytes at RAM_HOLE_END */
};

/*
 * Map `size` bytes. Returns 0, or -1: with EXIT_USAGE when the size is no multiple of the page size, below 64 MiB or above 1024
 * GiB, with EXIT_INPUT when the host refuses the address space.
 */
int ram_map(struct ram *ram, uint64_t size, struct err *err);

/* Unmap the RAM. Does nothing when nothing is mapped. */
void ram_unmap(struct ram *ram);

/*
 * Make this the RAM of the VM `vm_fd` (KVM_SET_USER_MEMORY_REGION). With `log_dirty`, KVM tracks the pages that the guest
 * writes. Returns 0, or -1 with EXIT_INPUT.
 */
int ram_attach(const struct ram *ram, int vm_fd, bool log_dirty, struct err *err);

/* The number of 64-bit words in a bitmap with one bit for each page. */
size_t ram_bitmap_words(const struct ram *ram);

/*
 * Fetch the pages that the guest has written since the last call, or since ram_attach() with `log_dirty`: page n of the mapping
 * is bit n % 64 of bitmap[n / 64], which has ram_bitmap_words(). Returns 0, or -1 with EXIT_INTERNAL.
 */
int ram_dirty(const struct ram *ram, int vm_fd, uint64_t *bitmap, struct err *err);

/*
 * The host address of the GPAs [gpa, gpa + len), or NULL when any of them is not RAM. Safe against overflow for any arguments.
 */
void *ram_at(const struct ram *ram, uint64_t gpa, size_t len);

/* The GPA of the byte at `offset` in the mapping, which must be within it. */
uint64_t ram_gpa(const struct ram *ram, uint64_t offset);

/* Write the machine's address map in the form of INT 15h, E820h (ACPI 6.4, chapter 15). Returns the number of entries. */
unsigned ram_e820(const struct ram *ram, struct boot_e820_entry out[RAM_E820_MAX]);

#endif
