// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinding made-up stacks by made-up rules: what is on them is followed, and whatever is on them, it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "symbols/unwind/unwind.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TASK 0xffffc90000100000ull
#define IRQ 0xffffc90000208000ull
#define NMI 0xfffffe0000010000ull
#define WORDS 512
#define FUNCTIONS 16
#define FUNCTION_SIZE 0x100u

#define CALL(sp, offset)                                                 \
	{                                                                \
		.type = ORC_CALL, .sp_base = (sp), .sp_offset = (offset) \
	}
#define REGS(kind, offset)                                                                         \
	{                                                                                          \
		.type = (kind), .interrupted = true, .sp_base = ORC_BASE_SP, .sp_offset = (offset) \
	}

/* A stack of each kind, and functions 0 to 15 with one rule each, but for the first byte of some. */
struct world {
	uint64_t task[WORDS], irq[WORDS], nmi[WORDS];
	struct unwind_stack stacks[3];
	unsigned stack_count;
	struct orc_rule rules[FUNCTIONS];
	bool no_rule[FUNCTIONS];
	uint64_t returns[8]; /* what returns_to() says yes to */
	unsigned return_count;
	struct x86_regs regs;
	struct unwind out;
};

static uint64_t function(unsigned i)
{
	return 0xffffffff81000000ull + i * FUNCTION_SIZE;
}

static int rule_of(void *ctx, uint64_t pc, struct orc_rule *out)
{
	const struct world *w = ctx;
	uint64_t i = (pc - function(0)) / FUNCTION_SIZE;

	if (i >= FUNCTIONS || w->no_rule[i])
		return -1;
	*out = w->rules[i];
	return 0;
}

static bool returns_to(void *ctx, uint64_t pc)
{
	const struct world *w = ctx;

	for (unsigned i = 0; i < w->return_count; i++) {
		if (w->returns[i] == pc)
			return true;
	}
	return false;
}

static void open_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->stacks[0] = (struct unwind_stack){TASK, (const uint8_t *)w->task, sizeof(w->task)};
	w->stacks[1] = (struct unwind_stack){0};
	w->stack_count = 1;
	w->regs.cs = 0x10;
	w->regs.rip = function(0) + 0x10;
	w->regs.gpr[X86_RSP] = TASK;
	w->rules[FUNCTIONS - 1] = (struct orc_rule){.type = ORC_END};
}

/* Stopped on the interrupt stack, which was entered from the task's. */
static void open_on_irq(struct world *w)
{
	open_world(w);
	w->stacks[0] = (struct unwind_stack){IRQ, (const uint8_t *)w->irq, sizeof(w->irq)};
	w->stacks[1] = (struct unwind_stack){TASK, (const uint8_t *)w->task, sizeof(w->task)};
	w->stacks[2] = (struct unwind_stack){NMI, (const uint8_t *)w->nmi, sizeof(w->nmi)};
	w->stack_count = 3;
	w->regs.gpr[X86_RSP] = IRQ;
}

static void run(struct world *w)
{
	const struct unwind_source source = {.rule = rule_of, .returns_to = returns_to, .ctx = w};

	unwind(&w->regs, w->stacks, w->stack_count, &source, &w->out);
}

static void expect_frame(const struct world *w, unsigned i, uint64_t pc, enum unwind_kind kind, bool reliable)
{
	assert_true(i < w->out.count);
	assert_int_equal(w->out.frames[i].pc, pc);
	assert_int_equal(w->out.frames[i].kind, kind);
	assert_int_equal(w->out.frames[i].reliable, reliable);
}

static void expect_end(const struct world *w, unsigned count, enum unwind_end end, bool guessed)
{
	assert_int_equal(w->out.count, count);
	assert_int_equal(w->out.end, end);
	assert_int_equal(w->out.guessed, guessed);
}

static void put_regs(uint64_t *words, uint64_t rip, uint64_t cs, uint64_t rsp)
{
	for (unsigned i = 0; i < 21; i++)
		words[i] = 0xaaaa000000000000ull + i;
	words[16] = rip;
	words[17] = cs;
	words[19] = rsp;
}

/* ---- what is there is found ---- */

