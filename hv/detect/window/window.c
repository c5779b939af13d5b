/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows: DataCollider's conflict detection (section 3.2). A window holds one CPU before one access. The window ends with a
 * conflict, when its delay is over, or when another context must execute the same instruction and that context's access cannot
 * be emulated.
 *
 * Soundness rests on one invariant: from the hit until window_close() the held context has not executed its access, because the
 * INT3 stops it even when the CPU runs interrupt handlers meanwhile. So an access of another context to the datum in that time
 * is simultaneous with an access that is about to happen. So the window reads the datum for the last time, and decides on a
 * conflict, before it removes the INT3.
 */
#include "hv/detect/window/window.h"

#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/window/awake.h"
#include "hv/detect/window/device.h"
#include "hv/detect/window/last_put.h"
#include "hv/detect/window/rendezvous_end.h"

#define NS_PER_MS 1000000u
/*
 * Number of times that a window waits for vCPUs with an undelivered stop before it closes without a report: one of them may
 * have hit the watchpoint. Each wait takes 1 ms.
 */
#define NOT_TOLD_MAX 20u
/*
 * One of 4 windows is held for its whole time, whatever other CPUs hit meanwhile: some accesses come only every few ms. The
 * other windows may end after a quarter of their time (turn.h).
 */
#define WHOLE_EVERY 4
/* A CPU may be held for three quarters of the time. After a time without windows, it may be held for up to 1.5 s at once. */
#define HELD_SHARE 0.75
#define HELD_MOST_NS 1.5e9
/*
 * After a window with interrupts off, open no other such window on the same CPU for 10 times as long, so that the CPU's
 * interrupts are delayed for less than a tenth of the time. After a window in an interrupt handler, the factor is 100: see
 * window_delay().
 */
#define IRQS_OFF_REST 10
#define HARDIRQ_REST 100

/*
 * With interrupts or preemption off the delay is DataCollider's "random amount of time less than 1 ms". A CPU with interrupts
 * off is also held for a small share of the time only (IRQS_OFF_REST). In an interrupt handler this share is even smaller
 * (HARDIRQ_REST): with several windows in one timer interrupt, timers would expire faster than the kernel serves them, and the
 * kernel would warn of that. A CPU in an NMI is never held.
 *
 * A site of a suspected race gets the full delay if its CPU has interrupts on. Confirming the race is worth delaying softirqs.
 */
uint64_t window_delay(struct detect *d, unsigned cpu, const struct guest_context *context, bool confirming, uint64_t now)
{
	uint64_t most = d->config.delay_ns < NS_PER_MS ? d->config.delay_ns : NS_PER_MS;

	if (context->kind == GUEST_NMI || (context->irqs_off && now < d->hit.irqs_off_rest[cpu]))
		return 0;
	if (confirming && context->known && !context->irqs_off)
		return d->config.delay_ns;
	if (context->irqs_off || context->preempt_off || !context->known) {
		/* A target site gets the longest of these delays, not a random one: the run exists to see its race again. */
		return d->config.known_races || confirming ? most : rng_below(&d->hit.delay_rng, most);
	}
	return d->config.delay_ns;
}

static void rest_irqs_off(struct detect *d, const struct window *w)
{
	uint64_t now = monotonic_ns(), rest = w->context.kind == GUEST_HARDIRQ ? HARDIRQ_REST : IRQS_OFF_REST;

	if (w->context.irqs_off)
		d->hit.irqs_off_rest[w->cpu] = now + rest * (now - w->opened_ns);
}

unsigned window_data(struct detect *d, const struct point *point, const struct x86_regs *regs, struct datum data[INSN_MAX_MEM],
		     bool *on_stack)
{
	struct mem_access accesses[INSN_MAX_MEM];
	unsigned n = insn_accesses(&point->insn, regs, accesses), kept = 0;

	*on_stack = false;
	for (unsigned i = 0; i < n; i++) {
		struct datum *datum = &data[kept];

		if (guest_on_stack(regs, accesses[i].gva)) {
			*on_stack = true;
			continue;
		}
		*datum = (struct datum){.access = accesses[i]};
		if (datum_locate(d->target, regs, datum) == 0)
			kept++;
	}
	return kept;
}

