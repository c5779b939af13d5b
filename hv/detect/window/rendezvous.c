// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rendezvous (rendezvous.h): holds two CPUs before conflicting accesses at the same time, and makes the machine stand still, so
 * that the sink can copy it. The first CPU is in a window; the second CPU is held at the sample point that it hit.
 */
#include "hv/detect/window/rendezvous.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/core/unwinding.h"
#include "hv/detect/window/device_window.h"
#include "hv/detect/window/rendezvous_end.h"
#include "hv/detect/window/window.h"
#include "hv/sandbox/sandbox.h"

/* A rendezvous is skipped if the machine does not stand still within this time, in ns. */
#define RENDEZVOUS_NS 50000000u
/* If one of the two CPUs has interrupts off, the time is 10 ms: other CPUs may be waiting for this CPU to handle their IPIs. */
#define IRQS_OFF_RENDEZVOUS_NS 10000000u

/* State of the rendezvous thread. */
struct rendezvous_server {
	pthread_t thread;
	/* Signalled under d->lock when a rendezvous was begun, or when the thread is to end. */
	pthread_cond_t wanted;
	bool stop;
	/* Room for every point that can exist. */
	struct rendezvous_point *points;
	/* Buffers for unwinding a side. */
	struct race_side side;
	struct race_side_room room;
};

/* ---- the two CPUs ---- */

static void end_both(struct detect *d, bool took_place, unsigned self)
{
	struct window *w = d->hit.rendezvous.window;

	rendezvous_end(d, took_place, self);
	window_close(d, w);
	if (w->cpu != self)
		target_release(d->target, w->cpu);
}

/* Whether neither CPU is part of another window or rendezvous, and the first CPU is not in an NMI. */
static bool can_begin(struct detect *d, const struct window *w, const struct other_side *other)
{
	const struct point *point = other->point;

	return d->hit.rendezvous_server && !d->hit.rendezvous.under_way && !d->life.closing && w->cpu != other->cpu &&
	       !d->hit.windows[other->cpu].open && (!point->window || point->window == w) && w->context.kind != GUEST_NMI;
}

/* Returns whether the contexts of the two CPUs may be held at the same time now. */
static bool contexts_may(const struct detect *d, const struct window *w, const struct guest_context *other)
{
	bool irqs_off = other->irqs_off || w->context.irqs_off;

	return other->kind != GUEST_NMI && !(irqs_off && monotonic_ns() < d->hit.irqs_off_rendezvous_rest);
}

/* Begin the rendezvous. Its number is one more than that of the last rendezvous. */
static void begin(struct detect *d, struct window *w, const struct datum data[2], const struct other_side *other,
		  const struct guest_context *context, const struct rendezvous_sections *sections, struct target_action *action)
{
	struct rendezvous_state *m = &d->hit.rendezvous;
	uint64_t now = monotonic_ns();
	uint64_t most = context->irqs_off || w->context.irqs_off ? IRQS_OFF_RENDEZVOUS_NS : RENDEZVOUS_NS;

	*m = (struct rendezvous_state){
		.under_way = true,
		.number = m->number + 1,
		.served = m->served,
		.began_ns = now,
		.deadline_ns = now + most,
		.window = w,
		.cpu = other->cpu,
		.regs = *other->regs,
		.context = *context,
		.point = other->point,
		.data = {data[0], data[1]},
		.sections = *sections,
	};
	pthread_cond_signal(&d->hit.rendezvous_server->wanted);
	*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = most};
}

uint64_t rendezvous_begin(struct detect *d, struct window *w, const struct datum *datum, const struct other_side *other,
			  struct target_action *action)
{
	const struct rendezvous_sections none = {0};
	struct guest_context context;

	if (!can_begin(d, w, other))
		return 0;
	guest_context(d->guest, other->regs, &context);
	if (!contexts_may(d, w, &context) || !d->sink.rendezvous_wanted(d->sink.ctx, w->regs.rip, other->regs->rip))
		return 0;
	begin(d, w, (struct datum[2]){*datum, *other->datum}, other, &context, &none, action);
	/* Set the point's window, so that rate control does not remove the point as a surplus or stale one. */
	other->point->window = w;
	return d->hit.rendezvous.number;
}

