// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of shared memory are read from RAM, and compared with those after the serial orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/explore/ends.h"
#include "hv/explore/serial.h"

#define ADDRESS UINT64_C(0xffff888000123456)
#define RAM_BYTES (64u << 20)

static struct ends make(unsigned count)
{
	struct ends e = {.count = count};

	for (unsigned i = 0; i < count; i++)
		e.place[i] = (struct ends_place){.gpa = 0x1000 + 8 * i, .size = 8};
	return e;
}

static void reads_numbers_and_addresses(void **state)
{
	struct ends e = make(4);
	uint64_t values[ENDS_MAX];
	struct ram ram = {0};
	struct err err = {0};

	(void)state;
	e.place[2].size = 2;
	e.place[3].gpa = RAM_BYTES; /* not RAM */
	assert_int_equal(ram_map(&ram, RAM_BYTES, &err), 0);
	memcpy(ram_at(&ram, 0x1000, 8), &(uint64_t){ADDRESS}, 8);
	memcpy(ram_at(&ram, 0x1008, 8), &(uint64_t){(uint64_t)-2}, 8);
	memcpy(ram_at(&ram, 0x1010, 8), &(uint64_t){0x112233}, 8);
	ends_read(&e, &ram, values);
	assert_int_equal(values[0], EXPLORE_SOME_ADDRESS);
	assert_int_equal(values[1], (uint64_t)-2);
	assert_int_equal(values[2], 0x2233);
	assert_int_equal(values[3], 0);
	ram_unmap(&ram);
}

static void a_value_of_neither_order_differs(void **state)
{
	struct ends e = make(3);
	const uint64_t ab[ENDS_MAX] = {2, 7, 1}, ba[ENDS_MAX] = {2, 8, 1};

	(void)state;
	ends_add_serial(&e, 0, ab);
	ends_add_serial(&e, 1, ba);
	assert_false(ends_differ(&e, 0, 2));
	assert_true(ends_differ(&e, 0, 1));
	assert_false(ends_differ(&e, 1, 7));
	assert_false(ends_differ(&e, 1, 8));
	assert_true(ends_differ(&e, 1, 9));
}

static void a_value_that_changes_by_itself_does_not_count(void **state)
{
	struct ends e = make(1);

	(void)state;
	ends_add_serial(&e, 0, (uint64_t[ENDS_MAX]){1});
	ends_add_serial(&e, 1, (uint64_t[ENDS_MAX]){2});
	ends_add_serial(&e, 0, (uint64_t[ENDS_MAX]){1});
	assert_true(ends_differ(&e, 0, 3));
	ends_add_serial(&e, 1, (uint64_t[ENDS_MAX]){5});
	assert_false(ends_differ(&e, 0, 3));
}

static void a_candidate_has_the_place_of_its_bytes(void **state)
{
	struct ends e = {.count = 2, .place = {{.gva = 0x2000, .size = 4}, {.gva = 0x1004, .size = 4}}};
	struct explore_candidate c = {.side = {{.access = {.gva = 0x1000, .size = 8}}, {.access = {.gva = 0x1004, .size = 8}}}};

	(void)state;
	assert_int_equal(ends_place_of(&e, &c), 1);
	c.common_lock = true;
	assert_int_equal(ends_place_of(&e, &c), 1);
	c.baseline = 1;
	assert_int_equal(ends_place_of(&e, &c), -1);
	c.baseline = 0;
	c.locked = true;
	assert_int_equal(ends_place_of(&e, &c), -1);
	c.locked = false;
	c.side[1].access.size = 2;
	assert_int_equal(ends_place_of(&e, &c), -1);
	/* The same bytes, which side 1 accesses at another address. */
	c.side[0].access.gpa = 0x5000;
	c.side[1].access = (struct explore_access){.gva = 0x9004, .gpa = 0x5004, .size = 8};
	assert_int_equal(ends_place_of(&e, &c), 1);
}

static void other_statuses_are_a_question(void **state)
{
	struct explore_trial serial[2] = {{.status = {0, 1}}, {.status = {1, 0}}};
	struct explore_result result = {0};
	struct serial s = {.result = &result};
	struct explore_trial t = {.outcome = EXPLORE_SAME, .status = {1, 0}};
	const struct trial_seen seen = {0};

	(void)state;
	memcpy(result.serial, serial, sizeof(serial));
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_SAME);
	assert_false(explore_found(&t));
	t.status[1] = 1;
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_STATUS);
	assert_false(explore_found(&t));
	/* Killed by SIGKILL, and by SIGPIPE, which is not the kernel's decision. */
	t = (struct explore_trial){.outcome = EXPLORE_SAME, .status = {1, 137}};
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_KILLED);
	assert_true(explore_found(&t));
	t = (struct explore_trial){.outcome = EXPLORE_SAME, .status = {1, 141}};
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_STATUS);
	/* A serial order kills this side, too. */
	result.serial[0].status[1] = 137;
	t = (struct explore_trial){.outcome = EXPLORE_SAME, .status = {1, 137}};
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_STATUS);
	t.outcome = EXPLORE_COMPLAINT;
	serial_judge(&s, NULL, &t, &seen);
	assert_int_equal(t.outcome, EXPLORE_COMPLAINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_numbers_and_addresses),
		cmocka_unit_test(a_value_of_neither_order_differs),
		cmocka_unit_test(a_value_that_changes_by_itself_does_not_count),
		cmocka_unit_test(a_candidate_has_the_place_of_its_bytes),
		cmocka_unit_test(other_statuses_are_a_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