static void test_calls(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	/* At its entry; with locals; with a frame pointer that the function before had saved; the first one. */
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 0x28);
	w.rules[1].bp_base = ORC_BASE_PREV_SP;
	w.rules[1].bp_offset = -16;
	w.rules[2] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w.regs.gpr[X86_RBP] = 0x1234;
	w.task[0] = function(1) + 0x20;
	w.task[4] = TASK + 0x80;
	w.task[5] = function(2) + 0x30;
	w.task[17] = function(15) + 0x40;
	run(&w);
	expect_frame(&w, 0, function(0) + 0x10, UNWIND_STOPPED, true);
	expect_frame(&w, 1, function(1) + 0x20, UNWIND_CALL, true);
	expect_frame(&w, 2, function(2) + 0x30, UNWIND_CALL, true);
	expect_frame(&w, 3, function(15) + 0x40, UNWIND_CALL, true);
	expect_end(&w, 4, UNWIND_FIRST, false);
	assert_int_equal(w.out.used_from[0], 0);
}

/* A call that does not return may be a function's last instruction: what follows it has other rules. */
static void test_last_instruction(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w.no_rule[2] = true;
	w.task[0] = function(2);
	w.task[2] = function(15) + 1;
	run(&w);
	expect_frame(&w, 1, function(2), UNWIND_CALL, true);
	expect_end(&w, 3, UNWIND_FIRST, false);
	/* But an interrupted instruction is itself: here the first one of function 15. */
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w.rules[3] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	put_regs(w.task, function(3), 0x10, TASK + 0x200);
	w.task[0x40] = function(15) + 1;
	run(&w);
	expect_frame(&w, 1, function(3), UNWIND_INTERRUPTED, true);
	expect_end(&w, 3, UNWIND_FIRST, false);
}

static void test_exception(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w.rules[1] = (struct orc_rule)REGS(ORC_REGS, 8);
	w.rules[2] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w.task[1] = function(1) + 5;
	put_regs(w.task + 3, function(2) + 0x33, 0x10, TASK + 0x100);
	w.task[3 + 4] = TASK + 0x140; /* its RBP */
	w.task[0x140 / 8 + 1] = function(15) + 9;
	run(&w);
	expect_frame(&w, 2, function(2) + 0x33, UNWIND_INTERRUPTED, true);
	expect_frame(&w, 3, function(15) + 9, UNWIND_CALL, true);
	expect_end(&w, 4, UNWIND_FIRST, false);
}

/* A function that aligned its stack keeps the old pointer in R10: known where all registers are, not after a call. */
static void test_registers(void **state)
{
	static const struct {
		unsigned base, gpr, pt_word;
	} cases[] = {{ORC_BASE_R10, 10, 7}, {ORC_BASE_R13, 13, 2}, {ORC_BASE_DI, X86_RDI, 14}, {ORC_BASE_DX, X86_RDX, 12}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;

		open_world(&w);
		w.rules[0] = (struct orc_rule)CALL(cases[i].base, 0);
		w.regs.gpr[cases[i].gpr] = TASK + 0x48;
		w.task[8] = function(15) + 1;
		run(&w);
		expect_end(&w, 2, UNWIND_FIRST, false);

		w.rules[1] = w.rules[0];
		w.task[8] = function(1) + 1;
		run(&w);
		expect_end(&w, 2, UNWIND_NO_REG, false);

		w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
		w.rules[2] = (struct orc_rule)REGS(ORC_REGS, 0);
		w.task[0] = function(2) + 1;
		put_regs(w.task + 1, function(1) + 1, 0x10, TASK + 0x100);
		w.task[1 + cases[i].pt_word] = TASK + 0x188;
		w.task[0x30] = function(15) + 1;
		run(&w);
		expect_end(&w, 4, UNWIND_FIRST, false);
	}
}

/* Early in an entry only what the CPU pushed is on the stack, and the registers still have their values. */
static void test_early_entry(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS_PARTIAL, 8);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_R10, 0);
	w.regs.gpr[10] = TASK + 0x90;
	w.task[1] = function(1) + 2;
	w.task[2] = 0x10;
	w.task[4] = TASK + 0x80;
	w.task[0x88 / 8] = function(15) + 1;
	run(&w);
	expect_frame(&w, 1, function(1) + 2, UNWIND_INTERRUPTED, true);
	expect_end(&w, 3, UNWIND_FIRST, false);
}

static void test_user(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS, (WORDS - 21) * 8);
	put_regs(w.task + WORDS - 21, 0x400000, 0x33, 0x7ffc0000);
	run(&w);
	expect_end(&w, 1, UNWIND_USER, false);
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS_PARTIAL, (WORDS - 5) * 8);
	run(&w);
	expect_end(&w, 1, UNWIND_USER, false);
	/* One word less of it on the stack. */
	w.rules[0].sp_offset += 8;
	run(&w);
	expect_end(&w, 1, UNWIND_NO_MEMORY, false);
	w.regs.cs = 0x33;
	run(&w);
	expect_end(&w, 1, UNWIND_USER, false);
}

