/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control (rate.h): keeps k sample points armed, and adapts k to the hit rate (DataCollider, sections 3.1.1 and 3.1.2). An
 * `again` point is a sample point in a function that the guest was seen to run; all other points are chosen uniformly from the
 * pool.
 */
#include "hv/detect/steer/rate.h"

#include "hv/base/clock.h"
#include "hv/detect/core/point_pages.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/arm.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/steer/target_sites.h"

/* Rate control samples the hit rate every 250 ms. With a shorter interval, a rate of 10 hits/s would often read as 0. */
#define ADAPT_NS 250000000u
/* Each sample waits up to 2 s for 4 hits, so that a low rate does not read as 0. */
#define ADAPT_HITS 4.0
#define ADAPT_MOST_NS 2000000000u
/* When hits cost more CPU time than the governor allows, brake() disarms three of four points. */
#define BRAKE 4u
/* Disarm at most this many points while holding the lock, so that stopped CPUs wait for a short time only. */
#define DISARMS_AT_A_TIME 1024u
/* Arm for at most 512 tries and 50 ms in one iteration: the sampler must also poll modules and the rate. */
#define ARMS_AT_A_TIME 512u
#define ARM_NS 50000000u
/* After arming, rest for 3 times as long, so that the sampler's thread takes a quarter of a CPU at most. */
#define REST 3u
/*
 * Each time that the rate is sampled and is too low, the tries per iteration to arm `again` points grow by AGAIN_STEP, up to
 * AGAIN_MOST.
 */
#define AGAIN_STEP 32u
#define AGAIN_MOST 256u
/* Handling stops may take 1/16 of the guest's CPU time. Above that, lower the number of `again` points. */
#define STOPPED_PART 16u
/* 1/8 of k is reserved for `again` points. */
#define AGAIN_ROOM 8u
#define FIRST_POINTS 256u
/* choose() passes over at most 8 sites, and then takes the next one, so that it ends even if pass_over() rejects most. */
#define PASSED_MOST 8u
/* Of 4 choices of a site that was tried lately, pass over 3 and arm 1: the other side of its race may not have run yet. */
#define TRIED_PART 4u
/* Any constant other than 0 and detect.c's AGAIN_SEED makes the sequence of yields.rng differ from the other sequences. */
#define YIELD_SEED 0xd1b54a32d192ed03ull
/*
 * Disarm a point that no CPU hits for 1 s if it keeps other points from being armed: at most 1024 points each time that the
 * rate is sampled.
 */
#define STALE_NS 1000000000u
#define TURNOVER 1024u
/*
 * On a target with at most 64 points, disarm unhit points after 50 ms: with 1 s for each point, sampling would cover few sites.
 */
#define FEW_POINTS 64u
#define FEW_STALE_NS 50000000u
/* 50 ms holds for up to 8 points. With more points the time grows in proportion, because arming is slow on such targets. */
#define FEW_AT_A_TIME 8u
/* In one iteration, stop choosing sites after 16 in a row that are on a page where no point may be planted (crowded()). */
#define CROWDED_MOST 16u

/* Count the armed sample points, and the `again` points among them. */
static void count_armed(struct detect *d, uint32_t *armed, uint32_t *again)
{
	pthread_mutex_lock(&d->lock);
	*armed = d->points.count - d->hooks;
	*again = d->points.again;
	pthread_mutex_unlock(&d->lock);
}

static bool few_points(const struct detect *d)
{
	return d->target->caps.pages || (d->target->caps.points && d->target->caps.points <= FEW_POINTS);
}

static uint32_t less(uint32_t most, uint32_t there)
{
	return most > there ? most - there : 0;
}

/*
 * Whether to arm one more point. Arm only while the hit budget is positive; it refills at the requested rate. A small, hot pool
 * spends points faster than k can adapt, so there arming waits for the budget. Arming also waits while the governor is in debt,
 * because hits would then be refused.
 */
static bool may_arm(const struct detect *d, const struct rate_control *control, uint64_t until)
{
	return control->budget > 0 && !control->in_debt && monotonic_ns() < until && !atomic_load(&d->life.stop);
}

