/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The abstract state that value flow keeps before every instruction. Only pruner/flow/ uses this header. */
#ifndef OUTRIDER_PRUNER_FLOW_INTERNAL_H
#define OUTRIDER_PRUNER_FLOW_INTERNAL_H

#include "pruner/code.h"
#include "pruner/flow/steps.h"

#define FLOW_ABSOLUTE (-1) /* A place's base when the address has no base register. */
#define FLOW_NOWHERE 0	   /* The number of a value that is not known to equal any other value. */

/*
 * A place is memory whose address is named, not known. `base` is the number of the value in the base register. Two registers
 * whose values have the same number hold the same value, whatever that value is.
 */
struct place {
	int32_t base;
	int64_t disp; /* Bytes. */
	uint8_t seg;
};

/* What is known of a register's value. */
struct value {
	/* The value's number, or FLOW_NOWHERE. */
	int32_t number;
	/* The value is what was loaded from `from`, except for the bits in `changed`. */
	bool loaded;
	uint8_t size;	   /* The size of that load, in bytes. */
	uint8_t steps;	   /* How the value differs from what was loaded, as bits of enum flow_step. */
	struct place from; /* Where the value was loaded from. */
	uint64_t changed;  /* The bits that differ, or may differ, from what was loaded. */
	/* Of a value that was not loaded: the bits that may be 1, and the bits that are 1. */
	uint64_t may, must;
};

struct state {
	bool reached; /* Some way leads to the instruction. */
	struct value gpr[X86_GPRS];
};

struct flow {
	const struct code *code;
	bool failed;	       /* The interpretation came to no end, so nothing is known. */
	struct state states[]; /* The state before each instruction. */
};

/*
 * Returns the number of the value that instruction `i` leaves in a register. With i = code->count it is the number of the value
 * that is in the register at the start of the code.
 */
static inline int32_t flow_number(unsigned i, unsigned reg)
{
	return (int32_t)(i * X86_GPRS + reg + 1);
}

/*
 * Set *out to the memory operand of `op`, with `state` as it is before `op`. Returns false when the instruction has no memory
 * operand, has several, or has one with an index register.
 */
bool flow_place(const struct state *state, const struct insn_op *op, struct place *out);
bool place_equal(const struct place *a, const struct place *b);

/* Change *state as `op` does, which is instruction number `i`. */
void flow_apply(struct state *state, const struct insn_op *op, unsigned i);

/* Join the state `from` into `into` where two ways meet. Returns whether `into` changed. */
bool flow_join(struct state *into, const struct state *from);

/* Returns the value of `dst` OP `src`, where both are `size` bytes wide and the result goes to a register. */
struct value value_combine(enum insn_op_kind kind, const struct value *dst, const struct value *src, unsigned size);

/* Returns the value of an immediate or a register operand. Of any other operand nothing is known. */
struct value value_of(const struct state *state, const struct insn_operand *operand, uint64_t imm);

#endif
