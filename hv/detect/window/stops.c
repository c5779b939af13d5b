/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target's callbacks: a CPU stopped, or a device accesses memory. This is the hit path. It does not allocate, decode, name
 * or format.
 */
#include "hv/detect/window/stops.h"

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/window/device.h"
#include "hv/detect/window/device_window.h"
#include "hv/detect/window/hook_hit.h"
#include "hv/detect/window/last_put.h"
#include "hv/detect/window/rendezvous.h"
#include "hv/detect/window/rendezvous_end.h"
#include "hv/detect/window/turn.h"
#include "hv/detect/window/window.h"
#include "hv/race/conflict.h"
#include "hv/target/emulate_access.h"

/* At most this many accesses are emulated in one window, so that a window in hot code does not slow the other contexts down. */
#define EMULATIONS_MAX 64u

static const struct target_action resume = {.kind = TARGET_RESUME};

/* What to do about a hit. */
struct hit_reply {
	/* What the target is to do with the CPU. */
	struct target_action action;
	/* Watches must be brought into force. */
	bool sync;
	/* GVA of a site with which the hit's site talks (touches.h). 0: none. */
	uint64_t talks_with;
};

/* Whether two accesses at sample points conflict. Neither access is LOCKed. */
static bool conflicting(const struct datum *a, const struct datum *b)
{
	const struct conflict_access one = {.known = true, .rw = a->access.rw}, other = {.known = true, .rw = b->access.rw};

	return race_is_conflict(&one, &other) && data_overlap(a, b);
}

/*
 * Handle a conflict of two sample points. Either a rendezvous begins, and *action holds this CPU, or the window closes and both
 * CPUs go on.
 */
static void conflict(struct detect *d, struct window *w, const struct datum *datum, const struct other_side *other,
		     struct target_action *action)
{
	uint64_t rendezvous = rendezvous_begin(d, w, datum, other, action);

	if (rendezvous)
		window_rendezvous(d, w, datum, other->cpu, other->regs, other->datum, rendezvous);
	else
		window_conflict(d, w, datum, other->cpu, other->regs, other->datum);
}

/*
 * A CPU is about to make the accesses `data` at `point`. If one of them conflicts with an open window, handle the conflict.
 * Both CPUs are before their accesses. Returns whether there was a conflict. A window before a get has no conflict with what is
 * about to happen.
 */
static bool conflicts_with_windows(struct detect *d, struct point *point, const struct datum *data, unsigned n, unsigned cpu,
				   const struct x86_regs *regs, struct target_action *action)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		for (unsigned i = 0; w->open && !w->get && i < w->data_count; i++) {
			for (unsigned j = 0; j < n && w->open; j++) {
				const struct other_side other = {point, cpu, regs, &data[j]};

				if (!conflicting(&w->data[i], &data[j]))
					continue;
				conflict(d, w, &w->data[i], &other, action);
				return true;
			}
		}
	}
	return false;
}

static void count_hit(struct detect *d, const struct point *point)
{
	d->stats.hits++;
	d->stats.callee_hits += point->callee;
	d->stats.steered_hits += point->steered;
	d->hit.refused_hits += !window_affordable(d);
	if (point->counts)
		point->counts->hits++;
}

/*
 * Another context, with other data, is at the window's instruction. Emulate its access, because the INT3 must stay for the held
 * context. Returns whether the access was emulated. Emulates nothing on a target with costly stops (target_caps.costly_stops),
 * where emulation is not worth its cost.
 */
static bool emulate(struct detect *d, struct window *w, const struct insn *insn, struct x86_regs *regs)
{
	if (d->target->caps.costly_stops || w->emulated == EMULATIONS_MAX || window_would_miss(d, insn, regs) ||
	    target_emulate_access(d->target, insn, regs))
		return false;
	w->emulated++;
	d->stats.emulated++;
	return true;
}

/* The held context is back at its point, from an interrupt that its CPU took in the window. */
static void count_return(struct window *w, uint64_t now)
{
	if (w->returns < RACE_RETURNS_MAX)
		w->return_ns[w->returns] = now;
	w->returns++;
}

/*
 * Record an access with the locks that are held. An access in a callee is not recorded: locks that the callee takes itself are
 * not followed, so its record could lack locks. Neither is a get, which needs no lock.
 */
static void follow_access(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			  const struct datum *data, unsigned n)
{
	if (d->locks && !point->callee && !last_put_is_get(point))
		locks_access(d->locks, cpu, regs, &point->insn, data, n);
}