/* Count the result of a try to arm a point. Returns 1 if a point was armed, 0 if not, -1 if the pool has no site. */
static int count_try(struct rate_control *control, enum arm_result result)
{
	control->planted += result == ARMED;
	control->refused += result == REFUSED;
	return result == NONE ? -1 : result == ARMED;
}

/*
 * Whether another site is to be chosen instead of this one, because hits in its function seldom open a window, or because the
 * site was tried several times lately and does not talk. In the second case, one of TRIED_PART such sites is kept nevertheless.
 */
static bool pass_over(struct detect *d, struct rate_control *control, uint64_t site)
{
	if (talkers_tried(&control->steering.talkers, site, control->last_ns) && rng_below(&control->yields.rng, TRIED_PART))
		return true;
	return yields_pass_over(&control->yields, pool_function(d->sampler.pool, site));
}

/*
 * Choose a site at random: in the functions that the guest was seen to run if `again` is set, otherwise in the whole pool. If
 * pass_over() rejects the site, because hits there are of little use now, choose another site instead. After PASSED_MOST
 * rejected sites, take the next site in any case. Returns the site's GVA, or 0 if no site was found.
 */
static uint64_t choose(struct detect *d, struct rate_control *control, bool again)
{
	for (unsigned tries = 0;; tries++) {
		uint64_t site = again ? pool_choose_executed(d->sampler.pool, &d->sampler.again_rng)
				      : pool_choose(d->sampler.pool, &d->sampler.choice_rng);

		if (!site || tries == PASSED_MOST || !pass_over(d, control, site))
			return site;
		control->passed_over++;
	}
}

/*
 * Uniformly chosen points reach the rate only if the guest runs enough of them. Otherwise put up to half of all points into
 * functions in which the guest has executed a sample point before. The guest is likely to run these functions again, and they
 * are decoded already.
 */
static void arm_again(struct detect *d, struct rate_control *control)
{
	uint64_t until = monotonic_ns() + ARM_NS;
	uint32_t armed, again, room;
	int armed_one = 0;

	count_armed(d, &armed, &again);
	room = less(d->sampler.wanted / 2, again);
	room = less(d->sampler.wanted, armed) < room ? less(d->sampler.wanted, armed) : room;
	/*
	 * Arm one `again` point at most for each hit that the guest can bear, because most of these points will be hit before
	 * the next iteration.
	 */
	if (control->again_budget < room)
		room = control->again_budget > 0 ? (uint32_t)control->again_budget : 0;
	for (unsigned tries = control->again; room && tries && armed_one >= 0 && may_arm(d, control, until); tries--) {
		armed_one = count_try(control, arm_site(d, choose(d, control, true), ARM_AGAIN));
		room -= armed_one > 0;
	}
}

/* Whether a point at this site would exceed the number of pages on which the target may have points. */
static bool crowded(struct detect *d, uint64_t addr)
{
	bool room;

	if (!d->target->caps.pages || !addr)
		return false;
	pthread_mutex_lock(&d->lock);
	room = point_page_free(&d->points, addr, d->target->caps.pages);
	pthread_mutex_unlock(&d->lock);
	return !room;
}

/*
 * Keep k points armed by uniform choice, less the reserve for arm_again(). There is no reserve if k covers the whole pool: the
 * reserved room would stay empty, and sites that the guest runs for the first time would be missed.
 */
static void arm_uniformly(struct detect *d, struct rate_control *control)
{
	uint64_t until = monotonic_ns() + ARM_NS;
	uint32_t armed, again, room;
	unsigned refused = 0;
	int armed_one = 0;

	count_armed(d, &armed, &again);
	room = less(d->sampler.wanted, armed);
	if (control->again && pool_sites(d->sampler.pool) > d->sampler.wanted &&
	    room > less(d->sampler.wanted - d->sampler.wanted / AGAIN_ROOM, armed - again))
		room = less(d->sampler.wanted - d->sampler.wanted / AGAIN_ROOM, armed - again);
	for (unsigned tries = ARMS_AT_A_TIME; room && tries && armed_one >= 0 && may_arm(d, control, until); tries--) {
		uint64_t site = choose(d, control, false);

		if (crowded(d, site)) {
			if (++refused == CROWDED_MOST)
				break;
			continue;
		}
		refused = 0;
		armed_one = count_try(control, arm_site(d, site, ARM_CHANCE));
		room -= armed_one > 0;
	}
	control->crowded |= refused == CROWDED_MOST;
	control->full = room == 0;
}

