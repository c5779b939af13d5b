/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up stacks, and the rules to unwind them. Every test has its own world. */
#ifndef OUTRIDER_TEST_SYM_UNWIND_WORLD_H
#define OUTRIDER_TEST_SYM_UNWIND_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* A stack of each kind, and functions 0 to 15. Each has one rule, except that the first byte of some has its own. */
struct world {
	uint64_t task[WORDS], irq[WORDS], nmi[WORDS];
	struct unwind_stack stacks[3];
	unsigned stack_count;
	struct orc_rule rules[FUNCTIONS];
	bool no_rule[FUNCTIONS];
	uint64_t returns[8]; /* the addresses for which returns_to() returns true */
	unsigned return_count;
	struct x86_regs regs;
	struct unwind out;
	const void *row; /* The table's row, in a test made by WORLD_ROW(). */
};

static inline uint64_t function(unsigned i)
{
	return 0xffffffff81000000ull + i * FUNCTION_SIZE;
}

static inline int rule_of(void *ctx, uint64_t pc, struct orc_rule *out)
{
	const struct world *w = ctx;
	uint64_t i = (pc - function(0)) / FUNCTION_SIZE;

	if (i >= FUNCTIONS || w->no_rule[i])
		return -1;
	*out = w->rules[i];
	return 0;
}

static inline bool returns_to(void *ctx, uint64_t pc)
{
	const struct world *w = ctx;

	for (unsigned i = 0; i < w->return_count; i++) {
		if (w->returns[i] == pc)
			return true;
	}
	return false;
}

static inline void open_world(struct world *w)
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

/* Set the registers to a stop on the interrupt stack, which was entered from the task's stack. */
static inline void open_on_irq(struct world *w)
{
	open_world(w);
	w->stacks[0] = (struct unwind_stack){IRQ, (const uint8_t *)w->irq, sizeof(w->irq)};
	w->stacks[1] = (struct unwind_stack){TASK, (const uint8_t *)w->task, sizeof(w->task)};
	w->stacks[2] = (struct unwind_stack){NMI, (const uint8_t *)w->nmi, sizeof(w->nmi)};
	w->stack_count = 3;
	w->regs.gpr[X86_RSP] = IRQ;
}

static inline void run(struct world *w)
{
	const struct unwind_source source = {.rule = rule_of, .returns_to = returns_to, .ctx = w};

	unwind(&w->regs, w->stacks, w->stack_count, &source, &w->out);
}

static inline void expect_frame(const struct world *w, unsigned i, uint64_t pc, enum unwind_kind kind, bool reliable)
{
	assert_true(i < w->out.count);
	assert_int_equal(w->out.frames[i].pc, pc);
	assert_int_equal(w->out.frames[i].kind, kind);
	assert_int_equal(w->out.frames[i].reliable, reliable);
}

static inline void expect_end(const struct world *w, unsigned count, enum unwind_end end, bool guessed)
{
	assert_int_equal(w->out.count, count);
	assert_int_equal(w->out.end, end);
	assert_int_equal(w->out.guessed, guessed);
}

static inline void put_regs(uint64_t *words, uint64_t rip, uint64_t cs, uint64_t rsp)
{
	for (unsigned i = 0; i < 21; i++)
		words[i] = 0xaaaa000000000000ull + i;
	words[16] = rip;
	words[17] = cs;
	words[19] = rsp;
}

static inline int world_setup(void **state)
{
	struct world *w = malloc(sizeof(*w));

	if (!w)
		return -1;
	open_world(w);
	w->row = *state;
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	free(*state);
	return 0;
}

/* For main(): a test, and a test of one row of a table. The latter has the row's name, and finds the row in world->row. */
#define WORLD_TEST(function) cmocka_unit_test_setup_teardown(function, world_setup, world_teardown)
#define WORLD_ROW(row_name, function, row_of_table)           \
	((struct CMUnitTest){.name = (row_name),              \
			     .test_func = (function),         \
			     .setup_func = world_setup,       \
			     .teardown_func = world_teardown, \
			     .initial_state = (void *)(row_of_table)})

#endif
