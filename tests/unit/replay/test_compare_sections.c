// SPDX-License-Identifier: GPL-2.0-or-later
/* Which outcome three orders of critical sections have, in made-up runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/replay/compare_sections.h"

#define PAGE 0x5000u
#define LOCK (PAGE + 0x10)
#define OTHER 0x7000u

struct bench {
	struct compare_run *runs[SECTION_ORDERS][2];
	struct compare_sections c;
	struct section_replay_instance out;
	uint8_t before[X86_PAGE_SIZE];
};

static const uint8_t *page_before(void *ctx, uint64_t gpa)
{
	struct bench *b = ctx;

	return gpa == PAGE || gpa == OTHER ? b->before : NULL;
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	for (unsigned i = 0; i < 2 * SECTION_ORDERS; i++) {
		b->runs[i / 2][i % 2] = calloc(1, sizeof(struct compare_run));
		assert_non_null(b->runs[i / 2][i % 2]);
		b->c.runs[i / 2][i % 2] = b->runs[i / 2][i % 2];
	}
	b->c.before = page_before;
	b->c.ctx = b;
	b->c.lock = LOCK;
	b->c.result_unused[1] = true;
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 2 * SECTION_ORDERS; i++)
		free(b->runs[i / 2][i % 2]);
	free(b);
	return 0;
}

/* A run writes a word. Callers must go through the pages by rising GPA. */
static void write_run(struct compare_run *r, uint64_t gpa, uint64_t value)
{
	uint64_t page = gpa & ~(uint64_t)(X86_PAGE_SIZE - 1);
	uint32_t i = 0;

	while (i < r->page_count && r->page_gpa[i] != page)
		i++;
	if (i == r->page_count)
		r->page_gpa[r->page_count++] = page;
	memcpy(&r->page[i][gpa - page], &value, sizeof(value));
}

/* The value of a word after each order: with B in between, A first, B first. */
static void values(struct bench *b, uint64_t gpa, uint64_t between, uint64_t a_first, uint64_t b_first)
{
	const uint64_t value[SECTION_ORDERS] = {between, a_first, b_first};

	for (unsigned i = 0; i < 2 * SECTION_ORDERS; i++)
		write_run(b->runs[i / 2][i % 2], gpa, value[i / 2]);
}

static void expect(struct bench *b, enum section_outcome outcome, uint64_t differences)
{
	b->out = (struct section_replay_instance){0};
	compare_section_orders(&b->c, &b->out);
	assert_int_equal(b->out.outcome, outcome);
	assert_int_equal(b->out.difference_count, differences);
	assert_null(section_replay_wrong(&b->out));
}

static void equal_states(void **state)
{
	struct bench *b = *state;

	expect(b, SECTION_OUTCOME_SAME, 0);
	values(b, PAGE + 0x40, 5, 5, 5);
	expect(b, SECTION_OUTCOME_SAME, 0);
	values(b, PAGE + 0x48, 5, 5, 6);
	expect(b, SECTION_OUTCOME_AS_A_FIRST, 0);
}

static void as_the_other_serial_order(void **state)
{
	struct bench *b = *state;

	values(b, PAGE + 0x48, 6, 5, 6);
	expect(b, SECTION_OUTCOME_AS_B_FIRST, 0);
}

/* Words, or fields of one word, that come from different serial orders show nothing for sure: a lock may keep its last owner.
 */
static void a_mix_confirms_nothing(void **state)
{
	struct bench *b = *state;

	values(b, PAGE + 0x40, 5, 5, 6);
	values(b, PAGE + 0x48, 6, 5, 6);
	expect(b, SECTION_OUTCOME_MIXED, 0);
	values(b, PAGE + 0x40, 0x100000002, 0x100000001, 0x300000002);
	expect(b, SECTION_OUTCOME_MIXED, 0);
}

static void a_new_value_confirms(void **state)
{
	struct bench *b = *state;

	values(b, PAGE + 0x40, 8, 7, 7);
	values(b, OTHER + 8, 0x11223344, 1, 2);
	expect(b, SECTION_OUTCOME_CONFIRMED, 2);
	assert_int_equal(b->out.kept, 2);
	assert_int_equal(b->out.differences[0].serial.gpa, PAGE + 0x40);
	assert_int_equal(b->out.differences[0].serial.len, 1);
	assert_int_equal(b->out.differences[0].between[0], 8);
	assert_int_equal(b->out.differences[0].serial.bytes[0][0], 7);
	assert_int_equal(b->out.differences[1].serial.gpa, OTHER + 8);
	assert_int_equal(b->out.differences[1].serial.len, 4);
	assert_int_equal(b->out.differences[1].serial.bytes[1][0], 2);
}

