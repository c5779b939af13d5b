/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/detect/hook.h"

#include <stdlib.h>

#include "hv/detect/locks.h"
#include "hv/detect/confirm.h"
#include "hv/detect/state.h"
#include "hv/detect/window.h"
#include "hv/target/emulate.h"

/* A target with fewer points than this uses none of them for hooks other than lock hooks. */
#define POINTS_FOR_HOOKS 32u

/*
 * Whether the target has too few points, or pages for points, to spend any on hooks. Such points are debug registers or an
 * emulator's breakpoints, not INT3s in guest memory: none stays in text that is freed, and all are needed for sampling.
 */
static bool points_are_few(const struct detect *d)
{
	return d->target->caps.pages || (d->target->caps.points && d->target->caps.points < POINTS_FOR_HOOKS);
}

/* Remove a point of either kind. If it has a window, the caller must close the window first. */
static void take_out(struct detect *d, struct point *point)
{
	d->hooks -= point->hook != 0;
	points_remove(&d->points, point);
}

/*
 * Whether there is room for one more hook. A target with few points takes lock hooks only, in points of their own
 * (caps.lasting).
 */
static bool has_room(const struct detect *d, const struct guest_hook_site *site)
{
	if (points_are_few(d))
		return site->kind == GUEST_HOOK_LOCK && d->hooks < d->target->caps.lasting;
	return d->hooks < MAX_HOOKS;
}

static int plant_hook(struct detect *d, const struct guest_hook_site *site, uint64_t gpa)
{
	struct point *point = NULL;

	if (!d->closing && has_room(d, site) && !guest_text_going(d->guest, site->insn.addr))
		point = points_plant(&d->points, &site->insn, gpa);
	if (!point)
		return -1;
	point->hook = 1 + (int)site->kind;
	d->hooks++;
	return 0;
}

int hook_add(struct detect *d, const struct guest_hook_site *site)
{
	uint64_t gpa;
	int ret;

	if (!target_can_emulate(&site->insn) || guest_translate(d->guest, site->insn.addr, &gpa))
		return -1;
	detect_enter(d);
	ret = plant_hook(d, site, gpa);
	detect_leave(d);
	return ret;
}

int hook_remove(struct detect *d, uint64_t addr)
{
	struct point *point;
	int ret = -1;

	detect_enter(d);
	point = points_find(&d->points, addr);
	if (point && point->hook) {
		take_out(d, point);
		ret = 0;
	}
	detect_leave(d);
	return ret;
}

/* No INT3 may stay in text that is about to be freed. Windows in it end, too: no CPU executes that text any more. */
void hook_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	confirm_text_gone(d, base, size);
	if (d->locks)
		locks_text_gone(d->locks, base, size);
	for (uint32_t i = d->points.count; i-- > 0;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (point->addr - base >= size)
			continue;
		if (point->window) {
			target_release(d->target, point->window->cpu);
			window_close(d, point->window);
		} else {
			take_out(d, point);
		}
	}
}

struct target_action hook_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs)
{
	/* Copy the instruction: hook_text_gone() may remove the point itself. */
	const struct insn insn = point->insn;
	uint64_t base, size;

	switch (point->hook - 1) {
	case GUEST_HOOK_MODULE_GOING:
		if (guest_module_going(d->guest, regs, &base, &size))
			hook_text_gone(d, base, size);
		break;
	case GUEST_HOOK_DEBUG_REGS:
		target_debug_regs_changed(d->target, cpu);
		break;
	case GUEST_HOOK_LOCK:
		if (d->locks)
			locks_call(d->locks, cpu, regs, point);
		break;
	}
	/*
	 * If emulation fails because the memory is unmapped, remove the point. The guest executes the instruction and takes
	 * its page fault.
	 */
	if (window_would_miss(d, &insn, regs) || target_emulate(d->target, &insn, regs)) {
		point = points_find(&d->points, insn.addr);
		if (point)
			take_out(d, point);
		return (struct target_action){.kind = TARGET_RESUME};
	}
	return (struct target_action){.kind = TARGET_RESUME_REGS};
}

void hook_plant_all(struct detect *d)
{
	struct guest_hook_site *sites;
	size_t n = guest_hook_sites(d->guest, &sites);

	for (size_t i = 0; i < n; i++)
		hook_add(d, &sites[i]);
	free(sites);
	/* The guest may have set debug registers after the target shadowed them and before these points stood. */
	for (unsigned c = 0; c < d->target->caps.cpus; c++)
		target_debug_regs_changed(d->target, c);
	target_watch_sync(d->target, TARGET_MAX_CPUS);
}
