/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sites are worth a sample point now: news come and age, sites are tried a few times, talkers more often, known races
 * less. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/detect/steer/talkers.h"

#define FUNCTION 0xffffffff81000000ull
#define OTHER 0xffffffff81000400ull
#define SITE (FUNCTION + 0x10)
#define NOW UINT64_C(1000000000000)

static struct talkers talkers;

static int setup(void **state)
{
	(void)state;
	talkers = (struct talkers){0};
	return 0;
}

/* Returns how often the site is tried, each time with this result, until it is not due any more. 1000: always due. */
static unsigned tries(uint64_t site, enum talk_result result, uint64_t now)
{
	unsigned n = 0;

	while (n < 1000 && talkers_due(&talkers, site, now)) {
		talkers_armed(&talkers, site, now);
		assert_false(talkers_due(&talkers, site, now));
		talkers_ran(&talkers, FUNCTION, site, result, now);
		n++;
	}
	return n;
}

static void test_first_run_is_news(void **state)
{
	(void)state;
	assert_int_equal(talkers_news(&talkers, 0, NOW), 0);
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW);
	talkers_ran(&talkers, OTHER, OTHER, TALK_TRIED, NOW + 1);
	assert_int_equal(talkers_news(&talkers, 0, NOW + 2), OTHER);
	assert_int_equal(talkers_news(&talkers, 1, NOW + 2), FUNCTION);
	/* A second run is no news. */
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW + 2);
	assert_int_equal(talkers_news(&talkers, 0, NOW + 2), OTHER);
	talkers_done(&talkers, OTHER);
	assert_int_equal(talkers_news(&talkers, 0, NOW + 2), FUNCTION);
	assert_int_equal(talkers_news(&talkers, 1, NOW + 2), 0);
}

static void test_run_after_a_pause_is_news(void **state)
{
	(void)state;
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW);
	talkers_done(&talkers, FUNCTION);
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW + NEWS_QUIET_NS - 1);
	assert_int_equal(talkers_news(&talkers, 0, NOW + NEWS_QUIET_NS), 0);
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW + 2 * NEWS_QUIET_NS);
	assert_int_equal(talkers_news(&talkers, 0, NOW + 2 * NEWS_QUIET_NS), FUNCTION);
}

static void test_news_age(void **state)
{
	(void)state;
	talkers_ran(&talkers, FUNCTION, SITE, TALK_TRIED, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW + NEWS_AGE_NS - 1), FUNCTION);
	assert_int_equal(talkers_news(&talkers, 0, NOW + NEWS_AGE_NS), 0);
}

static void test_news_are_bounded(void **state)
{
	const uint64_t now = NOW + 4 * TALK_NEWS;

	(void)state;
	for (unsigned i = 0; i < 4 * TALK_NEWS; i++)
		talkers_ran(&talkers, FUNCTION + 16 * i, FUNCTION + 16 * i, TALK_TRIED, NOW + i);
	assert_int_equal(talkers_news(&talkers, 0, now), FUNCTION + 16 * (4 * TALK_NEWS - 1));
	assert_int_equal(talkers_news(&talkers, TALK_NEWS - 1, now), FUNCTION + 16 * (3 * TALK_NEWS));
	assert_int_equal(talkers_news(&talkers, TALK_NEWS, now), 0);
}

static void test_few_tries_without_talk(void **state)
{
	(void)state;
	assert_int_equal(tries(SITE, TALK_TRIED, NOW), TALK_TRIES);
}

static void test_access_to_the_stack_is_tried_once(void **state)
{
	(void)state;
	assert_int_equal(tries(SITE, TALK_USELESS, NOW), 1);
}

static void test_refused_hits_count_little_and_not_for_ever(void **state)
{
	unsigned n;

	(void)state;
	n = tries(SITE, TALK_REFUSED, NOW);
	assert_in_range(n, 2 * TALK_TRIES, 8 * TALK_TRIES);
}