unsigned window_free_slot(const struct detect *d)
{
	unsigned slot = 0;

	while (slot < d->target->caps.watches && (d->hit.slots_used >> slot & 1))
		slot++;
	return slot;
}

/*
 * Cover the datum exactly with naturally aligned watches of 1, 2, 4 or 8 bytes, the sizes that a debug register can have. A
 * watch that covers one byte more would report accesses to a neighbouring variable.
 */
static void watch_datum(struct detect *d, struct datum *datum, unsigned cpu)
{
	uint64_t gva = datum->access.gva, end = gva + datum->len;

	datum->cookie = ++d->hit.last_cookie;
	if (!x86_kernel_address(gva))
		return; /* no watch at a user address, where other processes have other memory: only read the datum again */
	while (gva < end) {
		struct target_watch watch = {
			.gva = gva,
			.len = 8,
			.read = datum->access.rw & INSN_WRITE && !d->hit.windows[cpu].get,
			.owner = (uint8_t)cpu,
			.cookie = datum->cookie,
		};
		unsigned slot = window_free_slot(d);

		while (watch.len > 1 && ((gva & (watch.len - 1)) || gva + watch.len > end))
			watch.len /= 2;
		if (slot == d->target->caps.watches)
			return;
		d->hit.slots_used |= 1u << slot;
		datum->slots |= 1u << slot;
		target_watch_set(d->target, slot, &watch);
		gva += watch.len;
	}
	datum->fully_watched = datum->len == datum->access.size;
}

/* Returns NULL, and counts the observation as lost, when the reporter is too slow and the queue is full. */
static struct observation *take_observation(struct detect *d)
{
	struct observation *o = queue_take(&d->hit.observations);

	d->stats.lost += !o;
	return o;
}

static void queue_observation(struct detect *d, struct observation *o)
{
	queue_put(&d->hit.observations, o);
	pthread_cond_signal(&d->hit.queued);
}

static void capture_locks(struct detect *d, struct race_side *side)
{
	if (d->locks)
		side->locks.known = locks_held(d->locks, side->cpu, &side->context, &side->locks.set);
}

/* Fill in what happened since the window opened. */
static void fill_window(const struct window *w, const struct datum *datum, struct race_window *out)
{
	*out = (struct race_window){.known = true, .hold_ns = w->hold_ns, .returns = w->returns};
	if (datum->slots && w->watched_ns)
		out->watched_ns = w->watched_ns - w->opened_ns;
	for (uint32_t i = 0; i < w->returns && i < RACE_RETURNS_MAX; i++)
		out->return_ns[i] = w->return_ns[i] - w->opened_ns;
}

/* Fill in the held side. Its registers and its stack are still those of the hit, because the held context has not moved. */
static void fill_sampled(struct detect *d, const struct window *w, const struct datum *datum, struct observation *o)
{
	struct race_side *side = &o->sides[0];
	uint64_t now = monotonic_ns();

	o->time_ns = now - d->life.started_ns;
	o->held_ns = now - w->opened_ns;
	o->rendezvous = 0;
	fill_window(w, datum, &o->window);
	o->gpa = datum->extents[0].gpa;
	o->data_len = datum->len;
	memcpy(o->before, datum->before, sizeof(o->before));
	guest_page_state(d->guest, o->gpa, &o->page);
	capture_side(d->target, d->guest, w->cpu, &w->regs, &w->context, side);
	/* Locks that a callee has taken itself are not followed, so the locks of a side in a callee stay unknown. */
	if (!w->point->callee)
		capture_locks(d, side);
	side->pc = w->regs.rip;
	side->gva = datum->access.gva;
	side->size = datum->access.size;
	side->rw = datum->access.rw;
	side->locked = w->get;
}

