/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/detect/pace.h"

#include "hv/base/clock.h"
#include "hv/detect/code.h"
#include "hv/detect/pool.h"
#include "hv/detect/state.h"

/* From one look at the rate of hits to the next. */
#define ADAPT_NS 250000000u
/* At most so many tries are made to arm a point at a time, and for so long: modules and the rate must be looked at too. */
#define ARMS_AT_A_TIME 512u
#define ARM_NS 100000000u
#define FIRST_POINTS 256u
/* A point has this long to be hit if it keeps others from being planted. Then so many points make room each ADAPT_NS. */
#define STALE_NS 1000000000u
#define TURNOVER 1024u
/* With no more than so many points it is their turn sooner, or little would be looked at. */
#define FEW_POINTS 64u
#define FEW_STALE_NS 50000000u

enum arm_result {
	ARMED,
	ARMED_ALREADY, /* a point stands there already */
	REFUSED,       /* no such instruction stands there any more, or its text is about to be freed */
	NONE,	       /* the pool has no site */
};

/* Choose a site and arm it, if what stands there is still such an instruction. */
static enum arm_result arm_one(struct detect *d)
{
	uint64_t addr = pool_choose(d->pool, &d->choice_rng), gpa;
	size_t len = X86_PAGE_SIZE - (addr & (X86_PAGE_SIZE - 1)); /* the next page may not be mapped */
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
 * Keep k points armed, as far as the budget of hits allows, which refills at the configured rate: where the pool is small and
 * hot, points are used up faster than any k can follow, and arming itself must wait.
 */
static void arm(struct detect *d, struct pace *pace)
{
	uint32_t tries = ARMS_AT_A_TIME, armed;
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

/* Take out the sample points that are more than wanted. */
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
 * A point moves on when it is hit, so with as many points as there can be, all would end on code that is never executed. Points
 * that no CPU came by for a while make room, in turn. Where points are few all of them do, else a part of them each time, since
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

		/* The last point takes the place of one that is removed, so the turn stays there. */
		pace->turn = at + 1;
		if (point->window || point->event || point->planted_ns + patience >= now)
			continue;
		points_remove(&d->points, point);
		pace->turn = at;
		quota--;
	}
	detect_leave(d);
}

/* How many sample points there may be: as many as the target takes beside the event points. */
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

/* With too few hits there are to be more points, with too many hits fewer. In between k stays as it is. */
static void adapt(struct detect *d, struct pace *pace, uint64_t now)
{
	double rate = (double)(pace->hits - pace->adapt_hits) * 1e9 / (double)(now - pace->adapt_ns);
	uint64_t sites = pool_sites(d->pool);
	uint32_t limit = most_points(d), most = sites && sites < limit ? (uint32_t)sites : limit;

	pace->starved = limit < sites && d->wanted == limit && rate < 0.8 * d->config.rate;
	/* An empty pool, of a module that is not loaded yet, says nothing about k. */
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
	if (sites) /* when the module has gone, the count stays what was sampled */
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

void pace_init(struct detect *d, struct pace *pace)
{
	*pace = (struct pace){.adapt_ns = monotonic_ns(), .last_ns = monotonic_ns(), .budget = 1};
	d->wanted = first_points(d);
}

void pace_step(struct detect *d, struct pace *pace, uint64_t now)
{
	refill(d, pace, now);
	if (now - pace->adapt_ns >= ADAPT_NS)
		adapt(d, pace, now);
	/* The guest is stopped once, for the points that go and for those that come. */
	target_enter(d->target);
	if (pace->starved && few_points(d))
		disarm_stale(d, pace, now);
	arm(d, pace);
	target_leave(d->target);
}
