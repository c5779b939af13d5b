/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was observed: a conflict inside one window, with both of its sides as they were caught. Plain data, which hv/detect
 * fills in.
 */
#ifndef OUTRIDER_RACE_OBSERVATION_H
#define OUTRIDER_RACE_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/device.h"
#include "hv/race/facts.h"
#include "hv/race/lockset.h"

/* Bytes that are kept of the stack that a side is on, and as many again of all the stacks that this one interrupted. */
#define RACE_STACK_MAX 16384
/* Bytes of the sampled datum that are read again and kept. */
#define RACE_DATA_MAX 64
/* Bytes of code that are kept: the whole function if it is no longer than that, else what is around the access. */
#define RACE_CODE_MAX 512
/* Calls in that code whose targets are kept by name. */
#define RACE_CALLEES_MAX 24

/* How a conflict was seen. */
enum race_how {
	/* The other side's access tripped a watchpoint. */
	RACE_BY_WATCH,
	/* The other side stopped at a sample point of its own, and was about to access the same memory. */
	RACE_BY_POINT,
	/*
	 * Memory changed while a vCPU was held, and nobody was seen changing it: no vCPU, and no device of our own VMM's. It
	 * was an access by an alias or in another address space, or a device of another VMM's.
	 */
	RACE_BY_REREAD,
	/* The memory belonged to a request that a device was serving, or began to serve (hv/vmm/dma.h). */
	RACE_BY_DEVICE,
};

/* A part of a side's `below`: the copy of one interrupted stack. */
struct race_stack {
	/* GVA of the copy's first byte. */
	uint64_t gva;
	/* Bytes that were copied. 0: there is no such stack. */
	uint32_t len;
};

/* A call, or a jump to another function, in a side's code. */
struct race_callee {
	/* Offset of the instruction in the code, in bytes. */
	uint16_t at;
	/* Name of the function that it goes to. Longer names are cut. */
	char name[62];
};

/* What a side's context held of the locks that were followed. */
struct race_locks {
	/* False: locks were not followed, or not all that were held are known, and `set` is empty. */
	bool known;
	/*
	 * The side's function is one of those whose locks were followed, so that a lock which is missing here was not held,
	 * unless code outside of these had taken it.
	 */
	bool complete;
	struct lockset set;
	/* What the guest's own tables call each of them, for people. */
	char name[LOCKSET_MAX][LOCK_NAME_MAX];
};

/*
 * One side of a conflict, as caught. A side does not own what it points to: while the detector works on it that is a struct
 * race_side_room, and in a race it is a block of the race's own, just as large as the lengths say. Of a known side no pointer
 * is NULL, even when its length is 0.
 */
struct race_side {
	/*
	 * A vCPU was seen making this access. False: a device was seen if `by_device` is set, and else nobody was, and only the
	 * effect of the access was found by reading again. Nothing else is set then, but `device` and `rw` of a device's side.
	 */
	bool known;
	/* A device was seen making this access. Never set together with `known`. */
	bool by_device;
	/* The device's access, of which `gpa` and `len` say only the part that the two sides have in common. */
	struct device_access device;
	/* The vCPU that made the access, or was about to make it. */
	uint16_t cpu;
	/* enum insn_rw bits: what the instruction does to the datum. 0: the access could not be told. */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	/* GVA of the accessing instruction. 0: it could not be told from where the vCPU stopped, which is regs.rip. */
	uint64_t pc;
	/* GVA of the access. */
	uint64_t gva;
	/* Size of the access in bytes. */
	uint32_t size;
	/* Registers of the vCPU. Those of the sampled side are from before the access, those of a watched side from after it.
	 */
	struct x86_regs regs;
	/* Who ran on the vCPU. */
	struct guest_context context;
	/* What that context held. */
	struct race_locks locks;
	/* The function that contains `pc`, or regs.rip if that is 0. Its name is "" when it is not known. */
	struct guest_symbol symbol;
	/* GVA of the first byte of `code`. */
	uint64_t code_gva;
	/* Bytes of `code`. */
	uint32_t code_len;
	/* Bytes of `stack`. */
	uint32_t stack_len;
	/* How many callees there are. */
	uint32_t callee_count;
	/* The parts of `below`, one for each stack that was interrupted, from inside outwards. */
	struct race_stack interrupted[GUEST_STACKS_MAX - 1];
	/* A copy of the code around the access, as the guest wrote it. It begins with an instruction. */
	uint8_t *code;
	/* The direct calls and jumps in `code` that lead to another function, in the order of the code. */
	struct race_callee *callees;
	/* The calls that led to the access. Their count is 0 when the stack was not unwound. */
	struct guest_calls calls;
	/* A copy of the current stack, from regs.gpr[X86_RSP] up. */
	uint8_t *stack;
	/* Copies of the stacks that the current one interrupted, one after the other. */
	uint8_t *below;
};

/* Room for as much as a side can ever have: 62 KiB, which is too much for a variable on a thread's stack. */
struct race_side_room {
	struct guest_frame frames[UNWIND_FRAMES_MAX];
	struct race_callee callees[RACE_CALLEES_MAX];
	uint8_t code[RACE_CODE_MAX];
	uint8_t stack[RACE_STACK_MAX];
	uint8_t below[RACE_STACK_MAX];
};

/* Let a side point to that room. */
static inline void race_side_use_room(struct race_side *side, struct race_side_room *room)
{
	side->calls.frames = room->frames;
	side->callees = room->callees;
	side->code = room->code;
	side->stack = room->stack;
	side->below = room->below;
}

/* One conflict inside one window. */
struct observation {
	/* How the conflict was seen. */
	enum race_how how;
	/* Nanoseconds from the first sample point that was armed to the conflict. */
	uint64_t time_ns;
	/* Nanoseconds for which the window had been open. */
	uint64_t held_ns;
	/* GPA of the sampled datum's first byte. */
	uint64_t gpa;
	/* Bytes of the sampled datum that are in before[] and after[]. */
	uint32_t data_len;
	/* The number of the meeting (hv/race/meeting.h) that this conflict was to have, even if that was skipped. 0: none. */
	uint64_t meeting;
	/* The sampled datum when the window opened. With RACE_BY_REREAD, when the window's watchpoints were in force. */
	uint8_t before[RACE_DATA_MAX];
	/* The sampled datum when the conflict was seen. */
	uint8_t after[RACE_DATA_MAX];
	/* The page of the sampled datum when the conflict was seen. For the detector: a race's record has no use for it. */
	struct guest_page_state page;
	/* What the sampled datum is, as it was found out soon after the conflict. */
	struct guest_memory memory;
	/* The taint of the kernel soon after the conflict. */
	struct guest_taint taint;
	/* Both accesses. sides[0] is the sampled one, whose vCPU was held before it. */
	struct race_side sides[2];
};

#endif
