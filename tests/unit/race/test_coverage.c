// SPDX-License-Identifier: GPL-2.0-or-later
/* The coverage table: sites keep their counts when their module moves, and the table has room for half a million sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/race/coverage.h"

#define MODULE 0xffffffffc0000000ull

static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

static int setup(void **state)
{
	*state = coverage_new(&counts_lock);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	coverage_free(*state);
	return 0;
}

static void sites_are_found_by_address(void **state)
{
	struct coverage *c = *state;
	struct coverage_counts *one, *other;

	assert_null(coverage_find(c, MODULE));
	one = coverage_add(c, MODULE + 4, "ext4:f", 4, 10);
	other = coverage_add(c, MODULE + 8, "ext4:f", 8, 10);
	assert_non_null(one);
	assert_ptr_not_equal(one, other);
	assert_int_equal(one->armed + one->hits + one->windows + one->conflicts, 0);
	assert_ptr_equal(coverage_find(c, MODULE + 4), one);
	assert_ptr_equal(coverage_find(c, MODULE + 8), other);
	assert_null(coverage_find(c, MODULE + 5));
}

/* The module is loaded again at another address, and another module takes its old place. */
static void a_site_keeps_its_counts(void **state)
{
	struct coverage *c = *state;
	struct coverage_counts *one = coverage_add(c, MODULE + 4, "ext4:f", 4, 10);
	struct coverage_counts *kernel = coverage_add(c, MODULE - 4, "f", 4, 10), *other;

	one->armed = kernel->armed = 1;
	one->hits = 7;
	coverage_forget(c, MODULE, 0x1000);
	assert_null(coverage_find(c, MODULE + 4));
	assert_ptr_equal(coverage_find(c, MODULE - 4), kernel);
	other = coverage_add(c, MODULE + 4, "xfs:f", 4, 3);
	assert_ptr_not_equal(other, one);
	other->armed = 1;
	assert_ptr_equal(coverage_add(c, MODULE + 0x10004, "ext4:f", 4, 10), one);
	assert_ptr_equal(coverage_find(c, MODULE + 0x10004), one);
	assert_int_equal(one->hits, 7);
	assert_int_equal(coverage_size(c).sites, 3);
	assert_int_equal(coverage_size(c).functions, 3);
}

/* Copy the current counts of a function. */
static int copy(struct coverage *c, size_t index, struct coverage_function *out)
{
	const struct coverage_size size = coverage_size(c);

	return coverage_function(c, &size, index, out);
}

/* Reports treat two static functions of one name as one function, and so does the table. */
static void functions_of_one_name(void **state)
{
	struct coverage *c = *state;
	struct coverage_counts *one = coverage_add(c, 0x1004, "cleanup", 4, 10);
	struct coverage_function fn = {0};

	assert_ptr_equal(coverage_add(c, 0x9004, "cleanup", 4, 12), one);
	assert_ptr_equal(coverage_find(c, 0x1004), one);
	assert_null(coverage_find(c, 0x9004));
	coverage_forget(c, 0x1000, 0x100);
	assert_ptr_equal(coverage_add(c, 0x9004, "cleanup", 4, 12), one);
	assert_ptr_equal(coverage_find(c, 0x9004), one);
	one->armed = 1;
	assert_int_equal(copy(c, 0, &fn), 1);
	assert_int_equal(fn.sites, 12);
	assert_int_equal(fn.count, 1);
	/* Each of the two functions has one site, at different offsets. */
	coverage_add(c, 0x3000, "small", 0, 1)->armed = 1;
	coverage_add(c, 0x4008, "small", 8, 1)->armed = 1;
	assert_int_equal(copy(c, 1, &fn), 1);
	assert_int_equal(fn.count, 2);
	assert_int_equal(fn.sites, 2);
	free(fn.armed);
}

