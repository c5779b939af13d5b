/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the detector does when a CPU executes a hook (hook.h). */
#include "hv/detect/window/hook_hit.h"

#include "hv/detect/core/hook.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/window/between.h"
#include "hv/detect/window/meet.h"
#include "hv/detect/window/window.h"
#include "hv/target/emulate.h"

/*
 * Remove every point in this text, since no INT3 may stay in text that is about to be freed. Windows at these points end, too,
 * because no CPU executes this text any more.
 */
void hook_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	confirm_text_gone(d, base, size);
	if (d->locks)
		locks_text_gone(d->locks, base, size);
	between_text_gone(d, base, size);
	for (uint32_t i = d->points.count; i-- > 0;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (point->addr - base >= size)
			continue;
		if (point->window) {
			target_release(d->target, point->window->cpu);
			window_close(d, point->window);
		} else {
			hook_take_out(d, point);
		}
	}
}

struct target_action hook_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs)
{
	/* Copy the instruction: hook_text_gone() may remove the point itself. */
	const struct insn insn = point->insn;
	struct target_action action;
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
		if (d->locks && (meet_hold(d, point, cpu, regs, &action) || between_hold(d, point, cpu, regs, &action)))
			return action;
		if (d->locks)
			locks_call(d->locks, cpu, regs, point);
		between_met(d);
		break;
	}
	/*
	 * If an operand is unmapped, the emulation fails, and the CPU must execute the instruction itself and take the page
	 * fault: remove the point. Remove the point, too, if an open window would blame an unseen writer for the emulated
	 * access (window_would_miss()).
	 */
	if (window_would_miss(d, &insn, regs) || target_emulate(d->target, &insn, regs)) {
		point = points_find(&d->points, insn.addr);
		if (point)
			hook_take_out(d, point);
		return (struct target_action){.kind = TARGET_RESUME};
	}
	return (struct target_action){.kind = TARGET_RESUME_REGS};
}
