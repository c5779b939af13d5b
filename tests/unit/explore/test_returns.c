// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of system calls are those of one serial order, or they differ. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "hv/explore/returns.h"

/* Results of a program that opens a file as descriptor 3, writes to it, and closes it. */
static struct returned writes(int64_t value)
{
	return (struct returned){.count = 3, .call = {{7, SYS_openat, 3}, {7, SYS_write, value}, {7, SYS_close, 0}}};
}

/* Each program writes 5 bytes, but the second one is told EBUSY. */
static struct returns claim(void)
{
	struct returns r = {.site.pc = 1};

	returns_add_serial(&r, 0, (struct returned[2]){writes(5), writes(-EBUSY)});
	returns_add_serial(&r, 1, (struct returned[2]){writes(-EBUSY), writes(5)});
	return r;
}

static void results_of_one_order_do_not_differ(void **state)
{
	struct returns r = claim();

	(void)state;
	assert_false(returns_differ(&r, (struct returned[2]){writes(5), writes(-EBUSY)}));
	assert_false(returns_differ(&r, (struct returned[2]){writes(-EBUSY), writes(5)}));
}

static void results_of_no_order_differ(void **state)
{
	struct returns r = claim();
	const struct returned both[2] = {writes(5), writes(5)};
	struct explore_return out[2];

	(void)state;
	assert_true(returns_differ(&r, both));
	returns_describe(&r, both, out);
	for (unsigned side = 0; side < 2; side++) {
		assert_int_equal(out[side].call, 2);
		assert_int_equal(out[side].number, SYS_write);
		assert_int_equal(out[side].value, 5);
		assert_int_equal(out[side].serial[side], 5);
		assert_int_equal(out[side].serial[!side], -EBUSY);
	}
	assert_true(returns_differ(&r, (struct returned[2]){writes(-EBUSY), writes(-EBUSY)}));
}

static void a_call_less_differs(void **state)
{
	struct returns r = claim();
	struct returned of[2] = {writes(5), writes(-EBUSY)};
	struct explore_return out[2];

	(void)state;
	of[0].count = 2;
	assert_true(returns_differ(&r, of));
	returns_describe(&r, of, out);
	assert_int_equal(out[1].call, 2);
	of[1] = writes(-EBUSY);
	of[0].call[1].value = -EBUSY;
	r.serial[0][0].call[1].value = -EBUSY;
	returns_describe(&r, of, out);
	assert_int_equal(out[0].call, 3);
	assert_int_equal(out[0].number, SYS_close);
	assert_true(out[0].value == EXPLORE_NO_CALL);
}

static void a_side_that_changes_by_itself_does_not_count(void **state)
{
	struct returns r = claim();
	struct explore_return out[2];

	(void)state;
	returns_add_serial(&r, 0, (struct returned[2]){writes(5), writes(4)});
	assert_true(r.unsettled[1]);
	assert_false(returns_differ(&r, (struct returned[2]){writes(5), writes(5)}));
	assert_false(returns_differ(&r, (struct returned[2]){writes(-EBUSY), writes(77)}));
	assert_true(returns_differ(&r, (struct returned[2]){writes(6), writes(5)}));
	returns_describe(&r, (struct returned[2]){writes(6), writes(5)}, out);
	assert_int_equal(out[0].call, 2);
	assert_int_equal(out[1].call, 0);
}

static void the_call_that_fits_no_order_is_told(void **state)
{
	struct returns r = claim();
	struct returned of[2] = {writes(5), writes(-EBUSY)};
	struct explore_return out[2];

	(void)state;
	of[1].call[2].value = -EINTR; /* up to here, B has the results of the order A, B */
	assert_true(returns_differ(&r, of));
	returns_describe(&r, of, out);
	assert_int_equal(out[1].call, 3);
	assert_int_equal(out[1].number, SYS_close);
	assert_int_equal(out[1].value, -EINTR);
}

static void calls_of_each_process_come_together(void **state)
{
	struct returned of = {.count = 4, .call = {{9, SYS_write, 1}, {7, SYS_poll, 1}, {9, SYS_read, 2}, {7, SYS_read, 3}}};

	(void)state;
	returns_sort(&of);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(of.call[i].pid, i < 2 ? 7 : 9);
	assert_int_equal(of.call[0].number, SYS_poll);
	assert_int_equal(of.call[1].value, 3);
	assert_int_equal(of.call[2].value, 1);
	assert_int_equal(of.call[3].value, 2);
}

static void without_a_place_to_look_nothing_differs(void **state)
{
	struct returns r = claim();

	(void)state;
	r.site.pc = 0;
	assert_false(returns_differ(&r, (struct returned[2]){writes(5), writes(5)}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_of_one_order_do_not_differ),
		cmocka_unit_test(results_of_no_order_differ),
		cmocka_unit_test(a_call_less_differs),
		cmocka_unit_test(a_side_that_changes_by_itself_does_not_count),
		cmocka_unit_test(the_call_that_fits_no_order_is_told),
		cmocka_unit_test(calls_of_each_process_come_together),
		cmocka_unit_test(without_a_place_to_look_nothing_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
