/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value flow follows values through the instructions around an access (DataCollider, section 3.3, "safe flag updates"). It says
 * which bits of a word a store changes, whether the store counts up, and which bits of a loaded word are looked at. An
 * instruction that is not understood is taken to change all bits and to use all bits.
 */
#ifndef OUTRIDER_PRUNER_FLOW_FLOW_H
#define OUTRIDER_PRUNER_FLOW_FLOW_H

#include "pruner/code.h"
#include "pruner/flow/steps.h"

struct flow;

/*
 * Find the state before every instruction by abstract interpretation. `code` must outlive the flow. Returns NULL when memory
 * ran out.
 */
struct flow *flow_new(const struct code *code);
void flow_free(struct flow *flow);

/* What an instruction writes to the memory that it accesses. */
struct flow_write {
	/* The instruction writes what was in that memory before, except for the bits in `changed`. */
	bool merges;
	/* The bits that the write may change, counted from bit 0 of the first byte. Without `merges` these are all bits. */
	uint64_t changed;
	/*
	 * How the value differs from what was loaded from that memory, as bits of enum flow_step. 0: it is written back as it
	 * was. A value that does not come from that memory has FLOW_ELSE.
	 */
	unsigned steps;
	/* The instruction always writes `value`. */
	bool constant;
	uint64_t value;
};

/* Set *out to what instruction `i` writes. */
void flow_write(const struct flow *flow, unsigned i, struct flow_write *out);

/*
 * Returns whether instructions `i` and `j` access memory that begins at the same address, whatever that address is. False when
 * this is not known.
 */
bool flow_same_place(const struct flow *flow, unsigned i, unsigned j);

/*
 * A pointer, by where it came from: the value `root` plus `disp` bytes. Two pointers with the same root, which is neither of
 * the two below, point into the same object, whatever object that is.
 */
struct flow_pointer {
	int32_t root;
	int64_t disp;
};

#define FLOW_POINTER_UNKNOWN 0
#define FLOW_POINTER_FIXED (-1) /* A number or a variable's address: `disp` is all of it. */

/* What register `reg` holds before instruction `i`. */
struct flow_pointer flow_register(const struct flow *flow, unsigned i, unsigned reg);

/* What instruction `i`, a plain load of 8 bytes, leaves in its register. */
struct flow_pointer flow_loaded(const struct flow *flow, unsigned i);

/* The address of instruction `i`'s memory operand. */
struct flow_pointer flow_address(const struct flow *flow, unsigned i);

/* The 8 bytes that instruction `i` stores, when it is a plain store. */
struct flow_pointer flow_stored(const struct flow *flow, unsigned i);

/* What was in memory before the LOCKed exchange that instruction `i` is, as the exchange leaves it in a register. */
struct flow_pointer flow_exchanged(const struct flow *flow, unsigned i);

/* Whether the call, or the jump, of instruction `i` may have a pointer into the object of `p` among its arguments. */
bool flow_is_argument(const struct flow *flow, unsigned i, const struct flow_pointer *p);

/* Returns the index of the instruction whose result is the pointer's root, or -1 when no instruction in the code is. */
int flow_source(const struct flow *flow, const struct flow_pointer *p);

/*
 * Returns the index of the instruction at which the pointer's root becomes what it is: its source, or where the ways meet that
 * bring it. The root is another value each time that this instruction is passed. -1: it is the same from the start of the code.
 */
int flow_begin(const struct flow *flow, const struct flow_pointer *p);

/* What becomes of a value that an access loads. "The value" below is that value, or anything that was made of it. */
struct flow_read {
	/* The bits of the loaded word that something may depend on, counted from bit 0 of the first byte. */
	uint64_t used;
	/* The value is stored where the load came from, by an instruction that is not LOCKed. */
	bool written_back;
	/* How the stores behind `written_back` change the value, as bits of enum flow_step. */
	unsigned steps;
	/* The value is compared, or flags that were made of it are read. */
	bool tested;
	/* The value is part of an address. */
	bool dereferenced;
	/* The value is an argument of a call that shows it to people. */
	bool shown;
	/*
	 * The value goes to memory other than by `written_back`, to another function, or to the caller. This is also set when
	 * the value may do so, because an instruction is not understood or the value leaves the code that was kept.
	 */
	bool escapes;
};

/* Set *out to what becomes of what the access of instruction `i` loads. */
void flow_read(const struct flow *flow, unsigned i, struct flow_read *out);

#endif
