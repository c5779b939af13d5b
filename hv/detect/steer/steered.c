// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the sites of steered points, which are not chosen at random, and arms them (steered.h). */
#include "hv/detect/steer/steered.h"

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/arm.h"
#include "hv/detect/steer/pool.h"

/* Steered points get at most this share of the hits: half is left to sites chosen at random. */
#define STEERED_SHARE 0.5
/*
 * The budget holds at most the hits of a quarter of a second plus 8 hits. Without the 8, a low rate would leave room for no
 * hit.
 */
#define BURST_SECONDS 0.25
#define BURST_LEAST 8.0
/*
 * Arm no more points in a function while 4 armed points there have not been hit yet. If all sites of a path had points, one
 * execution of the path would stop at each of them, and its windows alone would use up the budget of CPU time.
 */
#define WAITING_MOST 4u
/* In one iteration, look at 1024 sites of functions with news at most, and arm for 20 ms at most. */
#define LOOKS_AT_A_TIME 1024u
#define STEER_NS 20000000u
/* In one iteration, arm the first sites of 64 functions at most, and arm for 10 ms at most. */
#define FIRST_SITES_AT_A_TIME 64u
#define FIRST_SITES_NS 10000000u

static void learn_talk(struct detect *d, struct steering *s, uint64_t site, uint64_t now)
{
	if (pool_has_site(d->sampler.pool, site))
		talkers_talk(&s->talkers, pool_function(d->sampler.pool, site), site, now);
}

/*
 * Count a conflict of the instruction at `site`. The instruction may be no site of the pool, if it is the other side of the
 * conflict. The conflict is news of the instruction's function even so.
 */
static void learn_conflict(struct detect *d, struct steering *s, uint64_t site, uint64_t now)
{
	uint64_t function = site ? pool_function(d->sampler.pool, site) : 0;

	if (!function)
		return;
	pool_has_site(d->sampler.pool, site); /* decodes the site's function, which may have had no sample point yet */
	talkers_conflict(&s->talkers, function, site, now);
}

static enum talk_result talk_result(enum hit_result result)
{
	switch (result) {
	case HIT_NO_MEMORY:
		return TALK_USELESS;
	case HIT_NO_WINDOW:
		return TALK_UNHELD;
	case HIT_REFUSED:
		return TALK_REFUSED;
	default:
		return TALK_TRIED;
	}
}

void steered_learn(struct detect *d, struct steering *s, const struct executed_point *executed, uint64_t now)
{
	uint64_t function = pool_function(d->sampler.pool, executed->addr);

	if (!function)
		return;
	talkers_ran(&s->talkers, function, executed->addr, talk_result(executed->result), now);
	if (!executed->talks_with)
		return;
	learn_talk(d, s, executed->talks_with, now);
	learn_talk(d, s, executed->addr, now);
}

void steered_refill(struct detect *d, struct steering *s, double rate, double seconds, uint64_t now)
{
	double most = rate * STEERED_SHARE * BURST_SECONDS + BURST_LEAST;
	struct met_sites met[MET_KEPT];
	uint64_t n, hits;

	pthread_mutex_lock(&d->lock);
	hits = d->stats.steered_hits;
	n = d->hit.met_count - s->met_told;
	n = n < MET_KEPT ? n : MET_KEPT;
	for (uint64_t i = 0; i < n; i++)
		met[i] = d->hit.met[(d->hit.met_count - 1 - i) % MET_KEPT];
	s->met_told = d->hit.met_count;
	d->stats.steered = s->armed;
	d->stats.steered_first = s->first_sites;
	d->stats.talking_sites = s->talkers.talking;
	d->stats.retired_sites = s->talkers.retired;
	pthread_mutex_unlock(&d->lock);
	for (uint64_t i = 0; i < n; i++) {
		learn_conflict(d, s, met[i].site[0], now);
		learn_conflict(d, s, met[i].site[1], now);
	}
	s->budget += seconds * rate * STEERED_SHARE - (double)(hits - s->hits_told);
	s->budget = s->budget < most ? s->budget : most;
	s->budget = s->budget > -most ? s->budget : -most;
	s->hits_told = hits;
}

/*
 * Disarm the steered points that no CPU came to in TALK_WAIT_NS. The ring also has points that were hit, which are gone. If
 * another point was armed at the site of such a point later, that point stays.
 */