static void count_conflict(struct detect *d, const struct window *w)
{
	d->stats.conflicts++;
	d->stats.steered_conflicts += w->point->steered;
	if (w->point->counts)
		w->point->counts->conflicts++;
}

/* Queue an observation of a conflict with a device. The caller decides what happens to the window. */
static void report_device(struct detect *d, const struct window *w, const struct device_conflict *conflict)
{
	struct observation *o = take_observation(d);
	struct race_side *side;

	count_conflict(d, w);
	d->stats.device_conflicts++;
	if (!o)
		return;
	fill_sampled(d, w, conflict->datum, o);
	o->how = RACE_BY_DEVICE;
	datum_read(d->target, conflict->datum, o->after);
	side = &o->sides[1];
	side->kind = RACE_SIDE_DEVICE;
	side->device = conflict->access;
	side->rw = conflict->access.write ? INSN_WRITE : INSN_READ;
	queue_observation(d, o);
}

bool window_prepare(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs, const struct datum *data,
		    unsigned n)
{
	struct window *w = &d->hit.windows[cpu];
	struct device_conflict conflict;

	*w = (struct window){.cpu = cpu,
			     .regs = *regs,
			     .opened_ns = monotonic_ns(),
			     .point = point,
			     .get = last_put_is_get(point),
			     .data_count = n};
	memcpy(w->data, data, n * sizeof(*data));
	guest_context(d->guest, regs, &w->context);
	conflict = device_window_opens(d, w);
	for (unsigned i = 0; i < n; i++) {
		struct datum *datum = &w->data[i];

		datum_read(d->target, datum, datum->before); /* cannot fail: datum_locate() just found the datum in RAM */
		memcpy(datum->settled, datum->before, sizeof(datum->settled));
	}
	if (!conflict.datum)
		return true;
	report_device(d, w, &conflict);
	window_drop(d);
	return false;
}

bool window_cpu_may_be_held(struct detect *d, unsigned cpu, uint64_t now)
{
	struct allowance *held = &d->hit.held[cpu];

	if (!held->last_ns)
		*held = (struct allowance){
			.share = HELD_SHARE, .most_ns = HELD_MOST_NS, .credit_ns = HELD_MOST_NS, .last_ns = now};
	allowance_earn(held, now);
	return held->credit_ns > 0;
}

void window_drop(struct detect *d)
{
	device_window_closed(d);
}

struct target_action window_open(struct detect *d, unsigned cpu, bool *sync)
{
	struct window *w = &d->hit.windows[cpu];
	bool confirming = confirm_has(d, w->point->addr);

	*sync = false;
	w->hold_ns = window_delay(d, cpu, &w->context, confirming, w->opened_ns);
	if (!w->hold_ns) {
		d->stats.skipped_short++;
		window_drop(d);
		return (struct target_action){.kind = TARGET_RESUME};
	}

	for (unsigned i = 0; i < w->data_count; i++) {
		struct datum *datum = &w->data[i];

		watch_datum(d, datum, cpu);
		*sync |= datum->slots != 0;
		d->stats.no_watch += !datum->fully_watched;
	}
	w->open = true;
	w->point->window = w;
	d->hit.open_windows++;
	w->whole = d->target->caps.costly_stops || d->config.known_races || confirming || d->stats.windows % WHOLE_EVERY == 0;
	d->stats.windows++;
	d->stats.get_windows += w->get;
	d->stats.steered_windows += w->point->steered;
	d->hit.credit_ns -= (double)w->hold_ns;
	if (w->point->counts)
		w->point->counts->windows++;
	/*
	 * At a target site, skip the early check and hold for the full delay, even when all other CPUs are idle: a CPU may wake
	 * up and make the access.
	 */
	w->looked = d->target->caps.costly_stops || d->config.known_races || confirming;
	return (struct target_action){.kind = TARGET_HOLD, .hold_ns = w->looked ? w->hold_ns : w->hold_ns / WINDOW_FIRST_LOOK};
}

