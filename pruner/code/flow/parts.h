/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bits of a loaded value that registers hold, while flow_read() follows the value. Only the implementation of flow_read()
 * uses this header.
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_PARTS_H
#define OUTRIDER_PRUNER_CODE_FLOW_PARTS_H

#include "pruner/code/flow/internal.h"

/*
 * Whether a register holds a result that was computed from the loaded value. Where two paths join, the register gets the
 * greater of the two constants.
 */
enum made {
	NOT_MADE,
	/*
	 * The register was loaded by a pop after the value was pushed. Compilers remove a pushed argument from the stack by
	 * such a pop. So the register may hold the value although the C source does not use the value after this point.
	 */
	POPPED,
	MADE,
};

/*
 * What one register holds of the value: the bits in `mask`, shifted down by `shift`, and whether its content was computed from
 * the value.
 */
struct part {
	uint64_t mask;
	uint8_t shift;
	uint8_t made; /* enum made */
};

struct parts {
	/* The value may be in registers at this instruction. */
	bool reached;
	bool queued; /* The instruction is in follow.queue. */
	/* A part of the value was pushed, so a pop may load it. */
	bool pushed;
	struct part gpr[X86_GPRS];
};

/* Returns the bits of the value that the registers `regs` hold. */
uint64_t parts_bits(const struct parts *parts, uint16_t regs);

/* Returns the subset of the registers `regs` that hold bits of the value or a result computed from it. */
uint16_t parts_with_some(const struct parts *parts, uint16_t regs);

/* Record that the registers `regs` hold no bits of the value and no result computed from it. */
void parts_clear(struct parts *parts, uint16_t regs);

/* Record that the registers `regs` hold a new result. `made` says how the result depends on the value. */
void parts_set_made(struct parts *parts, uint16_t regs, enum made made);

/*
 * Join `from` into `into` at an instruction where two paths meet. Returns whether `into` changed. Bits of the value that cannot
 * be followed further are added to *used.
 */
bool parts_join(struct parts *into, const struct parts *from, uint64_t *used);

struct follow {
	const struct flow *flow;
	unsigned from; /* The instruction that loads the value. */
	struct flow_read *out;
	struct parts *parts; /* What the registers hold before each instruction. */
	/* The instructions with a changed state, for which flow_step() must be called again. */
	unsigned *queue;
	unsigned queue_len;
};

/* Add to f->out what instruction `i` does with the value, and update *parts to the registers after it. */
void flow_step(struct follow *f, struct parts *parts, unsigned i);

/*
 * Record in f->out that the contents of the registers `regs` reach code that is not analysed: their bits are used, and the
 * value escapes.
 */
void flow_leave(struct follow *f, const struct parts *parts, uint16_t regs);

/*
 * Returns whether the code may read the flags that instruction `i` sets. The search follows code without branches, since
 * compilers put only moves and jumps between an instruction and the reader of its flags. At a branch the result is true. At a
 * call or return it is false, because the ABI passes no flags into or out of a function.
 */
bool flow_flags_are_read(const struct code *code, unsigned i);

/*
 * Returns whether instruction `i` pushes an argument for a function that prints it for people. Between the push and the call,
 * the code may only load, move and push.
 */
bool flow_pushed_to_show(const struct code *code, unsigned i);

#endif
