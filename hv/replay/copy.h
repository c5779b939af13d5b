/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of the machine on KVM, run by one thread. */
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

struct kvm_sregs;

#define COPY_WATCHES 4
/* Number of entries of copy.text: a power of two that exceeds the number of code pages that most system calls execute. */
#define COPY_TEXT_PAGES 256u

/* The values of the debug registers (SDM vol. 3, 18.2). Every CPU of the copy runs with the same values. */
struct copy_watches {
	uint64_t address[COPY_WATCHES];
	/* Conditions and enable bits. 0: no watchpoint is enabled. */
	uint64_t dr7;
};

struct copy {
	struct vm *vm;
	struct ram ram;
	struct vm_callbacks callbacks;
	/* The caller may change these between two steps. */
	struct copy_watches watches;
	/* `stepped`: the current step is done. `kicks`: number of kicks during this step. Callbacks of the VMM set both. */
	bool stepped;
	unsigned kicks;
	/* The debug registers that the last single step, or the last call of copy_slice(), has hit: one bit each. */
	unsigned hits;
	/* The arguments of copy_on_hit(). NULL: copy_on_hit() was not called. */
	void (*on_hit)(void *ctx, unsigned cpu);
	void *on_hit_ctx;
	bool timer_made;
	timer_t timer;
	/*
	 * Host addresses of pages of the kernel image, by GVA, so that a step needs no KVM_TRANSLATE. The mapping of the image
	 * never changes, and all page tables that map a page of its code map it to the same RAM. `host` NULL: the entry is
	 * empty.
	 */
	struct {
		uint64_t gva;
		const uint8_t *host;
	} text[COPY_TEXT_PAGES];
	/* The first error of the VMM or of this code. */
	struct err err;
};

/*
 * Make the copy. This process owns `ram`. The copy uses the file descriptors and disks in `from`, which the caller keeps.
 * Returns 0, or -1 with `err` set; copy_close() may follow in either case.
 */
int copy_open(struct copy *c, const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *from,
	      struct err *err);

/* Free the copy. */
void copy_close(struct copy *c);

/* Set the general registers, RIP and RFLAGS of a CPU. Returns 0, or -1 with `err` set. */
int copy_set_regs(struct copy *c, unsigned cpu, const struct x86_regs *regs, struct err *err);

/* Copy from `s` to `regs` the registers that both structs have. The other members of `regs` stay unchanged. */
void copy_special_regs(const struct kvm_sregs *s, struct x86_regs *regs);

/*
 * Returns the host address of the byte at the GVA `gva`, by the page tables of this CPU, or NULL when the byte is not mapped or
 * not in RAM. Stores the byte's GPA in *gpa, unless `gpa` is NULL.
 */
uint8_t *copy_at(struct copy *c, unsigned cpu, uint64_t gva, uint64_t *gpa);

/*
 * Let debug register `number` (0 to 3) stop every CPU before the instruction at `pc`, in any task, until c->watches is cleared.
 * With `pc` 0, do nothing.
 */
void copy_stop_at(struct copy *c, unsigned number, uint64_t pc);

/*
 * Run one CPU freely, with interrupts, for at most `ns` ns. The other CPUs do not run meanwhile. Returns COPY_STEPPED once the
 * CPU hits a debug register, COPY_HALTED when the time is over, or how the run ended otherwise.
 */
enum copy_step copy_slice(struct copy *c, unsigned cpu, uint64_t ns);

/*
 * Like a single step, but over any number of instructions: run one CPU, without interrupts, until it is before the instruction
 * at `pc`. At the call, the CPU must be at another instruction. Stores the CPU's registers at the end in *regs. Returns
 * COPY_STEPPED if the CPU has reached `pc`, COPY_HALTED if it has not after 5 to 10 s, or how the run ended otherwise.
 */
enum copy_step copy_run_to(struct copy *c, unsigned cpu, uint64_t pc, struct x86_regs *regs);

/*
 * Returns the host address of the code at `pc`, or NULL if `pc` is not in the kernel image or not mapped to RAM. From this
 * address on, the caller may read up to the end of the page.
 */
const uint8_t *copy_text(struct copy *c, unsigned cpu, uint64_t pc);

/* Returns the functions by which order_run() runs the copy. */
struct copy_ops copy_steps(struct copy *c);

/*
 * Record in `run` the pages that the copy has written. Also record the memory that a comparison ignores: the dead memory below
 * the stack pointers of both sides, and the memory that KVM writes. Returns 0, or -1 with `err` set.
 */
int copy_take_down(struct copy *c, const struct order *order, struct compare_run *run, struct err *err);

/*
 * Let copy_run_freely() call `on_hit` when a CPU is before an instruction at which `watches` has an execute breakpoint. The
 * call is made on the thread of that CPU, and the CPU then goes on. If copy_on_hit() was not called, `watches` must be clear
 * when copy_run_freely() is called.
 */
void copy_on_hit(struct copy *c, void (*on_hit)(void *ctx, unsigned cpu), void *ctx);

/*
 * Store in *regs the registers that a CPU had at its last exit to user space. Makes no call of KVM. To be called on the thread
 * that runs the CPU, or after copy_run_freely(). If copy_on_hit() was not called, only gpr, rip and rflags are valid.
 */
void copy_exit_regs(struct copy *c, unsigned cpu, struct x86_regs *regs);

/*
 * Run the copy freely for `ns` ns, with all CPUs and interrupts. Time in which its CPUs wait for the host's CPUs does not count
 * (free_clock.h). To be called once; only copy_close() may follow. Returns the state of the copy at the end.
 */
enum replay_machine copy_run_freely(struct copy *c, unsigned cpus, uint64_t ns);

#endif