bool rendezvous_begin_sections(struct detect *d, struct window *w, const struct rendezvous_sections *sections,
			       const struct other_side *other, struct target_action *action)
{
	struct guest_context context;

	if (!can_begin(d, w, other))
		return false;
	guest_context(d->guest, other->regs, &context);
	if (!contexts_may(d, w, &context) ||
	    !d->sink.sections_wanted(d->sink.ctx, sections->first, sections->second, sections->between, true))
		return false;
	begin(d, w, (struct datum[2]){*other->datum, *other->datum}, other, &context, sections, action);
	return true;
}

bool rendezvous_sections_again(struct detect *d, unsigned cpu, const struct x86_regs *regs, struct target_action *action)
{
	const struct rendezvous_state *m = &d->hit.rendezvous;
	uint64_t now = monotonic_ns();

	if (!m->under_way || !m->sections.lock || cpu != m->cpu || regs->rip != m->regs.rip ||
	    regs->gpr[X86_RSP] != m->regs.gpr[X86_RSP] || now >= m->deadline_ns)
		return false;
	*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = m->deadline_ns - now};
	return true;
}

bool rendezvous_hit_again(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			  struct target_action *action)
{
	struct rendezvous_state *m = &d->hit.rendezvous;
	uint64_t now = monotonic_ns();

	if (!m->under_way || point != m->point)
		return false;
	/* The second CPU is back from an interrupt handler: hold it again. */
	if (cpu == m->cpu && regs->gpr[X86_RSP] == m->regs.gpr[X86_RSP] && now < m->deadline_ns) {
		*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = m->deadline_ns - now};
		return true;
	}
	/* Another context hit the first CPU's instruction: hit_again() handles it, as for any window. */
	if (point == m->window->point)
		return false;
	end_both(d, false, cpu);
	*action = (struct target_action){.kind = TARGET_RESUME};
	return true;
}

bool rendezvous_hold_end(struct detect *d, unsigned cpu, struct target_action *action)
{
	struct rendezvous_state *m = &d->hit.rendezvous;
	uint64_t now = monotonic_ns();

	if (!m->under_way || (cpu != m->cpu && cpu != m->window->cpu))
		return false;
	if (now < m->deadline_ns && !d->life.closing) {
		*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = m->deadline_ns - now};
		return true;
	}
	end_both(d, false, cpu);
	*action = (struct target_action){.kind = TARGET_RESUME};
	return true;
}

/* ---- the thread ---- */

/*
 * Find the return address of the side's function on the stack of its CPU, which stands still. If `caller` is not 0, find
 * instead the return address of the function that starts at this GVA, which has called the side's function, directly or not.
 */
static void find_return(struct detect *d, struct rendezvous_side *side, uint64_t caller)
{
	struct race_side *room = &d->hit.rendezvous_server->side;
	const struct guest_calls *calls = &room->calls;
	unsigned at = 0;

	capture_side(d->target, d->guest, side->cpu, &side->regs, &side->context, room);
	unwinding_side(d->guest, room);
	while (caller && at < calls->count && calls->frames[at].symbol.addr != caller)
		at++;
	for (unsigned i = 1; i <= at + 1; i++) {
		if (i >= calls->count || !calls->frames[i].reliable || calls->frames[i].kind != UNWIND_CALL)
			return;
	}
	if (caller)
		side->symbol = calls->frames[at].symbol;
	side->return_address = calls->frames[at + 1].pc;
	side->cfa = calls->frames[at + 1].sp;
}

static void fill_side(struct rendezvous_side *side, unsigned cpu, const struct x86_regs *regs,
		      const struct guest_context *context, const struct datum *datum, uint8_t insn_len)
{
	*side = (struct rendezvous_side){.cpu = cpu, .regs = *regs, .context = *context};
	side->gva = datum->access.gva;
	side->gpa = datum->extents[0].gpa;
	side->size = datum->access.size;
	side->rw = datum->access.rw;
	side->insn_len = insn_len;
}

static void fill(struct detect *d, struct rendezvous *rendezvous)
{
	const struct rendezvous_state *m = &d->hit.rendezvous;
	const struct window *w = m->window;

	rendezvous->number = m->number;
	rendezvous->sections = m->sections;
	fill_side(&rendezvous->sides[0], w->cpu, &w->regs, &w->context, &m->data[0],
		  w->point ? w->point->insn.len : m->point->insn.len);
	fill_side(&rendezvous->sides[1], m->cpu, &m->regs, &m->context, &m->data[1], m->point->insn.len);
}

/*
 * Called while the machine stands still. Returns whether both CPUs are where they were held. Stores their current registers in
 * the sides.
 */
