/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's thread: waits until the guest's text is final, builds the pool, follows module loads and unloads, and keeps
 * sample points armed.
 */
#include "hv/detect/sampler.h"

#include <time.h>

#include "hv/base/clock.h"
#include "hv/detect/core/hook.h"
#include "hv/detect/core/message.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/callback_hooks.h"
#include "hv/detect/locks/entry_hooks.h"
#include "hv/detect/locks/fate_sites.h"
#include "hv/detect/locks/lock_hooks.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/steer/rate.h"
#include "hv/detect/steer/target_sites.h"
#include "hv/detect/window/device_window.h"
#include "hv/detect/window/hook_hit.h"
#include "hv/sandbox/sandbox.h"

/* Period of the sampler's iterations. Longer on a target where each iteration stops the guest. */
#define TICK_NS 10000000u
#define COSTLY_TICK_NS 25000000u
/* Periods of polling for the kernel, and for its list of modules. */
#define GUEST_POLL_NS 20000000u
#define MODULES_NS 100000000u

/* Sleep for `ns`, but wake up when d->life.stop or d->sampler.used_up is set. Returns d->life.stop. */
static bool sleep_or_stop(struct detect *d, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	pthread_mutex_lock(&d->lock);
	while (!atomic_load(&d->life.stop) && !d->sampler.used_up &&
	       pthread_cond_timedwait(&d->sampler.tick, &d->lock, &until) == 0)
		;
	d->sampler.used_up = false;
	pthread_mutex_unlock(&d->lock);
	return atomic_load(&d->life.stop);
}

/* ---- pool ---- */

static int add_segment(struct detect *d, const void *key, const char *name, const struct symtab *symbols, uint64_t start,
		       uint64_t end, struct err *err)
{
	int64_t n = pool_add(d->sampler.pool, key, symbols, start, end, err);

	if (n < 0)
		return -1;
	if (d->sampler.target_sites)
		return target_sites_text_came(d->sampler.target_sites, key, key ? name : "", symbols, start, end, err);
	detect_message(d, "%s: %lld functions can be sampled", name, (long long)n);
	return 0;
}

/* A module's functions can be callees of the sampled functions, too (callees.h). If memory runs out, they are not sampled. */
static void callee_text_came(struct detect *d, const struct guest_module *m)
{
	struct err err = {0};

	if (d->callees && m->symbols &&
	    callees_text_came(d->callees, m, m->symbols, m->base, m->base + m->size,
			      pool_module_fits(m->name, d->config.module), &err))
		detect_message(d, "%s: none of its functions is sampled as a callee: %s", m->name, err.text);
}

static void module_loaded(void *ctx, const struct guest_module *m)
{
	struct detect *d = ctx;
	struct err err = {0};

	callee_text_came(d, m);
	if (d->locks && m->symbols) {
		lock_hooks_text_came(d, m->name, m->symbols, m->base, m->base + m->size);
		locks_callbacks_again(d->locks, m->base, m->size);
	}
	if (!pool_module_fits(m->name, d->config.module))
		return;
	if (m->symbols && add_segment(d, m, m->name, m->symbols, m->base, m->base + m->size, &err))
		detect_message(d, "%s: not sampled: %s", m->name, err.text);
}

/*
 * Send a message if locks were held when the module that took them was unloaded. These locks no longer count as held, because
 * no lock hook can see their release.
 */
static void say_dropped_locks(struct detect *d, const char *module)
{
	unsigned n = d->locks ? locks_dropped(d->locks) : 0;

	if (n)
		detect_message(d, "module %s was unloaded while %u of its locks %s held; they count as released now", module, n,
			       n == 1 ? "was" : "were");
}

static void module_gone(void *ctx, const struct guest_module *m)
{
	struct detect *d = ctx;

	if (d->sampler.target_sites)
		target_sites_text_gone(d->sampler.target_sites, m);
	pool_remove(d->sampler.pool, m);
	if (d->callees)
		callees_text_gone(d->callees, m);
	if (d->coverage)
		coverage_forget(d->coverage, m->base, m->size);
	detect_enter(d);
	hook_text_gone(d, m->base, m->size);
	detect_leave(d);
	say_dropped_locks(d, m->name);
}

/* ---- the thread ---- */

static void check_preferred(struct detect *d)
{
	const uint8_t *build_id = NULL;
	size_t len = guest_build_id(d->guest, &build_id);

	if (!d->config.prefer)
		return;
	d->sampler.sites_preferred = prefer_is_for(d->config.prefer, build_id, len);
	if (!d->sampler.sites_preferred)
		detect_message(
			d, "the file of --prefer was made with another build of the kernel: only its weights of functions are "
			   "used, not those of single sites");
}

