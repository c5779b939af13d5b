// SPDX-License-Identifier: GPL-2.0-or-later
/* Plants lock hooks at the entries of functions that hand over, and removes those that cost too much (entry_hooks.h). */
#include "hv/detect/locks/entry_hooks.h"

#include "hv/base/clock.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/hook.h"
#include "hv/detect/core/message.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/function_start.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/lock_hooks.h"
#include "hv/detect/locks/locks.h"

/* Bytes of a function to read: HANDOVER_PROLOGUE, and an instruction of at most 15 bytes after them, which gets the hook. */
#define CODE_BYTES (HANDOVER_PROLOGUE + 16u)
#define CHECK_NS 1000000000u
/*
 * A hook is removed if it stopped CPUs more often than this within CHECK_NS for objects that belong to no callback of the
 * subject. COSTLY_STOPS_MAX is for targets whose stops are costly (caps.costly_stops): a stop costs some milliseconds with a
 * gdbstub, and some microseconds with KVM. An example is del_timer_sync(), which is called for each sleep with a timeout, 100
 * times a second on a busy guest.
 */
#define STOPS_MAX 50u
#define COSTLY_STOPS_MAX 5u
/* The registers of the first three arguments. No function with such a hook has its object in a later argument. */
#define ARGUMENTS (1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX)

static void plant(struct detect *d, const struct lock_function *function, uint64_t addr)
{
	struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK};
	struct guest_symbol symbol = {0};
	uint8_t code[CODE_BYTES];

	if (guest_symbol_at(d->guest, addr, &symbol) || symbol.addr != addr)
		return;
	if (symbol.size > sizeof(code))
		symbol.size = sizeof(code);
	if (detect_code(d, addr, code, symbol.size) || !function_start(d, &symbol, code, ARGUMENTS, &site.insn))
		return;
	if (locks_expect_entry(d->locks, site.insn.addr, function) == 0)
		lock_hooks_plant(d, &site);
}

/*
 * Take the hooks that stopped CPUs too often out of the list. Stores their addresses in `hot`, and the name of one of their
 * functions in *name. Returns their number.
 */
static unsigned find_hot(struct detect *d, uint64_t hot[ENTRY_HOOKS_MAX], const char **name)
{
	const unsigned most = d->target->caps.costly_stops ? COSTLY_STOPS_MAX : STOPS_MAX;
	struct entries *e = locks_entries(d->locks);
	unsigned n = 0;

	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < e->count; i++) {
		struct entry_hook *hook = &e->list[i];

		if (hook->addr && hook->idle_stops > most) {
			*name = hook->function->name;
			hot[n++] = hook->addr;
			hook->addr = 0;
		}
		hook->idle_stops = 0;
	}
	pthread_mutex_unlock(&d->lock);
	return n;
}

static void remove_hot(struct detect *d)
{
	uint64_t hot[ENTRY_HOOKS_MAX];
	const char *name = "";
	unsigned n = find_hot(d, hot, &name);

	for (unsigned i = 0; i < n; i++)
		hook_remove(d, hot[i]);
	if (n)
		detect_message(d, "%s() is called too often: from now on, only calls by the sampled code are followed", name);
}

void entry_hooks_step(struct detect *d)
{
	struct entries *e = locks_entries(d->locks);
	const struct lock_function *function;
	uint64_t addr, now = monotonic_ns();
	bool any = false;

	/* If all code is sampled, each call of these functions has a hook, so the entries need none. */
	if (!d->config.module && !d->config.sample)
		return;
	while ((function = locks_next_entry(d->locks, &addr))) {
		plant(d, function, addr);
		any = true;
	}
	/* Calls of these functions before now were missed, so earlier hand-overs count as unknown. */
	if (any)
		locks_callbacks_followed(d->locks);
	if (now - e->checked_ns < CHECK_NS)
		return;
	e->checked_ns = now;
	remove_hot(d);
}