static bool both_stand(struct detect *d, struct rendezvous *rendezvous)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rendezvous_side *side = &rendezvous->sides[i];
		const struct x86_regs held = side->regs;

		if (target_peek_regs(d->target, side->cpu, &side->regs) || side->regs.rip != held.rip ||
		    side->regs.gpr[X86_RSP] != held.gpr[X86_RSP] || side->regs.cr3 != held.cr3)
			return false;
		if (guest_symbol_at(d->guest, held.rip, &side->symbol))
			side->symbol = (struct guest_symbol){0};
		find_return(d, side, i ? 0 : rendezvous->sections.caller);
	}
	return true;
}

static void list_points(struct detect *d, struct rendezvous *rendezvous)
{
	rendezvous->points = d->hit.rendezvous_server->points;
	rendezvous->point_count = d->points.count;
	for (uint32_t i = 0; i < d->points.count; i++) {
		const struct point *point = &d->points.slots[d->points.armed[i]];

		d->hit.rendezvous_server->points[i] = (struct rendezvous_point){point->gpa, point->insn.bytes[0]};
	}
}

/* Serve a rendezvous that was begun. Called with d->lock held. Releases d->lock until the machine has come to a stop. */
static void serve(struct detect *d)
{
	struct rendezvous rendezvous = {0};
	bool stand = false;

	fill(d, &rendezvous);
	device_window_refuse(d, true);
	pthread_mutex_unlock(&d->lock);
	device_window_wait(d);
	if (target_stand_still(d->target)) {
		pthread_mutex_lock(&d->lock);
		device_window_refuse(d, false);
		if (d->hit.rendezvous.under_way)
			end_both(d, false, RENDEZVOUS_NO_CPU);
		return;
	}
	stand = both_stand(d, &rendezvous);
	pthread_mutex_lock(&d->lock);
	if (d->hit.rendezvous.under_way && d->hit.rendezvous.number == rendezvous.number) {
		stand = stand && !d->life.closing;
		if (stand) {
			list_points(d, &rendezvous);
			d->sink.rendezvous(d->sink.ctx, &rendezvous);
		}
		end_both(d, stand, RENDEZVOUS_NO_CPU);
	}
	device_window_refuse(d, false);
	target_go_on(d->target);
}

static void *rendezvous_main(void *arg)
{
	struct detect *d = arg;

	sandbox_thread(SANDBOX_COPY);
	pthread_mutex_lock(&d->lock);
	while (!d->hit.rendezvous_server->stop) {
		if (d->hit.rendezvous.under_way && d->hit.rendezvous.number != d->hit.rendezvous.served) {
			d->hit.rendezvous.served = d->hit.rendezvous.number;
			serve(d);
		} else {
			pthread_cond_wait(&d->hit.rendezvous_server->wanted, &d->lock);
		}
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

int rendezvous_start(struct detect *d, struct err *err)
{
	struct rendezvous_server *server;

	if (!d->sink.rendezvous || d->target->caps.costly_stops)
		return 0;
	server = calloc(1, sizeof(*server));
	if (!server)
		return err_set(err, EXIT_INTERNAL, "out of memory for the rendezvous thread");
	server->points = calloc(d->points.capacity, sizeof(*server->points));
	race_side_use_room(&server->side, &server->room);
	if (!server->points || pthread_cond_init(&server->wanted, NULL))
		goto fail;
	d->hit.rendezvous_server = server;
	if (pthread_create(&server->thread, NULL, rendezvous_main, d) == 0)
		return 0;
	d->hit.rendezvous_server = NULL;
	pthread_cond_destroy(&server->wanted);
fail:
	free(server->points);
	free(server);
	return err_set(err, EXIT_INTERNAL, "cannot start the rendezvous thread");
}

void rendezvous_stop(struct detect *d)
{
	struct rendezvous_server *server = d->hit.rendezvous_server;

	if (!server)
		return;
	pthread_mutex_lock(&d->lock);
	server->stop = true;
	pthread_cond_signal(&server->wanted);
	pthread_mutex_unlock(&d->lock);
	pthread_join(server->thread, NULL);
	pthread_mutex_lock(&d->lock);
	d->hit.rendezvous_server = NULL; /* set under d->lock, because a CPU's callback may read the pointer */
	pthread_mutex_unlock(&d->lock);
	pthread_cond_destroy(&server->wanted);
	free(server->points);
	free(server);
}
