/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds a CPU between two critical sections of one lock (between.h). */
#include "hv/detect/window/between.h"

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/window/rendezvous_end.h"
#include "hv/detect/window/turn.h"
#include "hv/detect/window/window.h"

/*
 * Holds between sections take at most an eighth of one CPU's time. After a time without such holds, they may take up to 250 ms
 * at once.
 */
#define BETWEEN_SHARE 0.125
#define BETWEEN_MOST_NS 2.5e8

bool between_may_spend(struct detect *d, unsigned cpu, uint64_t now)
{
	struct allowance *budget = &d->hit.between;

	if (!budget->last_ns)
		*budget = (struct allowance){
			.share = BETWEEN_SHARE, .most_ns = BETWEEN_MOST_NS, .credit_ns = BETWEEN_MOST_NS, .last_ns = now};
	allowance_earn(budget, now);
	return budget->credit_ns > 0 && window_affordable(d) && window_cpu_may_be_held(d, cpu, now);
}

/* End the hold, and release its CPU. */
static void end(struct detect *d, struct window *w)
{
	window_close(d, w);
	target_release(d->target, w->cpu);
}

/*
 * Returns whether the hold goes on, because the CPU is back from an interrupt, at the hook at which it was held. *action then
 * holds it for the rest of the time.
 */
static bool goes_on(const struct window *w, const struct x86_regs *regs, struct target_action *action)
{
	uint64_t now = monotonic_ns(), end = w->opened_ns + w->hold_ns;

	if (!w->between || w->regs.rip != regs->rip || w->regs.gpr[X86_RSP] != regs->gpr[X86_RSP])
		return false;
	*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = end > now ? end - now : 1};
	return true;
}

bool between_end_elsewhere(struct detect *d, unsigned cpu, const struct x86_regs *regs)
{
	bool ended = false;

	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		if (c == cpu || !w->open || !w->between || w->regs.rip != regs->rip ||
		    w->regs.gpr[X86_RSP] != regs->gpr[X86_RSP])
			continue;
		end(d, w);
		ended = true;
	}
	return ended;
}

void between_open(struct detect *d, struct window *w)
{
	w->open = true;
	d->hit.open_windows++;
	d->hit.credit_ns -= (double)w->hold_ns;
	allowance_spend(&d->hit.between, (double)w->hold_ns);
}

bool between_hold(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
		  struct target_action *action)
{
	struct window *w = &d->hit.windows[cpu], *over;
	uint64_t now = monotonic_ns();
	struct section_gap gap;

	if (w->open)
		return goes_on(w, regs, action);
	if (d->hit.open_windows)
		between_end_elsewhere(d, cpu, regs);
	if (d->life.closing || d->target->caps.costly_stops || rendezvous_has(d, cpu))
		return false;
	/* The cheap checks come first, because this function is called at each lock hook. */
	if (!sections_is_second(locks_sections(d->locks), point->addr) || !between_may_spend(d, cpu, now))
		return false;
	*w = (struct window){.between = true, .whole = true, .cpu = cpu, .regs = *regs, .opened_ns = now};
	guest_context(d->guest, regs, &w->context);
	if (!locks_gap(d->locks, cpu, regs, &w->context, point, &gap) || !turn_may_hold(d, &over))
		return false;
	w->hold_ns = window_delay(d, cpu, &w->context, false, now);
	if (!w->hold_ns)
		return false;
	between_open(d, w);
	locks_hold(d->locks, cpu, &gap);
	d->stats.section_holds++;
	if (over)
		turn_end(d, over);
	/* A quarter into the hold, window_expire() ends it if no other CPU runs or will wake up. */
	*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = w->hold_ns / WINDOW_FIRST_LOOK};
	return true;
}

void between_met(struct detect *d)
{
	for (unsigned c = 0; d->hit.open_windows && c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		if (!w->open || !w->between || w->before_first || !locks_gap_met(d->locks, c))
			continue;
		d->stats.section_holds_met++;
		end(d, w);
	}
}

void between_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		if (w->open && w->between && w->regs.rip - base < size)
			end(d, w);
	}
}
