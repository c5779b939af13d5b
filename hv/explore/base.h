/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The base: a saved machine in which both programs wait at the mark (hv/vmm/platform/mark.h). All copies are made from the
 * base. A side is one of the two programs: side 0 is A, side 1 is B.
 */
#ifndef OUTRIDER_EXPLORE_BASE_H
#define OUTRIDER_EXPLORE_BASE_H

#include "hv/base/err.h"
#include "hv/explore/facts.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"

/* Number of kernel functions that kernel_find_spins() knows: in each of them, a CPU spins until another CPU acts. */
#define BASE_SPINS_MAX 7

/*
 * After base_open(), only `part_ns`, `spin` and `also` change. Each copy is made by a process that was forked for it, so the
 * base's RAM is copied on write.
 */
struct base {
	struct vm_state state;
	struct ram ram;
	unsigned cpus;
	int kvm_fd; /* for the copies */
	/*
	 * Functions in which a CPU spins until another CPU acts, set by kernel_find_spins(). `size` 0: the kernel does not have
	 * the function.
	 */
	struct base_spin {
		uint64_t start, size;
	} spin[BASE_SPINS_MAX];
	/* GVAs of the functions of explore_config.also, set by kernel_find_also(); 0: none. */
	uint64_t also[2][EXPLORE_ALSO_MAX];
	uint64_t part_ns; /* the longest time for one forced part of a schedule (EXPLORE_PARTS) */
};

/*
 * Open the machine of `config`, confine the process if sandbox_prepare() was called, boot the machine to the mark, and save it.
 * Returns 0, or -1 with `err` set. base_close() may follow in either case. `base` must be all zero but for kvm_fd, which is -1.
 */
int base_open(struct base *base, const struct explore_config *config, struct err *err);
void base_close(struct base *base);

#endif
