// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which runs of the three orders of critical sections are made, and what comes of them. This file implements orders_run_one()
 * of hv/replay/orders.h: it copies made-up results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/replay/orders.h"
#include "hv/replay/section_orders.h"

#define DATUM 0x5040u
#define OOPS "BUG: kernel NULL pointer dereference, address: 0000000000000008"

/* The plan's look_ctx. */
struct bench {
	struct run_plan plan;
	struct rendezvous rendezvous;
	struct replay_config config;
	/* What the runs of each order give. */
	struct run_result *results[SECTION_ORDERS][2];
	/* The runs made so far: a letter for the order, in upper case if a free run followed. */
	char made[SECTION_ORDERS_RUNS + 1];
	struct section_replay_instance out;
};

void orders_run_one(const struct run_plan *plan, unsigned first, bool go_on, struct run_result *out)
{
	struct bench *b = plan->look_ctx;
	size_t n = strlen(b->made);

	assert_true(n < SECTION_ORDERS_RUNS);
	b->made[n] = (go_on ? "XAB" : "xab")[first];
	memcpy(out, b->results[first][go_on], sizeof(*out));
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->plan = (struct run_plan){.rendezvous = &b->rendezvous, .config = &b->config, .look_ctx = b};
	for (unsigned i = 0; i < SECTION_ORDERS_RUNS; i++) {
		struct run_result *r = calloc(1, sizeof(*r));

		assert_non_null(r);
		r->ended = true;
		r->reached = i / 2 == SECTION_ORDER_BETWEEN;
		r->run.order.regions[0].end = r->run.order.regions[1].end = REPLAY_END_RETURN;
		b->results[i / 2][i % 2] = r;
	}
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < SECTION_ORDERS_RUNS; i++)
		free(b->results[i / 2][i % 2]);
	free(b);
	return 0;
}

/* Both runs of an order leave this value. */
static void leaves(struct bench *b, enum section_order order, uint8_t value)
{
	for (unsigned run = 0; run < 2; run++) {
		struct compare_run *r = &b->results[order][run]->run;

		r->page_count = 1;
		r->page_gpa[0] = DATUM / X86_PAGE_SIZE * X86_PAGE_SIZE;
		r->page[0][DATUM % X86_PAGE_SIZE] = value;
	}
}

/* The value that each order leaves: with B in between, A first, B first. */
static void values(struct bench *b, uint8_t between, uint8_t a_first, uint8_t b_first)
{
	leaves(b, SECTION_ORDER_BETWEEN, between);
	leaves(b, SECTION_ORDER_A_FIRST, a_first);
	leaves(b, SECTION_ORDER_B_FIRST, b_first);
}

/* Run the orders. Expect these runs, this outcome, and `why` in the reason of an unknown one. */
static void expect(struct bench *b, const char *made, enum section_outcome outcome, const char *why)
{
	memset(b->made, 0, sizeof(b->made));
	section_orders_run(&b->plan, &b->out);
	assert_string_equal(b->made, made);
	assert_int_equal(b->out.outcome, outcome);
	assert_string_equal(b->out.why, why);
	assert_null(section_replay_wrong(&b->out));
}

static void in_trouble(struct run_result *r)
{
	r->run.trouble = TROUBLE_FAULT;
	snprintf(r->run.trouble_line, sizeof(r->run.trouble_line), OOPS);
}

static void the_state_of_a_serial_order_needs_one_run_each(void **state)
{
	struct bench *b = *state;

	values(b, 7, 7, 7);
	expect(b, "xab", SECTION_OUTCOME_SAME, "");
	values(b, 7, 7, 8);
	expect(b, "xab", SECTION_OUTCOME_AS_A_FIRST, "");
	values(b, 8, 7, 8);
	expect(b, "xab", SECTION_OUTCOME_AS_B_FIRST, "");
}

static void a_state_of_its_own_is_confirmed_by_second_runs(void **state)
{
	struct bench *b = *state;

	values(b, 8, 7, 7);
	expect(b, "xabXAB", SECTION_OUTCOME_CONFIRMED, "");
	assert_int_equal(b->out.differences[0].serial.gpa, DATUM);
	assert_string_equal(b->out.trouble, "");
}

/* What differs between two runs of one order is noise. */
static void noise_confirms_nothing(void **state)
{
	struct bench *b = *state;

	values(b, 8, 7, 7);
	b->results[SECTION_ORDER_A_FIRST][1]->run.page[0][DATUM % X86_PAGE_SIZE] = 6;
	expect(b, "xabXAB", SECTION_OUTCOME_SAME, "");
}

static void without_a_second_section_nothing_else_is_run(void **state)
{
	struct bench *b = *state;

	b->results[SECTION_ORDER_BETWEEN][0]->reached = false;
	expect(b, "x", SECTION_OUTCOME_UNKNOWN,
	       "with the other section in between: the function did not come to its second section");
	/* Trouble before the second section is not of the section in between. */
	in_trouble(b->results[SECTION_ORDER_BETWEEN][0]);
	expect(b, "x", SECTION_OUTCOME_UNKNOWN, "with the other section in between: " OOPS);
}