/* Returns the maximum number of sample points. Hooks use up the target's points, too, except where caps.lasting is set. */
static uint32_t most_points(struct detect *d)
{
	uint32_t most = MAX_SAMPLE_POINTS, hooks;

	pthread_mutex_lock(&d->lock);
	hooks = d->hooks;
	pthread_mutex_unlock(&d->lock);
	if (d->target->caps.lasting)
		hooks = 0;
	if (d->target->caps.points && d->target->caps.points < most + hooks)
		most = d->target->caps.points > hooks ? d->target->caps.points - hooks : 0;
	return most;
}

/* Arm the target sites that are due now, as far as there is room. */
static void arm_target_sites(struct detect *d, struct rate_control *control, uint64_t now)
{
	uint64_t until = monotonic_ns() + ARM_NS;
	uint32_t most = most_points(d);
	size_t n;

	/* Points may be on caps.pages pages only, and each target site may be on another page: arm at most that many sites. */
	if (d->target->caps.pages && d->target->caps.pages < most)
		most = d->target->caps.pages;
	n = target_sites_begin(d->sampler.target_sites, now, most);
	d->sampler.wanted = (uint32_t)(n < most ? n : most);
	if (n) /* 0 after the module was unloaded: then keep the last count */
		atomic_store(&d->sampler.site_count, n);
	for (size_t i = 0; i < n && may_arm(d, control, until); i++) {
		uint64_t addr = target_sites_due(d->sampler.target_sites, i);

		if (addr)
			count_try(control, arm_site(d, addr, ARM_CHANCE));
	}
}

/*
 * Arm steered points (steered.h). On a target with few points they would take the place of all others, and are not armed.
 */
static void arm_steered(struct detect *d, struct rate_control *control, bool rests, uint64_t now)
{
	uint32_t armed, again;

	if (few_points(d) || control->in_debt || control->budget <= 0)
		return;
	count_armed(d, &armed, &again);
	control->planted += steered_arm(d, &control->steering, less(d->sampler.wanted, armed), !rests, now);
}

static void arm(struct detect *d, struct rate_control *control, uint64_t now)
{
	bool rests = monotonic_ns() < control->rest_until;
	uint64_t began = thread_cpu_ns(), took;
	uint32_t armed, again;

	confirm_step(d, now);
	if (d->sampler.target_sites) {
		arm_target_sites(d, control, now);
	} else {
		arm_steered(d, control, rests, now);
		arm_again(d, control);
		if (!rests)
			arm_uniformly(d, control);
	}
	count_armed(d, &armed, &again);
	control->armed_most = armed > control->armed_most ? armed : control->armed_most;
	took = thread_cpu_ns() - began;
	control->arming_ns += took;
	/*
	 * Rest, to leave the CPU to the guest. On a target that stops the machine for arming, the longer time between
	 * iterations limits the sampler's share of the CPU instead.
	 */
	if (!rests && !d->target->caps.costly_stops)
		control->rest_until = monotonic_ns() + REST * took;
}

/* Disarm up to DISARMS_AT_A_TIME sample points, but keep k armed. Returns whether more points may have to be disarmed. */
static bool disarm_some(struct detect *d)
{
	unsigned quota = DISARMS_AT_A_TIME;

	detect_enter(d);
	for (uint32_t i = d->points.count; quota && i-- > 0 && d->points.count - d->hooks > d->sampler.wanted;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (point->window || point->hook)
			continue;
		points_remove(&d->points, point);
		quota--;
	}
	detect_leave(d);
	return !quota;
}

/* Disarm sample points down to k, in batches, so that CPUs that stop meanwhile do not wait for all of them. */
static void disarm_excess(struct detect *d)
{
	while (disarm_some(d))
		;
}

