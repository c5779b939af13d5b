// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinding made-up stacks by made-up rules: the unwinder follows valid frames. */
#include "tests/unit/symbols/unwind_world.h"

static void test_calls(void **state)
{
	struct world *w = *state;

	/* A function at its entry; one with locals; one with a frame pointer that its callee saved; the first function. */
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 0x28);
	w->rules[1].bp_base = ORC_BASE_PREV_SP;
	w->rules[1].bp_offset = -16;
	w->rules[2] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w->regs.gpr[X86_RBP] = 0x1234;
	w->task[0] = function(1) + 0x20;
	w->task[4] = TASK + 0x80;
	w->task[5] = function(2) + 0x30;
	w->task[17] = function(15) + 0x40;
	run(w);
	expect_frame(w, 0, function(0) + 0x10, UNWIND_STOPPED, true);
	expect_frame(w, 1, function(1) + 0x20, UNWIND_CALL, true);
	expect_frame(w, 2, function(2) + 0x30, UNWIND_CALL, true);
	expect_frame(w, 3, function(15) + 0x40, UNWIND_CALL, true);
	expect_end(w, 4, UNWIND_FIRST, false);
	assert_int_equal(w->out.used_from[0], 0);
}

/* ---- a call that does not return may be a function's last instruction: the next address has another function's rule ---- */

static void test_call_as_last_instruction(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w->no_rule[2] = true;
	w->task[0] = function(2);
	w->task[2] = function(15) + 1;
	run(w);
	expect_frame(w, 1, function(2), UNWIND_CALL, true);
	expect_end(w, 3, UNWIND_FIRST, false);
}

/* An interrupted instruction has the rule of its own address, here of the first instruction of function 3. */
static void test_interrupted_first_instruction(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w->no_rule[2] = true;
	w->rules[3] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	put_regs(w->task, function(3), 0x10, TASK + 0x200);
	w->task[0x40] = function(15) + 1;
	run(w);
	expect_frame(w, 1, function(3), UNWIND_INTERRUPTED, true);
	expect_end(w, 3, UNWIND_FIRST, false);
}

static void test_exception(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w->rules[1] = (struct orc_rule)REGS(ORC_REGS, 8);
	w->rules[2] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w->task[1] = function(1) + 5;
	put_regs(w->task + 3, function(2) + 0x33, 0x10, TASK + 0x100);
	w->task[3 + 4] = TASK + 0x140; /* its RBP */
	w->task[0x140 / 8 + 1] = function(15) + 9;
	run(w);
	expect_frame(w, 2, function(2) + 0x33, UNWIND_INTERRUPTED, true);
	expect_frame(w, 3, function(15) + 9, UNWIND_CALL, true);
	expect_end(w, 4, UNWIND_FIRST, false);
}

/* ---- a function that aligned its stack keeps the old pointer in a register ---- */

static const struct register_case {
	const char *where_it_stopped, *behind_a_call, *where_it_was_interrupted;
	unsigned base, gpr, pt_word;
} register_cases[] = {
	{"R10 where it stopped", "R10 behind a call", "R10 where it was interrupted", ORC_BASE_R10, 10, 7},
	{"R13 where it stopped", "R13 behind a call", "R13 where it was interrupted", ORC_BASE_R13, 13, 2},
	{"RDI where it stopped", "RDI behind a call", "RDI where it was interrupted", ORC_BASE_DI, X86_RDI, 14},
	{"RDX where it stopped", "RDX behind a call", "RDX where it was interrupted", ORC_BASE_DX, X86_RDX, 12},
};

static void test_register_where_it_stopped(void **state)
{
	struct world *w = *state;
	const struct register_case *c = w->row;

	w->rules[0] = (struct orc_rule)CALL(c->base, 0);
	w->regs.gpr[c->gpr] = TASK + 0x48;
	w->task[8] = function(15) + 1;
	run(w);
	expect_end(w, 2, UNWIND_FIRST, false);
}

