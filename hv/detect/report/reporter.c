/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reporter's thread (reporter.h) takes the observations of windows: it finds the instruction of the access, names
 * functions, memory and locks, and calls the sink. No vCPU is held meanwhile.
 */
#include "hv/detect/report/reporter.h"

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/core/unwinding.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/report/attribute.h"
#include "hv/detect/report/complaints.h"
#include "hv/detect/report/describe.h"
#include "hv/race/printable.h"
#include "hv/race/protection.h"
#include "hv/sandbox/sandbox.h"

#define NO_WAIT_IN_VAIN UINT64_MAX
#define NAMES_WAIT_NS 1000000000u /* await_names(): 1 s, 10 times the sampler's period of polling modules */

static void unwind_side(struct detect *d, struct race_side *side)
{
	bool unwound;

	unwinding_side(d->guest, side);
	/*
	 * Frame 0 has the PC at which the CPU stopped, after the access. If the accessing instruction is in the same function,
	 * set this PC to that instruction. A call through memory is an access in another function, the caller.
	 */
	if (side->pc && side->symbol.addr == side->calls.frames[0].symbol.addr)
		side->calls.frames[0].pc = side->pc;
	unwound = side->calls.origin != GUEST_ORIGIN_UNKNOWN && !side->calls.guessed;
	pthread_mutex_lock(&d->lock);
	d->stats.stacks++;
	d->stats.stacks_unwound += unwound;
	pthread_mutex_unlock(&d->lock);
}

/*
 * Give each lock the name of the memory in which it is, such as a variable or a member of an object. The memory is looked up
 * some milliseconds after the access, or up to NAMES_WAIT_NS later. The lock is still there then, because a lock outlives the
 * accesses made under it.
 */
static void name_locks(struct detect *d, struct race_side *side)
{
	struct race_locks *locks = &side->locks;

	locks->complete = locks->known && locks_of_subject(d->locks, &side->symbol);
	for (unsigned i = 0; i < locks->set.count; i++) {
		const struct held_lock *held = &locks->set.held[i];
		struct guest_page_state page = {0};
		struct guest_memory memory;
		uint64_t gpa;

		if (guest_translate(d->guest, held->gva, &gpa) == 0)
			guest_page_state(d->guest, gpa, &page);
		guest_memory_at(d->guest, &side->regs, &page, held->gva, 1, &memory);
		printable_memory(&memory);
		protection_lock_name(held->kind, held->gva, &memory, locks->name[i]);
	}
}

/*
 * Tell the sampler which two sites conflicted (hv/detect/steer/steered.h). Also record the second CPU's access as a touch, like
 * the access of a hit, so that its site can talk with sites that CPUs hit later.
 */
static void tell_met(struct detect *d, const struct observation *o)
{
	const struct race_side *other = &o->sides[1];
	struct met_sites met = {{0}};

	for (int i = 0; i < 2; i++)
		met.site[i] = o->sides[i].kind == RACE_SIDE_CPU ? o->sides[i].pc : 0;
	pthread_mutex_lock(&d->lock);
	if (met.site[1]) {
		const struct touch by = {
			.site = other->pc, .ns = monotonic_ns(), .stack = guest_stack_end(&other->regs), .cpu = other->cpu};

		touches_note(&d->hit.touches, o->gpa, o->data_len, &by, other->rw & INSN_WRITE);
	}
	d->hit.met[d->hit.met_count++ % MET_KEPT] = met;
	pthread_mutex_unlock(&d->lock);
}

/* What the reporter's thread works with. */
struct reporter {
	struct detect *d;
	struct insn_decoder *decoder;
	/* The value of d->sampler.modules_known_ns when a wait for names was in vain. NO_WAIT_IN_VAIN: none was. */
	uint64_t in_vain_at;
};

/* Returns whether a side is a CPU in kernel code without a name. */
static bool is_unnamed(struct detect *d, const struct observation *o)
{
	struct guest_symbol symbol = {0};

	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &o->sides[i];

		if (side->kind == RACE_SIDE_CPU && x86_kernel_address(side->regs.rip) &&
		    guest_symbol_at(d->guest, side->regs.rip, &symbol))
			return true;
	}
	return false;
}

