/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether what code reads decides which results a function returns. */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_RESULTS_H
#define OUTRIDER_DETECT_LOCKS_DECISION_RESULTS_H

#include "hv/detect/locks/decision.h"

/* Answers for a GVA outside of the function whether a jump to it returns from the function (a return thunk). */
struct decision_returns {
	bool (*answer)(void *ctx, uint64_t gva);
	void *ctx;
};

/*
 * Returns whether the function can return each of its results, whichever way it branches by what the instruction at GVA `addr`
 * reads. An example is a lookup that looks at the entry that was found last before it searches all entries: it may find
 * something or nothing in either case.
 *
 * Finds the branches that depend on the value, on all paths, also by the result of a call that gets the value. The function
 * must return the same constants after either outcome of each of these branches, and at least two after the first one. A
 * register counts as constant only if the path sets it after the branch. Returns false if the function may return anything
 * else, if it may come to `addr` again, or if its code is too long or unclear. Only the low 32 bits of results are compared.
 * What the function stores does not count. `code`: the whole function.
 */
bool decision_same_results(struct insn_decoder *decoder, const struct decision_code *code, uint64_t addr,
			   const struct decision_returns *returns);

#endif
