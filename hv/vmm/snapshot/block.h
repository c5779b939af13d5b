/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The form of a block: a header, then sections. A section has a type, an index (which vCPU, interrupt controller or slot of the
 * PCI bus it is about), and some bytes whose meaning the type says. All numbers are little-endian, and each section begins at a
 * multiple of 8 bytes.
 *
 * A block is hostile until block_open() has checked its form. What is in the sections is checked by those who load them.
 */
#ifndef OUTRIDER_VMM_SNAPSHOT_BLOCK_H
#define OUTRIDER_VMM_SNAPSHOT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/snapshot/snapshot.h"

/* A number stands for one thing for ever: a new meaning of a section is a new number, and a new version of the block. */
enum section {
	SECTION_MACHINE = 1,
	/* Of each vCPU. */
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
	/* Of KVM's VM. */
	SECTION_IRQCHIP,
	SECTION_PIT,
	/* Of the devices. */
	SECTION_SERIAL,
	SECTION_RTC,
	SECTION_PM,
	SECTION_PCI,
	SECTION_CARD, /* of each card, its slot being the index */
	SECTION_END,
};

#define BLOCK_IRQCHIPS 3

/* What SECTION_MACHINE has. */
struct block_machine {
	uint32_t cpus, intel; /* as in struct vm_state_facts */
	uint64_t memory;
	uint64_t tsc_khz;  /* how fast the guest's TSC runs */
	uint64_t clock_ns; /* KVM's clock of the VM at the moment of the snapshot */
};

/* ---- writing ---- */

/* A block that grows. All zero but `machine` at the start. */
struct block_writer {
	uint8_t *data;
	size_t len, room;
	uint32_t sections;
	bool failed; /* memory ran out */
};

/*
 * Append a section of `len` bytes. Returns its bytes, which are 0, for the caller to fill in before the next call; NULL when
 * memory has run out, which block_end() tells.
 */
void *block_add(struct block_writer *w, enum section type, uint32_t index, size_t len);

/* Append a section that is a copy of `data`. */
void block_put(struct block_writer *w, enum section type, uint32_t index, const void *data, size_t len);

/* Finish the block, which is the caller's from now on. Returns 0, or -1 with EXIT_INTERNAL; the writer is empty then. */
int block_end(struct block_writer *w, struct vm_state *out, struct err *err);

/* Throw away what was written. */
void block_drop(struct block_writer *w);

/* ---- reading ---- */

#define BLOCK_SECTIONS_MAX 512

struct block_section {
	uint32_t type, index;
	const uint8_t *data;
	size_t len;
};

/* A block of good form. It points into the bytes that it was made from. */
struct block {
	struct block_machine machine;
	unsigned count;
	struct block_section section[BLOCK_SECTIONS_MAX];
};

/*
 * Check the form of a block: its version; that it is whole; that each section is one that is known, of a length that it can
 * have, and there once; and that no section is missing, but for cards. Returns 0, or -1 with EXIT_INPUT and what is wrong.
 */
int block_open(const struct vm_state *state, struct block *block, struct err *err);

/* The section, or NULL when there is none, which can be with cards only. Its data need not be aligned. */
const struct block_section *block_find(const struct block *block, enum section type, uint32_t index);

/* Copy the `len` bytes of a section, which is there and has that length. */
void block_get(const struct block *block, enum section type, uint32_t index, void *out, size_t len);

#endif