/* Handle a hit of a point with an open window, or of a point at which a CPU is held in a rendezvous. */
static struct target_action hit_again(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs)
{
	struct window *w = point->window;
	struct target_action action = resume;
	struct datum data[INSN_MAX_MEM];
	bool on_stack;
	unsigned n;

	if (rendezvous_hit_again(d, point, cpu, regs, &action))
		return action;
	if (w->regs.gpr[X86_RSP] == regs->gpr[X86_RSP]) {
		uint64_t now = monotonic_ns(), end = w->opened_ns + w->hold_ns;

		/*
		 * The held context is back from an interrupt. If it migrated to another CPU, close the window: a window stays
		 * on its CPU.
		 */
		count_return(w, now);
		if (w->cpu == cpu)
			return (struct target_action){.kind = TARGET_HOLD, .hold_ns = end > now ? end - now : 1};
		window_close(d, w);
		target_release(d->target, w->cpu);
		return resume;
	}
	n = window_data(d, w->point, regs, data, &on_stack);
	if (n)
		follow_access(d, w->point, cpu, regs, data, n);
	/* If the conflict is with another window, this window stays open, and this CPU hits `point` again. */
	if (!w->get && conflicts_with_windows(d, point, data, n, cpu, regs, &action)) {
		count_hit(d, w->point);
		return action;
	}
	if (emulate(d, w, &w->point->insn, regs))
		return (struct target_action){.kind = TARGET_RESUME_REGS};
	/* This CPU must execute the instruction itself: remove the INT3, which closes the window. */
	count_hit(d, w->point);
	d->stats.cut_short++;
	window_close(d, w);
	target_release(d->target, w->cpu);
	return resume;
}

/* Whether the governor's credit, and the time for which the CPU was held lately, allow a window now. */
static bool may_spend(struct detect *d, unsigned cpu)
{
	bool affordable = window_affordable(d), may = affordable && window_cpu_may_be_held(d, cpu, monotonic_ns());

	d->stats.skipped_cost += !affordable;
	d->stats.skipped_held += affordable && !may;
	return may;
}

/*
 * A CPU is about to make accesses that conflict with no open window: sample them. A CPU that is held, and stops in an
 * interrupt handler, cannot be held twice. A conflict with a device is reported even if the CPU may not be held.
 */
static enum hit_result sample(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs,
			      const struct datum *data, unsigned n, struct hit_reply *reply)
{
	struct window *over;
	bool room;

	if (d->life.closing || d->hit.windows[cpu].open || rendezvous_has(d, cpu))
		return HIT_REFUSED;
	if (!window_prepare(d, point, cpu, regs, data, n))
		return HIT_USEFUL;
	/* That this count is too large says nothing about the function's other sites. */
	if (last_put_is_get(point) && !last_put_may_come(d, &d->hit.windows[cpu])) {
		d->stats.skipped_count++;
		window_drop(d);
		return HIT_REFUSED;
	}
	room = turn_may_hold(d, &over);
	d->stats.skipped_last += !room;
	if (!room || !may_spend(d, cpu)) {
		window_drop(d);
		return HIT_REFUSED;
	}
	reply->action = window_open(d, cpu, &reply->sync);
	if (reply->action.kind != TARGET_HOLD)
		return HIT_NO_WINDOW;
	if (over)
		turn_end(d, over);
	return HIT_USEFUL;
}

/*
 * There is no point at RIP now. If a point was removed after the CPU executed the point's INT3, the CPU must execute the
 * restored byte. Otherwise the INT3 is the guest's. Checked under d->lock, so that no point is planted between the lookup and
 * the read of the byte.
 */
static struct target_action not_a_point(struct detect *d, const struct x86_regs *regs)
{
	uint64_t gpa;
	uint8_t byte;

	if (target_translate(d->target, regs->cr3, regs->cr4, regs->rip, &gpa) || target_read_phys(d->target, gpa, &byte, 1) ||
	    byte == X86_INT3)
		return (struct target_action){.kind = TARGET_NOT_MINE};
	target_refetch(d->target, gpa, byte);
	d->stats.stale_hits++;
	return resume;
}

/* A target site was hit: have the sampler arm this site again, or the other site of its race, at once. */
static void wake_sampler(struct detect *d)
{
	if (!d->sampler.target_sites || d->target->caps.costly_stops)
		return;
	d->sampler.used_up = true;
	pthread_cond_signal(&d->sampler.tick);
}

/*
 * Record how long a hit took to open its window. `came`: when the target made the callback. `locked`: when d->lock was taken
 * (CLOCK_MONOTONIC, ns).
 */