/* The value of the register in the caller is not known. */
static void test_register_behind_a_call(void **state)
{
	struct world *w = *state;
	const struct register_case *c = w->row;

	w->rules[0] = w->rules[1] = (struct orc_rule)CALL(c->base, 0);
	w->regs.gpr[c->gpr] = TASK + 0x48;
	w->task[8] = function(1) + 1;
	run(w);
	expect_end(w, 2, UNWIND_NO_REG, false);
}

/* At an interrupt, all registers are on the stack. */
static void test_register_where_it_was_interrupted(void **state)
{
	struct world *w = *state;
	const struct register_case *c = w->row;

	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w->rules[1] = (struct orc_rule)CALL(c->base, 0);
	w->rules[2] = (struct orc_rule)REGS(ORC_REGS, 0);
	w->regs.gpr[c->gpr] = TASK + 0x48;
	w->task[0] = function(2) + 1;
	put_regs(w->task + 1, function(1) + 1, 0x10, TASK + 0x100);
	w->task[1 + c->pt_word] = TASK + 0x188;
	w->task[0x30] = function(15) + 1;
	run(w);
	expect_end(w, 4, UNWIND_FIRST, false);
}

/* Early in an entry the stack has only what the CPU pushed, and the registers still have their values. */
static void test_early_entry(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)REGS(ORC_REGS_PARTIAL, 8);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_R10, 0);
	w->regs.gpr[10] = TASK + 0x90;
	w->task[1] = function(1) + 2;
	w->task[2] = 0x10;
	w->task[4] = TASK + 0x80;
	w->task[0x88 / 8] = function(15) + 1;
	run(w);
	expect_frame(w, 1, function(1) + 2, UNWIND_INTERRUPTED, true);
	expect_end(w, 3, UNWIND_FIRST, false);
}

/* ---- from user space ---- */

static void test_registers_of_user_space(void **state)
{
	struct world *w = *state;

	w->rules[0] = (struct orc_rule)REGS(ORC_REGS, (WORDS - 21) * 8);
	put_regs(w->task + WORDS - 21, 0x400000, 0x33, 0x7ffc0000);
	run(w);
	expect_end(w, 1, UNWIND_USER, false);
}

/* At an entry from user space, the rule places the end of what the CPU pushed `words_off` words after the stack's end. */
static void enter_early(struct world *w, int words_off)
{
	w->rules[0] = (struct orc_rule)REGS(ORC_REGS_PARTIAL, (WORDS - 5 + words_off) * 8);
	put_regs(w->task + WORDS - 21, 0x400000, 0x33, 0x7ffc0000);
}

static void test_early_entry_from_user_space(void **state)
{
	struct world *w = *state;

	enter_early(w, 0);
	run(w);
	expect_end(w, 1, UNWIND_USER, false);
}

static void test_early_entry_of_which_a_word_is_missing(void **state)
{
	struct world *w = *state;

	enter_early(w, 1);
	run(w);
	expect_end(w, 1, UNWIND_NO_MEMORY, false);
}

static void test_stopped_in_user_space(void **state)
{
	struct world *w = *state;

	enter_early(w, 1);
	w->regs.cs = 0x33;
	run(w);
	expect_end(w, 1, UNWIND_USER, false);
}

/* ---- from the interrupt stack to the task's ---- */

/* Since Linux 5.12, the interrupt stack's uppermost word has the task's stack pointer, and the return pops it. */
static void enter_irq_stack(struct world *w)
{
	open_on_irq(w);
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, (WORDS - 1) * 8);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	w->rules[2] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w->irq[WORDS - 2] = function(1) + 4;
	w->irq[WORDS - 1] = TASK + 0x100;
	w->task[0x100 / 8] = function(2) + 8;
	w->task[0x108 / 8] = function(15) + 1;
}

static void test_irq_stack(void **state)
{
	struct world *w = *state;

	enter_irq_stack(w);
	run(w);
	expect_frame(w, 2, function(2) + 8, UNWIND_CALL, true);
	expect_end(w, 4, UNWIND_FIRST, false);
}

