/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor over a machine that is simulated: load, costs and chance are what a test says, and time is a count. What must
 * come out is the share that was asked for, whatever the costs are, and no more than that by much after anything changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/detect/steer/governor.h"

#define TICK_NS UINT64_C(10000000)
#define SECOND UINT64_C(1000000000)
#define CPUS 4
#define WINDOW_NS 10000000.0

/* The machine: how many hits a second there would be for each that the governor asks for, and what they cost. */
struct plant {
	struct governor g;
	struct governor_sample counts;
	struct rng rng;
	double most_hits;   /* The guest runs no more of what is armed, however much this is. */
	double response;    /* Hits that come for each that the governor asks for. */
	double window_cost; /* The CPU time that a hit takes with a window, and without one, in ns. */
	double stop_cost;
	double noise; /* A window costs up to this many times more or less. */
};

static double chance(struct plant *p)
{
	return (double)rng_below(&p->rng, 1u << 30) / (double)(1u << 30);
}

static void begin(struct plant *p, double share)
{
	const struct governor_config config = {
		.share = share, .cpus = CPUS, .most_rate = 1e6, .window_ns = (uint64_t)WINDOW_NS};

	*p = (struct plant){.counts = {.now_ns = 12345 * SECOND, .lost_ns = 7 * SECOND, .hits = 99, .refused = 9},
			    .rng = {.state = 1},
			    .most_hits = 1e5,
			    .response = 1,
			    .window_cost = WINDOW_NS,
			    .stop_cost = 50000,
			    .noise = 1};
	governor_init(&p->g, &config, &p->counts);
}

static double window_cost(struct plant *p)
{
	return p->window_cost * pow(p->noise, 2 * chance(p) - 1);
}

static void tick(struct plant *p)
{
	double rate = fmin(p->g.rate * p->response, p->most_hits), expected = rate * (double)TICK_NS / 1e9;
	double credit = p->g.allowance.credit_ns;

	/* As a sum of many rare events, so that they come in heaps and with gaps. */
	for (unsigned i = 0; i < 100; i++) {
		unsigned hits = (unsigned)(expected / 100) + (chance(p) < fmod(expected / 100, 1));

		for (unsigned h = 0; h < hits; h++) {
			double cost = credit > 0 ? window_cost(p) : p->stop_cost;

			p->counts.hits++;
			p->counts.refused += credit <= 0;
			p->counts.lost_ns += (uint64_t)cost;
			if (credit > 0)
				credit -= WINDOW_NS;
		}
	}
	p->counts.now_ns += TICK_NS;
	governor_step(&p->g, &p->counts);
}

/* Run for `seconds`. Returns the share of the CPUs' time that was lost meanwhile. */
static double run(struct plant *p, double seconds)
{
	uint64_t lost = p->counts.lost_ns, until = p->counts.now_ns + (uint64_t)(seconds * 1e9);

	while (p->counts.now_ns < until)
		tick(p);
	return (double)(p->counts.lost_ns - lost) / (seconds * 1e9 * CPUS);
}

static void assert_share(double share, double asked)
{
	print_message("# asked %.4f, reached %.4f\n", asked, share);
	assert_true(share > 0.9 * asked);
	assert_true(share < 1.1 * asked);
}

static const double asked[] = {0.01, 0.05, 0.2, 0.5};
#define ASKED_COUNT (sizeof(asked) / sizeof(asked[0]))

/* Beside the share itself, one window may be over, and what the hits of one tick cost before anybody looks. */
static void assert_no_more(double share, double most, double seconds)
{
	print_message("# at most %.4f, reached %.4f\n", most, share);
	assert_true(share <= most * 1.1 + WINDOW_NS / (seconds * 1e9 * CPUS));
}

static void share_is_held(void **state)
{
	(void)state;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		struct plant p;

		begin(&p, asked[i]);
		run(&p, 5);
		assert_share(run(&p, 60), asked[i]);
	}
}

static void first_second_does_not_overshoot(void **state)
{
	(void)state;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		struct plant p;

		begin(&p, asked[i]);
		assert_no_more(run(&p, 1), asked[i], 1);
	}
}