static void a_function_must_return(void **state)
{
	static const struct {
		enum replay_end end;
		const char *text;
	} ends[] = {
		{REPLAY_END_BLOCKED, "a function was about to sleep"},
		{REPLAY_END_LIMIT, "a function did not return within the limit of instructions"},
		{REPLAY_END_NOT_RUN, "a function did not return"},
	};
	static const struct {
		const char *name, *made;
	} orders[SECTION_ORDERS] = {
		[SECTION_ORDER_BETWEEN] = {"with the other section in between", "x"},
		[SECTION_ORDER_A_FIRST] = {"with the function first", "xab"},
		[SECTION_ORDER_B_FIRST] = {"with the other function first", "xab"},
	};
	struct bench *b = *state;

	values(b, 8, 7, 7);
	for (unsigned order = 0; order < SECTION_ORDERS; order++)
		for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			struct region *r = &b->results[order][0]->run.order.regions[i % 2];
			char why[REPLAY_TEXT_MAX];

			snprintf(why, sizeof(why), "%s: %s", orders[order].name, ends[i].text);
			r->end = ends[i].end;
			expect(b, orders[order].made, SECTION_OUTCOME_UNKNOWN, why);
			r->end = REPLAY_END_RETURN;
		}
}

static void trouble_of_a_serial_order_tells_nothing(void **state)
{
	struct bench *b = *state;

	values(b, 8, 7, 7);
	/* Trouble in the free run comes after the first run's end, so the second run has it. */
	snprintf(b->results[SECTION_ORDER_B_FIRST][1]->trouble, REPLAY_TEXT_MAX, OOPS);
	in_trouble(b->results[SECTION_ORDER_BETWEEN][1]);
	expect(b, "xabXAB", SECTION_OUTCOME_UNKNOWN, "with the other function first: " OOPS);
	in_trouble(b->results[SECTION_ORDER_A_FIRST][0]);
	expect(b, "xab", SECTION_OUTCOME_UNKNOWN, "with the function first: " OOPS);
}

static void trouble_in_between_alone_confirms(void **state)
{
	struct bench *b = *state;

	for (unsigned run = 0; run < 2; run++) {
		in_trouble(b->results[SECTION_ORDER_BETWEEN][run]);
		b->results[SECTION_ORDER_BETWEEN][run]->run.order.regions[1].end = REPLAY_END_FAULT;
	}
	expect(b, "xabXAB", SECTION_OUTCOME_CONFIRMED, "");
	assert_string_equal(b->out.trouble, OOPS);
	assert_int_equal(b->out.difference_count, 0);
}

static void trouble_must_come_twice(void **state)
{
	struct bench *b = *state;

	in_trouble(b->results[SECTION_ORDER_BETWEEN][0]);
	expect(b, "xabXAB", SECTION_OUTCOME_UNKNOWN,
	       "with the other section in between: two runs of this order end in different ways");
}

/* The state was a mix of both serial ones, which says nothing, and the kernel complains later. */
static void later_trouble_confirms_a_mix(void **state)
{
	struct bench *b = *state;

	values(b, 8, 7, 8);
	for (unsigned run = 0; run < 2; run++) {
		b->results[SECTION_ORDER_BETWEEN][run]->run.page[0][0] = 1;
		b->results[SECTION_ORDER_A_FIRST][run]->run.page[0][0] = 1;
	}
	expect(b, "xabXAB", SECTION_OUTCOME_MIXED, "");
	b->results[SECTION_ORDER_BETWEEN][1]->machine = REPLAY_MACHINE_TRIPLE_FAULT;
	expect(b, "xabXAB", SECTION_OUTCOME_CONFIRMED, "");
	assert_string_equal(b->out.trouble, "the machine ended");
}

static void a_run_that_could_not_be_made_is_unknown(void **state)
{
	struct bench *b = *state;

	b->results[SECTION_ORDER_BETWEEN][0]->ended = false;
	err_set(&b->results[SECTION_ORDER_BETWEEN][0]->err, EXIT_INTERNAL, "the process died");
	expect(b, "x", SECTION_OUTCOME_UNKNOWN, "with the other section in between: the process died");
}

static void the_result_of_a_function_without_one_does_not_count(void **state)
{
	struct bench *b = *state;

	for (unsigned run = 0; run < 2; run++)
		b->results[SECTION_ORDER_BETWEEN][run]->run.order.regs[1].gpr[X86_RAX] = 22;
	expect(b, "xabXAB", SECTION_OUTCOME_CONFIRMED, "");
	b->config.result_unused[1] = true;
	expect(b, "xab", SECTION_OUTCOME_SAME, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_state_of_a_serial_order_needs_one_run_each, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_state_of_its_own_is_confirmed_by_second_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(noise_confirms_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_second_section_nothing_else_is_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_function_must_return, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trouble_of_a_serial_order_tells_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trouble_in_between_alone_confirms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trouble_must_come_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(later_trouble_confirms_a_mix, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_run_that_could_not_be_made_is_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_result_of_a_function_without_one_does_not_count, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
