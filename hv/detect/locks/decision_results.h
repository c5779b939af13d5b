/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether a branch decides which results a function returns. */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_RESULTS_H
#define OUTRIDER_DETECT_LOCKS_DECISION_RESULTS_H

#include "hv/detect/locks/decision.h"

/* Answers for a GVA outside of the function whether a jump to it returns from the function (a return thunk). */
struct decision_returns {
	bool (*answer)(void *ctx, uint64_t gva);
	void *ctx;
};

/*
 * Returns whether the function can return each of the same constants whether the conditional branch at GVA `branch` is taken or
 * not. An example is a lookup that looks at the entry that was found last before it searches
 * all entries: it may find something or nothing in either case. Follows all paths of the function. A register counts as
 * constant only if the path sets it after the branch. Returns false if a path returns anything else, or if the code is too
 * long or unclear. Only the low 32 bits of results are compared. `code`: the whole function.
 */
bool decision_same_results(struct insn_decoder *decoder, const struct decision_code *code, uint64_t branch,
			   const struct decision_returns *returns);

#endif