/* Returns how long a point may stay unhit before it is disarmed, in ns. */
static uint64_t patience(const struct detect *d)
{
	uint32_t armed = d->points.count - d->hooks;

	if (!few_points(d))
		return STALE_NS;
	return FEW_STALE_NS * (uint64_t)(armed > FEW_AT_A_TIME ? armed : FEW_AT_A_TIME) / FEW_AT_A_TIME;
}

/*
 * Disarm points that no CPU hit for a while (patience()), beginning where the last call ended. Otherwise, once the number of
 * points is at its limit, a new point would only take the place of a point that was hit, and in the end all points would be in
 * code that never runs. On a target with a limited number of points, disarm all stale points at once. On other targets disarm
 * at most TURNOVER points, because arming others in their place costs time.
 */
static void disarm_stale(struct detect *d, struct rate_control *control, uint64_t now)
{
	uint32_t quota = d->target->caps.points ? UINT32_MAX : TURNOVER;
	uint64_t wait;

	detect_enter(d);
	wait = patience(d);
	for (uint32_t looked = d->points.count; looked && quota && d->points.count; looked--) {
		uint32_t at = control->turn % d->points.count;
		struct point *point = &d->points.slots[d->points.armed[at]];

		/* points_remove() moves the last point to this index, so look at the same index again. */
		control->turn = at + 1;
		if (point->window || point->hook || point->planted_ns + wait >= now)
			continue;
		points_remove(&d->points, point);
		control->turn = at;
		control->stale++;
		quota--;
	}
	detect_leave(d);
}

static uint32_t first_points(struct detect *d)
{
	uint32_t most = most_points(d);

	return FIRST_POINTS < most ? FIRST_POINTS : most;
}

/*
 * Adapt the number of hits/s that the guest can bear. On a slow or busy host each stop takes long. Without this limit the
 * requested rate would leave the guest no time for its own work, and its kernel would report stalls.
 */
static void adapt_bearable(const struct detect *d, struct rate_control *control, uint64_t now, double rate)
{
	double most = (double)(now - control->adapt_ns) * d->target->caps.cpus / STOPPED_PART, took;
	struct target_stats stats;

	target_stats(d->target, &stats);
	took = (double)(stats.stopped_ns - control->stopped_ns);
	control->stopped_ns = stats.stopped_ns;
	if (took > most)
		control->bearable = rate * most / took;
	else
		control->bearable += control->bearable / 4 + 1;
	if (control->bearable > control->rate)
		control->bearable = control->rate;
}

/*
 * Raise control->again, the tries per iteration to arm an `again` point, when hits are too few and a larger k would not help: k
 * is at its limit, or more than a quarter of the k points could not be armed. Lower control->again when the rate is reached, so
 * that as many choices as possible are uniform.
 */
static void adapt_again(const struct detect *d, struct rate_control *control, double rate, bool at_limit, uint32_t armed)
{
	bool more_will_not_help = at_limit || armed < d->sampler.wanted - d->sampler.wanted / 4;

	if (few_points(d))
		return; /* `again` points would put all of the few points into the same functions */
	if (rate >= 0.95 * control->rate)
		control->again -= control->again / 4 + (control->again != 0);
	else if (rate < 0.8 * control->rate && more_will_not_help && control->again < AGAIN_MOST)
		control->again += AGAIN_STEP;
}

