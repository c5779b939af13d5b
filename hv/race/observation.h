/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was observed: a conflict inside one window, with both of its sides as they were caught. Plain data; hv/detect fills it
 * in.
 */
#ifndef OUTRIDER_RACE_OBSERVATION_H
#define OUTRIDER_RACE_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/facts.h"

#define RACE_STACK_MAX 16384 /* bytes kept of the stack each side is on, and as many of those it interrupted */
#define RACE_DATA_MAX 64     /* bytes of the sampled datum re-read and kept */
#define RACE_CODE_MAX 512    /* bytes of code kept: the whole function if it is no longer, else around the access */
#define RACE_CALLEES_MAX 24  /* calls in that code whose targets are kept by name */

/* How a conflict was seen. */
enum race_how {
	RACE_BY_WATCH,	/* the other side's access tripped a watchpoint */
	RACE_BY_POINT,	/* the other side stopped at a sample point of its own, about to access the same memory */
	RACE_BY_REREAD, /* memory changed under a held CPU and no CPU was seen doing it: a device, an alias, another address
			  space */
};

/* An interrupted stack's part of a copy. */
struct race_stack {
	uint64_t gva;
	uint32_t len;
};

/* A call, or a jump to another function, in a side's code. */
struct race_callee {
	uint16_t at; /* offset of the instruction in the code */
	char name[62];
};

/*
 * One side of a conflict, as caught. A side does not own what it points to: while the detector works on it that is a struct
 * race_side_room, and in a race it is a block of the race's own, just as large as the lengths say. Of a known side no pointer
 * is NULL, even when its length is 0.
 */
struct race_side {
	bool known; /* false: only re-reading saw it; nothing else is set */
	uint16_t cpu;
	uint8_t rw;   /* enum insn_rw: what the instruction does to the datum */
	bool locked;  /* a LOCKed instruction */
	uint64_t pc;  /* GVA of the accessing instruction; 0 if it could not be told from where the CPU stopped (regs.rip) */
	uint64_t gva; /* of its access */
	uint32_t size;
	struct x86_regs regs; /* sampled side: before the access; watched side: after it */
	struct guest_context context;
	struct guest_symbol symbol; /* of pc, or of regs.rip; name "" if unknown */
	uint64_t code_gva;
	uint32_t code_len, stack_len; /* code from an instruction on; the stack is copied from regs.rsp up */
	uint32_t callee_count;	      /* direct ones, in the order of the code */
	/* The stacks that the current one interrupted, from inside outwards, one after the other in below[]; len 0: none. */
	struct race_stack interrupted[GUEST_STACKS_MAX - 1];
	uint8_t *code;
	struct race_callee *callees;
	struct guest_calls calls; /* count 0: not unwound */
	uint8_t *stack;
	uint8_t *below;
};

/* Room for as much as a side can ever have. 64 KiB: not for a thread's stack. */
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

/* One conflict inside one window. sides[0] is the sampled (held) access. */
struct observation {
	enum race_how how;
	uint64_t time_ns; /* since the first point was armed */
	uint64_t held_ns; /* how long the window had been open */
	uint64_t gpa;	  /* of the first conflicting byte's page in the sampled datum */
	uint32_t data_len;
	uint8_t before[RACE_DATA_MAX]; /* the sampled datum when the window opened */
	uint8_t after[RACE_DATA_MAX];  /* and when the conflict was seen */
	struct guest_page_state page;  /* of the sampled datum, when the conflict was seen; and what */
	struct guest_memory memory;    /* the datum is, as told soon after */
	struct race_side sides[2];
};

#endif
