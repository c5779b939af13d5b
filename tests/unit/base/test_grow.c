// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists grow by one zeroed item at a time, at their end or in between, and keep the other items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/base/grow.h"

struct item {
	uint64_t number;
	char text[5];
};

static void test_grows(void **state)
{
	struct item *list = NULL;
	size_t count = 0;
	struct err err = {0};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct item *added = list_grow(&list, &count, sizeof(*added), &err);

		assert_non_null(added);
		assert_ptr_equal(added, &list[i]);
		assert_int_equal(added->number, 0);
		assert_string_equal(added->text, "");
		*added = (struct item){i, "full"};
	}
	assert_int_equal(count, 1000);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(list[i].number, i);
	free(list);
}

static void test_inserts(void **state)
{
	static const uint64_t expected[] = {1, 4, 0, 3, 2};
	static const size_t places[] = {0, 0, 2, 2, 1};
	struct item *list = NULL;
	size_t count = 0;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct item *added = list_insert(&list, &count, places[i], sizeof(*added), NULL);

		assert_ptr_equal(added, &list[places[i]]);
		assert_int_equal(added->number, 0);
		assert_string_equal(added->text, "");
		*added = (struct item){i, "full"};
	}
	assert_int_equal(count, 5);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(list[i].number, expected[i]);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_inserts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