static void test_irq_stack_is_used_from_its_beginning_and_the_tasks_from_its_pointer(void **state)
{
	struct world *w = *state;

	enter_irq_stack(w);
	run(w);
	assert_int_equal(w->out.used_from[0], 0);
	assert_int_equal(w->out.used_from[1], 0x100);
	assert_int_equal(w->out.used_from[2], sizeof(w->nmi));
}

/* The copy of the stack is one word too short. */
static void test_irq_stack_over_too_short_a_copy(void **state)
{
	struct world *w = *state;

	enter_irq_stack(w);
	w->stacks[1].len = 0x108;
	run(w);
	expect_end(w, 3, UNWIND_NO_MEMORY, false);
}

static void test_irq_stack_alone(void **state)
{
	struct world *w = *state;

	enter_irq_stack(w);
	w->stack_count = 1;
	run(w);
	expect_end(w, 2, UNWIND_NO_MEMORY, false);
}

/* Before Linux 5.12, the frame pointer leads back to the task's stack. */
static void test_irq_stack_by_frame_pointer(void **state)
{
	struct world *w = *state;

	open_on_irq(w);
	w->rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 24);
	w->rules[0].bp_base = ORC_BASE_PREV_SP;
	w->rules[0].bp_offset = -16;
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w->irq[1] = TASK + 0x80;
	w->irq[2] = function(1) + 4;
	w->task[0x88 / 8] = function(15) + 1;
	run(w);
	expect_frame(w, 2, function(15) + 1, UNWIND_CALL, true);
	expect_end(w, 3, UNWIND_FIRST, false);
}

/* An NMI interrupted an interrupt handler, which interrupted a task. */
static void test_three_stacks(void **state)
{
	struct world *w = *state;

	open_on_irq(w);
	w->stacks[0] = (struct unwind_stack){NMI, (const uint8_t *)w->nmi, sizeof(w->nmi)};
	w->stacks[1] = (struct unwind_stack){IRQ, (const uint8_t *)w->irq, sizeof(w->irq)};
	w->stacks[2] = (struct unwind_stack){TASK, (const uint8_t *)w->task, sizeof(w->task)};
	w->regs.gpr[X86_RSP] = NMI;
	w->rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w->rules[1] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	put_regs(w->nmi, function(1) + 1, 0x10, IRQ + 0x40);
	w->irq[8] = TASK + 0x200;
	w->task[0x40] = function(15) + 1;
	run(w);
	expect_frame(w, 1, function(1) + 1, UNWIND_INTERRUPTED, true);
	expect_end(w, 3, UNWIND_FIRST, false);
	assert_int_equal(w->out.used_from[1], 0x40);
	assert_int_equal(w->out.used_from[2], 0x200);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		WORLD_TEST(test_calls),
		WORLD_TEST(test_call_as_last_instruction),
		WORLD_TEST(test_interrupted_first_instruction),
		WORLD_TEST(test_exception),
		WORLD_TEST(test_early_entry),
		WORLD_TEST(test_registers_of_user_space),
		WORLD_TEST(test_early_entry_from_user_space),
		WORLD_TEST(test_early_entry_of_which_a_word_is_missing),
		WORLD_TEST(test_stopped_in_user_space),
		WORLD_TEST(test_irq_stack),
		WORLD_TEST(test_irq_stack_is_used_from_its_beginning_and_the_tasks_from_its_pointer),
		WORLD_TEST(test_irq_stack_over_too_short_a_copy),
		WORLD_TEST(test_irq_stack_alone),
		WORLD_TEST(test_irq_stack_by_frame_pointer),
		WORLD_TEST(test_three_stacks),
	};
	struct CMUnitTest tests[COUNT(alone) + 3 * COUNT(register_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(register_cases); i++) {
		const struct register_case *c = &register_cases[i];

		*next++ = WORLD_ROW(c->where_it_stopped, test_register_where_it_stopped, c);
		*next++ = WORLD_ROW(c->behind_a_call, test_register_behind_a_call, c);
		*next++ = WORLD_ROW(c->where_it_was_interrupted, test_register_where_it_was_interrupted, c);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
