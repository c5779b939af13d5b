// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends a rendezvous, and releases the second of the two CPUs that were held before conflicting accesses. */
#include "hv/detect/window/rendezvous_end.h"

#include "hv/base/clock.h"

/*
 * After a rendezvous in which a CPU had interrupts off, begin no other such rendezvous for 10 times its duration. Windows have
 * the same limit (window.c).
 */
#define IRQS_OFF_REST 10

void rendezvous_end(struct detect *d, bool took_place, unsigned self)
{
	struct rendezvous_state *m = &d->hit.rendezvous;
	uint64_t now = monotonic_ns();

	d->stats.rendezvous += took_place;
	d->stats.rendezvous_skipped += !took_place;
	m->under_way = false;
	if (m->context.irqs_off || m->window->context.irqs_off)
		d->hit.irqs_off_rendezvous_rest = now + IRQS_OFF_REST * (now - m->began_ns);
	if (!m->sections.lock && m->point != m->window->point)
		points_remove(&d->points, m->point);
	if (m->cpu != self)
		target_release(d->target, m->cpu);
}

void rendezvous_window_closes(struct detect *d, const struct window *w)
{
	if (d->hit.rendezvous.under_way && d->hit.rendezvous.window == w)
		rendezvous_end(d, false, RENDEZVOUS_NO_CPU);
}

bool rendezvous_has(const struct detect *d, unsigned cpu)
{
	return d->hit.rendezvous.under_way && d->hit.rendezvous.cpu == cpu;
}