static void count_opening(struct detect *d, struct window *w, uint64_t came, uint64_t locked, bool sync)
{
	uint64_t now = monotonic_ns();

	histogram_add(&d->stats.phase[WINDOW_LOCK], locked - came);
	histogram_add(&d->stats.phase[WINDOW_OPEN], now - locked);
	if (!sync)
		w->watched_ns = now;
}

/* Bring the watches of the CPU's window into force. Called without d->lock. */
static void watch_window(struct detect *d, unsigned cpu)
{
	struct window *w = &d->hit.windows[cpu];
	uint64_t began = monotonic_ns();

	target_watch_sync(d->target, cpu);
	pthread_mutex_lock(&d->lock);
	if (w->open) { /* an open window is still that of this hit: only this CPU opens windows here */
		window_settle(d, w);
		histogram_add(&d->stats.phase[WINDOW_WATCH], w->watched_ns - began);
	}
	pthread_mutex_unlock(&d->lock);
}

/* Note which memory the access touches (touches.h). Returns the GVA of a site with which this site talks, or 0. */
static uint64_t note_touches(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			     const struct datum *data, unsigned n)
{
	const struct touch by = {.site = point->addr, .ns = n ? monotonic_ns() : 0, .stack = guest_stack_end(regs), .cpu = cpu};
	uint64_t other = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned e = 0; e < data[i].extent_count; e++) {
			const struct extent *extent = &data[i].extents[e];
			uint64_t found =
				touches_note(&d->hit.touches, extent->gpa, extent->len, &by, data[i].access.rw & INSN_WRITE);

			other = other ? other : found;
		}
	}
	d->stats.talks += other != 0;
	if (point->counts)
		point->counts->talks += other != 0;
	return other;
}

/* Whether a window that is not before a get watches the memory of this access. */
static bool is_watched(const struct detect *d, const struct datum *datum)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		const struct window *w = &d->hit.windows[c];

		for (unsigned i = 0; w->open && !w->get && i < w->data_count; i++) {
			if (data_overlap(&w->data[i], datum))
				return true;
		}
	}
	return false;
}

/* Handle a hit of a get. `count`: what it increments, or NULL if that is no memory that can be watched. */
static enum hit_result hit_get(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs,
			       const struct datum *count, bool other_caller, struct hit_reply *reply)
{
	if (other_caller) {
		d->stats.skipped_caller += count != NULL;
		return HIT_OTHER_CALLER;
	}
	if (!count)
		return HIT_NO_MEMORY;
	/* The CPU goes on, so that the other window's watchpoint sees its access. */
	if (is_watched(d, count)) {
		d->stats.skipped_count++;
		return HIT_REFUSED;
	}
	return sample(d, point, cpu, regs, count, 1, reply);
}

/* Handle a hit of a sample point without a window. */
static enum hit_result hit(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs,
			   struct hit_reply *reply)
{
	struct datum data[INSN_MAX_MEM];
	/* A callee is also called by functions outside of the subject. Then its CPU is not held. */
	const bool other_caller = point->callee && !callees_for_subject(d->callees, regs);
	bool on_stack;
	unsigned n;

	count_hit(d, point);
	confirm_reached(d, point->addr);
	n = window_data(d, point, regs, data, &on_stack);
	d->stats.skipped_stack += !n && on_stack;
	d->stats.skipped_memory += !n && !on_stack;
	if (last_put_is_get(point))
		return hit_get(d, point, cpu, regs, n ? data : NULL, other_caller, reply);
	reply->talks_with = note_touches(d, point, cpu, regs, data, n);
	if (n)
		follow_access(d, point, cpu, regs, data, n);
	device_window_cpu_accesses(d, data, n);
	if (n && conflicts_with_windows(d, point, data, n, cpu, regs, &reply->action))
		return other_caller ? HIT_OTHER_CALLER : HIT_USEFUL;
	if (other_caller) {
		d->stats.skipped_caller += n != 0;
		return HIT_OTHER_CALLER;
	}
	return n ? sample(d, point, cpu, regs, data, n, reply) : HIT_NO_MEMORY;
}

