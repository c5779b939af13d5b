/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hooks (hook.h): breakpoints that stay planted, at instructions whose execution the detector must see. */
#include "hv/detect/core/hook.h"

#include <stdlib.h>

#include "hv/detect/core/state.h"
#include "hv/target/emulate.h"

/* A target with fewer points than this keeps all of them for sample points (points_are_few()). */
#define POINTS_FOR_HOOKS 32u

/*
 * Whether the target has too few points, or too few pages for points, to spend any on hooks. Points of such a target are debug
 * registers or an emulator's breakpoints: the detector writes no INT3s into guest memory. So it needs no hook that lets it
 * remove INT3s before text is freed, and all points are left for sampling.
 */
static bool points_are_few(const struct detect *d)
{
	return d->target->caps.pages || (d->target->caps.points && d->target->caps.points < POINTS_FOR_HOOKS);
}

void hook_take_out(struct detect *d, struct point *point)
{
	d->hooks -= point->hook != 0;
	points_remove(&d->points, point);
}

/*
 * Whether there is room for one more hook. A target with few points takes lock hooks only. They use breakpoints of their own
 * (caps.lasting), and no points for sampling.
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

	if (!d->life.closing && has_room(d, site) && guest_text_state(d->guest, site->insn.addr) == GUEST_TEXT_FINAL)
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
		hook_take_out(d, point);
		ret = 0;
	}
	detect_leave(d);
	return ret;
}

void hook_write_again(struct detect *d)
{
	detect_enter(d);
	for (uint32_t i = 0; i < d->points.count; i++) {
		const struct point *point = &d->points.slots[d->points.armed[i]];

		if (point->hook)
			target_refetch(d->target, point->gpa, X86_INT3);
	}
	detect_leave(d);
}

void hook_plant_all(struct detect *d)
{
	struct guest_hook_site *sites;
	size_t n = guest_hook_sites(d->guest, &sites);

	for (size_t i = 0; i < n; i++)
		hook_add(d, &sites[i]);
	free(sites);
	/*
	 * Have the target read the debug registers of all CPUs: the guest may have set them before these hooks were planted.
	 */
	for (unsigned c = 0; c < d->target->caps.cpus; c++)
		target_debug_regs_changed(d->target, c);
	target_watch_sync(d->target, TARGET_MAX_CPUS);
}
