/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark: what a guest reads and writes in its registers, and what the host learns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/platform/mark.h"

struct fixture {
	struct bus bus;
	struct mark mark;
	unsigned events[4]; /* how often each enum mark_event happened */
	unsigned side;	    /* of the last event */
};

static void happened(void *ctx, enum mark_event event, unsigned side)
{
	struct fixture *f = ctx;

	f->events[event]++;
	f->side = side;
}

static int setup(void **state)
{
	static struct fixture f;
	const struct bus_range range = {BUS_MMIO, MARK_GPA, MARK_LEN, &mark_ops, &f.mark};

	memset(&f, 0, sizeof(f));
	mark_init(&f.mark);
	f.mark.happened = happened;
	f.mark.ctx = &f;
	bus_init(&f.bus);
	assert_int_equal(bus_add(&f.bus, &range, NULL), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	bus_destroy(&f->bus);
	return 0;
}

static uint8_t in(struct fixture *f, unsigned offset)
{
	uint8_t value;

	bus_access(&f->bus, BUS_MMIO, MARK_GPA + offset, false, 1, &value);
	return value;
}

static void out(struct fixture *f, unsigned offset, uint8_t value)
{
	bus_access(&f->bus, BUS_MMIO, MARK_GPA + offset, true, 1, &value);
}

static void the_guest_reads_the_commands(void **state)
{
	struct fixture *f = *state;
	char text[16] = "";

	f->mark.text[0] = "";
	f->mark.text[1] = "a b";
	f->mark.text[2] = "c";
	assert_int_equal(in(f, MARK_CONTROL), MARK_MAGIC);
	for (unsigned i = 0; i < 7; i++)
		text[i] = (char)in(f, MARK_TEXT);
	assert_memory_equal(text, "\0a b\0c\0", 7);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(in(f, MARK_TEXT), 0);
}

static void a_copy_has_no_commands(void **state)
{
	assert_int_equal(in(*state, MARK_TEXT), 0);
}

static void a_side_waits_until_it_may_go(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(in(f, 1), 0);
	assert_int_equal(in(f, 1), 0);
	assert_int_equal(f->events[MARK_WAITS], 2);
	assert_int_equal(f->side, 1);
	assert_int_equal(atomic_load(&f->mark.asked[0]), 0);
	assert_int_equal(atomic_load(&f->mark.asked[1]), 2);
	atomic_store(&f->mark.open[1], true);
	assert_int_equal(in(f, 1), 1);
	assert_int_equal(in(f, 0), 0);
	assert_int_equal(atomic_load(&f->mark.asked[1]), 2);
}

static void a_side_may_run_the_baseline_program(void **state)
{
	struct fixture *f = *state;

	f->mark.baseline = true;
	assert_int_equal(in(f, 0), MARK_WAIT);
	atomic_store(&f->mark.open[0], true);
	assert_int_equal(in(f, 0), MARK_BASELINE);
}

static void an_end_is_kept_and_may_open_the_other_side(void **state)
{
	struct fixture *f = *state;

	f->mark.then_other[0] = true;
	assert_int_equal(atomic_load(&f->mark.status[0]), -1);
	out(f, 0, 139);
	assert_int_equal(atomic_load(&f->mark.status[0]), 139);
	assert_int_equal(atomic_load(&f->mark.status[1]), -1);
	assert_int_equal(f->events[MARK_ENDED], 1);
	assert_int_equal(in(f, 1), 1);
	out(f, 1, 0);
	assert_int_equal(atomic_load(&f->mark.status[1]), 0);
	assert_false(atomic_load(&f->mark.open[0]));
	assert_false(atomic_load(&f->mark.over));
	out(f, MARK_CONTROL, 0);
	assert_true(atomic_load(&f->mark.over));
	assert_int_equal(f->events[MARK_OVER], 1);
}

static void a_failure_is_one_that_is_known(void **state)
{
	struct fixture *f = *state;

	out(f, MARK_CONTROL, MARK_PREPARE_FAILED);
	assert_int_equal(atomic_load(&f->mark.failure), MARK_PREPARE_FAILED);
	out(f, MARK_CONTROL, 200);
	assert_int_equal(atomic_load(&f->mark.failure), MARK_START_FAILED);
	assert_int_equal(f->events[MARK_FAILED], 2);
	assert_false(atomic_load(&f->mark.over));
}

static void other_writes_do_nothing(void **state)
{
	struct fixture *f = *state;

	out(f, MARK_TEXT, 1);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(f->events[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_guest_reads_the_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_has_no_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(a_side_waits_until_it_may_go, setup, teardown),
		cmocka_unit_test_setup_teardown(a_side_may_run_the_baseline_program, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_is_kept_and_may_open_the_other_side, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_is_one_that_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(other_writes_do_nothing, setup, teardown),
	};

	return cmocka_run_group_tests_name("mark", tests, NULL, NULL);
}