void window_settle(struct detect *d, struct window *w)
{
	w->watched_ns = monotonic_ns();
	for (unsigned i = 0; i < w->data_count; i++)
		datum_read(d->target, &w->data[i], w->data[i].settled);
}

bool window_would_miss(const struct detect *d, const struct insn *insn, const struct x86_regs *regs)
{
	struct mem_access access[INSN_MAX_MEM];
	struct datum datum = {0};

	if (!insn->nmem || insn->flags & INSN_STACK)
		return false;
	if (insn_accesses(insn, regs, access) != 1)
		return true;
	datum.access = access[0];
	if (datum_locate(d->target, regs, &datum))
		return true;
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		const struct window *w = &d->hit.windows[c];

		for (unsigned i = 0; w->open && i < w->data_count; i++) {
			if (((access[0].rw | w->data[i].access.rw) & INSN_WRITE) && data_overlap(&datum, &w->data[i]))
				return true;
		}
	}
	return false;
}

void window_close(struct detect *d, struct window *w)
{
	uint64_t began = monotonic_ns();

	if (w->watched_ns)
		histogram_add(&d->stats.phase[WINDOW_HELD], began - w->watched_ns);
	rendezvous_window_closes(d, w);
	for (unsigned i = 0; i < w->data_count; i++) {
		for (unsigned slot = 0; slot < TARGET_MAX_WATCHES; slot++) {
			if (w->data[i].slots >> slot & 1)
				target_watch_clear(d->target, slot);
		}
		d->hit.slots_used &= ~w->data[i].slots;
	}
	if (w->point)
		points_remove(&d->points, w->point);
	rest_irqs_off(d, w);
	allowance_spend(&d->hit.held[w->cpu], (double)(began - w->opened_ns));
	w->open = false;
	d->hit.open_windows--;
	device_window_closed(d);
	histogram_add(&d->stats.phase[WINDOW_CLOSE], monotonic_ns() - began);
}

static void report_conflict(struct detect *d, const struct window *w, const struct datum *datum, unsigned cpu,
			    const struct x86_regs *regs, const struct datum *other, uint64_t rendezvous)
{
	struct observation *o = take_observation(d);

	count_conflict(d, w);
	if (o) {
		struct race_side *side = &o->sides[1];
		struct guest_context context;

		fill_sampled(d, w, datum, o);
		o->how = other ? RACE_BY_POINT : RACE_BY_WATCH;
		o->rendezvous = rendezvous;
		/* That the count of a get is 0 was just seen, and others may have changed it since. */
		if (w->get)
			memset(o->after, 0, sizeof(o->after));
		else
			datum_read(d->target, datum, o->after);
		guest_context(d->guest, regs, &context);
		capture_side(d->target, d->guest, cpu, regs, &context, side);
		capture_locks(d, side);
		if (other) {
			side->pc = regs->rip;
			side->gva = other->access.gva;
			side->size = other->access.size;
			side->rw = other->access.rw;
		}
		queue_observation(d, o);
	}
}

void window_conflict(struct detect *d, struct window *w, const struct datum *datum, unsigned cpu, const struct x86_regs *regs,
		     const struct datum *other)
{
	report_conflict(d, w, datum, cpu, regs, other, 0);
	window_close(d, w);
	target_release(d->target, w->cpu);
}

void window_rendezvous(struct detect *d, const struct window *w, const struct datum *datum, unsigned cpu,
		       const struct x86_regs *regs, const struct datum *other, uint64_t rendezvous)
{
	report_conflict(d, w, datum, cpu, regs, other, rendezvous);
}

static bool same_place(const struct datum *a, const struct datum *b)
{
	if (a->extent_count != b->extent_count)
		return false;
	for (unsigned i = 0; i < a->extent_count; i++) {
		if (a->extents[i].gpa != b->extents[i].gpa || a->extents[i].len != b->extents[i].len)
			return false;
	}
	return true;
}

