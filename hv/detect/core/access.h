/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One access in guest-physical memory. Conflicts are decided on physical bytes, because two virtual addresses can map the same
 * memory, and one virtual address can map different memory in two processes.
 *
 * These functions use only their arguments. They take no lock.
 */
#ifndef OUTRIDER_DETECT_CORE_ACCESS_H
#define OUTRIDER_DETECT_CORE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/observation.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/* RACE_DATA_MAX bytes touch two pages at most. */
#define DATUM_EXTENTS_MAX 2

/* Contiguous bytes in guest-physical memory. `len` is in bytes. */
struct extent {
	uint64_t gpa;
	uint32_t len;
};

/* The first RACE_DATA_MAX bytes of an access, which the window watches. */
struct datum {
	struct mem_access access;
	struct extent extents[DATUM_EXTENTS_MAX];
	unsigned extent_count;
	/* Number of bytes that the window compares: the access's size, at most RACE_DATA_MAX. */
	uint32_t len;
	/* Bit mask of the watch slots (target_watch_set()) whose watchpoints cover the datum. */
	unsigned slots;
	/* The target reports hits of this datum's watchpoints with this number. */
	uint32_t cookie;
	/* Watches cover every byte of the access, and the access is no longer than RACE_DATA_MAX. */
	bool fully_watched;
	/*
	 * Bit i: since the window opened, a device wrote byte i of the datum as a part of its virtqueue, or announced that it
	 * will. A change of such a byte is no conflict: the driver and the device may access the queue at the same time.
	 */
	uint64_t explained;
	/* The bytes at the time of the hit. */
	uint8_t before[RACE_DATA_MAX];
	/*
	 * The bytes as read again after the watches came into force on all CPUs. If they change later and no CPU reports a
	 * watchpoint hit, an unseen writer changed them.
	 */
	uint8_t settled[RACE_DATA_MAX];
};

/*
 * Fill in extents and len from datum->access, by a walk of the page tables at CR3 of `regs`. Returns 0, or -1 when the access
 * has no bytes, or when any byte is unmapped or not RAM.
 */
int datum_locate(struct target *target, const struct x86_regs *regs, struct datum *datum);

/* Copy the datum's bytes to `out`, which has room for datum->len bytes. Returns 0, or -1 when any byte is not RAM. */
int datum_read(struct target *target, const struct datum *datum, uint8_t *out);

/*
 * Returns which bytes of the datum are in [gpa, gpa+len): bit i stands for byte i. If any bit is set and `common` is not NULL,
 * stores in *common the first contiguous range that the datum and [gpa, gpa+len) have in common.
 */
uint64_t datum_bytes_in(const struct datum *datum, uint64_t gpa, uint64_t len, struct extent *common);

/* Whether both data have a byte of guest-physical memory in common. */
bool data_overlap(const struct datum *a, const struct datum *b);

#endif
