/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking turns (turn.h). Half of the conflicts of a window come in its first fifth, since the other CPU often executes the
 * same code at that time. So two windows of half the length find more conflicts than one window of full length, and cost the
 * guest the same time.
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

/* Returns the window to end for another CPU's window, or NULL if none has had its turn. */
static struct window *turn_over(struct detect *d)
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

/*
 * Whether one more CPU may be held while the open windows stay. The last running CPU must go on: if all CPUs were held, only
 * devices could conflict with the open windows. A single CPU can race with its own interrupts, if it takes them while held, and
 * with devices.
 */
static bool room_for_one(const struct detect *d)
{
	const struct target_caps *caps = &d->target->caps;

	return d->hit.open_windows + 1 < caps->cpus || (caps->cpus == 1 && caps->irq_while_held);
}

bool turn_may_hold(struct detect *d, struct window **over)
{
	bool room = room_for_one(d);

	*over = room ? NULL : turn_over(d);
	return room || *over;
}

void turn_end(struct detect *d, struct window *w)
{
	d->stats.cut_turn++;
	window_close(d, w);
	target_release(d->target, w->cpu);
}
