/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two functions that use data in turn. A word in memory hands the data over: a flag, a pointer or an index of a ring. The
 * functions below find what each side accesses, which accesses a branch on the word guards, and whether the report has a race
 * that shows that the handoff fails.
 *
 * On x86 the CPU keeps loads in order, and stores in order (SDM vol. 3, 9.2.2). So the other side sees a function's loads and
 * its stores in the order of its machine code. Only the pruner's rules use this header.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_HANDOFF_H
#define OUTRIDER_PRUNER_PATTERNS_HANDOFF_H

#include "pruner/code/flow/dependency.h"
#include "pruner/code/flow/gva.h"
#include "pruner/patterns/view.h"

/* One of the two functions, and what its instructions access. */
struct handoff_side {
	const struct view_side *side;
	/* The GVA that each instruction accesses. 0: the instruction accesses no memory, or the GVA is not known. */
	uint64_t gva[RACE_CODE_MAX];
	/* The instruction accesses the word that hands over the data. */
	bool is_word[RACE_CODE_MAX];
	bool is_data[RACE_CODE_MAX]; /* The instruction accesses the data. */
};

/* Find the GVAs that the side's code accesses. view_side.followed must be set for the side. */
void handoff_resolve(const struct view_side *s, struct handoff_side *out);

/*
 * Returns whether instruction `i` accesses a part of the `size` bytes at `gva`, in one of the ways in `rw` (enum insn_rw
 * bits).
 */
bool handoff_accesses(const struct handoff_side *end, unsigned i, uint64_t gva, unsigned size, uint8_t rw);

/* Add to *out the instructions that depend on any load of the `size` bytes at `gva`. */
void handoff_dependencies(const struct handoff_side *end, uint64_t gva, unsigned size, struct flow_dependencies *out);

/*
 * Returns whether a branch in `jumps` guards instruction `i`: every path to `i` passes such a branch, and the last such branch
 * on the path leads to `i` by only one of its two successors. Paths start at the function's start, or after the instruction
 * `from` unless that is REACH_FROM_START. An instruction that no path reaches counts as guarded.
 */
bool handoff_guarded(const struct handoff_side *end, const bool jumps[RACE_CODE_MAX], int from, unsigned i);

/*
 * Returns whether instruction `i` runs only after a branch in `jumps` that found a word of 8 bytes to be 0 (if `zero`), or not
 * to be 0 (if not `zero`). Paths start at the function's start.
 */
bool handoff_guarded_by_zero(const struct handoff_side *end, const bool jumps[RACE_CODE_MAX], bool zero, unsigned i);

/* Returns whether the report has another race at an instruction of one of the two functions that is_data[] marks. */
bool handoff_data_raced(const struct view *v, const struct handoff_side *a, const struct handoff_side *b);

/*
 * Returns whether the report has another race that shows that the handoff fails: a race at an instruction that is_data[] marks,
 * or a race between the two functions in which neither side is at an instruction that is_word[] marks.
 */
bool handoff_broken(const struct view *v, const struct handoff_side *a, const struct handoff_side *b);

/*
 * Returns whether the report has a race on `gva` in which both sides store, or in which another function than that of `writer`
 * stores.
 */
bool handoff_other_writer(const struct view *v, uint64_t gva, const struct handoff_side *writer);

/* Returns whether the report has a race on `gva` in which both sides store. */
bool handoff_two_stores(const struct view *v, uint64_t gva);

/*
 * Returns whether the report has a race in which both sides store, and one of the two stores is an instruction of `writer` that
 * at[] lists. The race may be of any run and at any address.
 */
bool handoff_two_stores_by(const struct view *v, const struct view_side *writer, const unsigned at[], unsigned count);

#endif
