// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds where the activations of functions with several critical sections begin (section_hooks.h). */
#include "hv/detect/locks/section_hooks.h"

#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/target/emulate.h"

/* Length of the call of __fentry__() with which a traced function starts. */
#define FENTRY_LEN 5u

static bool takes(struct detect *d, const struct insn *insn)
{
	const struct lock_function *function = locks_called(d->locks, insn);

	return function && (function->op == LOCK_TAKE || function->op == LOCK_TRY);
}

/*
 * The hooked instruction may be in a loop that begins at the function's start. Then each iteration begins a new activation,
 * and pairs of sections from different iterations are missed.
 */
bool section_hooks_begin(struct detect *d, const struct symbol *fn, const uint8_t *code, uint64_t call,
			 struct section_begin *out)
{
	struct insn now;
	unsigned len;

	*out = (struct section_begin){0};
	for (uint64_t at = 0; at < fn->size; at += len) {
		len = insn_decode(d->sampler.decoder, code + at, fn->size - at, fn->addr + at, &now);
		if (!len)
			break;
		if (takes(d, &now)) {
			*out = (struct section_begin){.addr = now.addr};
			break;
		}
		if (now.addr == call && !out->plant && target_can_emulate(&now))
			*out = (struct section_begin){.addr = now.addr, .plant = true, .insn = now};
		if (now.flags & INSN_BRANCH && (at || len != FENTRY_LEN))
			break;
		if (!out->plant && !(now.flags & INSN_BRANCH) && target_can_emulate(&now))
			*out = (struct section_begin){.addr = now.addr, .plant = true, .insn = now};
	}
	return out->addr;
}
