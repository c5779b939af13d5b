/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's thread: waits for the guest's text to be final, builds the pool, and keeps k points armed, chosen uniformly
 * (DataCollider 3.1). A hit uses its point up; arming its successor is done here, off the hit path. k follows the rate of hits.
 */
#include "hv/detect/sampler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/detect/code.h"
#include "hv/detect/event.h"
#include "hv/detect/pool.h"
#include "hv/detect/state.h"

#define TICK_NS 10000000u	/* arming */
#define GUEST_POLL_NS 20000000u /* looking for the kernel */
#define MODULES_NS 100000000u	/* looking at the module list */
#define ADAPT_NS 250000000u	/* following the rate */
#define ARMS_PER_TICK 512u
#define ARM_NS 100000000u /* at most at a time: modules and the rate must be looked at too */
#define FIRST_POINTS 256u
#define STALE_NS 1000000000u /* for a point to be hit, if it keeps others from being planted; */
#define TURNOVER 1024u	     /* then as many make room each ADAPT_NS */
#define FEW_POINTS 64u	     /* with no more than these it is their turn sooner, or little would be looked at: */
#define FEW_STALE_NS 50000000u
#define COSTLY_TICK_NS 25000000u /* where each tick stops the guest */

struct pace {
	double budget; /* hits that may still be provoked */
	uint64_t last_ns, hits;
	uint64_t adapt_ns, adapt_hits;
	uint64_t refused;
	bool starved;  /* too few hits, with as many points as there may be */
	uint32_t turn; /* index in points.armed: whose turn it is to make room */
};

static void __attribute__((format(printf, 2, 3))) note(struct detect *d, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (d->sink.note)
		d->sink.note(d->sink.ctx, line);
}

/* Sleep, unless or until told to stop. */
static bool sleep_or_stop(struct detect *d, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	pthread_mutex_lock(&d->lock);
	while (!atomic_load(&d->stop) && pthread_cond_timedwait(&d->tick, &d->lock, &until) == 0)
		;
	pthread_mutex_unlock(&d->lock);
	return atomic_load(&d->stop);
}

/* ---- pool ---- */

static int add_segment(struct detect *d, const void *key, const char *name, const struct symtab *symbols, uint64_t start,
		       uint64_t end, struct err *err)
{
	int64_t n = pool_add(d->pool, key, symbols, start, end, err);

	if (n < 0)
		return -1;
	note(d, "%s: %lld functions to sample in", name, (long long)n);
	return 0;
}

static void module_loaded(void *ctx, const struct guest_module *m)
{
	struct detect *d = ctx;
	struct err err = {0};

	if (d->config.module && strcmp(d->config.module, m->name) != 0)
		return;
	if (m->symbols && add_segment(d, m, m->name, m->symbols, m->base, m->base + m->size, &err))
		note(d, "%s: not sampled: %s", m->name, err.text);
}

static void module_gone(void *ctx, const struct guest_module *m)
{
	struct detect *d = ctx;

	pool_remove(d->pool, m);
	detect_enter(d);
	event_text_gone(d, m->base, m->size);
	detect_leave(d);
}

/* ---- points ---- */

enum arm_result { ARMED, ARMED_ALREADY, REFUSED, NONE };

/* Choose a site and arm it, if what stands there is still such an instruction. */
static enum arm_result arm_one(struct detect *d)
{
	uint64_t addr = pool_choose(d->pool, &d->choice_rng), gpa;
	size_t len = X86_PAGE_SIZE - (addr & (X86_PAGE_SIZE - 1)); /* the next page need not be mapped */
	uint8_t code[INSN_MAX_LEN];
	struct insn insn;
	enum arm_result result = REFUSED;

	if (!addr)
		return NONE;
	if (len >= sizeof(code) || detect_code(d, addr, code, sizeof(code)) == 0)
		len = sizeof(code);
	if (detect_code(d, addr, code, len) || guest_translate(d->guest, addr, &gpa) ||
	    !insn_decode(d->decoder, code, len, addr, &insn) || !pool_is_site(d->pool, &insn))
		return REFUSED;

