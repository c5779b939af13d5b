/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector's life cycle (detect.h): creates the detector, starts and ends its threads, takes all breakpoints out, and
 * returns the detector's counts.
 */
#include "hv/detect/detect.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/lock_follower.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/report/reporter.h"
#include "hv/detect/sampler.h"
#include "hv/detect/steer/callees.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/pool.h"
#include "hv/detect/steer/target_sites.h"
#include "hv/detect/window/device_window.h"
#include "hv/detect/window/rendezvous.h"
#include "hv/detect/window/stops.h"
#include "hv/detect/window/window.h"
#include "hv/race/site.h"

#define AGAIN_SEED 0x9e3779b97f4a7c15ull /* for again_rng: any constant but 0 gives another sequence than choice_rng's */
#define CLOSE_NS 300000000u		 /* detect_stop() gives held CPUs this long to end their windows, in ns */

static int init_sync(struct detect *d)
{
	pthread_condattr_t attr;

	if (pthread_mutex_init(&d->lock, NULL) || pthread_condattr_init(&attr))
		return -1;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->hit.queued, &attr);
	pthread_cond_init(&d->sampler.tick, &attr);
	pthread_cond_init(&d->sampler.modules_polled, &attr);
	pthread_cond_init(&d->lock_moment, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static bool source_eligible(void *ctx, const struct symbol *fn)
{
	struct detect *d = ctx;

	return guest_may_sample(d->guest, fn);
}

static int source_code(void *ctx, uint64_t gva, void *buf, size_t len)
{
	return detect_code(ctx, gva, buf, len);
}

/*
 * Returns the weights of the function at this GVA. The weights of single sites are used only for the build of the kernel that
 * they were made with, because offsets differ between builds.
 */
static struct prefer_weights source_weights(void *ctx, uint64_t gva)
{
	struct detect *d = ctx;
	struct prefer_weights weights;
	char name[SITE_NAME_MAX] = "";
	struct guest_symbol symbol = {0};

	if (guest_symbol_at(d->guest, gva, &symbol) == 0)
		site_function(&symbol, name);
	weights = prefer_find(d->config.prefer, name);
	if (!d->sampler.sites_preferred)
		weights.count = 0;
	return weights;
}

static struct pool *make_pool(struct detect *d)
{
	const struct pool_source source = {.eligible = source_eligible,
					   .code = source_code,
					   .weights = d->config.prefer ? source_weights : NULL,
					   .ctx = d};
	const struct pool_filter filter = {.sample = d->config.sample, .per_cpu = d->config.per_cpu || d->config.known_races};

	return pool_new(&source, &filter);
}

struct detect *detect_new(struct target *target, struct guest *guest, const struct detect_config *config,
			  const struct detect_sink *sink, struct err *err)
{
	struct detect *d = calloc(1, sizeof(*d));

	if (!d || init_sync(d))
		goto fail;
	d->target = target;
	d->guest = guest;
	d->config = *config;
	d->sink = *sink;
	/*
	 * Use three random sequences: one for uniform choices of sites, one for delays, and one for choices among functions
	 * that the guest was seen to run. The guest decides how many delays and how many choices of the last kind are made.
	 * With a single sequence, their number would change which sites are chosen next, even with the same seed.
	 */
	d->sampler.choice_rng.state = config->seed;
	d->hit.delay_rng.state = ~config->seed;
	d->sampler.again_rng.state = config->seed ^ AGAIN_SEED;
	d->sampler.decoder = insn_decoder_new();
	d->confirmer = confirm_new();
	d->sampler.pool = make_pool(d);
	if (config->callee_depth)
		d->callees = callees_new(d);
	if (config->coverage)
		d->coverage = coverage_new(&d->lock);
	if (config->known_races)
		d->sampler.target_sites = target_sites_new(d);
	if (config->locks)
		d->locks = locks_new(d);
	if ((config->locks && !d->locks) || (config->callee_depth && !d->callees) ||
	    (config->known_races && !d->sampler.target_sites) || (config->coverage && !d->coverage) || !d->confirmer ||
	    !d->sampler.pool || !d->sampler.decoder || queue_init(&d->hit.observations) ||
	    points_init(&d->points, target, MAX_SAMPLE_POINTS + MAX_HOOKS) || device_window_init(d))
		goto fail;
	stops_init(d);
	return d;
fail:
	err_set(err, EXIT_INTERNAL, "out of memory for the detector");
	detect_free(d);
	return NULL;
}

const struct target_client *detect_client(struct detect *d)
{
	return &d->client;
}

int detect_start(struct detect *d, struct err *err)
{
	if (pthread_create(&d->life.reporter, NULL, reporter_main, d))
		return err_set(err, EXIT_INTERNAL, "cannot start the reporter's thread");
	d->life.reporter_started = true;
	if (d->locks && pthread_create(&d->life.lock_follower, NULL, lock_follower_main, d))
		return err_set(err, EXIT_INTERNAL, "cannot start the thread that follows locks");
	d->life.lock_follower_started = d->locks;
	if (rendezvous_start(d, err))
		return -1;
	if (pthread_create(&d->life.sampler, NULL, sampler_main, d))
		return err_set(err, EXIT_INTERNAL, "cannot start the sampler's thread");
	d->life.sampler_started = true;
	return 0;
}

static void wait_windows(struct detect *d)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until = monotonic_ns() + CLOSE_NS;
	bool open = true;

	while (open && !atomic_load(&d->target->over) && monotonic_ns() < until) {
		pthread_mutex_lock(&d->lock);
		open = d->hit.open_windows;
		pthread_mutex_unlock(&d->lock);
		if (open)
			nanosleep(&pause, NULL);
	}
}