/* The kernel since 5.12: the interrupt stack's uppermost word has the task's stack pointer, and is popped. */
static void test_irq_stack(void **state)
{
	struct world w;

	(void)state;
	open_on_irq(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, (WORDS - 1) * 8);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	w.rules[2] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w.irq[WORDS - 2] = function(1) + 4;
	w.irq[WORDS - 1] = TASK + 0x100;
	w.task[0x100 / 8] = function(2) + 8;
	w.task[0x108 / 8] = function(15) + 1;
	run(&w);
	expect_frame(&w, 2, function(2) + 8, UNWIND_CALL, true);
	expect_end(&w, 4, UNWIND_FIRST, false);
	assert_int_equal(w.out.used_from[0], 0);
	assert_int_equal(w.out.used_from[1], 0x100);
	assert_int_equal(w.out.used_from[2], sizeof(w.nmi));
	/* A word more is needed than was copied. */
	w.stacks[1].len = 0x108;
	run(&w);
	expect_end(&w, 3, UNWIND_NO_MEMORY, false);
	w.stack_count = 1;
	run(&w);
	expect_end(&w, 2, UNWIND_NO_MEMORY, false);
}

/* The kernel before: the frame pointer is the way back. */
static void test_irq_stack_by_frame_pointer(void **state)
{
	struct world w;

	(void)state;
	open_on_irq(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 24);
	w.rules[0].bp_base = ORC_BASE_PREV_SP;
	w.rules[0].bp_offset = -16;
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	w.irq[1] = TASK + 0x80;
	w.irq[2] = function(1) + 4;
	w.task[0x88 / 8] = function(15) + 1;
	run(&w);
	expect_frame(&w, 2, function(15) + 1, UNWIND_CALL, true);
	expect_end(&w, 3, UNWIND_FIRST, false);
}

/* An NMI came into an interrupt, which came into a task. */
static void test_three_stacks(void **state)
{
	struct world w;

	(void)state;
	open_on_irq(&w);
	w.stacks[0] = (struct unwind_stack){NMI, (const uint8_t *)w.nmi, sizeof(w.nmi)};
	w.stacks[1] = (struct unwind_stack){IRQ, (const uint8_t *)w.irq, sizeof(w.irq)};
	w.stacks[2] = (struct unwind_stack){TASK, (const uint8_t *)w.task, sizeof(w.task)};
	w.regs.gpr[X86_RSP] = NMI;
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	put_regs(w.nmi, function(1) + 1, 0x10, IRQ + 0x40);
	w.irq[8] = TASK + 0x200;
	w.task[0x40] = function(15) + 1;
	run(&w);
	expect_frame(&w, 1, function(1) + 1, UNWIND_INTERRUPTED, true);
	expect_end(&w, 3, UNWIND_FIRST, false);
	assert_int_equal(w.out.used_from[1], 0x40);
	assert_int_equal(w.out.used_from[2], 0x200);
}

/* ---- guesses ---- */

static void test_frame_pointer(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.no_rule[0] = true;
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	w.regs.gpr[X86_RBP] = TASK + 0x40;
	w.task[8] = 0x5555;
	w.task[9] = function(1) + 7;
	w.task[10] = function(15) + 1;
	w.returns[w.return_count++] = function(1) + 7;
	run(&w);
	expect_frame(&w, 0, function(0) + 0x10, UNWIND_STOPPED, true);
	expect_frame(&w, 1, function(1) + 7, UNWIND_CALL, false);
	expect_frame(&w, 2, function(15) + 1, UNWIND_CALL, false);
	expect_end(&w, 3, UNWIND_FIRST, true);
	assert_int_equal(w.out.trouble, UNWIND_NO_RULE);
	/* What the frame pointer leads to is no return address. */
	w.return_count = 0;
	run(&w);
	expect_end(&w, 1, UNWIND_NO_RULE, false);
}

static void test_search(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.regs.gpr[X86_RSP] = TASK + 1; /* searched in whole words all the same */
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 1 << 20);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_SP, 16);
	w.task[0] = w.task[20] = function(1) + 7;
	w.task[22] = function(15) + 1;
	w.returns[w.return_count++] = function(1) + 7;
	run(&w);
	expect_frame(&w, 1, function(1) + 7, UNWIND_CALL, false);
	expect_frame(&w, 2, function(15) + 1, UNWIND_CALL, false);
	expect_end(&w, 3, UNWIND_FIRST, true);
	assert_int_equal(w.out.trouble, UNWIND_NO_MEMORY);
	w.return_count = 0;
	run(&w);
	expect_end(&w, 1, UNWIND_NO_MEMORY, false);
}

