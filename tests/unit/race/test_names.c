// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of an access's source lines stands for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/names.h"

/* Add a line of the access of side 1, after the inner ones. */
static void add(struct race_names *names, const char *file, unsigned number)
{
	struct err err = {0};
	struct source_line *line = race_names_add(names, &err);

	assert_non_null(line);
	*line = (struct source_line){.side = 1, .line = number};
	snprintf(line->file, sizeof(line->file), "%s", file);
}

static struct race_names *empty(void)
{
	struct race_names *names = calloc(1, sizeof(*names));

	assert_non_null(names);
	return names;
}

static void expect(const struct race_names *names, const char *file, unsigned number)
{
	const struct source_line *place = race_names_place(names, 1);

	assert_non_null(place);
	assert_string_equal(place->file, file);
	assert_int_equal(place->line, number);
}

static void the_caller_of_a_header(void **state)
{
	struct race_names *names = empty();

	(void)state;
	add(names, "include/asm-generic/rwonce.h", 40);
	add(names, "include/linux/seqlock.h", 274);
	add(names, "fs/namespace.c", 650);
	add(names, "fs/namespace.c", 700);
	expect(names, "fs/namespace.c", 650);
	race_names_free(names);
}

static void an_access_outside_headers(void **state)
{
	struct race_names *names = empty();

	(void)state;
	add(names, "mm/util.c", 3);
	add(names, "include/linux/mm.h", 4);
	add(names, "mm/mmap.c", 5);
	expect(names, "mm/util.c", 3);
	race_names_free(names);
}

static void only_headers(void **state)
{
	struct race_names *names = empty();

	(void)state;
	add(names, "include/linux/list.h", 3);
	add(names, "kernel/sched/stats.h", 4);
	expect(names, "kernel/sched/stats.h", 4);
	race_names_free(names);
}

static void lines_that_are_not_known(void **state)
{
	struct race_names *names = empty();

	(void)state;
	assert_null(race_names_place(NULL, 1));
	add(names, "", 0);
	add(names, "mm/mmap.c", 0);
	assert_null(race_names_place(names, 1));
	add(names, ".h", 9);
	expect(names, ".h", 9);
	assert_null(race_names_place(names, 0));
	race_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_of_a_header),
		cmocka_unit_test(an_access_outside_headers),
		cmocka_unit_test(only_headers),
		cmocka_unit_test(lines_that_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