static void disarm_unreached(struct detect *d, struct steering *s, uint64_t now)
{
	detect_enter(d);
	for (; s->count && now - s->points[s->first].armed_ns >= TALK_WAIT_NS; s->count--) {
		const struct steered_point *old = &s->points[s->first];
		struct point *point = points_find(&d->points, old->site);

		if (talkers_armed_at(&s->talkers, old->site, old->armed_ns, now) && point && point->steered && !point->window) {
			points_remove(&d->points, point);
			talkers_not_reached(&s->talkers, old->site, now);
		}
		s->first = (s->first + 1) % STEERED_POINTS;
	}
	detect_leave(d);
}

/* Arm a site of a function with news. Returns whether it was armed. */
static bool arm_news(struct detect *d, struct steering *s, uint64_t site, uint64_t now)
{
	bool armed = arm_site(d, site, ARM_STEERED) == ARMED;

	talkers_armed(&s->talkers, site, now);
	if (!armed)
		return false;
	s->points[(s->first + s->count++) % STEERED_POINTS] = (struct steered_point){site, now};
	s->armed++;
	return true;
}

static bool may_go_on(const struct detect *d, uint64_t until)
{
	return monotonic_ns() < until && !atomic_load(&d->life.stop);
}

/* Why arm_function() returned. */
enum function_state {
	FUNCTION_WAITS, /* points of the function wait for a CPU */
	FUNCTION_DONE,	/* no point of the function waits, and no site of it is due */
	FUNCTION_ABORT, /* no more points may be armed in this iteration */
};

/*
 * One iteration: its time and its deadline; how many points may be armed and were armed; how many more sites may be looked at.
 */
struct iteration {
	uint64_t now, until;
	uint32_t room, armed;
	unsigned looks;
};

static bool exhausted(const struct detect *d, const struct steering *s, const struct iteration *it)
{
	return !it->looks || it->armed == it->room || s->count == STEERED_POINTS || s->budget < it->armed ||
	       !may_go_on(d, it->until);
}

/* Arm due sites of a function, in the order of their addresses, until points at WAITING_MOST sites wait for a CPU. */
static enum function_state arm_function(struct detect *d, struct steering *s, uint64_t function, struct iteration *it)
{
	uint32_t sites = pool_function_sites(d->sampler.pool, function);
	unsigned waiting = 0;

	for (uint32_t i = 0; i < sites && waiting < WAITING_MOST; i++) {
		uint64_t site = pool_function_site(d->sampler.pool, function, i);

		if (exhausted(d, s, it))
			return FUNCTION_ABORT;
		it->looks--;
		if (talkers_due(&s->talkers, site, it->now))
			it->armed += arm_news(d, s, site, it->now);
		waiting += talkers_waits(&s->talkers, site, it->now);
	}
	return waiting ? FUNCTION_WAITS : FUNCTION_DONE;
}

/* Arm the due sites of the functions with the latest news. Returns the number of armed points. */
static uint32_t arm_due(struct detect *d, struct steering *s, uint32_t room, uint64_t now)
{
	struct iteration it = {.now = now, .until = monotonic_ns() + STEER_NS, .room = room, .looks = LOOKS_AT_A_TIME};
	enum function_state state = FUNCTION_DONE;
	uint64_t function;
	unsigned n = 0;

	while (state != FUNCTION_ABORT && !exhausted(d, s, &it) && (function = talkers_news(&s->talkers, n, now))) {
		state = arm_function(d, s, function, &it);
		if (state == FUNCTION_DONE)
			talkers_done(&s->talkers, function);
		else
			n++;
	}
	return it.armed;
}

/* Arm the first site of each function of new text, the latest text first. Returns the number of armed points. */
static uint32_t arm_first_sites(struct detect *d, struct steering *s, uint32_t room)
{
	uint64_t until = monotonic_ns() + FIRST_SITES_NS, site;
	uint32_t armed = 0;

	for (unsigned n = 0; n < FIRST_SITES_AT_A_TIME && armed < room && may_go_on(d, until); n++) {
		if (!pool_next_first_site(d->sampler.pool, &site))
			break;
		if (site && arm_site(d, site, ARM_STEERED) == ARMED)
			armed++;
	}
	s->armed += armed;
	s->first_sites += armed;
	return armed;
}

uint32_t steered_arm(struct detect *d, struct steering *s, uint32_t room, bool first_sites, uint64_t now)
{
	uint32_t armed;

	disarm_unreached(d, s, now);
	armed = arm_due(d, s, room / 2, now);
	return first_sites && s->budget > 0 ? armed + arm_first_sites(d, s, room - armed) : armed;
}