	detect_enter(d);
	if (points_find(&d->points, addr))
		result = ARMED_ALREADY;
	else if (!guest_text_going(d->guest, addr) && points_plant(&d->points, &insn, gpa))
		result = ARMED;
	if (!d->started_ns && result == ARMED) {
		d->started_ns = monotonic_ns();
		target_stats(d->target, &d->stats_before);
	}
	detect_leave(d);
	return result;
}

/*
 * Keep k points armed. A budget of hits refills at the configured rate: where the pool is small and hot, points are used up
 * faster than any k can follow, and arming itself must wait.
 */
static void arm(struct detect *d, struct pace *pace)
{
	uint32_t tries = ARMS_PER_TICK, armed;
	uint64_t until = monotonic_ns() + ARM_NS;

	pthread_mutex_lock(&d->lock);
	armed = d->points.count - d->event_points;
	pthread_mutex_unlock(&d->lock);
	while (pace->budget > 0 && armed < d->wanted && tries-- && monotonic_ns() < until && !atomic_load(&d->stop)) {
		enum arm_result result = arm_one(d);

		armed += result == ARMED;
		pace->refused += result == REFUSED;
		if (result == NONE)
			break;
	}
}

/* Take out what is more than wanted. */
static void disarm_excess(struct detect *d)
{
	detect_enter(d);
	for (uint32_t i = d->points.count; i-- > 0 && d->points.count - d->event_points > d->wanted;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (!point->window && !point->event)
			points_remove(&d->points, point);
	}
	detect_leave(d);
}

static bool few_points(const struct detect *d)
{
	return d->target->caps.points && d->target->caps.points <= FEW_POINTS;
}

/*
 * A point moves on when it is hit, so with as many as there can be all would end on code that is never executed. Those that
 * nobody came by for a while make room, in turn: where points are few all of them, else a part of them each time, since
 * planting costs.
 */
static void disarm_stale(struct detect *d, struct pace *pace, uint64_t now)
{
	uint32_t quota = d->target->caps.points ? UINT32_MAX : TURNOVER;
	uint64_t patience = few_points(d) ? FEW_STALE_NS : STALE_NS;

	detect_enter(d);
	for (uint32_t looked = d->points.count; looked && quota && d->points.count; looked--) {
		uint32_t at = pace->turn % d->points.count;
		struct point *point = &d->points.slots[d->points.armed[at]];

		/* Of one removed, the place is taken by the last. */
		pace->turn = at + 1;
		if (point->window || point->event || point->planted_ns + patience >= now)
			continue;
		points_remove(&d->points, point);
		pace->turn = at;
		quota--;
	}
	detect_leave(d);
}

/* As many as the target takes, beside the event points. */
static uint32_t most_points(struct detect *d)
{
	uint32_t most = MAX_SAMPLE_POINTS, events;

	pthread_mutex_lock(&d->lock);
	events = d->event_points;
	pthread_mutex_unlock(&d->lock);
	if (d->target->caps.points && d->target->caps.points < most + events)
		most = d->target->caps.points > events ? d->target->caps.points - events : 0;
	return most;
}

static uint32_t first_points(struct detect *d)
{
	uint32_t most = most_points(d);

	return FIRST_POINTS < most ? FIRST_POINTS : most;
}

static bool too_many(struct detect *d)
{
	bool excess;

	pthread_mutex_lock(&d->lock);
	excess = d->points.count - d->event_points > d->wanted;
	pthread_mutex_unlock(&d->lock);
	return excess;
}

