// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinding made-up stacks by made-up rules: without a rule the unwinder guesses, and for any stack content it ends. */
#include "hv/base/rng.h"
#include "tests/unit/symbols/unwind_world.h"

/* ---- guesses by the frame pointer ---- */

/* The frame pointer leads to what may be a return address. */
static void point_to_frame(struct world *w)
{
	w->no_rule[0] = true;
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w->regs.gpr[X86_RBP] = TASK + 0x40;
	w->task[8] = 0x5555;
	w->task[9] = function(1) + 7;
	w->task[10] = function(15) + 1;
}

static void test_frame_pointer_to_a_return_address(void **state)
{
	struct world *w = *state;

	point_to_frame(w);
	w->returns[w->return_count++] = function(1) + 7;
	run(w);
	expect_frame(w, 0, function(0) + 0x10, UNWIND_STOPPED, true);
	expect_frame(w, 1, function(1) + 7, UNWIND_CALL, false);
	expect_frame(w, 2, function(15) + 1, UNWIND_CALL, false);
	expect_end(w, 3, UNWIND_FIRST, true);
	assert_int_equal(w->out.trouble, UNWIND_NO_RULE);
}

static void test_frame_pointer_to_no_return_address(void **state)
{
	struct world *w = *state;

	point_to_frame(w);
	run(w);
	expect_end(w, 1, UNWIND_NO_RULE, false);
}

/* ---- guesses by a search of the stack ---- */

static void lead_off_the_stack(struct world *w)
{
	w->regs.gpr[X86_RSP] = TASK + 1; /* the search still uses aligned words */
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 1 << 20);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w->task[0] = w->task[20] = function(1) + 7;
	w->task[22] = function(15) + 1;
}

static void test_search_that_finds_a_return_address(void **state)
{
	struct world *w = *state;

	lead_off_the_stack(w);
	w->returns[w->return_count++] = function(1) + 7;
	run(w);
	expect_frame(w, 1, function(1) + 7, UNWIND_CALL, false);
	expect_frame(w, 2, function(15) + 1, UNWIND_CALL, false);
	expect_end(w, 3, UNWIND_FIRST, true);
	assert_int_equal(w->out.trouble, UNWIND_NO_MEMORY);
}

static void test_search_that_finds_nothing(void **state)
{
	struct world *w = *state;

	lead_off_the_stack(w);
	run(w);
	expect_end(w, 1, UNWIND_NO_MEMORY, false);
}

/* ---- rules of text that is never interrupted mark a first frame, or are undefined ---- */

static void test_interrupted_at_an_end_with_nothing_on_the_stack(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule){.type = ORC_END};
	run(w);
	expect_end(w, 1, UNWIND_NO_RULE, false);
}

static void put_return_to_first(struct world *w)
{
	w->task[3] = function(15) + 1;
	w->returns[w->return_count++] = function(15) + 1;
}

static void test_interrupted_at_an_end(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule){.type = ORC_END};
	put_return_to_first(w);
	run(w);
	expect_end(w, 2, UNWIND_FIRST, true);
}

static void test_interrupted_where_a_rule_is_undefined(void **state)
{
	struct world *w = *state;

	w->rules[1] = (struct orc_rule){.type = ORC_UNDEFINED};
	w->regs.rip = function(1);
	put_return_to_first(w);
	run(w);
	expect_end(w, 2, UNWIND_FIRST, true);
}

/* ---- it ends ---- */

static const struct offset_case {
	const char *shows;
	int offset;
} offset_cases[] = {
	{"rule that moves the stack pointer two words down", -16},
	{"rule that moves the stack pointer one word down", -8},
	{"rule that does not move the stack pointer", 0},
};

static void test_rule_that_does_not_move_up(void **state)
{
	struct world *w = *state;
	int offset = ((const struct offset_case *)w->row)->offset;

	w->regs.gpr[X86_RSP] = TASK + 0x100;
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, offset);
	w->task[0x100 / 8 + offset / 8 - 1] = function(0) + 1;
	run(w);
	expect_end(w, 1, UNWIND_STUCK, false);
}

static void test_interrupted_where_it_is_already(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	put_regs(w->task, function(0) + 1, 0x10, TASK);
	run(w);
	expect_end(w, 1, UNWIND_STUCK, false);
}

static void test_two_stacks_that_lead_to_each_other(void **state)
{
	struct world *w = *state;

	open_on_irq(w);
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	w->irq[0] = TASK;
	w->task[0] = function(0) + 1;
	w->task[1] = IRQ + 0x80;
	w->irq[0x80 / 8] = function(0) + 1;
	w->irq[0x88 / 8] = TASK + 0x80;
	run(w);
	expect_end(w, 2, UNWIND_STUCK, false);
}

static void test_off_all_stacks_and_back_by_the_frame_pointer(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	put_regs(w->task, function(1) + 1, 0x10, 0x1000);
	w->task[4] = TASK + 0x100;
	w->task[0x108 / 8] = function(0) + 1;
	run(w);
	expect_end(w, 2, UNWIND_STUCK, false);
}

static void test_too_deep(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	for (unsigned i = 0; i < WORDS; i++)
		w->task[i] = function(0) + 1;
	run(w);
	expect_end(w, UNWIND_FRAMES_MAX, UNWIND_TOO_DEEP, false);
}

/* ---- copies and addresses at the edges of the address space ---- */

