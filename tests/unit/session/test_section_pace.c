// SPDX-License-Identifier: GPL-2.0-or-later
/* Which critical sections get copies, and what their outcomes say together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/session/section_pace.h"

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct section_pace));
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static unsigned copies(struct section_pace *p, uint64_t second, unsigned chances)
{
	unsigned n = 0;

	for (unsigned i = 0; i < chances; i++)
		n += section_pace_wants(p, 1, second, 3, true);
	return n;
}

static void copies_get_rarer_and_end(void **state)
{
	struct section_pace *p = *state;

	assert_true(section_pace_wants(p, 1, 2, 3, false));
	assert_int_equal(p->used, 0);
	assert_int_equal(copies(p, 2, 1), 1);
	assert_int_equal(copies(p, 2, 1), 1);
	assert_int_equal(copies(p, 2, 1), 0);
	assert_int_equal(copies(p, 2, 1), 1);
	assert_int_equal(copies(p, 2, 100000), 61);
	assert_false(section_pace_wants(p, 1, 2, 3, false));
	assert_true(section_pace_wants(p, 1, 4, 3, false));
}

/* A copy without an outcome does not make the next one rarer. */
static void unknown_outcomes_cost_no_chance(void **state)
{
	struct section_pace *p = *state;

	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(copies(p, 2, 1), 1);
		section_pace_told(p, 1, 2, 3, SECTION_OUTCOME_UNKNOWN);
	}
	assert_int_equal(copies(p, 2, 100), 0);
}

static void one_that_confirms_is_the_last(void **state)
{
	struct section_pace *p = *state;

	section_pace_told(p, 1, 2, 3, SECTION_OUTCOME_CONFIRMED);
	assert_int_equal(copies(p, 2, 1), 1);
	section_pace_told(p, 1, 2, 3, SECTION_OUTCOME_CONFIRMED);
	assert_int_equal(copies(p, 2, 100), 0);
	assert_false(section_pace_wants(p, 1, 2, 3, false));
}

static void a_full_table_takes_no_more(void **state)
{
	struct section_pace *p = *state;

	for (unsigned i = 0; i < SECTION_REPLAYS_MAX; i++)
		assert_int_equal(copies(p, 100 + i, 1), 1);
	assert_int_equal(copies(p, 7, 1), 0);
	assert_false(section_pace_wants(p, 1, 7, 3, false));
	assert_int_equal(copies(p, 100, 1), 1);
}

static void outcomes_make_a_verdict(void **state)
{
	struct section_replay r = {.first = 1};
	struct section_replay_instance one = {.outcome = SECTION_OUTCOME_UNKNOWN, .why = "slept"};

	(void)state;
	assert_int_equal(section_verdict(NULL), SECTION_VERDICT_NONE);
	section_replay_count(&r, &one);
	assert_int_equal(section_verdict(&r), SECTION_VERDICT_UNKNOWN);
	assert_string_equal(r.telling.why, "slept");
	section_replay_count(&r, &(struct section_replay_instance){.outcome = SECTION_OUTCOME_AS_B_FIRST});
	assert_int_equal(section_verdict(&r), SECTION_VERDICT_NOT_CONFIRMED);
	assert_int_equal(section_replay_told(&r), 1);
	section_replay_count(&r, &(struct section_replay_instance){.outcome = SECTION_OUTCOME_MIXED});
	assert_int_equal(section_verdict(&r), SECTION_VERDICT_UNKNOWN);
	one = (struct section_replay_instance){.outcome = SECTION_OUTCOME_CONFIRMED, .difference_count = 1, .kept = 1};
	one.differences[0].serial.len = 1;
	section_replay_count(&r, &one);
	assert_int_equal(section_verdict(&r), SECTION_VERDICT_CONFIRMED);
	one = (struct section_replay_instance){.outcome = SECTION_OUTCOME_CONFIRMED, .trouble = "BUG"};
	section_replay_count(&r, &one);
	assert_string_equal(r.telling.trouble, "BUG");
	assert_int_equal(r.count[SECTION_OUTCOME_CONFIRMED], 2);
	for (int i = 0; i < SECTION_VERDICTS; i++)
		assert_int_equal(section_verdict_from_word(section_verdict_word((enum section_verdict)i)), i);
	assert_int_equal(section_verdict_from_word("maybe"), -1);
}

static void results_that_cannot_be(void **state)
{
	struct section_replay_instance one = {.outcome = SECTION_OUTCOME_CONFIRMED};

	(void)state;
	assert_non_null(section_replay_wrong(&one));
	one = (struct section_replay_instance){.outcome = SECTION_OUTCOME_SAME, .trouble = "BUG"};
	assert_non_null(section_replay_wrong(&one));
	one = (struct section_replay_instance){.outcome = SECTION_OUTCOME_CONFIRMED, .kept = 1};
	assert_non_null(section_replay_wrong(&one));
	one.difference_count = 1;
	assert_non_null(section_replay_wrong(&one));
	one.differences[0].serial.len = 9;
	assert_non_null(section_replay_wrong(&one));
	one.differences[0].serial.len = 8;
	assert_null(section_replay_wrong(&one));
	one.outcome = SECTION_OUTCOMES;
	assert_non_null(section_replay_wrong(&one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_get_rarer_and_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unknown_outcomes_cost_no_chance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_confirms_is_the_last, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_table_takes_no_more, set_up, tear_down),
		cmocka_unit_test(outcomes_make_a_verdict),
		cmocka_unit_test(results_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
