/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The abstract state of flow.h. */
#ifndef OUTRIDER_PRUNER_FLOW_INTERNAL_H
#define OUTRIDER_PRUNER_FLOW_INTERNAL_H

#include "pruner/code.h"
#include "pruner/flow/steps.h"

#define FLOW_ABSOLUTE (-1) /* instead of a register's number: an address by itself */
#define FLOW_NOWHERE 0	   /* a number that is the same as no other */

/*
 * Memory by name: the number of the value in its base register. Two registers with one number hold the same value, whatever
 * it is.
 */
struct place {
	int32_t base;
	int64_t disp;
	uint8_t seg;
};

/* What is known of a register's value. */
struct value {
	int32_t number; /* FLOW_NOWHERE, or the value's own */
	bool loaded;	/* it is what was at `from`, but for `changed` */
	uint8_t size;	/* of that load, bytes */
	uint8_t steps;	/* enum flow_step bits */
	struct place from;
	uint64_t changed;
	uint64_t may, must; /* not loaded: bits that may be, and that are 1 */
};

struct state {
	bool reached;
	struct value gpr[X86_GPRS];
};

struct flow {
	const struct code *code;
	bool failed; /* no end was found: nothing is known */
	struct state states[];
};

/* The number of the value that instruction `i` leaves in a register; from code->count on: of those that are there already. */
static inline int32_t flow_number(unsigned i, unsigned reg)
{
	return (int32_t)(i * X86_GPRS + reg + 1);
}

/* The memory operand of `op`, before it. False: there is none, several, or one with an index. */
bool flow_place(const struct state *state, const struct insn_op *op, struct place *out);
bool place_equal(const struct place *a, const struct place *b);

/* What `op`, instruction number `i`, makes of the state. */
void flow_apply(struct state *state, const struct insn_op *op, unsigned i);

/* `from` joins `into` at a place that two ways lead to. True: `into` changed. */
bool flow_join(struct state *into, const struct state *from);

/* dst (as wide as `size` bytes) OP src, as for a register. */
struct value value_combine(enum insn_op_kind kind, const struct value *dst, const struct value *src, unsigned size);

/* An immediate or register operand; of any other nothing is known. */
struct value value_of(const struct state *state, const struct insn_operand *operand, uint64_t imm);

#endif