/* Windows end early, cost much more than their length, or vary. Neither is known before. */
static void any_cost_is_followed(void **state)
{
	static const double costs[] = {WINDOW_NS / 100, WINDOW_NS / 4, WINDOW_NS * 4};

	(void)state;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		for (size_t c = 0; c < sizeof(costs) / sizeof(costs[0]); c++) {
			struct plant p;

			begin(&p, asked[i]);
			p.window_cost = costs[c];
			p.noise = 3;
			run(&p, 10);
			assert_share(run(&p, 120), asked[i]);
		}
	}
}

/* It takes as long as the costs demand until they are paid for. Over that time the share is held all the same. */
static void hundred_times_the_cost_is_paid_for(void **state)
{
	struct plant p;
	double share;

	(void)state;
	begin(&p, 0.2);
	p.window_cost = 100 * WINDOW_NS;
	share = run(&p, 2000);
	assert_share(share, 0.2);
	/* What comes first cannot be known: one such window for each that the first guess pays for. */
	begin(&p, 0.2);
	p.window_cost = 100 * WINDOW_NS;
	run(&p, 5);
	assert_true(p.g.rate < 10);
	/* Then windows are cheap again, and the debt is paid: the rate comes back. */
	p.window_cost = WINDOW_NS;
	run(&p, 60);
	assert_share(run(&p, 60), 0.2);
}

/* A stop alone costs as much as a window: hits that are refused are no way out, and fewer must be provoked. */
static void dear_stops_are_provoked_less(void **state)
{
	struct plant p;

	(void)state;
	begin(&p, 0.05);
	p.stop_cost = WINDOW_NS / 2;
	run(&p, 10);
	/* The plant has no rate control, which plants nothing while in debt: the rate alone must follow. */
	assert_true(run(&p, 120) < 0.1);
	assert_true(p.g.surplus < 2);
}

static void load_comes_and_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		struct plant p;
		double lost = 0;

		begin(&p, asked[i]);
		run(&p, 5);
		for (unsigned step = 0; step < 20; step++) {
			/* The same sites are run ten times as often, or a tenth, until the points have followed. */
			p.response = step % 2 ? 10 : 0.8;
			lost += run(&p, 1);
			p.response = 1;
			lost += run(&p, 4) * 4;
		}
		assert_share(lost / 100, asked[i]);
	}
}

/* What an idle guest did not use is not made up for. */
static void idle_time_is_not_made_up_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		struct plant p;

		begin(&p, asked[i]);
		run(&p, 10);
		p.most_hits = 0;
		assert_true(run(&p, 60) < asked[i] / 100);
		p.most_hits = 1e5;
		/* A second's worth is saved up, or some windows. */
		assert_no_more(run(&p, 5), asked[i] * 1.2 + 4 * WINDOW_NS / (5e9 * CPUS), 5);
		assert_share(run(&p, 60), asked[i]);
	}
}

static void the_rate_is_the_other_limit(void **state)
{
	struct plant p;
	double hits;

	(void)state;
	begin(&p, 0.5);
	p.g.config.most_rate = 20;
	run(&p, 5);
	hits = (double)p.counts.hits;
	assert_true(run(&p, 60) < 0.06);
	hits = ((double)p.counts.hits - hits) / 60;
	assert_true(hits > 18 && hits < 22);
}

/* Whatever the counts say, the rate is a number that rate control can keep. */
static void nonsense_is_survived(void **state)
{
	struct plant p;

	(void)state;
	begin(&p, 0.05);
	for (unsigned i = 0; i < 100000; i++) {
		struct governor_sample s = {.now_ns = rng_below(&p.rng, UINT64_MAX),
					    .lost_ns = rng_below(&p.rng, UINT64_MAX),
					    .hits = rng_below(&p.rng, UINT64_MAX),
					    .refused = rng_below(&p.rng, UINT64_MAX)};

		governor_step(&p.g, &s);
		assert_true(p.g.rate > 0 && p.g.rate <= 1e6);
		assert_true(isfinite(p.g.allowance.credit_ns));
		assert_true(p.g.surplus >= 1 && p.g.surplus <= 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share_is_held),
		cmocka_unit_test(first_second_does_not_overshoot),
		cmocka_unit_test(any_cost_is_followed),
		cmocka_unit_test(hundred_times_the_cost_is_paid_for),
		cmocka_unit_test(dear_stops_are_provoked_less),
		cmocka_unit_test(load_comes_and_goes),
		cmocka_unit_test(idle_time_is_not_made_up_for),
		cmocka_unit_test(the_rate_is_the_other_limit),
		cmocka_unit_test(nonsense_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
