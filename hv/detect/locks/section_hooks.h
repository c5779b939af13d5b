/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the hook that each activation of a function with several critical sections passes first. There are three possible
 * places:
 * - the first call that takes a lock, if no branch comes before this call;
 * - else an instruction before the first branch;
 * - else the first branch, if it is a call at which a hook is allowed (section_hooks_begin()).
 */
#ifndef OUTRIDER_DETECT_LOCKS_SECTION_HOOKS_H
#define OUTRIDER_DETECT_LOCKS_SECTION_HOOKS_H

#include "symbols/insn/insn.h"
#include "symbols/tables/symtab.h"

struct detect;

struct section_begin {
	/* GVA of the hook. */
	uint64_t addr;
	/* The hook is not at a call that takes a lock, so it has to be planted at `insn`. */
	bool plant;
	struct insn insn;
};

/*
 * Find that hook for the function `fn`, and store it in *out. `code`: the function's code without Outrider's breakpoints,
 * fn->size bytes. `call`: GVA of a direct call in `fn` to another function whose locks are followed; 0: none. The hook may also
 * be at this call. It is never at any other call, because that can be a static call, which the guest patches. Returns false if
 * no such hook is possible. Called on the sampler's thread, without d->lock.
 */
bool section_hooks_begin(struct detect *d, const struct symbol *fn, const uint8_t *code, uint64_t call,
			 struct section_begin *out);

#endif
