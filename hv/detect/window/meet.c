/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings two CPUs together before calls that take the same lock (meet.h). */
#include "hv/detect/window/meet.h"

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/window/between.h"
#include "hv/detect/window/rendezvous.h"
#include "hv/detect/window/rendezvous_end.h"
#include "hv/detect/window/turn.h"
#include "hv/detect/window/window.h"

/* A rendezvous of sections treats the lock's first word, 4 bytes, as the memory that both sides access. */
#define LOCK_SIZE 4u

static bool wanted_soon(void *ctx, uint64_t first, uint64_t second, uint64_t between)
{
	const struct detect *d = ctx;

	return d->sink.sections_wanted(d->sink.ctx, first, second, between, false);
}

/*
 * If the context is back at the call before which it was held last, forgets this hold and returns true: this time the context
 * must go on. Otherwise returns false.
 */
static bool was_held(struct held_call *met, const struct x86_regs *regs)
{
	bool was = met->rip == regs->rip && met->rsp == regs->gpr[X86_RSP];

	if (was)
		*met = (struct held_call){0};
	return was;
}

/*
 * Returns a window in which another CPU, with another context, is held before the first of two sections of this lock, or NULL.
 */
static struct window *find_held(struct detect *d, unsigned cpu, uint64_t lock, const struct lock_who *who)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];
		struct lock_who held = lock_who_is(c, &w->context);

		if (c != cpu && w->open && w->before_first == lock && !lock_who_same(&held, who))
			return w;
	}
	return NULL;
}

/* Another CPU is held before the first of two sections of the lock: begin the rendezvous. */
static bool come_together(struct detect *d, struct window *w, const struct point *point, unsigned cpu,
			  const struct x86_regs *regs, struct target_action *action)
{
	struct rendezvous_sections s = {.lock = w->before_first, .first = w->regs.rip, .between = point->addr};
	struct datum datum = {.access = {.gva = s.lock, .size = LOCK_SIZE, .rw = INSN_READ | INSN_WRITE}};
	const struct section_pair *pair;
	struct call_chain chain;
	struct point *second;

	locks_call_chain(d->locks, s.first, w->regs.gpr[X86_RSP], &chain);
	pair = sections_find(locks_sections(d->locks), s.first, s.between, &chain, wanted_soon, d);
	if (!pair)
		return false;
	s.second = pair->second;
	s.caller = pair->caller;
	second = points_find(&d->points, s.second);
	if (!second || !locks_place(d->locks, second, &s.gpr, &s.offset) ||
	    guest_translate(d->guest, s.lock, &datum.extents[0].gpa))
		return false;
	/* If the second call takes another lock, its argument does not locate the first section's lock: X86_GPRS, unknown. */
	if (pair->two_locks)
		s.gpr = X86_GPRS;
	return rendezvous_begin_sections(
		d, w, &s,
		&(struct other_side){.point = points_find(&d->points, point->addr), .cpu = cpu, .regs = regs, .datum = &datum},
		action);
}

/* Returns whether a rendezvous is wanted of the sections that begin at this hook with a section of another context. */
static bool worth(struct detect *d, const struct point *point, const struct x86_regs *regs, uint64_t lock,
		  const struct lock_who *who)
{
	struct call_chain chain;

	locks_call_chain(d->locks, point->addr, regs->gpr[X86_RSP], &chain);
	return sections_worth(locks_sections(d->locks), who, lock, point->addr, &chain, wanted_soon, d);
}

static bool wait_for_other(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			   uint64_t lock, const struct lock_who *who, const struct window *as, struct target_action *action)
{
	struct window *w = &d->hit.windows[cpu], *over;
	uint64_t now = monotonic_ns();

	if (!sections_is_first(locks_sections(d->locks), point->addr) || !between_may_spend(d, cpu, now) ||
	    !worth(d, point, regs, lock, who) || !turn_may_hold(d, &over))
		return false;
	*w = *as;
	w->opened_ns = now;
	w->before_first = lock;
	w->hold_ns = window_delay(d, cpu, &w->context, false, now);
	if (!w->hold_ns)
		return false;
	between_open(d, w);
	locks_hold_before(d->locks, cpu);
	d->hit.came_back[cpu] = (struct held_call){regs->rip, regs->gpr[X86_RSP]};
	if (over)
		turn_end(d, over);
	/* A quarter into the hold, window_expire() ends it if no other CPU runs or will wake up. */
	*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = w->hold_ns / WINDOW_FIRST_LOOK};
	return true;
}

bool meet_hold(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
	       struct target_action *action)
{
	struct window as = {.between = true, .whole = true, .cpu = cpu, .regs = *regs}, *w;
	struct lock_who who;
	uint64_t lock;

	if (!d->hit.rendezvous_server || !d->sink.sections_wanted)
		return false;
	if (rendezvous_sections_again(d, cpu, regs, action))
		return true;
	if (d->hit.windows[cpu].open || d->hit.rendezvous.under_way || d->life.closing ||
	    was_held(&d->hit.came_back[cpu], regs))
		return false;
	if (d->hit.open_windows && between_end_elsewhere(d, cpu, regs))
		return false;
	/* The cheap checks come first, because this function is called at each lock hook. */
	if (!d->hit.open_windows && !sections_is_first(locks_sections(d->locks), point->addr))
		return false;
	guest_context(d->guest, regs, &as.context);
	lock = locks_takes(d->locks, cpu, regs, &as.context, point, &who);
	if (!lock)
		return false;
	w = find_held(d, cpu, lock, &who);
	if (w)
		return come_together(d, w, point, cpu, regs, action);
	return wait_for_other(d, point, cpu, regs, lock, &who, &as, action);
}
