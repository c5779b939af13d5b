/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/detect/event.h"

#include <stdlib.h>

#include "hv/detect/locks.h"
#include "hv/detect/prove.h"
#include "hv/detect/state.h"
#include "hv/detect/window.h"
#include "hv/target/emulate.h"

/* A target with fewer points than this has none for events. */
#define POINTS_FOR_EVENTS 32u

/*
 * Where points are few, they are hardware's and not in the guest's memory: nothing can go wrong behind their back when text is
 * freed, and all of them are needed for sampling. Where pages are few, they are an emulator's, and the same is true.
 */
static bool points_are_few(const struct detect *d)
{
	return d->target->caps.pages || (d->target->caps.points && d->target->caps.points < POINTS_FOR_EVENTS);
}

/* Remove a point, whatever it is for. A window that is open there must be closed first. */
static void take_out(struct detect *d, struct point *point)
{
	d->event_points -= point->event != 0;
	points_remove(&d->points, point);
}

/* Calls of locks are worth points that stay, where a target has some beside those for sampling. */
static bool has_room(const struct detect *d, const struct guest_event_site *site)
{
	if (points_are_few(d))
		return site->kind == GUEST_EVENT_LOCK && d->event_points < d->target->caps.lasting;
	return d->event_points < MAX_EVENT_POINTS;
}

static int plant_event(struct detect *d, const struct guest_event_site *site, uint64_t gpa)
{
	struct point *point = NULL;

	if (!d->closing && has_room(d, site) && !guest_text_going(d->guest, site->insn.addr))
		point = points_plant(&d->points, &site->insn, gpa);
	if (!point)
		return -1;
	point->event = 1 + (int)site->kind;
	d->event_points++;
	return 0;
}

int event_add(struct detect *d, const struct guest_event_site *site)
{
	uint64_t gpa;
	int ret;

	if (!target_can_emulate(&site->insn) || guest_translate(d->guest, site->insn.addr, &gpa))
		return -1;
	detect_enter(d);
	ret = plant_event(d, site, gpa);
	detect_leave(d);
	return ret;
}

int event_remove(struct detect *d, uint64_t addr)
{
	struct point *point;
	int ret = -1;

	detect_enter(d);
	point = points_find(&d->points, addr);
	if (point && point->event) {
		take_out(d, point);
		ret = 0;
	}
	detect_leave(d);
	return ret;
}

/*
 * Nothing of ours may stay in text that is about to be freed. Windows in it are over too, for no CPU can be about to run there.
 */
void event_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	prove_text_gone(d, base, size);
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

struct target_action event_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs)
{
	/* If the point is in the text that goes, it is gone after that too. */
	const struct insn insn = point->insn;
	uint64_t base, size;

	switch (point->event - 1) {
	case GUEST_EVENT_MODULE_GOING:
		if (guest_module_going(d->guest, regs, &base, &size))
			event_text_gone(d, base, size);
		break;
	case GUEST_EVENT_DEBUG_REGS:
		target_debug_regs_changed(d->target, cpu);
		break;
	case GUEST_EVENT_LOCK:
		if (d->locks)
			locks_call(d->locks, cpu, regs, point);
		break;
	}
	/* If the memory is not there, the guest executes the instruction itself, and its own page fault tells it so. */
	if (window_would_miss(d, &insn, regs) || target_emulate(d->target, &insn, regs)) {
		point = points_find(&d->points, insn.addr);
		if (point)
			take_out(d, point);
		return (struct target_action){.kind = TARGET_RESUME};
	}
	return (struct target_action){.kind = TARGET_RESUME_REGS};
}

void event_plant(struct detect *d)
{
	struct guest_event_site *sites;
	size_t n = guest_event_sites(d->guest, &sites);

	for (size_t i = 0; i < n; i++)
		event_add(d, &sites[i]);
	free(sites);
	/* The guest may have set debug registers after they were shadowed and before these points stood, and nobody saw it. */
	for (unsigned c = 0; c < d->target->caps.cpus; c++)
		target_debug_regs_changed(d->target, c);
	target_watch_sync(d->target, TARGET_MAX_CPUS);
}