/* Too few hits: more points. Too many: fewer. In between, leave it. */
static void adapt(struct detect *d, struct pace *pace, uint64_t now)
{
	double rate = (double)(pace->hits - pace->adapt_hits) * 1e9 / (double)(now - pace->adapt_ns);
	uint64_t sites = pool_sites(d->pool);
	uint32_t limit = most_points(d), most = sites && sites < limit ? (uint32_t)sites : limit;

	pace->starved = limit < sites && d->wanted == limit && rate < 0.8 * d->config.rate;
	/* An empty pool (the module is not there yet) says nothing about k. */
	if (!sites)
		d->wanted = first_points(d);
	else if (rate < 0.5 * d->config.rate)
		d->wanted *= 2;
	else if (rate < 0.8 * d->config.rate)
		d->wanted += d->wanted / 4 + 1;
	else if (rate > 1.2 * d->config.rate)
		d->wanted -= d->wanted / 4;
	if (d->wanted > most)
		d->wanted = most;
	pace->adapt_hits = pace->hits;
	pace->adapt_ns = now;
	if (sites) /* after its module has gone, still what was sampled */
		atomic_store(&d->site_count, sites);
	if (too_many(d))
		disarm_excess(d);
	if (pace->starved && !few_points(d))
		disarm_stale(d, pace, now);
}

static void refill(struct detect *d, struct pace *pace, uint64_t now)
{
	double burst = d->config.rate * 0.1 + 1;
	uint64_t hits;

	pthread_mutex_lock(&d->lock);
	hits = d->stats.hits;
	d->stats.refused = pace->refused;
	pthread_mutex_unlock(&d->lock);
	pace->budget += (double)(now - pace->last_ns) / 1e9 * d->config.rate - (double)(hits - pace->hits);
	if (pace->budget > burst)
		pace->budget = burst;
	pace->hits = hits;
	pace->last_ns = now;
}

/* ---- the thread ---- */

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
		note(d, "%s; going on with %s", guest_symbols_refused(d->guest), guest_symbol_source(d->guest));
	note(d, "kernel found, slide 0x%llx, symbols from %s", (unsigned long long)guest_slide(d->guest),
	     guest_symbol_source(d->guest));
	if (d->config.module) {
		note(d, "waiting for module %s", d->config.module);
		return 0;
	}
	if (symtab_find(guest_symtab(d->guest), "_stext", &start) || symtab_find(guest_symtab(d->guest), "_etext", &end))
		return err_set(err, EXIT_INPUT, "the kernel's symbols have no _stext and _etext: cannot tell its text");
	return add_segment(d, NULL, "kernel", guest_symtab(d->guest), start.addr, end.addr, err);
}

static void sample(struct detect *d)
{
	const struct guest_module_events events = {.loaded = module_loaded, .gone = module_gone, .ctx = d};
	struct pace pace = {.adapt_ns = monotonic_ns(), .last_ns = monotonic_ns(), .budget = 1};
	uint64_t modules_ns = 0, tick = d->target->caps.costly_stops ? COSTLY_TICK_NS : TICK_NS;

	d->wanted = first_points(d);
	do {
		uint64_t now = monotonic_ns();

		if (now - modules_ns >= MODULES_NS) {
			guest_poll_modules(d->guest, &events);
			modules_ns = now;
		}
		refill(d, &pace, now);
		if (now - pace.adapt_ns >= ADAPT_NS)
			adapt(d, &pace, now);
		target_enter(d->target); /* one stop for what goes and for what comes */
		if (pace.starved && few_points(d))
			disarm_stale(d, &pace, now);
		arm(d, &pace);
		target_leave(d->target);
	} while (!sleep_or_stop(d, tick));
}

void *sampler_main(void *arg)
{
	struct detect *d = arg;
	struct err err = {0};

	if (prepare(d, &err) || target_intercept(d->target, true, &err)) {
		if (!atomic_load(&d->stop)) {
			d->sink.failed(d->sink.ctx, &err);
			target_stop(d->target);
		}
		return NULL;
	}
	event_plant(d);
	sample(d);
	return NULL;
}