/*
 * Whether the datum is still in the same guest-physical memory. If its mapping has changed, a change of the old memory proves
 * nothing.
 */
static bool still_there(struct detect *d, const struct window *w, const struct datum *datum)
{
	struct datum again = {.access = datum->access};

	return datum_locate(d->target, &w->regs, &again) == 0 && same_place(&again, datum);
}

void window_device_conflict(struct detect *d, struct window *w, const struct device_conflict *conflict)
{
	if (!still_there(d, w, conflict->datum))
		return;
	report_device(d, w, conflict);
	window_close(d, w);
	target_release(d->target, w->cpu);
}

/* Whether any byte changed other than by a device's write to its ring. */
static bool differs(const struct datum *datum, const uint8_t *after)
{
	for (uint32_t i = 0; i < datum->len; i++) {
		if (after[i] != datum->settled[i] && !(datum->explained >> i & 1))
			return true;
	}
	return false;
}

/* Returns the first datum that an unseen writer changed, with its bytes now in `after`, or NULL. */
static const struct datum *changed_datum(struct detect *d, const struct window *w, uint8_t *after)
{
	/* Others may get and put references while a get is held. */
	for (unsigned i = 0; !w->get && i < w->data_count; i++) {
		const struct datum *datum = &w->data[i];

		if (still_there(d, w, datum) && datum_read(d->target, datum, after) == 0 && differs(datum, after))
			return datum;
	}
	return NULL;
}

bool window_memory_changed(struct detect *d, const struct window *w)
{
	uint8_t after[RACE_DATA_MAX];

	return changed_datum(d, w, after) || last_put_is_due(d, w);
}

/*
 * Whether a CPU that is not held runs or will run within `ns`, or a device serves a request. The only CPU of a machine always
 * counts as running: its own interrupts can make the conflicting access.
 */
static bool somebody_runs(struct detect *d, uint64_t ns)
{
	return d->target->caps.cpus == 1 || target_devices_busy(d->target) || awake_within(d, ns);
}

static void report_change(struct detect *d, const struct window *w, const struct datum *datum, const uint8_t *after)
{
	struct observation *o = take_observation(d);

	count_conflict(d, w);
	if (!o)
		return;
	fill_sampled(d, w, datum, o);
	o->how = RACE_BY_REREAD;
	memcpy(o->before, datum->settled, sizeof(o->before));
	memcpy(o->after, after, sizeof(o->after));
	queue_observation(d, o);
}

bool window_expire(struct detect *d, struct window *w, struct target_action *action)
{
	uint8_t after[RACE_DATA_MAX] = {0};
	const struct datum *datum = changed_datum(d, w, after);
	uint64_t end = w->opened_ns + w->hold_ns, now = monotonic_ns();

	/* A quarter into the window, end it if no other CPU is running or will wake up: nothing can conflict. */
	if (!datum && !w->looked && now < end && !d->life.closing) {
		w->looked = true;
		if (somebody_runs(d, end - now)) {
			*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = end - now};
			return true;
		}
		d->stats.cut_idle++;
	}
	/*
	 * Return, so that the caller collects the other CPUs' pending stops first: one of these CPUs may have hit the
	 * watchpoint without reporting it yet.
	 */
	if (((datum && datum->slots) || last_put_is_due(d, w)) && !w->asked) {
		w->asked = true;
		return false;
	}
	if (datum)
		report_change(d, w, datum, after);
	window_close(d, w);
	*action = (struct target_action){.kind = TARGET_RESUME};
	return true;
}

void window_not_told(struct detect *d, struct window *w, struct target_action *action)
{
	if (w->not_told++ < NOT_TOLD_MAX && !d->life.closing) {
		w->asked = false;
		*action = (struct target_action){.kind = TARGET_HOLD, .hold_ns = NS_PER_MS};
		return;
	}
	d->stats.unexplained++;
	window_close(d, w);
	*action = (struct target_action){.kind = TARGET_RESUME};
}
