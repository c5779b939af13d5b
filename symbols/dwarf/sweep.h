/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's code, decoded from the debug file. Private to symbols/dwarf/. */
#ifndef OUTRIDER_SYMBOLS_DWARF_SWEEP_H
#define OUTRIDER_SYMBOLS_DWARF_SWEEP_H

#include "symbols/dwarf/state.h"
#include "symbols/insn/insn.h"

/* A direct jump. */
struct di_branch {
	uint64_t target; /* Link address. */
	size_t from;	 /* Index of the jump instruction. */
};

_Static_assert(!offsetof(struct insn, addr) && !offsetof(struct di_branch, target),
	       "di_bisect() takes the first eight bytes for the key");

struct di_sweep {
	uint64_t low, high; /* Link addresses [low, high) of the code. */
	struct insn *at;    /* The instructions in order, up to the first that cannot be decoded. */
	size_t n;
	struct di_branch *branches; /* Sorted by target. */
	size_t n_branches;
	size_t tracer; /* Index of the call of __fentry__, which preserves all registers. SIZE_MAX: no such call. */
};

/*
 * Returns the instructions at link addresses [low, high), which must begin with a function's first instruction. The result is
 * valid until the next call: only one sweep is cached. Returns NULL if the file has no such code, or with the error set.
 */
const struct di_sweep *di_sweep(struct debuginfo *di, uint64_t low, uint64_t high);

/* Free a sweep. `s` may be NULL. */
void di_sweep_free(struct di_sweep *s);

/* Returns the index of the instruction at link address `pc`, or SIZE_MAX if no instruction begins at `pc`. */
size_t di_sweep_index(const struct di_sweep *s, uint64_t pc);

/* Returns the direct jumps to link address `target`, and their number in *n. */
const struct di_branch *di_sweep_branches(const struct di_sweep *s, uint64_t target, size_t *n);

/* Returns the target of a direct call, a link address, or 0 for any other instruction. */
uint64_t di_call_target(const struct insn *i);

#endif