static struct target_action on_breakpoint(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct detect *d = ctx;
	struct hit_reply reply = {.action = resume};
	uint64_t came = monotonic_ns(), locked;
	enum hit_result result;
	struct point *point;

	pthread_mutex_lock(&d->lock);
	locked = monotonic_ns();
	point = points_find(&d->points, regs->rip);
	if (!point) {
		reply.action = not_a_point(d, regs);
		goto out;
	}
	if (point->hook) {
		reply.action = hook_hit(d, point, cpu, regs);
		goto out;
	}
	if (point->window) {
		reply.action = hit_again(d, point, cpu, regs);
		goto out;
	}
	result = hit(d, point, cpu, regs, &reply);
	d->hit.executed[d->stats.executed++ % EXECUTED_KEPT] = (struct executed_point){point->addr, result, reply.talks_with};
	if (point->window == &d->hit.windows[cpu])
		count_opening(d, &d->hit.windows[cpu], came, locked, reply.sync);
	if (reply.action.kind != TARGET_HOLD)
		points_remove(&d->points, point);
	wake_sampler(d);
out:
	pthread_mutex_unlock(&d->lock);
	if (reply.sync)
		watch_window(d, cpu);
	return reply.action;
}

/* Find the window and the datum that a watch belongs to. Returns NULL if the window is closed already. */
static struct window *find_watched(struct detect *d, uint32_t cookie, struct datum **datum)
{
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];

		for (unsigned i = 0; w->open && i < w->data_count; i++) {
			*datum = &w->data[i];
			if ((*datum)->slots && (*datum)->cookie == cookie)
				return w;
		}
	}
	return NULL;
}

/* A CPU has written to the count of a window before a get. Other users may get and put meanwhile. */
static void get_written(struct detect *d, struct window *w, unsigned cpu, const struct x86_regs *regs)
{
	enum last_put_seen seen = last_put_written(d, w);

	if (seen == LAST_PUT_CAME)
		window_conflict(d, w, &w->data[0], cpu, regs, NULL);
	if (seen != LAST_PUT_TOO_MANY)
		return;
	d->stats.cut_short++;
	window_close(d, w);
	target_release(d->target, w->cpu);
}

static struct target_action on_watch(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n)
{
	struct detect *d = ctx;
	struct target_action action = {.kind = TARGET_NOT_MINE};

	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < n; i++) {
		struct datum *datum;
		struct window *w = find_watched(d, cookies[i], &datum);

		if (!w && device_window_watch_hit(d, cpu, regs, cookies[i]))
			action = resume;
		if (!w)
			continue;
		action = resume;
		if (w->get)
			get_written(d, w, cpu, regs);
		else
			window_conflict(d, w, datum, cpu, regs, NULL);
	}
	pthread_mutex_unlock(&d->lock);
	return action;
}

static struct target_action on_hold_end(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct detect *d = ctx;
	struct window *w = &d->hit.windows[cpu];
	struct target_action action = resume;

	(void)regs;
	pthread_mutex_lock(&d->lock);
	if (rendezvous_hold_end(d, cpu, &action))
		goto out;
	if (w->open && !window_expire(d, w, &action)) {
		bool told;

		pthread_mutex_unlock(&d->lock);
		told = target_barrier(d->target, cpu);
		pthread_mutex_lock(&d->lock);
		/*
		 * If the window is closed already, one of the stops that target_barrier() waited for has most likely closed it.
		 */
		if (w->open && told)
			window_expire(d, w, &action);
		else if (w->open)
			window_not_told(d, w, &action);
	}
out:
	pthread_mutex_unlock(&d->lock);
	return action;
}

static void on_device(void *ctx, const struct device_access *access)
{
	struct detect *d = ctx;

	pthread_mutex_lock(&d->lock);
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		struct window *w = &d->hit.windows[c];
		struct device_conflict conflict;

		if (!w->open)
			continue;
		conflict = device_find_conflict(w, access);
		if (conflict.datum)
			window_device_conflict(d, w, &conflict);
	}
	pthread_mutex_unlock(&d->lock);
}

static void on_ring(void *ctx, const struct device_access *access)
{
	struct detect *d = ctx;

	pthread_mutex_lock(&d->lock);
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (d->hit.windows[c].open)
			device_ring_explain(d, &d->hit.windows[c], access);
	}
	pthread_mutex_unlock(&d->lock);
}

static uint64_t on_request(void *ctx, const struct device_request *by, const struct device_segment *segments, unsigned count)
{
	return device_window_request(ctx, by, segments, count);
}

static uint64_t on_request_hold_end(void *ctx, bool last)
{
	return device_window_hold_end(ctx, last);
}

void stops_init(struct detect *d)
{
	d->client = (struct target_client){
		.on_breakpoint = on_breakpoint,
		.on_watch = on_watch,
		.on_hold_end = on_hold_end,
		.on_device = on_device,
		.on_ring = on_ring,
		.on_request = on_request,
		.on_request_hold_end = on_request_hold_end,
		.ctx = d,
	};
}
