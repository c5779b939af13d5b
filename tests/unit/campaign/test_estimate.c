// SPDX-License-Identifier: GPL-2.0-or-later
/* The estimate of what is unseen: against figures worked out by hand, and against worlds of which everything is known. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/campaign/learn/estimate.h"

#define SPECIES_MAX 400u

static void assert_near(double value, double expected)
{
	if (fabs(value - expected) > 0.01 * expected)
		fail_msg("%g is not near %g", value, expected);
}

/*
 * 100 seen, 30 once and 10 twice. Unseen: 30 * 29 / (2 * 11) = 39.545. Its variance: 39.545 + 30 * 59^2 / (4 * 11^2) +
 * 30^2 * 10 * 29^2 / (4 * 11^4) = 39.545 + 215.764 + 129.244 = 384.553. The factor: exp(1.96 sqrt(log(1 + 384.553 / 39.545^2)))
 * = exp(1.96 * 0.46876) = 2.506.
 */
static void figures_by_hand(void **state)
{
	struct learn_estimate e = learn_chao1(&(struct learn_counts){.observed = 100, .once = 30, .twice = 10});

	(void)state;
	assert_true(e.known);
	assert_near(e.pairs, 139.545);
	assert_near(e.low, 100 + 39.545 / 2.506);
	assert_near(e.high, 100 + 39.545 * 2.506);
	/* Of 4 runs, three quarters of it. */
	e = learn_chao1(&(struct learn_counts){.observed = 100, .once = 30, .twice = 10, .runs = 4});
	assert_near(e.pairs, 100 + 39.545 * 0.75);
	/* None twice: 5 * 4 / 2 = 10; variance 10 + 5 * 81 / 4 - 625 / (4 * 20) = 103.4. */
	e = learn_chao1(&(struct learn_counts){.observed = 10, .once = 5});
	assert_near(e.pairs, 20);
	assert_near(e.high, 10 + 10 * exp(1.96 * sqrt(log(1 + 103.4375 / 100))));
}

static void where_nothing_is_known(void **state)
{
	struct learn_estimate e = learn_chao1(&(struct learn_counts){0});

	(void)state;
	assert_false(e.known);
	assert_true(e.pairs == 0);
	e = learn_chao1(&(struct learn_counts){.observed = 7, .once = 7, .runs = 1});
	assert_false(e.known);
	assert_true(e.pairs == 7 && e.low == 7 && e.high == 7);
	e = learn_chao1(&(struct learn_counts){.observed = 7, .once = 1, .twice = 2});
	assert_true(e.known);
	assert_true(e.pairs == 7);
	e = learn_chao1(&(struct learn_counts){.observed = 7, .twice = 2});
	assert_true(e.pairs == 7 && e.high == 7);
}

/* Draw `draws` times from `species` kinds, of which kind i is as likely as `weight(i)` says, and estimate. */
static struct learn_estimate estimate_of(uint64_t seed, unsigned species, unsigned draws, double (*weight)(unsigned))
{
	struct learn_counts counts = {0};
	struct rng rng = {.state = seed};
	unsigned seen[SPECIES_MAX] = {0};
	double sum = 0;

	for (unsigned i = 0; i < species; i++)
		sum += weight(i);
	for (unsigned n = 0; n < draws; n++) {
		double at = sum * (double)rng_next(&rng) / 18446744073709551616.0;
		unsigned i = 0;

		while (i + 1 < species && (at -= weight(i)) >= 0)
			i++;
		seen[i]++;
	}
	for (unsigned i = 0; i < species; i++) {
		counts.observed += seen[i] > 0;
		counts.once += seen[i] == 1;
		counts.twice += seen[i] == 2;
	}
	return learn_chao1(&counts);
}

static double equal(unsigned i)
{
	(void)i;
	return 1;
}

static double uneven(unsigned i)
{
	return 1.0 / (1 + i % 40);
}

/* Where all kinds are equally likely, the interval of 95% holds the truth in most of 200 worlds. */
static void interval_holds_the_truth(void **state)
{
	unsigned held = 0;

	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct learn_estimate e = estimate_of(seed, 300, 400, equal);

		held += e.low <= 300 && 300 <= e.high;
	}
	print_message("# %u of 200 intervals hold the truth\n", held);
	assert_in_range(held, 180, 200);
}

/* Where they are not, the estimate is below the truth, as it says, and nearer to it than the count of what was seen. */
static void estimate_is_a_lower_bound(void **state)
{
	double sum = 0, seen = 0;

	(void)state;
	for (unsigned seed = 0; seed < 100; seed++) {
		struct learn_estimate e = estimate_of(seed, 400, 500, uneven);

		sum += e.pairs;
		seen += e.low;
	}
	print_message("# of 400: on average %.0f estimated, %.0f at the lower end\n", sum / 100, seen / 100);
	assert_true(sum / 100 < 400);
	assert_true(sum / 100 > 300);
}

static void what_was_missed_by_hand(void **state)
{
	double few;

	(void)state;
	assert_float_equal(learn_missed(1, 100, 0), 1, 1e-9);
	assert_float_equal(learn_missed(1, 100, 100), 0.5, 1e-9);
	assert_float_equal(learn_missed(3, 100, 100), 0.125, 1e-9);
	assert_float_equal(learn_missed(0, 100, 100), -1, 1e-9);
	assert_float_equal(learn_missed(3, 0, 100), -1, 1e-9);
	/* Close to (1 - p)^since with p = runs / before, and above it. */
	few = learn_missed(5, 100000, 20000);
	assert_true(few > pow(1 - 5e-5, 20000) && few < 1.1 * pow(1 - 5e-5, 20000));
}

/* Of races that are still there, at most 5 % are taken for looked for and gone, however often they show. */
static void a_race_that_is_there_is_seldom_called_gone(void **state)
{
	enum { RACES = 2000, RUN = 500, BEFORE = 20, SINCE = 20 };
	struct rng rng = {.state = 26};

	(void)state;
	for (unsigned odds = 200; odds <= 20000; odds *= 10) {
		unsigned wrong = 0;

		for (unsigned i = 0; i < RACES; i++) {
			uint64_t runs = 0, again = 0;

			for (unsigned run = 0; run < BEFORE + SINCE; run++) {
				bool seen = false;

				for (unsigned window = 0; window < RUN && !seen; window++)
					seen = rng_below(&rng, odds) == 0;
				runs += seen && run < BEFORE;
				again += seen && run >= BEFORE;
			}
			wrong += runs && !again && learn_missed(runs, BEFORE * RUN, SINCE * RUN) <= 0.05;
		}
		print_message("# 1 in %u windows: %u of %u are called gone\n", odds, wrong, RACES);
		assert_true(wrong <= RACES / 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_by_hand),	    cmocka_unit_test(where_nothing_is_known),
		cmocka_unit_test(interval_holds_the_truth), cmocka_unit_test(estimate_is_a_lower_bound),
		cmocka_unit_test(what_was_missed_by_hand),  cmocka_unit_test(a_race_that_is_there_is_seldom_called_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
