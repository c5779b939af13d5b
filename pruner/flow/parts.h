/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow_read()'s own: a loaded value on its way through registers. */
#ifndef OUTRIDER_PRUNER_FLOW_PARTS_H
#define OUTRIDER_PRUNER_FLOW_PARTS_H

#include "pruner/flow/internal.h"

/* Something that was made of the value, in order of what may be. */
enum made {
	NOT_MADE,
	POPPED, /* by a pop, behind a push of some of it: compilers drop what was pushed so, into any register */
	MADE,
};

/* What a register has of the value: `mask` bits of it, moved down by `shift`; and whether it has something made of it. */
struct part {
	uint64_t mask;
	uint8_t shift;
	uint8_t made; /* enum made */
};

struct parts {
	bool reached, queued;
	bool pushed; /* some of the value was: it may be what a pop gets */
	struct part gpr[X86_GPRS];
};

/* The bits of the value that are in these registers. */
uint64_t parts_bits(const struct parts *parts, uint16_t regs);

/* Those of `regs` that have some of the value, or something made of it. */
uint16_t parts_with_some(const struct parts *parts, uint16_t regs);

void parts_clear(struct parts *parts, uint16_t regs);

/* The registers hold something new, made of the value or not. */
void parts_set_made(struct parts *parts, uint16_t regs, enum made made);

/* Two ways meet. True: `into` changed. *used gets the bits that cannot be told from here on. */
bool parts_join(struct parts *into, const struct parts *from, uint64_t *used);

struct follow {
	const struct flow *flow;
	unsigned from;
	struct flow_read *out;
	struct parts *parts; /* before each instruction */
	unsigned *queue, queue_len;
};

/* What instruction `i` does with the value, and where it leaves it. */
void flow_step(struct follow *f, struct parts *parts, unsigned i);

/* What is in these registers goes where it is not followed. */
void flow_leave(struct follow *f, const struct parts *parts, uint16_t regs);

/*
 * Whether anything reads the flags that instruction `i` sets: compilers move only moves in between, and jumps. Functions find
 * and leave none.
 */
bool flow_flags_are_read(const struct code *code, unsigned i);

/*
 * Whether what instruction `i` pushes is an argument of a call that shows it: nothing but loads, moves and more pushes stands
 * between them.
 */
bool flow_pushed_to_show(const struct code *code, unsigned i);

#endif
