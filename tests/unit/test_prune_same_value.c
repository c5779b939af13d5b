// SPDX-License-Identifier: GPL-2.0-or-later
/* Same-value writes: both sides store one value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/prune_bench.h"

#define RULE "same-value-writes"

/* Both functions store the constant 1 to one word. */
static struct bench *same_value(void **state)
{
	return bench_of(state, "gt_samevalue_first", "gt_samevalue_second");
}

static void test_same_value(void **state)
{
	struct bench *b = same_value(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	assert_true(b->verdict.rank >= 55);
}

static void test_value_that_was_seen_to_become_another(void **state)
{
	struct bench *b = same_value(state);

	b->race->instances[1].after[0] = 2;
	bench_expect_not(b, RULE);
}

static void test_values_that_differ(void **state)
{
	struct bench *b = same_value(state);

	bench_code(b, 0, CODE("\xc7\x07\x02\0\0\0\xc3"), 0); /* movl $2,(%rdi); ret */
	bench_expect_not(b, RULE);
}

/* DataCollider's figure 4: what is rewritten is what is there, and still an update can be lost. */
static void test_list_head_that_is_written_back(void **state)
{
	struct bench *b = bench_of(state, "gt_addtocache", "gt_addtocache");

	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_same_value),
		BENCH_TEST(test_value_that_was_seen_to_become_another),
		BENCH_TEST(test_values_that_differ),
		BENCH_TEST(test_list_head_that_is_written_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