/*
 * The code of a module that was just loaded has no names before the sampler's next poll of the modules. Wait for the names, at
 * most until the end of a poll that began after the observation. Code without names after that has none, such as BPF code: it
 * delays a report by one period of the polls. If no poll finds all modules in time, later observations do not wait until one
 * does.
 */
static void await_names(struct reporter *r, const struct observation *o)
{
	struct detect *d = r->d;
	const uint64_t made = atomic_load(&d->life.started_ns) + o->time_ns, until = monotonic_ns() + NAMES_WAIT_NS;
	const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

	/* Most code has a name: find that out without d->lock. */
	if (!is_unnamed(d, o))
		return;
	pthread_mutex_lock(&d->lock);
	while (is_unnamed(d, o) && d->sampler.modules_known_ns <= made && d->sampler.modules_known_ns != r->in_vain_at &&
	       !atomic_load(&d->life.stop)) {
		if (pthread_cond_timedwait(&d->sampler.modules_polled, &d->lock, &t))
			r->in_vain_at = d->sampler.modules_known_ns;
	}
	pthread_mutex_unlock(&d->lock);
}

static void report(struct reporter *r, struct observation *o)
{
	struct detect *d = r->d;
	struct insn_decoder *decoder = r->decoder;

	await_names(r, o);
	if (o->how == RACE_BY_WATCH) {
		if (!attribute_watch(d, decoder, o) || (!o->sides[1].pc && d->target->caps.late_watch)) {
			pthread_mutex_lock(&d->lock);
			d->stats.unexplained++;
			pthread_mutex_unlock(&d->lock);
			return;
		}
	}
	if (o->how == RACE_BY_DEVICE_WINDOW)
		attribute_device_window(d, decoder, o);
	tell_met(d, o);
	guest_memory_at(d->guest, &o->sides[0].regs, &o->page, o->sides[0].gva, o->sides[0].size, &o->memory);
	guest_taint(d->guest, &o->taint);
	for (int i = 0; i < 2; i++) {
		if (o->sides[i].kind != RACE_SIDE_CPU)
			continue;
		describe_side(d, decoder, &o->sides[i]);
		name_locks(d, &o->sides[i]);
		unwind_side(d, &o->sides[i]);
	}
	d->sink.race(d->sink.ctx, o);
}

/* Wait for an observation, but no longer than until `until` (CLOCK_MONOTONIC, ns). Called with d->lock held. */
static void wait_queued(struct detect *d, uint64_t until)
{
	const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

	pthread_cond_timedwait(&d->hit.queued, &d->lock, &t);
}

/* Read the guest's log if it is time. Called with d->lock held, which is released meanwhile. */
static void poll_log(struct detect *d, uint64_t *next_ns, bool last)
{
	/*
	 * The period is short until the log is readable. Compute the period before the attempt to read the log: if the log
	 * becomes readable just after a failed attempt, the time until the next attempt must still be the short one.
	 */
	uint64_t period = complaints_period(d);

	if (!last && monotonic_ns() < *next_ns)
		return;
	pthread_mutex_unlock(&d->lock);
	complaints_poll(d, last);
	*next_ns = monotonic_ns() + period;
	pthread_mutex_lock(&d->lock);
}

void *reporter_main(void *arg)
{
	struct detect *d = arg;
	struct reporter r = {.d = d, .decoder = insn_decoder_new(), .in_vain_at = NO_WAIT_IN_VAIN};
	uint64_t log_ns = 0;

	sandbox_thread(SANDBOX_REPORTER);
	pthread_mutex_lock(&d->lock);
	while (r.decoder) {
		struct observation *o;

		poll_log(d, &log_ns, false);
		o = queue_next(&d->hit.observations);
		if (!o && d->life.reporter_stop)
			break;
		if (!o) {
			wait_queued(d, log_ns);
			continue;
		}
		pthread_mutex_unlock(&d->lock);
		report(&r, o);
		pthread_mutex_lock(&d->lock);
		queue_give_back(&d->hit.observations, o);
	}
	poll_log(d, &log_ns, true);
	pthread_mutex_unlock(&d->lock);
	insn_decoder_free(r.decoder);
	return NULL;
}
