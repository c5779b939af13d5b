// SPDX-License-Identifier: GPL-2.0-or-later
/* The objects that a trial lost are compared with those that the serial orders lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/explore/leaks.h"
#include "hv/guest/linux_guest.h"

#define CACHE UINT64_C(0xffff888000100000)
#define OTHER UINT64_C(0xffff888000100200)

/* Returns what a run has lost: `count` objects of the cache, and `others` of another one. */
static struct lost lose(unsigned count, unsigned others)
{
	struct lost lost = {.known = true, .count = count + others};

	for (unsigned i = 0; i < count + others; i++)
		lost.object[i] = (struct lost_object){
			.in = {CACHE + 4096 * (i + 1), i < count ? CACHE : OTHER, i < count ? 64 : 96}, .cache = "kmalloc"};
	return lost;
}

static void more_than_both_orders_is_a_leak(void **state)
{
	struct guest g = {0};
	struct leaks l = {.guest = &g};
	struct explore_object leak;
	struct lost lost = lose(1, 0);

	(void)state;
	leaks_add_serial(&l, &lost);
	lost = lose(2, 0);
	leaks_add_serial(&l, &lost);
	lost = lose(0, 0);
	assert_false(leaks_differ(&l, &lost, NULL, &leak));
	lost = lose(2, 0);
	assert_false(leaks_differ(&l, &lost, NULL, &leak));
	lost = lose(3, 0);
	assert_true(leaks_differ(&l, &lost, NULL, &leak));
	assert_int_equal(leak.count, 3);
	assert_int_equal(leak.serial, 2);
	assert_int_equal(leak.size, 64);
	assert_int_equal(leak.gva, lost.object[0].in.gva);
	/* Each cache counts for itself. */
	lost = lose(1, 1);
	assert_true(leaks_differ(&l, &lost, NULL, &leak));
	assert_int_equal(leak.size, 96);
	assert_int_equal(leak.count, 1);
	assert_int_equal(leak.serial, 0);
	leaks_free(&l);
}

static void the_rerun_must_lose_of_the_same_cache(void **state)
{
	struct guest g = {0};
	struct leaks l = {.guest = &g};
	struct explore_object leak;
	struct lost lost = lose(1, 0), again = lose(1, 0);

	(void)state;
	leaks_add_serial(&l, &lost);
	lost = lose(3, 2);
	again = lose(1, 5);
	assert_true(leaks_differ(&l, &lost, &again, &leak));
	assert_int_equal(leak.size, 96);
	assert_int_equal(leak.count, 2);
	assert_true(leaks_explain(&again, &leak));
	/* The count is the smaller one of both runs. */
	again = lose(5, 1);
	assert_true(leaks_differ(&l, &lost, &again, &leak));
	assert_int_equal(leak.size, 64);
	assert_int_equal(leak.count, 3);
	again = lose(2, 1);
	assert_true(leaks_differ(&l, &lost, &again, &leak));
	assert_int_equal(leak.count, 2);
	/* A run between two calls explains it that loses more than a serial order, and one whose losses are unknown. */
	again = lose(1, 9);
	assert_false(leaks_explain(&again, &leak));
	again = lose(2, 0);
	assert_true(leaks_explain(&again, &leak));
	again = lose(1, 0);
	assert_false(leaks_differ(&l, &lost, &again, &leak));
	again = lose(3, 2);
	again.known = 0;
	assert_false(leaks_differ(&l, &lost, &again, &leak));
	again = lose(0, 0);
	again.known = 0;
	assert_true(leaks_explain(&again, &leak));
	leaks_free(&l);
}

static void caches_are_told_by_name_and_size(void **state)
{
	struct guest g = {0};
	struct leaks l = {.guest = &g};
	struct explore_object leak;
	struct lost lost = lose(1, 0);

	(void)state;
	leaks_add_serial(&l, &lost);
	lost.object[0].in.cache = OTHER;
	assert_false(leaks_differ(&l, &lost, NULL, &leak));
	strcpy(lost.object[0].cache, "dentry");
	assert_true(leaks_differ(&l, &lost, NULL, &leak));
	assert_string_equal(leak.cache, "dentry");
	leaks_free(&l);
}

static void nothing_is_judged_that_is_not_known(void **state)
{
	struct guest g = {0};
	struct leaks l = {.guest = &g};
	struct explore_object leak;
	struct lost lost = lose(1, 0);

	(void)state;
	lost.known = false;
	assert_false(leaks_differ(&l, &lost, NULL, &leak));
	leaks_add_serial(&l, &lost);
	lost = lose(5, 5);
	assert_false(leaks_differ(&l, &lost, NULL, &leak));
	leaks_free(&l);
}

static void object_freed_twice_in_both_runs(void **state)
{
	struct guest g = {0};
	struct leaks l = {.guest = &g};
	struct explore_object leak;
	struct lost lost = lose(0, 0), again = lose(0, 0);

	(void)state;
	leaks_add_serial(&l, &lost);
	assert_false(leaks_freed_twice(&l, &lost, NULL, &leak));
	lost.twice = (struct lost_object){.in = {CACHE + 64, CACHE, 64}, .cache = "kmalloc-64"};
	/* That the list of a CPU is not understood is no reason against it. */
	lost.known = 0;
	assert_true(leaks_freed_twice(&l, &lost, NULL, &leak));
	assert_int_equal(leak.gva, CACHE + 64);
	assert_int_equal(leak.size, 64);
	assert_int_equal(leak.count, 0);
	assert_string_equal(leak.cache, "kmalloc-64");
	assert_false(leaks_freed_twice(&l, &lost, &again, &leak));
	again.twice = (struct lost_object){.in = {CACHE + 640, CACHE, 64}, .cache = "kmalloc-64"};
	assert_true(leaks_freed_twice(&l, &lost, &again, &leak));
	assert_int_equal(leak.gva, CACHE + 64);
	strcpy(again.twice.cache, "dentry");
	assert_false(leaks_freed_twice(&l, &lost, &again, &leak));
	/* A serial order that does the same says that nothing can be judged. */
	again.known = 1;
	leaks_add_serial(&l, &again);
	assert_false(leaks_freed_twice(&l, &lost, NULL, &leak));
	leaks_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_both_orders_is_a_leak),     cmocka_unit_test(the_rerun_must_lose_of_the_same_cache),
		cmocka_unit_test(caches_are_told_by_name_and_size),    cmocka_unit_test(object_freed_twice_in_both_runs),
		cmocka_unit_test(nothing_is_judged_that_is_not_known),
	};

	return cmocka_run_group_tests_name("leaks", tests, NULL, NULL);
}
