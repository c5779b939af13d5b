// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plants lock hooks at callbacks (callback_hooks.h). A hook at the start needs RDI, which holds the object, and RSP with the
 * values that they have on entry. So no instruction before the hook may write either of these registers. A callback that has no
 * place for such a hook is not followed: its hand-overs order nothing.
 */
#include "hv/detect/locks/callback_hooks.h"

#include <stdlib.h>
#include <string.h>

#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/function_start.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/lock_hooks.h"
#include "hv/detect/locks/locks.h"
#include "hv/target/emulate.h"
#include "symbols/insn/flow.h"

#define CODE_MAX 65536u /* bytes; a larger function is not followed */

struct callback {
	struct detect *d;
	const struct lock_function *function;
	struct guest_symbol symbol;
	/* The function's code as the guest wrote it, symbol.size bytes. */
	uint8_t *code;
};

/* Returns whether the hook is there. */
static bool plant(struct callback *c, const struct insn *insn, bool begins)
{
	const struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK, .insn = *insn};

	if (locks_expect_callback(c->d->locks, insn->addr, c->function, begins) || !lock_hooks_plant(c->d, &site))
		return false;
	lock_hooks_may_rest(c->d, &site);
	return true;
}

static unsigned decode(struct callback *c, uint64_t at, struct insn *insn)
{
	return insn_decode(c->d->sampler.decoder, c->code + at, c->symbol.size - at, c->symbol.addr + at, insn);
}

/*
 * Whether the instruction leaves the function for good: it is a return, a jump to a return thunk, which stands for a return, or
 * a jump to the start of a lock function or of a function of the subject. A jump to the cold part of this function does not
 * leave the function. All other jumps get no hook: they may be static calls, which the guest patches.
 */
static bool leaves(const struct callback *c, const struct insn *insn)
{
	struct insn_branch branch;
	struct guest_symbol to = {0};

	if (insn->flags & INSN_RET)
		return true;
	if (!insn_direct_branch(insn, &branch) || branch.call || branch.conditional || branch.width != 4 ||
	    branch.target - c->symbol.addr < c->symbol.size)
		return false;
	if (guest_symbol_at(c->d->guest, branch.target, &to) || to.addr != branch.target || strstr(to.name, ".cold"))
		return false;
	return guest_is_return_thunk(c->d->guest, branch.target) || locks_called(c->d->locks, insn) ||
	       locks_of_subject(c->d->locks, &to);
}

/* Whether the CPU may go from this instruction, which does not leave for good, to code outside of the function. */
static bool may_go_elsewhere(const struct callback *c, const struct insn *insn)
{
	struct insn_branch branch;

	/* The kernel continues after the ud2 of a WARN_ON(). INT3 fills the space after a return. */
	if (!(insn->flags & INSN_BRANCH) || insn->flags & (INSN_CALL | INSN_INT3) || insn_is_ud2(insn))
		return false;
	return !insn_direct_branch(insn, &branch) || branch.target - c->symbol.addr >= c->symbol.size;
}

/* Whether each end of the function can have a hook, as far as the code shows. */
static bool ends_can_have_hooks(struct callback *c)
{
	struct insn insn;

	for (uint64_t at = 0; at < c->symbol.size; at += insn.len) {
		if (!decode(c, at, &insn) || (leaves(c, &insn) ? !target_can_emulate(&insn) : may_go_elsewhere(c, &insn)))
			return false;
	}
	return true;
}

/* Returns whether no hook was refused. */
static bool plant_ends(struct callback *c)
{
	struct insn insn;
	bool all = true;

	for (uint64_t at = 0; at < c->symbol.size && decode(c, at, &insn); at += insn.len) {
		if (target_can_emulate(&insn) && leaves(c, &insn))
			all &= plant(c, &insn, false);
	}
	return all;
}

/*
 * Without a hook at the start, hooks at the ends would only cost time. If the end of a serial call is missed, the call seems to
 * go on in whatever its task does later. The frames of other callbacks end with their context.
 */
static void plant_hooks(struct callback *c)
{
	const bool serial = c->function->kind == HANDOVER_SERIAL;
	struct insn start;

	if (!function_start(c->d, &c->symbol, c->code, 1u << X86_RDI, &start) || (serial && !ends_can_have_hooks(c)))
		return;
	if (plant_ends(c) || !serial)
		plant(c, &start, true);
}

static void follow(struct detect *d, const struct lock_function *function, uint64_t addr)
{
	struct callback c = {.d = d, .function = function};

	if (guest_symbol_at(d->guest, addr, &c.symbol) || c.symbol.addr != addr ||
	    guest_text_state(d->guest, addr) != GUEST_TEXT_FINAL || !locks_of_subject(d->locks, &c.symbol) || !c.symbol.size ||
	    c.symbol.size > CODE_MAX)
		return;
	c.code = malloc(c.symbol.size);
	/* Enter the target once for all hooks, as lock_hooks_text_came() does. */
	target_enter(d->target);
	if (c.code && detect_code(d, addr, c.code, c.symbol.size) == 0)
		plant_hooks(&c);
	target_leave(d->target);
	free(c.code);
}

void callback_hooks_step(struct detect *d)
{
	const struct lock_function *function;
	bool any = false;
	uint64_t addr;

	while ((function = locks_next_callback(d->locks, &addr))) {
		follow(d, function, addr);
		any = true;
	}
	if (any)
		locks_callbacks_followed(d->locks);
}
