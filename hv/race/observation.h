/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An observation: a conflict in one window, with both sides as they were caught. Plain data, filled in by hv/detect. */
#ifndef OUTRIDER_RACE_OBSERVATION_H
#define OUTRIDER_RACE_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/base/device.h"
#include "hv/race/facts.h"
#include "hv/race/lockset.h"

/*
 * Maximum number of bytes that are recorded of a side's current stack. The same maximum holds for all its interrupted stacks
 * together.
 */
#define RACE_STACK_MAX 16384
/* Maximum number of bytes of the sampled datum whose values before and after the conflict are recorded. */
#define RACE_DATA_MAX 64
/*
 * Maximum number of bytes of code that are recorded per side: the whole function if it fits, otherwise the code near the
 * access.
 */
#define RACE_CODE_MAX 512
/* Maximum number of calls in a side's recorded code whose targets are recorded by name. */
#define RACE_CALLEES_MAX 24

/*
 * The held context returns to its access from each interrupt that it takes. For each window, the times of the first 8 returns
 * are recorded.
 */
#define RACE_RETURNS_MAX 8

/* How the detector noticed a conflict. */
enum race_how {
	/* The other side's access hit a watchpoint. */
	RACE_BY_WATCH,
	/* The other side stopped at a sample point of its own, before an access to the same memory. */
	RACE_BY_POINT,
	/*
	 * Memory changed while a vCPU was held, but no vCPU and no device of our own VMM was seen changing it: the writer used
	 * an alias mapping or another address space, or is a device of another VMM.
	 */
	RACE_BY_REREAD,
	/*
	 * The sampled memory belongs to a request that a device was serving when the window opened, or began to serve later in
	 * the window (hv/vmm/dma.h).
	 */
	RACE_BY_DEVICE,
	/*
	 * A request of a device was held, and a vCPU's access to the request's memory hit a watchpoint. sides[0] is the vCPU's
	 * access, with the registers after it.
	 */
	RACE_BY_DEVICE_WINDOW,
};

/* Who made the access of a side. */
enum race_side_kind {
	/* An unseen writer: memory was read again and had changed. No other field of the side is valid. */
	RACE_SIDE_UNSEEN,
	/* A vCPU was seen making the access. All fields but `device` are valid. */
	RACE_SIDE_CPU,
	/* A device was seen making the access. Only `device` and `rw` are valid. */
	RACE_SIDE_DEVICE,
};

/* The copy of one interrupted stack: a part of the buffer `below` of a side. */
struct race_stack {
	/* GVA of the copy's first byte. */
	uint64_t gva;
	/* Bytes of the stack that were copied. 0: there is no such stack. */
	uint32_t len;
};

/* A call, or a jump to another function, in a side's code. */
struct race_callee {
	/* Offset of the instruction in the code, in bytes. */
	uint16_t at;
	/* Name of the target function, truncated if longer. */
	char name[62];
};

/* The locks that a side's context held, if --locks was given. */
struct race_locks {
	/* False: locks were not followed, or the lockset is not fully known; `set` is then empty. */
	bool known;
	/*
	 * The side's function is in the subject, the code whose locks are followed. So a lock that is missing in `set` was not
	 * held, unless code outside of the subject took it.
	 */
	bool complete;
	struct lockset set;
	/* Printable name of each lock in `set`, from the guest's own data structures. */
	char name[LOCKSET_MAX][LOCK_NAME_MAX];
};

/*
 * One side of a conflict, as caught. A side does not own the memory that it points to. In the detector this memory is a struct
 * race_side_room; in a race it is a block of exactly the needed size, owned by the race. In a side of a vCPU no pointer is
 * NULL, even if its length is 0.
 */
