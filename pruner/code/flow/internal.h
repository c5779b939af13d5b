/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The abstract state of value flow before each instruction. Only pruner/code/flow/ uses this header. */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_INTERNAL_H
#define OUTRIDER_PRUNER_CODE_FLOW_INTERNAL_H

#include "pruner/code/code.h"
#include "pruner/code/flow/delta.h"

/* The base of a place whose address is a constant: the address has no base register. */
#define FLOW_ABSOLUTE (-1)
/* The value number of a value that is not known to equal any other value. */
#define FLOW_NO_NUMBER 0

/*
 * A place is memory whose address is not known as a number, but as a value number and an offset. `base` is the value number of
 * the base register's value. Two registers with equal value numbers hold equal values.
 */
struct place {
	int32_t base;
	int64_t disp; /* Bytes from the base register's value to the place. If `base` is FLOW_ABSOLUTE: the address itself. */
	uint8_t seg;
};

/* What is known about the value in a register. */
struct value {
	/* Equal for equal values (docs/glossary.md), or FLOW_NO_NUMBER. */
	int32_t value_number;
	/* The value was loaded from `from`, and differs from the loaded value only in the bits in `changed`. */
	bool loaded;
	uint8_t size; /* The size of that load, in bytes. */
	/* How the value differs from the loaded value, as bits of enum flow_delta. */
	uint8_t deltas;
	/* The place that the value was loaded from. */
	struct place from;
	/* The bits that may differ from the loaded value. */
	uint64_t changed;
	/* For a value that was not loaded: the bits that may be 1, and the bits that are surely 1. */
	uint64_t may, must;
};

struct state {
	bool reached; /* A path leads to the instruction. */
	struct value gpr[X86_GPRS];
};

struct flow {
	const struct code *code;
	/* The states did not become stable within ROUNDS_MAX passes. Nothing is known. */
	bool failed;
	struct state states[]; /* The state before each instruction. */
};

/*
 * Returns the value number of the value that instruction `i` leaves in register `reg`. `i` = code->count stands for the value
 * at the start of the code.
 */
static inline int32_t flow_value_number(unsigned i, unsigned reg)
{
	return (int32_t)(i * X86_GPRS + reg + 1);
}

/*
 * Set *out to the place of the memory operand of `op`. `state` is the state before `op`. Returns false if the instruction does
 * not have exactly one memory operand, if the operand has an index register, or if the base has no value number.
 */
bool flow_place(const struct state *state, const struct insn_op *op, struct place *out);
bool place_equal(const struct place *a, const struct place *b);

/* Apply instruction number `i`, which is `op`, to *state (the transfer function of abstract interpretation). */
void flow_transfer(struct state *state, const struct insn_op *op, unsigned i);

/* Join the state `from` into the state `into` at an instruction where two paths meet. Returns whether `into` changed. */
bool flow_join(struct state *into, const struct state *from);

/* Returns the value of `dst` OP `src`. Both are `size` bytes wide. */
struct value value_combine(enum insn_op_kind kind, const struct value *dst, const struct value *src, unsigned size);

/*
 * Returns the value of an immediate or a register operand, and an unknown value for any other operand.
 */
struct value value_of(const struct state *state, const struct insn_operand *operand, uint64_t imm);

#endif
