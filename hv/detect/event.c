/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event points: breakpoints that tell us what the guest's kernel is about to do. They stay where they are, so the instruction
 * under them is carried out here; guest_event_sites() offers only such as can be.
 */
#include "hv/detect/event.h"

#include <string.h>

#include "hv/detect/state.h"
#include "hv/detect/window.h"

static int emulate_push(struct detect *d, const struct insn *insn, struct x86_regs *regs)
{
	unsigned reg = insn->len == 2 ? 8u + (insn->bytes[1] & 7u) : insn->bytes[0] & 7u;
	uint64_t value = regs->gpr[reg];

	if (target_write(d->target, regs->cr3, regs->cr4, regs->gpr[X86_RSP] - 8, &value, sizeof(value)))
		return -1;
	regs->gpr[X86_RSP] -= 8;
	regs->rip += insn->len;
	return 0;
}

static int emulate(struct detect *d, const struct insn *insn, struct x86_regs *regs)
{
	uint64_t target;
	int32_t rel;

	switch (insn->bytes[0]) {
	case 0xc3: /* ret */
		if (target_read(d->target, regs->cr3, regs->cr4, regs->gpr[X86_RSP], &target, sizeof(target)))
			return -1;
		regs->gpr[X86_RSP] += 8;
		regs->rip = target;
		return 0;
	case 0xe9: /* jmp rel32 */
		memcpy(&rel, insn->bytes + 1, sizeof(rel));
		regs->rip += 5 + (uint64_t)(int64_t)rel;
		return 0;
	default:
		return emulate_push(d, insn, regs);
	}
}

/* Nothing of ours may stay in text that is about to be freed. Its windows are over too: nobody can be about to run there. */
void event_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	for (uint32_t i = d->points.count; i-- > 0;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (point->addr - base >= size)
			continue;
		if (point->window) {
			target_release(d->target, point->window->cpu);
			window_close(d, point->window);
		} else {
			points_remove(&d->points, point);
		}
	}
}

struct target_action event_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs)
{
	uint64_t base, size;

	switch (point->event - 1) {
	case GUEST_EVENT_MODULE_GOING:
		if (guest_module_going(d->guest, regs, &base, &size))
			event_text_gone(d, base, size);
		break;
	case GUEST_EVENT_DEBUG_REGS:
		target_debug_regs_changed(d->target, cpu);
		break;
	}
	/* If the stack is not there, the guest is about to find out by itself. */
	if (emulate(d, &point->insn, regs)) {
		points_remove(&d->points, point);
		d->event_points--;
		return (struct target_action){.kind = TARGET_RESUME};
	}
	return (struct target_action){.kind = TARGET_RESUME_REGS};
}

void event_plant(struct detect *d)
{
	struct guest_event_site sites[GUEST_EVENT_SITES_MAX];
	unsigned n = guest_event_sites(d->guest, sites, GUEST_EVENT_SITES_MAX);

	/* Where points are few, they are hardware's and not in the guest's memory: nothing can go wrong behind their back. */
	if (d->target->caps.points && d->target->caps.points < 2 * GUEST_EVENT_SITES_MAX)
		n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct point *point;
		uint64_t gpa;

		if (guest_translate(d->guest, sites[i].insn.addr, &gpa))
			continue;
		detect_enter(d);
		point = points_plant(&d->points, &sites[i].insn, gpa);
		if (point) {
			point->event = 1 + (int)sites[i].kind;
			d->event_points++;
		}
		detect_leave(d);
	}
	/* What the guest set after its registers were shadowed and before these points stood, nobody has seen. */
	for (unsigned c = 0; c < d->target->caps.cpus; c++)
		target_debug_regs_changed(d->target, c);
	target_watch_sync(d->target, TARGET_MAX_CPUS);
}
