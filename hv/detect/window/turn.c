/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking turns (turn.h). Half of the conflicts of a window come in its first fifth, since the other CPU often executes the same
 * code at that time. So two windows of half the length find more than one, and cost the guest the same time.
 */
#include "hv/detect/window/turn.h"

#include "hv/base/clock.h"
#include "hv/detect/window/window.h"

/* A window has had its turn after a quarter of its time, counted from when its watches were in force. */
#define TURN_PART 4u

static bool had_its_turn(struct detect *d, const struct window *w, uint64_t now)
{
	const struct rendezvous_state *m = &d->hit.rendezvous;

	return w->open && !w->whole && w->watched_ns && now - w->watched_ns >= w->hold_ns / TURN_PART &&
	       !(m->under_way && m->window == w) && !window_memory_changed(d, w);
}

struct window *turn_over(struct detect *d)
{
	struct window *oldest = NULL;
	uint64_t now = monotonic_ns();

	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		if (had_its_turn(d, w, now) && (!oldest || w->opened_ns < oldest->opened_ns))
			oldest = w;
	}
	return oldest;
}

void turn_end(struct detect *d, struct window *w)
{
	d->stats.cut_turn++;
	window_close(d, w);
	target_release(d->target, w->cpu);
}
