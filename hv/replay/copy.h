/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of the machine on KVM, driven by one thread. */
#ifndef OUTRIDER_REPLAY_COPY_H
#define OUTRIDER_REPLAY_COPY_H

#include <stdbool.h>
#include <time.h>

#include "hv/base/err.h"
#include "hv/replay/compare.h"
#include "hv/replay/copy_ops.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"
#include "hv/vmm/vmm.h"

#define COPY_WATCHES 4

/* What the debug registers of all CPUs are (SDM vol. 3, 18.2). */
struct copy_watches {
	uint64_t address[COPY_WATCHES];
	/* Conditions and enable bits. 0: none of them is used. */
	uint64_t dr7;
};

struct copy {
	struct vm *vm;
	struct ram ram;
	struct vm_hooks hooks;
	/* The caller may set them between two steps. */
	struct copy_watches watches;
	/* A step is done, or was kicked. Hooks set these. */
	bool stepped;
	unsigned kicks;
	/* Which debug registers the last step or slice has met, a bit each. */
	unsigned met;
	bool timer_made;
	timer_t timer;
	/* The first failure of our side. */
	struct err err;
};

/*
 * Make the copy. `ram` is this process's own. Of `from` the descriptors and the disks are taken, and stay the caller's. Returns
 * 0, or -1 with `err` set; copy_close() may follow either way.
 */
int copy_open(struct copy *c, const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *from,
	      struct err *err);

/* Free the copy. */
void copy_close(struct copy *c);

/* Set the general registers, RIP and RFLAGS of a CPU. Returns 0, or -1 with `err` set. */
int copy_set_regs(struct copy *c, unsigned cpu, const struct x86_regs *regs, struct err *err);

/*
 * The host address of one byte of the guest's memory as this CPU sees it, and its GPA unless `gpa` is NULL. NULL: it is not
 * mapped, or no RAM.
 */
uint8_t *copy_at(struct copy *c, unsigned cpu, uint64_t gva, uint64_t *gpa);

/*
 * Let one CPU go on freely, with interrupts, until it has met a debug register, which is COPY_STEPPED, or for `ns` at most,
 * which is COPY_HALTED. Other CPUs stand meanwhile.
 */
enum copy_step copy_slice(struct copy *c, unsigned cpu, uint64_t ns);

/* The copy for order_run(). */
struct copy_ops copy_steps(struct copy *c);

/*
 * Take down which pages the copy has written, what is dead below the stack pointers of both sides, and what KVM writes to. 0,
 * or -1 with `err` set.
 */
int copy_take_down(struct copy *c, const struct order *order, struct compare_run *run, struct err *err);

/*
 * Let the copy run freely for that long, with all CPUs and interrupts. Time in which its CPUs wait for the host's does not
 * count (free_clock.h). To be called once, and after it nothing but
 * copy_close(). Returns how it was at the end.
 */
enum replay_machine copy_run_freely(struct copy *c, unsigned cpus, uint64_t ns);

#endif
