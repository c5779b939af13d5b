// SPDX-License-Identifier: GPL-2.0-or-later
/* Members that sections of a lock change together, and the functions that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/report/locks/chart.h"
#include "symbols/insn/insn.h"

enum { ADD, REMOVE, RESET, FUNCTIONS };

struct bench {
	struct prot_function functions[FUNCTIONS];
	struct prot_lock lock;
	struct prot_access accesses[256];
	struct prot_use uses[256];
	struct protection p;
	struct lock_record record;
	struct lock_chart chart;
};

/* A section of the function changes the member. Returns the access. */
static struct prot_access *change(struct bench *b, uint32_t function, unsigned section, const char *member, uint64_t count)
{
	struct prot_access *a = &b->accesses[b->p.access_count];

	*a = (struct prot_access){.rw = INSN_WRITE,
				  .held = {{.lock = 0}},
				  .held_count = 1,
				  .function = function,
				  .operation = function,
				  .count = count,
				  .count_shared = count};
	snprintf(a->name, sizeof(a->name), "queue.%s", member);
	b->uses[b->p.use_count++] =
		(struct prot_use){.access = b->p.access_count++, .taken_at = 0x100 * (function + 1) + section, .count = count};
	return a;
}

/* add() and remove() change both members in one section; reset() changes only the length. */
static int setup(void **state)
{
	static const char *const names[FUNCTIONS] = {"sch:add", "sch:remove", "sch:reset"};
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		strcpy(b->functions[i].name, names[i]);
	strcpy(b->lock.name, "queue.lock");
	b->p = (struct protection){.functions = b->functions,
				   .function_count = FUNCTIONS,
				   .locks = &b->lock,
				   .lock_count = 1,
				   .accesses = b->accesses,
				   .uses = b->uses};
	b->record.protection = &b->p;
	for (uint32_t function = ADD; function <= REMOVE; function++) {
		change(b, function, 0, "head", 10);
		change(b, function, 0, "len", 10);
	}
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	lock_chart_fini(&b->chart);
	free(b);
	return 0;
}

static size_t made(struct bench *b)
{
	lock_chart_fini(&b->chart);
	assert_int_equal(lock_chart_make(&b->chart, &b->record, 1, NULL, NULL, &(struct err){0}), 0);
	return b->chart.together.count;
}

static void expect_text(struct bench *b, const char *wanted)
{
	char text[CHART_TOGETHER_TEXT_MAX];

	assert_int_equal(made(b), 1);
	chart_together_text(&b->chart.together.list[0], text);
	assert_string_equal(text, wanted);
}

#define BOTH "queue.head and queue.len change together under queue.lock in 2 functions, such as add()"

static void one_member_is_left_out(void **state)
{
	struct bench *b = *state;

	change(b, RESET, 0, "len", 8);
	expect_text(b, BOTH "; not in reset(), which changes only queue.len (8 writes)");
	assert_int_equal(b->chart.together.list[0].function_count, 2);
	assert_false(b->chart.together.list[0].odd[0].changes[0]);
}

static void each_in_a_section_of_its_own(void **state)
{
	struct bench *b = *state;

	change(b, RESET, 0, "len", 5);
	change(b, RESET, 1, "head", 5);
	expect_text(b, BOTH "; not in reset(), which changes them in two sections (10 writes)");
	change(b, RESET, 1, "len", 5);
	assert_int_equal(made(b), 0);
}

/* All functions change both: nothing is to be said. */
static void no_function_is_odd(void **state)
{
	assert_int_equal(made(*state), 0);
}

/* In few samples, the write of the other member may have been missed. */
static void few_writes_say_nothing(void **state)
{
	struct bench *b = *state;

	change(b, RESET, 0, "len", 7);
	assert_int_equal(made(b), 0);
}

/* If as many functions change one member as both, the members do not belong together. */
static void the_rule_needs_a_majority(void **state)
{
	struct bench *b = *state;

	change(b, RESET, 0, "len", 50);
	b->accesses[2].function = b->accesses[3].function = RESET;
	assert_int_equal(made(b), 0);
}

static void a_write_must_be_protected(void **state)
{
	struct bench *b = *state;
	struct prot_access *a = change(b, RESET, 0, "len", 50);

	a->held[0].shared = true;
	assert_int_equal(made(b), 0);
	a->held[0].shared = false;
	a->count_shared = 0;
	assert_int_equal(made(b), 0);
	a->count_shared = 50;
	a->rw = INSN_READ;
	assert_int_equal(made(b), 0);
	a->rw = INSN_WRITE;
	assert_int_equal(made(b), 1);
}

/* Members of two owners are not compared. */
static void owners_are_apart(void **state)
{
	struct bench *b = *state;

	change(b, RESET, 0, "len", 50);
	for (uint32_t i = 0; i < b->p.access_count; i++) {
		if (strcmp(b->accesses[i].name, "queue.head") == 0)
			strcpy(b->accesses[i].name, "other.head");
	}
	assert_int_equal(made(b), 0);
}

/* An array has too many members to compare each with each. */
static void many_members_are_left_out(void **state)
{
	struct bench *b = *state;
	char name[16];

	change(b, RESET, 0, "len", 50);
	assert_int_equal(made(b), 1);
	for (unsigned i = 0; i < 63; i++) {
		snprintf(name, sizeof(name), "slot%u", i);
		change(b, RESET, 1, name, 1);
	}
	assert_int_equal(made(b), 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_member_is_left_out), T(each_in_a_section_of_its_own), T(no_function_is_odd),
		T(few_writes_say_nothing), T(the_rule_needs_a_majority),    T(a_write_must_be_protected),
		T(owners_are_apart),	   T(many_members_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
