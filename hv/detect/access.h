/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One access in guest-physical memory. Conflicts are decided on physical bytes, because two virtual addresses may be one memory
 * and one virtual address may be two.
 *
 * Functions of their arguments, with no lock of their own.
 */
#ifndef OUTRIDER_DETECT_ACCESS_H
#define OUTRIDER_DETECT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/observation.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/* RACE_DATA_MAX bytes lie on two pages at most. */
#define DATUM_EXTENTS_MAX 2

/* A run of bytes in guest-physical memory. `len` is in bytes. */
struct extent {
	uint64_t gpa;
	uint32_t len;
};

/* One access as it is watched: the first RACE_DATA_MAX bytes of it. */
struct datum {
	struct mem_access access;
	struct extent extents[DATUM_EXTENTS_MAX];
	unsigned extent_count;
	/* How many bytes of the access are looked at. */
	uint32_t len;
	/* The watch slots that cover it, as a bit mask. */
	unsigned slots;
	/* The cookie of its watches. */
	uint32_t cookie;
	/* Every byte of the access, not only of the part that is looked at, is covered by a watch slot. */
	bool fully_watched;
	/*
	 * The bytes that a device has written, or was about to write, as a part of its ring, since the window opened: bit i is
	 * byte i. That they changed means nothing.
	 */
	uint64_t explained;
	/* The bytes at the time of the hit. */
	uint8_t before[RACE_DATA_MAX];
	/* The bytes when the watches were in force on all CPUs. A change is measured against these. */
	uint8_t settled[RACE_DATA_MAX];
};

/*
 * Fill in extents and len from datum->access, with the page tables in `regs`. Returns 0, or -1 when the access has no bytes, or
 * when any byte is not mapped or not RAM.
 */
int datum_locate(struct target *target, const struct x86_regs *regs, struct datum *datum);

/* Copy the datum's bytes, datum->len of them, to `out`. Returns 0, or -1 when any is not RAM. */
int datum_read(struct target *target, const struct datum *datum, uint8_t *out);

/*
 * Which bytes of the datum are in [gpa, gpa+len): bit i is byte i. With `common`, if any byte is, the first part of the range
 * that both have in common and that is one run in guest-physical memory is written there. NULL is allowed.
 */
uint64_t datum_bytes_in(const struct datum *datum, uint64_t gpa, uint64_t len, struct extent *common);

/* Whether both data have a byte of guest-physical memory in common. */
bool data_overlap(const struct datum *a, const struct datum *b);

#endif