static void functions_are_copied(void **state)
{
	struct coverage *c = *state;
	struct coverage_function fn = {0};

	assert_int_equal(copy(c, 0, &fn), 0);
	*coverage_add(c, 0x1010, "f", 0x10, 3) = (struct coverage_counts){4, 3, 2, 1, 1};
	*coverage_add(c, 0x1004, "f", 0x4, 3) = (struct coverage_counts){.armed = 1};
	coverage_add(c, 0x2000, "g", 0, 1)->armed = 1;
	assert_int_equal(copy(c, 0, &fn), 1);
	assert_string_equal(fn.name, "f");
	assert_int_equal(fn.sites, 3);
	assert_int_equal(fn.count, 2);
	assert_int_equal(fn.armed[0].offset, 4);
	assert_int_equal(fn.armed[1].offset, 0x10);
	assert_int_equal(fn.armed[1].counts.conflicts, 1);
	assert_int_equal(copy(c, 1, &fn), 1);
	assert_string_equal(fn.name, "g");
	assert_int_equal(fn.count, 1);
	assert_int_equal(copy(c, 2, &fn), 0);
	free(fn.armed);
}

/* The table does not show a site that was never armed, whether the site comes before or after armed ones. */
static void what_was_never_armed_is_not_shown(void **state)
{
	struct coverage *c = *state;
	struct coverage_counts *refused = coverage_add(c, MODULE, "late", 0, 2),
			       *counts = coverage_add(c, MODULE + 4, "f", 4, 2);
	struct coverage_function fn = {0};

	coverage_add(c, MODULE + 8, "f", 8, 2);
	assert_int_equal(coverage_size(c).functions, 0);
	counts->armed = 1;
	assert_int_equal(coverage_size(c).functions, 1);
	assert_int_equal(coverage_size(c).sites, 1);
	assert_int_equal(copy(c, 0, &fn), 1);
	assert_string_equal(fn.name, "f");
	assert_int_equal(fn.count, 1);
	assert_int_equal(fn.armed[0].offset, 4);
	assert_int_equal(copy(c, 1, &fn), 0);
	refused->armed = 1;
	assert_int_equal(coverage_size(c).sites, 2);
	assert_int_equal(copy(c, 1, &fn), 1);
	assert_string_equal(fn.name, "late");
	free(fn.armed);
}

/* A kernel in which the sampler has armed the whole pool. */
static void memory_is_bounded(void **state)
{
	enum { FUNCTIONS = 40000, EACH = 15 };
	struct coverage *c = *state;
	size_t before = mallinfo2().uordblks, used;
	struct coverage_function fn = {0};
	uint64_t armed = 0;
	char name[40];

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "a_function_of_usual_length_%u", f);
		for (unsigned i = 0; i < EACH; i++) {
			struct coverage_counts *counts = coverage_add(c, MODULE + f * 256 + i * 4, name, i * 4, EACH);

			assert_non_null(counts);
			counts->armed = 1;
		}
	}
	used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	print_message("# %u sites in %zu KiB\n", FUNCTIONS * EACH, used / 1024);
	assert_int_equal(coverage_size(c).sites, FUNCTIONS * EACH);
	assert_true(used < 64u << 20);
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		assert_int_equal(copy(c, f, &fn), 1);
		for (size_t i = 0; i < fn.count; i++)
			armed += fn.armed[i].counts.armed;
		assert_non_null(coverage_find(c, MODULE + f * 256));
	}
	assert_int_equal(armed, FUNCTIONS * EACH);
	free(fn.armed);
}

/* A thread copies while the sampler adds. The sanitizers check for races. */
static void *reader(void *arg)
{
	struct coverage_function fn = {0};
	struct coverage_size size = {0};

	while (size.functions < 300) {
		size_t sites = 0;

		size = coverage_size(arg);
		for (size_t i = 0; i < size.functions; i++) {
			assert_int_equal(coverage_function(arg, &size, i, &fn), 1);
			assert_true(fn.count > 0);
			sites += fn.count;
		}
		assert_int_equal(sites, size.sites);
	}
	free(fn.armed);
	return NULL;
}

static void copied_while_it_grows(void **state)
{
	struct coverage *c = *state;
	pthread_t thread;
	char name[16];

	assert_int_equal(pthread_create(&thread, NULL, reader, c), 0);
	for (unsigned i = 0; i < 30000; i++) {
		struct coverage_counts *counts;

		snprintf(name, sizeof(name), "f%u", i / 100);
		counts = coverage_add(c, MODULE + i, name, i % 100, 100);
		pthread_mutex_lock(&counts_lock);
		counts->armed++;
		pthread_mutex_unlock(&counts_lock);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_are_found_by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(a_site_keeps_its_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_of_one_name, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_never_armed_is_not_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_are_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(copied_while_it_grows, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
