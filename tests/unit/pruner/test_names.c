// SPDX-License-Identifier: GPL-2.0-or-later
/* What lists of names say of a datum: a rough figure, both values valid, linkage; and what its type says: a pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

/* A race of a reader and a writer of that datum. */
static struct bench *race_of(void **state, const char *variable, const char *owner, const char *member)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_datum(b, variable, owner, member);
	return b;
}

static void test_rough_figure(void **state)
{
	struct bench *b = race_of(state, "rq", "struct rq", "cfs.avg.load_avg");

	bench_expect(b, VERDICT_UNCLEAR, "approximate-computation");
}

static void test_rough_figure_of_a_qualified_type(void **state)
{
	struct bench *b = race_of(state, "rq", "const volatile struct rq", "cfs.avg.load_avg");

	bench_expect(b, VERDICT_UNCLEAR, "approximate-computation");
}

static void test_rough_figure_of_a_type_that_is_not_listed(void **state)
{
	struct bench *b = race_of(state, "rq", "struct rq_of_mine", "cfs.avg.load_avg");

	bench_expect_not(b, "approximate-computation");
}

static void test_both_values_valid(void **state)
{
	struct bench *b = race_of(state, "inode", "struct inode", "i_mtime.tv_sec");

	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
}

static void test_member_that_is_not_listed(void **state)
{
	struct bench *b = race_of(state, "inode", "struct inode", "i_mapping");

	bench_expect_not(b, "both-values-valid");
}

static void test_list_linkage(void **state)
{
	struct bench *b = race_of(state, "head", "struct list_head", "next");

	bench_expect(b, VERDICT_HARMFUL, "dangerous-datum");
	bench_says(b, "list linkage");
}

static void test_name_that_says_nothing(void **state)
{
	struct bench *b = race_of(state, "plain", "struct plain", "thing");

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_pointer(void **state)
{
	struct bench *b = bench_of(state, "gt_wwrace_first", "gt_wwrace_second");

	bench_datum(b, "plain", "struct plain", "thing");
	bench_type(b, "struct thing *");
	bench_expect(b, VERDICT_HARMFUL, "pointer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_rough_figure),
		BENCH_TEST(test_rough_figure_of_a_qualified_type),
		BENCH_TEST(test_rough_figure_of_a_type_that_is_not_listed),
		BENCH_TEST(test_both_values_valid),
		BENCH_TEST(test_member_that_is_not_listed),
		BENCH_TEST(test_list_linkage),
		BENCH_TEST(test_name_that_says_nothing),
		BENCH_TEST(test_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