/* Differences in the lock's object are likely to say most. The others come by rising GPA, and no more are kept than there is
 * room. */
static void the_locks_page_comes_first(void **state)
{
	struct bench *b = *state;

	for (uint64_t i = 0; i < SECTION_REPLAY_DIFFERENCES_MAX; i++)
		values(b, PAGE + 0x100 + 8 * i, 8, 7, 7);
	values(b, OTHER + 8, 8, 7, 7);
	b->c.lock = OTHER;
	expect(b, SECTION_OUTCOME_CONFIRMED, SECTION_REPLAY_DIFFERENCES_MAX + 1);
	assert_int_equal(b->out.kept, SECTION_REPLAY_DIFFERENCES_MAX);
	assert_int_equal(b->out.differences[0].serial.gpa, OTHER + 8);
	assert_int_equal(b->out.differences[1].serial.gpa, PAGE + 0x100);
}

/* Two new bytes on both sides of an aligned boundary are shown as one value that contains both. */
static void a_value_is_aligned(void **state)
{
	struct bench *b = *state;

	values(b, PAGE + 0x40, 0x0000220011000000, 1, 1);
	expect(b, SECTION_OUTCOME_CONFIRMED, 1);
	assert_int_equal(b->out.differences[0].serial.len, 8);
	values(b, PAGE + 0x40, 0x2211000000000001, 1, 1);
	expect(b, SECTION_OUTCOME_CONFIRMED, 1);
	assert_int_equal(b->out.differences[0].serial.gpa, PAGE + 0x46);
	assert_int_equal(b->out.differences[0].serial.len, 2);
	assert_int_equal(b->out.differences[0].between[0], 0x11);
}

/* What differs between two runs of one order is a clock. Memory below the stack pointers is dead. */
static void noise_and_dead_memory_do_not_count(void **state)
{
	struct bench *b = *state;

	values(b, PAGE + 0x40, 8, 7, 7);
	write_run(b->runs[SECTION_ORDER_B_FIRST][1], PAGE + 0x40, 9);
	expect(b, SECTION_OUTCOME_SAME, 0);
	write_run(b->runs[SECTION_ORDER_B_FIRST][1], PAGE + 0x40, 7);
	expect(b, SECTION_OUTCOME_CONFIRMED, 1);
	for (unsigned i = 0; i < 2 * SECTION_ORDERS; i++) {
		struct compare_run *r = b->runs[i / 2][i % 2];

		r->dead[r->dead_count++] = (struct compare_range){PAGE + 0x40, 8};
	}
	expect(b, SECTION_OUTCOME_SAME, 0);
	b->runs[SECTION_ORDER_A_FIRST][0]->dead_count = 0;
	expect(b, SECTION_OUTCOME_CONFIRMED, 1);
}

/* Only the result of a function that is known to return a value counts. */
static void results_count(void **state)
{
	struct bench *b = *state;

	for (unsigned side = 2; side-- > 0;) {
		for (unsigned run = 0; run < 2; run++)
			b->runs[SECTION_ORDER_BETWEEN][run]->order.regs[side].gpr[X86_RAX] = 22;
		expect(b, side ? SECTION_OUTCOME_SAME : SECTION_OUTCOME_CONFIRMED, !side);
	}
	assert_true(b->out.differences[0].serial.is_register);
	assert_int_equal(b->out.differences[0].serial.side, 0);
	assert_string_equal(b->out.differences[0].serial.name, "rax");
}

/* The first runs say whether a second one is worth while. */
static void one_run_of_each_order(void **state)
{
	struct bench *b = *state;

	for (unsigned order = 0; order < SECTION_ORDERS; order++)
		b->c.runs[order][1] = NULL;
	expect(b, SECTION_OUTCOME_SAME, 0);
	values(b, PAGE + 0x40, 8, 7, 7);
	expect(b, SECTION_OUTCOME_CONFIRMED, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_states, set_up, tear_down),
		cmocka_unit_test_setup_teardown(as_the_other_serial_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_mix_confirms_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_value_confirms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_locks_page_comes_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_value_is_aligned, set_up, tear_down),
		cmocka_unit_test_setup_teardown(noise_and_dead_memory_do_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(results_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_run_of_each_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
