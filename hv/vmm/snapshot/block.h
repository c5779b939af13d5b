/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a block, the saved state of a machine (snapshot.h): a header, then sections. A section has a type, an index (of
 * the vCPU, the interrupt controller or the slot of the PCI bus), and data whose format depends on the type. All numbers are
 * little-endian, and each section begins at a multiple of 8 bytes.
 *
 * A block is not trusted. block_open() checks its form, and the functions that load the sections check their contents.
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_BLOCK_H
#define OUTRIDER_VMM_SNAPSHOT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/snapshot/snapshot.h"

/*
 * Section types. A number is never reused: if the meaning of a section changes, the section needs a new number, and the block
 * format needs a new version.
 */
enum section {
	SECTION_MACHINE = 1,
	/* One for each vCPU. */
	SECTION_CPUID,
	SECTION_SREGS,
	SECTION_XCRS,
	SECTION_XSAVE,
	SECTION_MSRS,
	SECTION_REGS,
	SECTION_LAPIC,
	SECTION_EVENTS,
	SECTION_DEBUG,
	SECTION_MP,
	SECTION_TSC,
	/* KVM's VM. */
	SECTION_IRQCHIP,
	SECTION_PIT,
	/* The platform devices and the PCI bus. */
	SECTION_SERIAL,
	SECTION_RTC,
	SECTION_PM,
	SECTION_PCI,
	SECTION_PCI_DEVICE, /* one for each PCI device; its index is the slot */
	SECTION_END,
};

#define BLOCK_IRQCHIPS 3

/* The contents of SECTION_MACHINE. */
struct block_machine {
	uint32_t cpus, intel; /* as in struct vm_state_facts */
	uint64_t memory;
	uint64_t tsc_khz;  /* frequency of the guest's TSC */
	uint64_t clock_ns; /* KVM's clock of the VM at the snapshot, in ns */
};

/* ---- writing ---- */

/* A block under construction. Initially all zero. */
struct block_writer {
	uint8_t *data;
	size_t len, room;
	uint32_t sections;
	bool failed; /* memory ran out */
};

/*
 * Append a section of `len` bytes. Returns the address of its zeroed data, which the caller must fill in before the next call.
 * Returns NULL if memory has run out; block_end() then returns the error.
 */
void *block_add(struct block_writer *w, enum section type, uint32_t index, size_t len);

/* Append a section with a copy of the `len` bytes at `data`. */
void block_put(struct block_writer *w, enum section type, uint32_t index, const void *data, size_t len);

/*
 * Finish the block, and store it in *out. The caller then owns it. Returns 0, or -1 with EXIT_INTERNAL; the writer is empty in
 * both cases.
 */
int block_end(struct block_writer *w, struct vm_state *out, struct err *err);

/* Free an unfinished block. */
void block_drop(struct block_writer *w);

/* ---- reading ---- */

#define BLOCK_SECTIONS_MAX 512

struct block_section {
	uint32_t type, index;
	const uint8_t *data;
	size_t len;
};

/* A block whose form was checked. The sections point into the bytes of the struct vm_state. */
struct block {
	struct block_machine machine;
	unsigned count;
	struct block_section section[BLOCK_SECTIONS_MAX];
};

/*
 * Check the form of a block: the version is known; the block is complete; each section has a known type and a valid length, and
 * occurs once; no section is missing, except those of PCI devices. Returns 0, or -1 with EXIT_INPUT and a message that says
 * what is wrong.
 */
int block_open(const struct vm_state *state, struct block *block, struct err *err);

/*
 * Returns the section, or NULL if there is none. After block_open(), only the section of a PCI device can be missing. The
 * section's data may be unaligned.
 */
const struct block_section *block_find(const struct block *block, enum section type, uint32_t index);

/* Copy the `len` bytes of a section, which must exist and have that length. */
void block_get(const struct block *block, enum section type, uint32_t index, void *out, size_t len);

#endif