static const struct edge_case {
	const char *pointers, *copy, *search;
	uint64_t gva;
} edge_cases[] = {
	{"pointers to 0", "copy from 0 on", "search from 0 on", 0},
	{"pointers to 8", "copy from 8 on", "search from 8 on", 8},
	{"pointers to the last byte", "copy from the last byte on", "search from the last byte on", UINT64_MAX},
	{"pointers to the last word", "copy from the last word on", "search from the last word on", UINT64_MAX - 7},
	{"pointers to the last page", "copy from the last page on", "search from the last page on", UINT64_MAX - 4095},
};

static void point_to_edge(struct world *w)
{
	const struct edge_case *c = w->row;

	w->regs.gpr[X86_RSP] = w->regs.gpr[X86_RBP] = c->gva;
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
}

static void copy_from_edge(struct world *w)
{
	const struct edge_case *c = w->row;

	point_to_edge(w);
	w->stacks[0].gva = c->gva;
	w->stacks[0].len = c->gva == UINT64_MAX - 4095 ? 4095 : 0;
}

static void test_pointers_to_an_edge(void **state)
{
	struct world *w = *state;

	point_to_edge(w);
	run(w);
	expect_end(w, 1, UNWIND_NO_MEMORY, false);
}

static void test_copy_from_an_edge(void **state)
{
	struct world *w = *state;

	copy_from_edge(w);
	run(w);
	assert_true(w->out.count >= 1 && w->out.count <= UNWIND_FRAMES_MAX);
}

static void test_search_from_an_edge(void **state)
{
	struct world *w = *state;

	copy_from_edge(w);
	w->no_rule[0] = true;
	run(w);
	expect_end(w, 1, UNWIND_NO_RULE, false);
}

static void test_no_stack(void **state)
{
	struct world *w = *state;

	w->stack_count = 0;
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	run(w);
	expect_end(w, 1, UNWIND_NO_MEMORY, false);
}

/* ---- any stacks and rules ---- */

static uint64_t any_word(struct rng *rng)
{
	switch (rng_below(rng, 6)) {
	case 0:
		return TASK + rng_below(rng, sizeof(((struct world *)0)->task) + 16) - 8;
	case 1:
		return IRQ + rng_below(rng, WORDS) * 8;
	case 2:
		return NMI + rng_below(rng, WORDS) * 8;
	case 3:
		return rng_next(rng);
	default:
		return function((unsigned)rng_below(rng, FUNCTIONS)) + rng_below(rng, FUNCTION_SIZE);
	}
}

static void make_anything(struct world *w, struct rng *rng)
{
	open_on_irq(w);
	w->regs.gpr[X86_RSP] = any_word(rng);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		w->rules[i] = (struct orc_rule){
			.type = (enum orc_type)rng_below(rng, 5),
			.interrupted = rng_below(rng, 2),
			.sp_base = (uint8_t)rng_below(rng, 16),
			.bp_base = (uint8_t)rng_below(rng, 8),
			.sp_offset = (int32_t)rng_below(rng, 256) - 64,
			.bp_offset = (int32_t)rng_below(rng, 64) - 32,
		};
		w->no_rule[i] = !rng_below(rng, 8);
	}
	for (unsigned i = 0; i < WORDS; i++) {
		w->task[i] = any_word(rng);
		w->irq[i] = any_word(rng);
		w->nmi[i] = any_word(rng);
	}
	for (unsigned i = 0; i < COUNT(w->returns); i++)
		w->returns[w->return_count++] = w->task[rng_below(rng, WORDS)];
	for (unsigned i = 0; i < X86_GPRS; i++)
		w->regs.gpr[i] = i == X86_RSP ? w->regs.gpr[i] : any_word(rng);
}

static void test_anything(void **state)
{
	struct rng rng = {.state = 7};

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct world w;
		bool reliable = true;

		make_anything(&w, &rng);
		run(&w);
		assert_true(w.out.count >= 1 && w.out.count <= UNWIND_FRAMES_MAX);
		for (unsigned i = 0; i < w.out.count; i++) {
			/* After a guessed frame, all further frames count as guessed. */
			assert_true(reliable || !w.out.frames[i].reliable);
			reliable = w.out.frames[i].reliable;
		}
		assert_true(reliable || w.out.guessed);
		for (unsigned i = 0; i < w.stack_count; i++)
			assert_true(w.out.used_from[i] <= w.stacks[i].len);
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		WORLD_TEST(test_frame_pointer_to_a_return_address),
		WORLD_TEST(test_frame_pointer_to_no_return_address),
		WORLD_TEST(test_search_that_finds_a_return_address),
		WORLD_TEST(test_search_that_finds_nothing),
		WORLD_TEST(test_interrupted_at_an_end_with_nothing_on_the_stack),
		WORLD_TEST(test_interrupted_at_an_end),
		WORLD_TEST(test_interrupted_where_a_rule_is_undefined),
		WORLD_TEST(test_interrupted_where_it_is_already),
		WORLD_TEST(test_two_stacks_that_lead_to_each_other),
		WORLD_TEST(test_off_all_stacks_and_back_by_the_frame_pointer),
		WORLD_TEST(test_too_deep),
		WORLD_TEST(test_no_stack),
		WORLD_TEST(test_anything),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(offset_cases) + 3 * COUNT(edge_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(offset_cases); i++)
		*next++ = WORLD_ROW(offset_cases[i].shows, test_rule_that_does_not_move_up, &offset_cases[i]);
	for (size_t i = 0; i < COUNT(edge_cases); i++) {
		const struct edge_case *c = &edge_cases[i];

		*next++ = WORLD_ROW(c->pointers, test_pointers_to_an_edge, c);
		*next++ = WORLD_ROW(c->copy, test_copy_from_an_edge, c);
		*next++ = WORLD_ROW(c->search, test_search_from_an_edge, c);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
