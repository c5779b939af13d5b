/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loaded value on its way through registers. Only the files behind flow_read() use this header. */
#ifndef OUTRIDER_PRUNER_FLOW_PARTS_H
#define OUTRIDER_PRUNER_FLOW_PARTS_H

#include "pruner/flow/internal.h"

/* What a register has that was made of the value. Of two that may be, the greater one counts. */
enum made {
	NOT_MADE,
	/* The register was popped behind a push of the value. Compilers drop a pushed argument in this way. */
	POPPED,
	MADE,
};

/* What a register has of the value: the bits in `mask`, moved down by `shift`, and whether it has something made of the value.
 */
struct part {
	uint64_t mask;
	uint8_t shift;
	uint8_t made; /* An enum made. */
};

struct parts {
	bool reached; /* The value may be in registers here. */
	bool queued;  /* The instruction is in the queue of `struct follow`. */
	bool pushed;  /* Some of the value was pushed, so a pop may get it. */
	struct part gpr[X86_GPRS];
};

/* Returns the bits of the value that are in the registers `regs`. */
uint64_t parts_bits(const struct parts *parts, uint16_t regs);

/* Returns those of the registers `regs` that have some of the value or something made of it. */
uint16_t parts_with_some(const struct parts *parts, uint16_t regs);

/* The registers `regs` have nothing of the value any more. */
void parts_clear(struct parts *parts, uint16_t regs);

/* The registers `regs` have something new, which was made of the value as `made` says. */
void parts_set_made(struct parts *parts, uint16_t regs, enum made made);

/*
 * Join `from` into `into` where two ways meet. Returns whether `into` changed. Bits of the value that cannot be followed any
 * further are added to *used.
 */
bool parts_join(struct parts *into, const struct parts *from, uint64_t *used);

struct follow {
	const struct flow *flow;
	unsigned from; /* The instruction that loads the value. */
	struct flow_read *out;
	struct parts *parts; /* What the registers have before each instruction. */
	unsigned *queue;     /* The instructions that are still to be looked at. */
	unsigned queue_len;
};

/* Add to f->out what instruction `i` does with the value, and change *parts to where it leaves the value. */
void flow_step(struct follow *f, struct parts *parts, unsigned i);

/* What is in the registers `regs` goes where it is not followed. Add this to f->out. */
void flow_leave(struct follow *f, const struct parts *parts, uint16_t regs);

/*
 * Returns whether anything reads the flags that instruction `i` sets. Compilers put only moves and jumps in between. A function
 * neither finds flags at its start nor leaves any at its end.
 */
bool flow_flags_are_read(const struct code *code, unsigned i);

/*
 * Returns whether what instruction `i` pushes is an argument of a call that shows it to people. Only loads, moves and more
 * pushes may stand between the two.
 */
bool flow_pushed_to_show(const struct code *code, unsigned i);

#endif