struct race_side {
	/* Who made the access. This decides which fields are valid. */
	enum race_side_kind kind;
	/* The device's access. `gpa` and `len` cover only the bytes that both sides access. */
	struct device_access device;
	/* The vCPU that made the access, or was about to. */
	uint16_t cpu;
	/* enum insn_rw bits: how the instruction accesses the datum. 0: could not be determined. */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	/* GVA of the accessing instruction. 0: it could not be derived from regs.rip, where the vCPU stopped. */
	uint64_t pc;
	/* GVA of the access. */
	uint64_t gva;
	/* Size of the access in bytes. */
	uint32_t size;
	/* Registers of the vCPU: before the access for the sampled side, after it for a side that a watchpoint caught. */
	struct x86_regs regs;
	/* The context that ran on the vCPU. */
	struct guest_context context;
	/* The locks that the context held. */
	struct race_locks locks;
	/* The function that contains `pc`, or regs.rip if `pc` is 0. Name "": unknown. */
	struct guest_symbol symbol;
	/* GVA of the first byte of `code`. */
	uint64_t code_gva;
	/* Bytes of `code`. */
	uint32_t code_len;
	/* Bytes of `stack`. */
	uint32_t stack_len;
	uint32_t callee_count;
	/* The interrupted stacks whose copies are in `below`, innermost first. */
	struct race_stack interrupted[GUEST_STACKS_MAX - 1];
	/* The code near the access, as the guest wrote it, without our INT3s. Begins at an instruction boundary. */
	uint8_t *code;
	/* The direct calls and jumps in `code` to other functions, in code order: `callee_count` of them. */
	struct race_callee *callees;
	/* The call stack of the side's context. calls.count 0: the stack was not unwound. */
	struct guest_calls calls;
	/* A copy of the current stack from RSP up. */
	uint8_t *stack;
	/* Copies of the interrupted stacks, concatenated. */
	uint8_t *below;
};

/* Storage for the largest possible side: 62 KiB, too much for a thread's stack. */
struct race_side_room {
	struct guest_frame frames[UNWIND_FRAMES_MAX];
	struct race_callee callees[RACE_CALLEES_MAX];
	uint8_t code[RACE_CODE_MAX];
	uint8_t stack[RACE_STACK_MAX];
	uint8_t below[RACE_STACK_MAX];
};

/* Point the side's buffers into `room`. */
static inline void race_side_use_room(struct race_side *side, struct race_side_room *room)
{
	side->calls.frames = room->frames;
	side->callees = room->callees;
	side->code = room->code;
	side->stack = room->stack;
	side->below = room->below;
}

/* The course of a window up to the conflict. Times are nanoseconds from the opening of the window. */
struct race_window {
	/*
	 * False: the window was read from a report of an older version of Outrider, which did not record the course of windows.
	 * All other members are then 0.
	 */
	bool known;
	/*
	 * Nanoseconds for which the CPU would have been held if no conflict had ended the window. 0: the CPU was not held,
	 * because a device was already serving a request with this memory when the CPU stopped.
	 */
	uint64_t hold_ns;
	/*
	 * Time at which the watchpoints on the sampled datum were in force on all other CPUs. 0: this was never so, or only
	 * after the conflict.
	 */
	uint64_t watched_ns;
	/* Number of times that the held context returned to its access from an interrupt. */
	uint32_t returns;
	/* The times of the first returns, in their order: min(returns, RACE_RETURNS_MAX) of them. */
	uint64_t return_ns[RACE_RETURNS_MAX];
};

/* One conflict in one window. */
struct observation {
	/* How the detector noticed the conflict. */
	enum race_how how;
	/* Nanoseconds from the arming of the first sample point to the conflict. */
	uint64_t time_ns;
	/* Nanoseconds from the opening of the window to the conflict. */
	uint64_t held_ns;
	/* The course of the window until the conflict. */
	struct race_window window;
	/* GPA of the sampled datum's first byte. */
	uint64_t gpa;
	/* Bytes of the sampled datum in before[] and after[]. */
	uint32_t data_len;
	/*
	 * Number of the rendezvous (hv/race/rendezvous.h) that began at this conflict, even if the rendezvous was skipped. 0:
	 * none.
	 */
	uint64_t rendezvous;
	/*
	 * Value of the sampled datum when the window opened or, for RACE_BY_REREAD, when the watchpoints were set on all vCPUs.
	 */
	uint8_t before[RACE_DATA_MAX];
	/* Value of the sampled datum when the conflict was noticed. */
	uint8_t after[RACE_DATA_MAX];
	/* The sampled datum's page at the conflict. Only for the detector; not stored in reports. */
	struct guest_page_state page;
	/* What the sampled datum is, determined shortly after the conflict. */
	struct guest_memory memory;
	/* The kernel's taint flags shortly after the conflict. */
	struct guest_taint taint;
	/*
	 * Both accesses. sides[0] is the sampled side, whose vCPU was held before its access. If `how` is
	 * RACE_BY_DEVICE_WINDOW, sides[0] is not held, and a device was held: sides[1].
	 */
	struct race_side sides[2];
};

/*
 * Returns false if the record shows that the sampled CPU was not held. A sampled CPU is not held if the other side is a device
 * that was already serving a request with this memory when the CPU stopped.
 */
static inline bool observation_held(const struct observation *o)
{
	return !o->window.known || o->window.hold_ns || o->how != RACE_BY_DEVICE;
}

#endif
