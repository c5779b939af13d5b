// SPDX-License-Identifier: GPL-2.0-or-later
/* Which copies of the machine are held for a complaint, and how often copies are made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/session/held.h"

#define MS UINT64_C(1000000)
#define COPIES (HELD_MAX + 1)

static void copies_are_few_and_cost_little(void **state)
{
	struct held_pace pace = {0};

	(void)state;
	assert_true(held_due(&pace, 0));
	held_made(&pace, 1000 * MS, 1001 * MS);
	assert_false(held_due(&pace, 1200 * MS));
	assert_true(held_due(&pace, 1201 * MS));
	/* A guest that stands still for 100 ms goes on for 2 s. */
	held_made(&pace, 2000 * MS, 2100 * MS);
	assert_false(held_due(&pace, 4099 * MS));
	assert_true(held_due(&pace, 4100 * MS));
}

static void none_is_dropped_while_there_is_room(void **state)
{
	struct held_copy list[COPIES] = {{0}};

	(void)state;
	assert_int_equal(held_surplus(list, COPIES, 1000 * MS), -1);
	for (unsigned i = 1; i < COPIES; i++)
		list[i] = (struct held_copy){true, 1000 * MS * i, i == 1 ? "a" : "b"};
	assert_int_equal(held_surplus(list, COPIES, 3000 * MS), -1);
}

static void the_oldest_goes_first(void **state)
{
	struct held_copy list[COPIES] = {{true, 3000 * MS, "a"}, {true, 1000 * MS, "b"}, {true, 2000 * MS, "c"}};

	(void)state;
	assert_int_equal(held_surplus(list, COPIES, 3000 * MS), 1);
	list[1].held = false;
	assert_int_equal(held_surplus(list, COPIES, 3000 * MS), -1);
	assert_int_equal(held_surplus(list, COPIES, 2000 * MS + HELD_NS), 2);
}

/* A frequent race must not drop the copy of another one. */
static void a_race_is_held_once(void **state)
{
	struct held_copy list[COPIES] = {{true, 1000 * MS, "a"}, {true, 2000 * MS, "b"}, {true, 3000 * MS, "b"}};

	(void)state;
	assert_int_equal(held_surplus(list, COPIES, 3000 * MS), 1);
	list[1].held = false;
	assert_int_equal(held_surplus(list, COPIES, 3000 * MS), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_few_and_cost_little),
		cmocka_unit_test(none_is_dropped_while_there_is_room),
		cmocka_unit_test(the_oldest_goes_first),
		cmocka_unit_test(a_race_is_held_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
