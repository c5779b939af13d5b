/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value flow follows values through the instructions around an access (DataCollider, section 3.3, "safe flag updates"). It
 * finds which bits of a word a store changes, whether the store counts up, and which bits of a loaded word the code uses. The
 * method is abstract interpretation over the kept code of one function. An instruction that the decoder does not understand
 * counts as one that changes and uses all bits.
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_FLOW_H
#define OUTRIDER_PRUNER_CODE_FLOW_FLOW_H

#include "pruner/code/code.h"
#include "pruner/code/flow/delta.h"

struct flow;

/*
 * Find the state before every instruction. `code` must outlive the flow. Returns NULL when memory ran out. The caller gives
 * the result to flow_free().
 */
struct flow *flow_new(const struct code *code);
void flow_free(struct flow *flow);

/* What an instruction writes to its memory operand. */
struct flow_write {
	/* The instruction writes back what was in that memory before, except for the bits in `changed`. */
	bool merges;
	/*
	 * The bits that the write may change. Bit 0 is bit 0 of the first byte. If `merges` is false, every bit of the memory
	 * operand counts as changed.
	 */
	uint64_t changed;
	/*
	 * How the stored value differs from the value that was loaded from that memory, as bits of enum flow_delta. 0: the
	 * value is stored unchanged. A stored value that does not come from that memory has FLOW_ELSE.
	 */
	unsigned deltas;
	/* The instruction stores `value` each time. */
	bool constant;
	uint64_t value;
};

/*
 * Set *out to what instruction `i` writes. If the analysis failed or the store is not understood, *out says that all bits
 * change.
 */
void flow_write(const struct flow *flow, unsigned i, struct flow_write *out);

/*
 * Returns whether instructions `i` and `j` surely access memory that begins at the same address. The address itself need not
 * be known. A false result means that the addresses differ or that the comparison is not possible.
 */
bool flow_same_place(const struct flow *flow, unsigned i, unsigned j);

/*
 * A pointer, described by where it comes from: the value with the value number `root`, plus `disp` bytes. Two pointers with the
 * same root point into the same object, unless the root is FLOW_POINTER_UNKNOWN or FLOW_POINTER_FIXED.
 */
struct flow_pointer {
	int32_t root;
	int64_t disp;
};

#define FLOW_POINTER_UNKNOWN 0
/* The pointer is a constant, for example the address of a variable. `disp` is the whole address. */
#define FLOW_POINTER_FIXED (-1)

/* Returns the pointer that register `reg` holds before instruction `i`. */
struct flow_pointer flow_register(const struct flow *flow, unsigned i, unsigned reg);

/*
 * Returns the pointer that instruction `i` loads. The instruction must be a plain load of 8 bytes; otherwise the result is
 * unknown.
 */
struct flow_pointer flow_loaded(const struct flow *flow, unsigned i);

/* Returns the address of instruction `i`'s memory operand. */
struct flow_pointer flow_address(const struct flow *flow, unsigned i);

/* Returns the 8 bytes that instruction `i` stores. The instruction must be a plain store; otherwise the result is unknown. */
struct flow_pointer flow_stored(const struct flow *flow, unsigned i);

/*
 * Returns the old content of memory that a LOCKed exchange, instruction `i`, leaves in a register. For any other instruction
 * the result is unknown.
 */
struct flow_pointer flow_exchanged(const struct flow *flow, unsigned i);

/* Returns whether instruction `i` is a call or jump, and an argument register may hold a pointer into the object of `p`. */
bool flow_is_argument(const struct flow *flow, unsigned i, const struct flow_pointer *p);

/* Returns the index of the instruction that defines the pointer's root, or -1 when no instruction of the code does. */
int flow_definition(const struct flow *flow, const struct flow_pointer *p);

/*
 * Returns the index of the instruction at which the pointer's root gets its value: its definition, or the instruction at which
 * paths with different values join. Each time that execution reaches this instruction, the root gets a new value. Returns -1 if
 * the root has its value from the start of the code.
 */
int flow_definition_or_join(const struct flow *flow, const struct flow_pointer *p);

/*
 * What the code does with the value that an access loads. Below, "the value" is the loaded value or anything that was computed
 * from it.
 */
struct flow_read {
	/* The bits of the loaded word that something may depend on. Bit 0 is bit 0 of the first byte. */
	uint64_t used;
	/* The value is stored to the place that it was loaded from, by an instruction that is not LOCKed. */
	bool written_back;
	/* How the stores of `written_back` change the value, as bits of enum flow_delta. */
	unsigned deltas;
	/* The code compares the value, or reads flags that depend on it. */
	bool tested;
	/* An address is computed from the value. */
	bool dereferenced;
	/* The value is an argument of a function that prints it for people (LIST_SHOW). */
	bool shown;
	/*
	 * The value reaches another function, the caller, or memory (other than by `written_back`). Also set if that cannot be
	 * excluded: an instruction is not understood, or execution continues in code that was not kept.
	 */
	bool escapes;
	/* `escapes` is set for one reason only: a register still holds the value where the code that was not kept begins. */
	bool only_left;
};

/*
 * Set *out to what the code does with the value that instruction `i` loads. When memory runs out, *out says that all bits are
 * used.
 */
void flow_read(const struct flow *flow, unsigned i, struct flow_read *out);

#endif