static int prepare(struct detect *d, struct err *err)
{
	struct symbol start, end;
	int ready;

	while ((ready = guest_poll(d->guest, err)) == 0) {
		if (sleep_or_stop(d, GUEST_POLL_NS))
			return -1;
	}
	if (ready < 0)
		return -1;
	if (guest_symbols_refused(d->guest))
		detect_message(d, "%s; using symbols from %s instead", guest_symbols_refused(d->guest),
			       guest_symbol_source(d->guest));
	detect_message(d, "kernel found, slide 0x%llx, symbols from %s", (unsigned long long)guest_slide(d->guest),
		       guest_symbol_source(d->guest));
	check_preferred(d);
	if (d->config.module)
		detect_message(d, "waiting for module %s", d->config.module);
	if (d->config.module && !d->callees)
		return 0;
	if (symtab_find(guest_symtab(d->guest), "_stext", &start) || symtab_find(guest_symtab(d->guest), "_etext", &end))
		return err_set(err, EXIT_INPUT,
			       "the kernel's symbols lack _stext or _etext, so outrider cannot find the kernel's text");
	if (d->callees &&
	    callees_text_came(d->callees, NULL, guest_symtab(d->guest), start.addr, end.addr, !d->config.module, err))
		return -1;
	return d->config.module ? 0 : add_segment(d, NULL, "kernel", guest_symtab(d->guest), start.addr, end.addr, err);
}

/* Plant the lock hooks in the kernel's text. Called after target_intercept(), before which no hook can be planted. */
static void follow_kernel(struct detect *d)
{
	const struct symtab *symbols = guest_symtab(d->guest);

	if (d->locks)
		lock_hooks_text_came(d, "", symbols, symtab_addr(symbols, "_stext"), symtab_addr(symbols, "_etext"));
}

/* Look for modules that were loaded or unloaded. `now`: CLOCK_MONOTONIC, ns. */
static void poll_modules(struct detect *d, uint64_t now)
{
	const struct guest_module_events events = {.loaded = module_loaded, .gone = module_gone, .ctx = d};
	bool all = guest_poll_modules(d->guest, &events);

	pthread_mutex_lock(&d->lock);
	if (all)
		d->sampler.modules_known_ns = now;
	pthread_cond_broadcast(&d->sampler.modules_polled);
	pthread_mutex_unlock(&d->lock);
}

static int sample(struct detect *d, struct err *err)
{
	struct rate_control control;
	struct fate_sites fate_sites = {0};
	uint64_t modules_ns = 0, tick;

	follow_kernel(d);
	rate_init(d, &control);
	do {
		uint64_t now = monotonic_ns();

		if (now - modules_ns >= MODULES_NS) {
			poll_modules(d, now);
			modules_ns = now;
			if (d->sampler.target_sites && target_sites_check(d->sampler.target_sites, err))
				return -1;
			if (d->callees && callees_refresh(d->callees, err))
				return -1;
		}
		if (d->locks) {
			lock_hooks_again(d);
			lock_hooks_limit(d);
			callback_hooks_step(d);
			entry_hooks_step(d);
		}
		rate_step(d, &control, now);
		if (d->locks && !control.in_debt)
			fate_sites_step(d, &fate_sites, now);
		device_window_step(d, now);
		if (!atomic_load(&d->life.ready_ns))
			atomic_store(&d->life.ready_ns, monotonic_ns());
		tick = d->target->caps.costly_stops ? COSTLY_TICK_NS : TICK_NS;
		/*
		 * While there is no site to sample, iterate only as often as modules are polled, and leave the CPU to the
		 * guest.
		 */
		if (!pool_sites(d->sampler.pool))
			tick = MODULES_NS;
	} while (!sleep_or_stop(d, tick));
	return 0;
}

/*
 * Intercept breakpoints and plant the hooks while the machine stands still. From target_intercept() on, a target may run CPUs
 * with its own copies of the guest's debug registers, and only hooks show when the guest changes these. If the guest ran
 * between these two steps, a debugger in the guest could set a debug register unseen, and its breakpoint would not trap until
 * the CPU's debug registers change again.
 */
static int start_intercepting(struct detect *d, struct err *err)
{
	int ret;

	if (target_stand_still(d->target))
		return err_set(err, EXIT_INTERNAL, "the machine ended before sampling began");
	ret = target_intercept(d->target, true, err);
	if (ret == 0)
		hook_plant_all(d);
	target_go_on(d->target);
	return ret;
}

void *sampler_main(void *arg)
{
	struct detect *d = arg;
	struct err err = {0};

	sandbox_thread(SANDBOX_SAMPLER);
	if ((prepare(d, &err) || start_intercepting(d, &err) || sample(d, &err)) && !atomic_load(&d->life.stop) &&
	    !atomic_load(&d->target->ending)) {
		d->sink.failed(d->sink.ctx, &err);
		target_stop(d->target);
	}
	return NULL;
}
