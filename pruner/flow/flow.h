/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values through the few instructions around an access (DataCollider, section 3.3, "safe flag updates"): which bits of a word a
 * store changes, whether it counts up, and which bits of a loaded word are looked at. What is not understood counts as
 * everything: all bits changed, all bits used.
 */
#ifndef OUTRIDER_PRUNER_FLOW_FLOW_H
#define OUTRIDER_PRUNER_FLOW_FLOW_H

#include "pruner/code.h"
#include "pruner/flow/steps.h"

struct flow;

/* The state before every instruction, by abstract interpretation. NULL: out of memory. `code` must last. */
struct flow *flow_new(const struct code *code);
void flow_free(struct flow *flow);

/* What instruction `i` writes to the memory that it accesses. */
struct flow_write {
	bool merges;	  /* what was there (loaded before, or in the same instruction) but for the bits of `changed` */
	uint64_t changed; /* from bit 0 of its first byte; all of it unless `merges` */
	unsigned steps; /* enum flow_step bits; of a value that does not come from there FLOW_ELSE; 0: written back as it was */
	bool constant;	/* it is always `value` */
	uint64_t value;
};

void flow_write(const struct flow *flow, unsigned i, struct flow_write *out);

/* Whether two instructions access memory from the same address on, whatever that is; false where it cannot be told. */
bool flow_same_place(const struct flow *flow, unsigned i, unsigned j);

/* What becomes of what the access at `i` loads. */
struct flow_read {
	uint64_t used;	   /* bits that something may depend on, from bit 0 of its first byte */
	bool written_back; /* it, or something made of it, is stored where it came from, and not by a LOCKed instruction */
	unsigned steps;	   /* then: what the stores do to it, enum flow_step bits */
	bool tested;	   /* compared, or flags that are made of it, or of something made of it, are read */
	bool dereferenced; /* it, or something made of it, is part of an address */
	bool shown;	   /* it, or something made of it, is an argument of a call that shows it to people */
	bool escapes; /* it, or something made of it, goes elsewhere: to memory (but for `written_back`), to another function,
			 to the caller; or it may, for it is not understood, or leaves the code that was kept */
};

void flow_read(const struct flow *flow, unsigned i, struct flow_read *out);

#endif