static void test_talkers_get_more_tries_and_news(void **state)
{
	(void)state;
	assert_int_equal(tries(SITE, TALK_TRIED, NOW), TALK_TRIES);
	talkers_done(&talkers, FUNCTION);
	talkers_talk(&talkers, FUNCTION, SITE, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW), FUNCTION);
	assert_int_equal(tries(SITE, TALK_TRIED, NOW), TALKER_TRIES - TALK_TRIES);
	assert_int_equal(talkers.talking, 1);
	/* It talks on, and has had its tries. */
	talkers_done(&talkers, FUNCTION);
	talkers_talk(&talkers, FUNCTION, SITE, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW), 0);
	assert_int_equal(talkers.talking, 1);
}

/* A known race loses its weight, and its site comes back later. */
static void test_conflicts_retire_a_talker(void **state)
{
	(void)state;
	talkers_talk(&talkers, FUNCTION, SITE, NOW);
	for (unsigned i = 0; i < TALK_CONFLICTS; i++) {
		assert_true(talkers_due(&talkers, SITE, NOW));
		talkers_conflict(&talkers, FUNCTION, SITE, NOW);
	}
	assert_false(talkers_due(&talkers, SITE, NOW));
	assert_int_equal(talkers.retired, 1);
	talkers_done(&talkers, FUNCTION);
	talkers_talk(&talkers, FUNCTION, SITE, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW), 0);
	assert_false(talkers_due(&talkers, SITE, NOW + TALK_HALF_NS - 1));
	assert_true(talkers_due(&talkers, SITE, NOW + TALK_HALF_NS));
}

/* Only the first conflict of a site is news of its function: the same race again is not. */
static void test_first_conflict_is_news(void **state)
{
	(void)state;
	talkers_conflict(&talkers, FUNCTION, SITE, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW), FUNCTION);
	talkers_done(&talkers, FUNCTION);
	talkers_conflict(&talkers, FUNCTION, SITE, NOW);
	assert_int_equal(talkers_news(&talkers, 0, NOW), 0);
}

static void test_tries_are_forgotten(void **state)
{
	(void)state;
	tries(SITE, TALK_TRIED, NOW);
	assert_false(talkers_due(&talkers, SITE, NOW + TALK_HALF_NS - 1));
	assert_true(talkers_due(&talkers, SITE, NOW + TALK_HALF_NS));
	assert_int_equal(tries(SITE, TALK_TRIED, NOW + 100 * TALK_HALF_NS), TALK_TRIES);
}

static void test_unreached_point_counts_as_a_try(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t now = NOW; talkers_due(&talkers, SITE, now); now += TALK_WAIT_NS, n++) {
		talkers_armed(&talkers, SITE, now);
		assert_true(talkers_waits(&talkers, SITE, now));
		assert_true(talkers_armed_at(&talkers, SITE, now, now + TALK_WAIT_NS));
		assert_false(talkers_armed_at(&talkers, SITE, now - 1, now + TALK_WAIT_NS));
		assert_false(talkers_due(&talkers, SITE, now + TALK_WAIT_NS - 1));
		talkers_not_reached(&talkers, SITE, now + TALK_WAIT_NS);
		assert_false(talkers_waits(&talkers, SITE, now + TALK_WAIT_NS));
	}
	assert_int_equal(n, TALK_TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_run_is_news, setup),
		cmocka_unit_test_setup(test_run_after_a_pause_is_news, setup),
		cmocka_unit_test_setup(test_news_age, setup),
		cmocka_unit_test_setup(test_news_are_bounded, setup),
		cmocka_unit_test_setup(test_few_tries_without_talk, setup),
		cmocka_unit_test_setup(test_access_to_the_stack_is_tried_once, setup),
		cmocka_unit_test_setup(test_refused_hits_count_little_and_not_for_ever, setup),
		cmocka_unit_test_setup(test_talkers_get_more_tries_and_news, setup),
		cmocka_unit_test_setup(test_conflicts_retire_a_talker, setup),
		cmocka_unit_test_setup(test_first_conflict_is_news, setup),
		cmocka_unit_test_setup(test_tries_are_forgotten, setup),
		cmocka_unit_test_setup(test_unreached_point_counts_as_a_try, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