/*
 * Remove every point without a window, release held CPUs, and close the windows that remain. After this no INT3 of the
 * detector is left in guest text.
 */
static void disarm_all(struct detect *d)
{
	detect_enter(d);
	d->life.closing = true;
	d->hooks = 0;
	for (uint32_t i = d->points.count; i-- > 0;) {
		struct point *point = &d->points.slots[d->points.armed[i]];

		if (!point->window)
			points_remove(&d->points, point);
	}
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (d->hit.windows[c].open)
			target_release(d->target, c);
	}
	device_window_end(d);
	detect_leave(d);
	wait_windows(d);
	detect_enter(d);
	for (unsigned c = 0; c < d->target->caps.cpus; c++) {
		if (d->hit.windows[c].open)
			window_close(d, &d->hit.windows[c]);
	}
	detect_leave(d);
}

void detect_stop(struct detect *d)
{
	pthread_mutex_lock(&d->lock);
	atomic_store(&d->life.stop, true);
	d->life.ended_ns = monotonic_ns();
	pthread_cond_broadcast(&d->sampler.tick);
	pthread_cond_broadcast(&d->sampler.modules_polled);
	pthread_mutex_unlock(&d->lock);
	guest_cancel_polls(d->guest);
	if (d->life.sampler_started)
		pthread_join(d->life.sampler, NULL);
	d->life.sampler_started = false;
	rendezvous_stop(d);

	disarm_all(d);

	pthread_mutex_lock(&d->lock);
	d->life.reporter_stop = true;
	pthread_cond_broadcast(&d->hit.queued);
	pthread_cond_broadcast(&d->lock_moment);
	pthread_mutex_unlock(&d->lock);
	if (d->life.reporter_started)
		pthread_join(d->life.reporter, NULL);
	d->life.reporter_started = false;
	if (d->life.lock_follower_started)
		pthread_join(d->life.lock_follower, NULL);
	d->life.lock_follower_started = false;
}

uint64_t detect_sampled_ns(struct detect *d)
{
	uint64_t started = atomic_load(&d->life.started_ns);

	return started ? monotonic_ns() - started : 0;
}

