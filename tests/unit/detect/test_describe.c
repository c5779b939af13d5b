// SPDX-License-Identifier: GPL-2.0-or-later
/* What code is kept of a side: a short function as a whole, of a long one what is around the access; and its calls by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/report/describe.h"
#include "tests/unit/detect/detect_rig.h"

#define SHORT 0x100
#define LONG 0x1000
#define LONG_SIZE 0x800
#define LOCK 0x3000
#define ODD 7 /* bytes of each instruction of the long function, so that none begins at a round number */

static int setup(void **state)
{
	static const struct symbol functions[] = {
		{.name = "short_one", .addr = RIG_TEXT + SHORT, .size = 0x40, .type = 't'},
		{.name = "long_one", .addr = RIG_TEXT + LONG, .size = LONG_SIZE, .type = 't'},
		{.name = "_raw_spin_lock", .addr = RIG_TEXT + LOCK, .size = 0x20, .type = 'T'},
	};
	struct rig *r = rig_new(2, 4);

	if (!r)
		return -1;
	rig_functions(r, functions, 3);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

/* Write a direct call or jump at RIG_TEXT + from. */
static void branch(struct rig *r, uint64_t from, uint8_t opcode, uint64_t to)
{
	int32_t rel = (int32_t)(to - from - 5);

	rig_code(r, from, &opcode, 1);
	rig_code(r, from + 1, &rel, sizeof(rel));
}

static void fill(struct rig *r, uint64_t offset, uint64_t size, const void *code, size_t len)
{
	for (uint64_t at = 0; at + len <= size; at += len)
		rig_code(r, offset + at, code, len);
}

static struct race_side *describe(struct rig *r, uint64_t pc)
{
	struct {
		struct race_side side;
		struct race_side_room room;
	} *described = calloc(1, sizeof(*described));
	struct race_side *side = &described->side; /* free() of it is of both */

	assert_non_null(described);
	race_side_use_room(side, &described->room);
	side->kind = RACE_SIDE_CPU;
	side->pc = RIG_TEXT + pc;
	describe_side(r->d, r->decoder, side);
	return side;
}

static void test_short_function(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	fill(r, SHORT, 0x40, "\x90", 1);
	branch(r, SHORT + 4, 0xe8, LOCK);
	branch(r, SHORT + 0x10, 0xe9, SHORT + 0x20); /* within the function */
	branch(r, SHORT + 0x18, 0xe8, LOCK + 4);     /* no function's start */
	branch(r, SHORT + 0x20, 0xe8, 0x8000);	     /* no function */
	branch(r, SHORT + 0x30, 0xe9, LONG);
	side = describe(r, SHORT + 0x28);
	assert_string_equal(side->symbol.name, "short_one");
	assert_int_equal(side->code_gva, RIG_TEXT + SHORT);
	assert_int_equal(side->code_len, 0x40);
	assert_int_equal(side->callee_count, 2);
	assert_int_equal(side->callees[0].at, 4);
	assert_string_equal(side->callees[0].name, "_raw_spin_lock");
	assert_int_equal(side->callees[1].at, 0x30);
	assert_string_equal(side->callees[1].name, "long_one");
	free(side);
}

static void test_long_function(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	fill(r, LONG, LONG_SIZE, "\x0f\x1f\x80\0\0\0\0", ODD);
	side = describe(r, LONG + 100 * ODD);
	assert_int_equal((side->code_gva - RIG_TEXT - LONG) % ODD, 0);
	assert_in_range(side->code_gva, RIG_TEXT + LONG + 100 * ODD - 192, RIG_TEXT + LONG + 100 * ODD - 192 + ODD - 1);
	assert_int_equal(side->code_gva + side->code_len, RIG_TEXT + LONG + 100 * ODD + 320);
	free(side);
}

static void test_start_of_long_function(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	fill(r, LONG, LONG_SIZE, "\x0f\x1f\x80\0\0\0\0", ODD);
	side = describe(r, LONG + ODD);
	assert_int_equal(side->code_gva, RIG_TEXT + LONG);
	free(side);
}

static void test_end_of_long_function(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	fill(r, LONG, LONG_SIZE, "\x0f\x1f\x80\0\0\0\0", ODD);
	side = describe(r, LONG + LONG_SIZE - ODD - 1);
	assert_int_equal(side->code_gva + side->code_len, RIG_TEXT + LONG + LONG_SIZE);
	free(side);
}

/* What cannot be decoded is kept all the same. */
static void test_no_instructions(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	fill(r, LONG, LONG_SIZE, "\x06", 1);
	side = describe(r, LONG + 0x400);
	assert_int_equal(side->code_gva, RIG_TEXT + LONG + 0x400 - 192);
	assert_int_equal(side->code_len, RACE_CODE_MAX);
	assert_int_equal(side->callee_count, 0);
	free(side);
}

static void test_no_function(void **state)
{
	struct race_side *side = describe(*state, 0x8000);

	assert_string_equal(side->symbol.name, "");
	assert_int_equal(side->code_gva, RIG_TEXT + 0x8000 - 192);
	assert_int_equal(side->code_len, RACE_CODE_MAX);
	free(side);
}

/* There are more calls than there is room for. */
static void test_many_calls(void **state)
{
	struct rig *r = *state;
	struct race_side *side;

	for (uint64_t at = 0; at + 5 <= LONG_SIZE; at += 5)
		branch(r, LONG + at, 0xe8, LOCK);
	side = describe(r, LONG + 5);
	assert_int_equal(side->callee_count, RACE_CALLEES_MAX);
	free(side);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_short_function),	      T(test_long_function),   T(test_start_of_long_function),
		T(test_end_of_long_function), T(test_no_instructions), T(test_no_function),
		T(test_many_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
