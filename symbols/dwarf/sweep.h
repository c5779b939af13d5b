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
	struct insn *at;    /* Its instructions, in order, up to the first one that cannot be decoded. */
	size_t n;
	struct di_branch *branches; /* Sorted by target. */
	size_t n_branches;
	size_t tracer; /* Index of the call of __fentry__, which changes no register. SIZE_MAX: there is no such call. */
};

/*
 * The instructions of the link addresses [low, high), which a function begins with. The last function is kept: a sweep is valid
 * until the next call. NULL: the file has no such code, or the error is set.
 */
const struct di_sweep *di_sweep(struct debuginfo *di, uint64_t low, uint64_t high);

/* Free a sweep. `s` may be NULL. */
void di_sweep_free(struct di_sweep *s);

/* Index of the instruction at link address `pc`. SIZE_MAX: no instruction begins there. */
size_t di_sweep_index(const struct di_sweep *s, uint64_t pc);

/* The direct jumps to link address `target`, and their number in *n. */
const struct di_branch *di_sweep_branches(const struct di_sweep *s, uint64_t target, size_t *n);

/* The link address that a direct call goes to. 0: the instruction is no direct call. */
uint64_t di_call_target(const struct insn *i);

#endif