uint64_t detect_ready_ns(const struct detect *d)
{
	uint64_t ready = atomic_load(&d->life.ready_ns);

	return ready ? monotonic_ns() - ready + 1 : 0;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Store the detector's own counts and the target's lost_ns and still_ns in *out. Called with d->lock held. */
static void count(struct detect *d, struct detect_stats *out)
{
	*out = d->stats;
	out->sites = atomic_load(&d->sampler.site_count);
	out->armed = d->points.count - d->hooks;
	out->asked_rate = d->config.rate;
	out->cpus = d->target->caps.cpus;
	if (!d->life.started_ns)
		return;
	out->target.lost_ns = grown(d->sampler.lost_ns, d->life.stats_before.lost_ns);
	out->target.still_ns = grown(d->sampler.still_ns, d->life.stats_before.still_ns);
	out->sampling_ns = (d->life.ended_ns ? d->life.ended_ns : monotonic_ns()) - d->life.started_ns;
	if (d->life.ended_ns && d->life.ended_ns < d->life.started_ns)
		out->sampling_ns = 0; /* no time was sampled: detect_stop() came while the first point was being armed */
}

bool detect_try_stats(struct detect *d, struct detect_stats *out)
{
	if (pthread_mutex_trylock(&d->lock))
		return false;
	count(d, out);
	pthread_mutex_unlock(&d->lock);
	return true;
}

void detect_stats(struct detect *d, struct detect_stats *out)
{
	struct target_stats now;

	target_stats(d->target, &now);
	pthread_mutex_lock(&d->lock);
	count(d, out);
	if (d->life.started_ns) {
		const struct target_stats *before = &d->life.stats_before;

		out->target = (struct target_stats){
			.exits = now.exits - before->exits,
			.debug_exits = now.debug_exits - before->debug_exits,
			.stale_exits = now.stale_exits - before->stale_exits,
			.kicks = now.kicks - before->kicks,
			.ioctls = now.ioctls - before->ioctls,
			.stopped_ns = now.stopped_ns - before->stopped_ns,
			.lost_ns = now.lost_ns - before->lost_ns,
			.still_ns = now.still_ns - before->still_ns,
			.reinjected = now.reinjected - before->reinjected,
		};
	}
	pthread_mutex_unlock(&d->lock);
}

bool detect_confirm(struct detect *d, uint64_t a, uint64_t b)
{
	bool added;

	pthread_mutex_lock(&d->lock);
	added = confirm_add(d->confirmer, a, b);
	pthread_mutex_unlock(&d->lock);
	return added;
}

void detect_confirm_end(struct detect *d, uint64_t a, uint64_t b)
{
	pthread_mutex_lock(&d->lock);
	confirm_end(d->confirmer, a, b);
	pthread_mutex_unlock(&d->lock);
}

bool detect_confirm_reached(struct detect *d, uint64_t a, uint64_t b, uint64_t reached[2])
{
	bool there;

	pthread_mutex_lock(&d->lock);
	there = confirm_get(d->confirmer, a, b, reached);
	pthread_mutex_unlock(&d->lock);
	return there;
}

struct pair_order detect_confirm_order(struct detect *d, uint64_t a, uint64_t b)
{
	struct pair_order order = {0};

	pthread_mutex_lock(&d->lock);
	confirm_order(d->confirmer, a, b, &order);
	pthread_mutex_unlock(&d->lock);
	return order;
}

void detect_follow_fate(struct detect *d, uint64_t pc, uint64_t first, uint64_t second, const struct lock_test *test,
			bool suspected)
{
	if (!d->locks)
		return;
	pthread_mutex_lock(&d->lock);
	fates_follow(locks_fates(d->locks), pc, first, second, test, suspected);
	pthread_mutex_unlock(&d->lock);
}

size_t detect_fates(struct detect *d, struct section_fate *out, size_t max)
{
	const struct fates *fates = d->locks ? locks_fates(d->locks) : NULL;
	size_t n = 0;

	if (!fates)
		return 0;
	pthread_mutex_lock(&d->lock);
	n = fates->count < max ? fates->count : max;
	for (size_t i = 0; i < n; i++)
		out[i] = fates->list[i].fate;
	pthread_mutex_unlock(&d->lock);
	return n;
}

size_t detect_section_pairs(struct detect *d, struct section_pair *out, size_t max)
{
	const struct sections *sections = d->locks ? locks_sections(d->locks) : NULL;
	size_t n = 0;

	if (!sections)
		return 0;
	pthread_mutex_lock(&d->lock);
	n = sections->pair_count < max ? sections->pair_count : max;
	memcpy(out, sections->pairs, n * sizeof(*out));
	pthread_mutex_unlock(&d->lock);
	return n;
}

struct coverage *detect_coverage(const struct detect *d)
{
	return d->coverage;
}

void detect_free(struct detect *d)
{
	if (!d)
		return;
	points_fini(&d->points);
	confirm_free(d->confirmer);
	locks_free(d->locks);
	target_sites_free(d->sampler.target_sites);
	pool_free(d->sampler.pool);
	callees_free(d->callees);
	coverage_free(d->coverage);
	insn_decoder_free(d->sampler.decoder);
	queue_fini(&d->hit.observations);
	device_window_fini(d);
	pthread_cond_destroy(&d->hit.queued);
	pthread_cond_destroy(&d->sampler.tick);
	pthread_cond_destroy(&d->sampler.modules_polled);
	pthread_cond_destroy(&d->lock_moment);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