/* Text that nobody should be interrupted in says that it is a first frame. */
static void test_interrupted_first(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule){.type = ORC_END};
	w.rules[1] = (struct orc_rule){.type = ORC_UNDEFINED};
	run(&w);
	expect_end(&w, 1, UNWIND_NO_RULE, false);
	w.task[3] = function(15) + 1;
	w.returns[w.return_count++] = function(15) + 1;
	run(&w);
	expect_end(&w, 2, UNWIND_FIRST, true);
	w.regs.rip = function(1);
	run(&w);
	expect_end(&w, 2, UNWIND_FIRST, true);
}

/* ---- it ends ---- */

static void test_stuck(void **state)
{
	struct world w;

	(void)state;
	/* Rules that do not move the stack pointer, or down. */
	for (int offset = -16; offset <= 0; offset += 8) {
		open_world(&w);
		w.regs.gpr[X86_RSP] = TASK + 0x100;
		w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, offset);
		w.task[0x100 / 8 + offset / 8 - 1] = function(0) + 1;
		run(&w);
		expect_end(&w, 1, UNWIND_STUCK, false);
	}
	/* Interrupted where it is already. */
	open_world(&w);
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	put_regs(w.task, function(0) + 1, 0x10, TASK);
	run(&w);
	expect_end(&w, 1, UNWIND_STUCK, false);
	/* Two stacks that lead to each other. */
	open_on_irq(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP_INDIRECT, 8);
	w.irq[0] = TASK;
	w.task[0] = function(0) + 1;
	w.task[1] = IRQ + 0x80;
	w.irq[0x80 / 8] = function(0) + 1;
	w.irq[0x88 / 8] = TASK + 0x80;
	run(&w);
	expect_end(&w, 2, UNWIND_STUCK, false);
	/* Off all stacks, and back by the frame pointer. */
	open_world(&w);
	w.rules[0] = (struct orc_rule)REGS(ORC_REGS, 0);
	w.rules[1] = (struct orc_rule)CALL(ORC_BASE_BP, 16);
	put_regs(w.task, function(1) + 1, 0x10, 0x1000);
	w.task[4] = TASK + 0x100;
	w.task[0x108 / 8] = function(0) + 1;
	run(&w);
	expect_end(&w, 2, UNWIND_STUCK, false);
}

static void test_too_deep(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	for (unsigned i = 0; i < WORDS; i++)
		w.task[i] = function(0) + 1;
	run(&w);
	expect_end(&w, UNWIND_FRAMES_MAX, UNWIND_TOO_DEEP, false);
}

/* Copies and addresses at the edges of the address space. */
static void test_edges(void **state)
{
	static const uint64_t edges[] = {0, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 4095};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(edges); i++) {
		open_world(&w);
		w.regs.gpr[X86_RSP] = w.regs.gpr[X86_RBP] = edges[i];
		w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
		run(&w);
		expect_end(&w, 1, UNWIND_NO_MEMORY, false);
		w.stacks[0].gva = edges[i];
		w.stacks[0].len = edges[i] == UINT64_MAX - 4095 ? 4095 : 0;
		run(&w);
		assert_true(w.out.count >= 1 && w.out.count <= UNWIND_FRAMES_MAX);
		w.no_rule[0] = true;
		run(&w);
		expect_end(&w, 1, UNWIND_NO_RULE, false);
	}
	open_world(&w);
	w.stack_count = 0;
	w.rules[0] = (struct orc_rule)CALL(ORC_BASE_SP, 8);
	run(&w);
	expect_end(&w, 1, UNWIND_NO_MEMORY, false);
}

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
			/* After a guess everything is one. */
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	     cmocka_unit_test(test_last_instruction),
		cmocka_unit_test(test_exception),    cmocka_unit_test(test_registers),
		cmocka_unit_test(test_early_entry),  cmocka_unit_test(test_user),
		cmocka_unit_test(test_irq_stack),    cmocka_unit_test(test_irq_stack_by_frame_pointer),
		cmocka_unit_test(test_three_stacks), cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_search),	     cmocka_unit_test(test_interrupted_first),
		cmocka_unit_test(test_stuck),	     cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_edges),	     cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