/* Raise k when hits are too few, lower it when they are too many. In between k stays. */
static void adapt(struct detect *d, struct rate_control *control, uint64_t now)
{
	uint32_t wanted = d->sampler.wanted;
	double rate = (double)(control->hits - control->adapt_hits) * 1e9 / (double)(now - control->adapt_ns);
	uint64_t sites = pool_sites(d->sampler.pool);
	uint32_t limit = most_points(d), most = sites && sites < limit ? (uint32_t)sites : limit, armed, again;

	count_armed(d, &armed, &again);

	/*
	 * Set `starved` only if no more points, or no more pages with points, are possible. Otherwise disarming stale points
	 * does not help.
	 */
	control->starved =
		rate < 0.8 * control->rate &&
		(control->crowded || (limit < sites && d->sampler.wanted == limit && (few_points(d) || control->full)));
	control->crowded = false;
	adapt_bearable(d, control, now, rate);
	adapt_again(d, control, rate, d->sampler.wanted == most, armed);
	/* As long as the pool is empty, because its module is not loaded, the hit rate is no reason to change k. */
	if (!sites)
		d->sampler.wanted = first_points(d);
	else if (rate < 0.5 * control->rate && !control->in_debt)
		d->sampler.wanted *= 2;
	else if (rate < 0.8 * control->rate && !control->in_debt)
		d->sampler.wanted += d->sampler.wanted / 4 + 1;
	else if (rate > 1.2 * control->rate)
		d->sampler.wanted -= d->sampler.wanted / 4;
	if (d->sampler.wanted > most)
		d->sampler.wanted = most;
	control->full = control->full && d->sampler.wanted <= wanted;
	control->adapt_hits = control->hits;
	control->adapt_ns = now;
	if (sites) /* 0 after the module was unloaded: then keep the last count */
		atomic_store(&d->sampler.site_count, sites);
	if (armed > d->sampler.wanted)
		disarm_excess(d);
	if (control->starved && !few_points(d))
		disarm_stale(d, control, now);
}

/* Returns the CPU time that open windows may still take, in ns. Called with d->lock held. */
static double outstanding(const struct detect *d, uint64_t now)
{
	double ns = 0;

	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		const struct window *w = &d->hit.windows[c];
		uint64_t end = w->opened_ns + w->hold_ns;

		ns += w->open && end > now ? (double)(end - now) : 0;
	}
	return ns + device_window_left(&d->hit.device_window, now);
}

/*
 * Sample the lost CPU time. With config.overhead, give the sample to the governor, and use the governor's rate, at most
 * config.rate, as the target rate.
 */
static void govern(struct detect *d, struct rate_control *control, uint64_t now)
{
	struct governor_sample sample = {.now_ns = now};
	struct target_stats stats;

	target_stats(d->target, &stats);
	sample.lost_ns = stats.lost_ns;
	pthread_mutex_lock(&d->lock);
	d->sampler.lost_ns = stats.lost_ns;
	d->sampler.still_ns = stats.still_ns;
	/* While a request is held, a task of the guest waits for it: count that as lost CPU time. */
	sample.lost_ns += d->stats.device_held_ns;
	sample.hits = d->stats.hits;
	sample.refused = d->hit.refused_hits;
	if (d->config.overhead) {
		governor_step(&control->governor, &sample);
		d->hit.credit_ns = control->governor.allowance.credit_ns - outstanding(d, now);
		control->rate = control->governor.rate;
		control->in_debt = governor_in_debt(&control->governor);
	}
	pthread_mutex_unlock(&d->lock);
}

/* A CPU executed this sample point: update the callee's counts, the list of executed functions, the news and the yield. */
static void learn(struct detect *d, struct rate_control *control, const struct executed_point *executed, uint64_t now)
{
	bool other_caller = executed->result == HIT_OTHER_CALLER;

	if (d->callees)
		callees_executed(d->callees, executed->addr, other_caller, now);
	if (other_caller)
		return;
	pool_executed(d->sampler.pool, executed->addr);
	steered_learn(d, &control->steering, executed, now);
	if (executed->result != HIT_REFUSED)
		yields_count(&control->yields, pool_function(d->sampler.pool, executed->addr), executed->result == HIT_USEFUL);
}

static void refill(struct detect *d, struct rate_control *control, uint64_t now)
{
	double burst = control->rate * 0.1 + 1, seconds = (double)(now - control->last_ns) / 1e9;
	struct executed_point executed[EXECUTED_KEPT];
	uint64_t hits, n;

	pthread_mutex_lock(&d->lock);
	hits = d->stats.hits;
	d->stats.refused = control->refused;
	d->stats.planted = control->planted;
	d->stats.stale = control->stale;
	d->stats.passed_over = control->passed_over;
	d->stats.arming_ns = control->arming_ns;
	d->stats.armed_most = control->armed_most;
	n = d->stats.executed - control->executed_told;
	n = n < EXECUTED_KEPT ? n : EXECUTED_KEPT;
	for (uint64_t i = 0; i < n; i++)
		executed[i] = d->hit.executed[(d->stats.executed - 1 - i) % EXECUTED_KEPT];
	control->executed_told = d->stats.executed;
	pthread_mutex_unlock(&d->lock);
	for (uint64_t i = 0; i < n; i++) {
		learn(d, control, &executed[i], now);
	}
	if (d->callees)
		callees_step(d->callees, now);
	steered_refill(d, &control->steering, control->rate, seconds, now);
	control->budget += seconds * control->rate - (double)(hits - control->hits);
	if (control->budget > burst)
		control->budget = burst;
	control->again_budget += seconds * control->bearable - (double)(hits - control->hits);
	if (control->again_budget > control->bearable * 0.1 + 1)
		control->again_budget = control->bearable * 0.1 + 1;
	if (control->again_budget < -burst)
		control->again_budget = -burst;
	/*
	 * With config.overhead, bound how far the hit budget falls below 0. CPU time for the surplus hits was already taken
	 * from the governor's credit, so waiting for the hit budget as well would count them twice.
	 */
	if (d->config.overhead && control->budget < -burst)
		control->budget = -burst;
	control->hits = hits;
	control->last_ns = now;
}

/*
 * Disarm most points at once, because hits cost more than the guest can bear even without windows: for example, an idle guest
 * woke up and runs into all points that were armed meanwhile. Adapting k step by step would take seconds.
 */
static void brake(struct detect *d)
{
	d->sampler.wanted = d->sampler.wanted > BRAKE ? d->sampler.wanted / BRAKE : 1;
	disarm_excess(d);
}

static void govern_from_now(struct detect *d, struct rate_control *control)
{
	const struct governor_config config = {.share = d->config.overhead,
					       .cpus = d->target->caps.cpus,
					       .most_rate = d->config.rate,
					       .window_ns = d->config.delay_ns};
	struct governor_sample first = {.now_ns = monotonic_ns()};
	struct target_stats stats;

	target_stats(d->target, &stats);
	first.lost_ns = stats.lost_ns;
	governor_init(&control->governor, &config, &first);
	control->rate = control->governor.rate;
}

void rate_init(struct detect *d, struct rate_control *control)
{
	*control = (struct rate_control){
		.adapt_ns = monotonic_ns(), .last_ns = monotonic_ns(), .budget = 1, .rate = d->config.rate};
	if (d->config.overhead)
		govern_from_now(d, control);
	control->bearable = control->rate;
	yields_init(&control->yields, d->config.seed ^ YIELD_SEED);
	d->sampler.wanted = first_points(d);
}

/*
 * Whether to adapt k now. ADAPT_NS must have passed since the last time, and one of these must be true: ADAPT_HITS hits were
 * expected since then; twice as many came, which is enough to know the rate; ADAPT_MOST_NS have passed.
 */
static bool adapt_is_due(const struct detect *d, const struct rate_control *control, uint64_t now)
{
	uint64_t elapsed = now - control->adapt_ns;
	double expected = control->rate * (double)elapsed / 1e9, hits = (double)(control->hits - control->adapt_hits);

	if (d->sampler.target_sites || elapsed < ADAPT_NS)
		return false;
	return expected >= ADAPT_HITS || hits >= 2 * ADAPT_HITS || elapsed >= ADAPT_MOST_NS;
}

void rate_step(struct detect *d, struct rate_control *control, uint64_t now)
{
	uint64_t hits = control->hits;

	govern(d, control, now);
	refill(d, control, now);
	if (control->in_debt && control->hits != hits)
		brake(d);
	if (adapt_is_due(d, control, now))
		adapt(d, control, now);
	/* Stop the guest once, for disarming and arming together. */
	target_enter(d->target);
	if (control->starved && few_points(d))
		disarm_stale(d, control, now);
	arm(d, control, now);
	target_leave(d->target);
}
