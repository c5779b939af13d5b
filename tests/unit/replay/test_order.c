// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Orders on a toy machine: an interpreter of eight instructions, with two CPUs and a few words of memory. It implements
 * struct copy_ops without KVM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/replay/interleave.h"
#include "hv/replay/order.h"

enum op { LOAD, STORE, ADD, JUMP_UNLESS, FILL, CALL, RETURN, HALT, DIE };

struct insn {
	enum op op;
	uint64_t arg;
};

/* Addresses of the program, of its caller, and of the function by which a task goes to sleep. */
#define TEXT 0x1000u
#define CALLER 0x5000u
#define SLEEP 0x9000u
#define STACK 0x100u
#define TRACE_MAX 4096

struct toy {
	const struct insn *code;
	uint64_t memory[4];
	struct x86_regs cpu[2];
	/* Which CPU made each step. */
	char trace[TRACE_MAX];
	unsigned steps;
};

static void ret(struct x86_regs *r)
{
	r->rip = CALLER;
	r->gpr[X86_RSP] += 8;
}

static enum copy_step toy_step(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct toy *t = ctx;
	struct x86_regs *r = &t->cpu[cpu];
	/* Outside of the program a CPU executes instructions that do nothing. */
	struct insn nothing = {ADD, 0}, insn = r->rip >= CALLER ? nothing : t->code[r->rip - TEXT];
	enum copy_step result = COPY_STEPPED;

	assert_true(t->steps < TRACE_MAX);
	t->trace[t->steps++] = (char)('0' + cpu);
	r->rip++;
	switch (insn.op) {
	case LOAD:
		r->gpr[X86_RAX] = t->memory[insn.arg];
		break;
	case STORE:
		t->memory[insn.arg] = r->gpr[X86_RAX];
		break;
	case ADD:
		r->gpr[X86_RAX] += insn.arg;
		break;
	case JUMP_UNLESS:
		if (!r->gpr[X86_RAX])
			r->rip = TEXT + insn.arg;
		break;
	case FILL:
		/* A string instruction of RCX rounds: RIP stays until the last round is done. */
		t->memory[insn.arg]++;
		if (--r->gpr[X86_RCX])
			r->rip--;
		break;
	case CALL:
		r->gpr[X86_RSP] -= 8;
		r->rip = insn.arg;
		break;
	case RETURN:
		ret(r);
		break;
	case HALT:
		result = COPY_HALTED;
		break;
	case DIE:
		result = COPY_LOST;
		break;
	}
	*regs = *r;
	return result;
}

static void toy_regs(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	*regs = ((struct toy *)ctx)->cpu[cpu];
}

/* Make a machine whose CPUs stand at these instructions of the program, in a function that CALLER called. */
static struct toy toy_at(const struct insn *code, unsigned at0, unsigned at1)
{
	struct toy t = {.code = code};
	const unsigned at[2] = {at0, at1};

	for (unsigned i = 0; i < 2; i++) {
		t.cpu[i].rip = TEXT + at[i];
		t.cpu[i].gpr[X86_RSP] = STACK;
	}
	return t;
}

static struct order_run run_order(struct toy *t, struct order order, uint64_t limit)
{
	const struct copy_ops ops = {.step = toy_step, .regs = toy_regs, .ctx = t};
	struct order_run result;

	for (unsigned i = 0; i < 2; i++)
		order.sides[i] = (struct order_side){
			.cpu = i,
			.pc = t->cpu[i].rip,
			.limits = {.return_address = CALLER, .cfa = STACK + 8, .sleep = SLEEP, .instructions = limit},
		};
	order_run(&order, &ops, &result);
	return result;
}

static struct order_run run(struct toy *t, unsigned first, uint64_t limit)
{
	return run_order(t, (struct order){.first = first}, limit);
}

static void accesses_come_in_the_order_that_is_asked_for(void **state)
{
	/* CPU 0 reads the word that CPU 1 is about to write. */
	static const struct insn code[] = {{LOAD, 0}, {RETURN, 0}, {STORE, 0}, {RETURN, 0}};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 2);
		struct order_run r;

		t.cpu[1].gpr[X86_RAX] = 7;
		r = run(&t, first, 100);
		assert_int_equal(r.failure, REPLAY_NO_FAILURE);
		assert_int_equal(r.regions[0].end, REPLAY_END_RETURN);
		assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
		assert_int_equal(r.regs[0].gpr[X86_RAX], first == 0 ? 0 : 7);
		assert_int_equal(r.regions[0].instructions, 2);
	}
}

static void without_turns_a_side_runs_to_its_end(void **state)
{
	/* CPU 0 reads the word twice, which CPU 1 writes a while after its own access. */
	static const struct insn code[] = {{LOAD, 0}, {LOAD, 0}, {RETURN, 0}, {LOAD, 1}, {ADD, 7}, {STORE, 0}, {RETURN, 0}};
	static const char *const traces[] = {"0001111", "1111000"};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 3);
		struct order_run r = run_order(&t, (struct order){.first = first, .alone = true}, 100);

		assert_int_equal(r.failure, REPLAY_NO_FAILURE);
		assert_int_equal(r.regions[0].end, REPLAY_END_RETURN);
		assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
		assert_int_equal(r.regs[0].gpr[X86_RAX], first == 0 ? 0 : 7);
		assert_string_equal(t.trace, traces[first]);
	}
}

static void a_long_turn_lets_the_first_side_end_first(void **state)
{
	/* Both load the word, then add and store: the second one stores last. */
	static const struct insn code[] = {{LOAD, 0}, {ADD, 1}, {STORE, 0}, {RETURN, 0}};
	static const char *const traces[] = {"01000111", "10111000"};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 0);
		struct order_run r = run_order(&t, (struct order){.first = first, .turn = 100}, 100);

		assert_int_equal(r.failure, REPLAY_NO_FAILURE);
		assert_string_equal(t.trace, traces[first]);
	}
}

static void without_turns_a_side_that_waits_does_not_wait_for_ever(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {JUMP_UNLESS, 0}, {RETURN, 0}, {STORE, 0}, {RETURN, 0}};
	struct toy t = toy_at(code, 0, 3);
	struct order_run r;

	(void)state;
	t.cpu[1].gpr[X86_RAX] = 1;
	r = run_order(&t, (struct order){.first = 0, .alone = true}, 500);
	assert_int_equal(r.regions[0].end, REPLAY_END_LIMIT);
	assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
	assert_int_equal(t.steps, 502);
}

/* The toy's program of CPU 0 loads in a first section, and adds and stores in a second one that begins at this instruction. */
#define SECOND 2u
#define LOCK 0x777u
static const struct insn two_sections[] = {{LOAD, 0},	{JUMP_UNLESS, 5}, {ADD, 1}, {STORE, 0}, {RETURN, 0},
					   {RETURN, 0}, {LOAD, 0},	  {ADD, 5}, {STORE, 0}, {RETURN, 0}};

static struct order_run interleave(struct toy *t, enum section_order which, uint64_t limit, bool *reached)
{
	const struct copy_ops ops = {.step = toy_step, .regs = toy_regs, .ctx = t};
	const struct rendezvous_sections sections = {.lock = LOCK, .second = TEXT + SECOND, .gpr = X86_RDI, .offset = 7};
	struct order order = {0};
	struct order_run result;

	for (unsigned i = 0; i < 2; i++)
		order.sides[i] = (struct order_side){
			.cpu = i,
			.pc = t->cpu[i].rip,
			.limits = {.return_address = CALLER, .cfa = STACK + 8, .sleep = SLEEP, .instructions = limit},
		};
	*reached = false;
	interleave_run(&order, &sections, which, &ops, &result, reached);
	return result;
}

static void sections_run_in_three_orders(void **state)
{
	static const struct {
		enum section_order order;
		uint64_t value;
		const char *trace;
	} expected[SECTION_ORDERS] = {
		{SECTION_ORDER_BETWEEN, 11, "001111000"},
		{SECTION_ORDER_A_FIRST, 16, "000001111"},
		{SECTION_ORDER_B_FIRST, 16, "111100000"},
	};

	(void)state;
	for (unsigned i = 0; i < SECTION_ORDERS; i++) {
		struct toy t = toy_at(two_sections, 0, 6);
		struct order_run r;
		bool reached;

		t.memory[0] = 10;
		t.cpu[0].gpr[X86_RDI] = LOCK - 7;
		r = interleave(&t, expected[i].order, 100, &reached);
		assert_int_equal(reached, expected[i].order == SECTION_ORDER_BETWEEN);
		assert_int_equal(r.failure, REPLAY_NO_FAILURE);
		assert_int_equal(r.regions[0].end, REPLAY_END_RETURN);
		assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
		assert_int_equal(t.memory[0], expected[i].value);
		assert_string_equal(t.trace, expected[i].trace);
	}
}

/* The function returns after its first section, or its second section is of another lock. */
static void a_second_section_may_not_come(void **state)
{
	(void)state;
	for (unsigned other = 0; other < 2; other++) {
		struct toy t = toy_at(two_sections, 0, 6);
		struct order_run r;
		bool reached;

		t.memory[0] = other ? 10 : 0;
		t.cpu[0].gpr[X86_RDI] = other ? LOCK : LOCK - 7;
		r = interleave(&t, SECTION_ORDER_BETWEEN, 100, &reached);
		assert_false(reached);
		assert_int_equal(r.regions[0].end, REPLAY_END_RETURN);
		assert_int_equal(r.regions[1].end, REPLAY_END_NOT_RUN);
		assert_null(strchr(t.trace, '1'));
	}
}

/* What comes first spins until its limit, and the other side runs all the same. */
static void a_side_that_spins_ends_at_its_limit(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {JUMP_UNLESS, 0}, {RETURN, 0}, {STORE, 0}, {RETURN, 0}};
	struct toy t = toy_at(code, 0, 3);
	struct order_run r;
	bool reached;

	(void)state;
	r = interleave(&t, SECTION_ORDER_A_FIRST, 50, &reached);
	assert_int_equal(r.regions[0].end, REPLAY_END_LIMIT);
	assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
}

static void lost_update_shows(void **state)
{
	/* Both CPUs increment the same word, and CPU 1 has read it already. */
	static const struct insn code[] = {{LOAD, 0}, {ADD, 1}, {STORE, 0}, {RETURN, 0}};
	const uint64_t count[2] = {1, 2};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 2);

		t.cpu[1].gpr[X86_RAX] = 1;
		run(&t, first, 100);
		assert_int_equal(t.memory[0], count[first]);
	}
}

static void side_that_spins_gets_what_it_waits_for(void **state)
{
	/* CPU 0 spins for a word that CPU 1 writes long after its access. */
	static const struct insn waits[] = {{LOAD, 0}, {JUMP_UNLESS, 0}, {RETURN, 0}, {STORE, 1}};
	struct insn code[4 + 3 * ORDER_TURN + 2];
	struct order_run r;
	struct toy t;

	(void)state;
	memcpy(code, waits, sizeof(waits));
	for (unsigned i = 4; i < 4 + 3 * ORDER_TURN; i++)
		code[i] = (struct insn){ADD, 1};
	code[4 + 3 * ORDER_TURN] = (struct insn){STORE, 0};
	code[5 + 3 * ORDER_TURN] = (struct insn){RETURN, 0};
	for (unsigned first = 0; first < 2; first++) {
		t = toy_at(code, 0, 3);
		r = run(&t, first, 2000);
		assert_int_equal(r.failure, REPLAY_NO_FAILURE);
		assert_int_equal(r.regions[0].end, REPLAY_END_RETURN);
		assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
	}
}

static void two_that_wait_for_each_other_come_to_the_limit(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {JUMP_UNLESS, 0}, {RETURN, 0}, {LOAD, 1}, {JUMP_UNLESS, 3}, {RETURN, 0}};
	struct toy t = toy_at(code, 0, 3);
	struct order_run r = run(&t, 0, 500);

	(void)state;
	assert_int_equal(r.regions[0].end, REPLAY_END_LIMIT);
	assert_int_equal(r.regions[1].end, REPLAY_END_LIMIT);
	assert_int_equal(r.regions[0].instructions, 500);
	assert_int_equal(t.steps, 1000);
}

static void same_order_is_the_same_run(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {ADD, 1},	  {STORE, 0}, {JUMP_UNLESS, 0}, {LOAD, 1},
					   {ADD, 1},  {STORE, 1}, {LOAD, 2},  {JUMP_UNLESS, 4}, {RETURN, 0}};
	struct toy a = toy_at(code, 0, 4), b = toy_at(code, 0, 4);

	(void)state;
	run(&a, 1, 777);
	run(&b, 1, 777);
	assert_int_equal(a.steps, b.steps);
	assert_memory_equal(a.trace, b.trace, a.steps);
	assert_memory_equal(a.memory, b.memory, sizeof(a.memory));
}

static void first_access_is_whole_before_the_second(void **state)
{
	/* The string instruction of CPU 0 increments the word five times, and CPU 1 reads it. */
	static const struct insn code[] = {{FILL, 0}, {RETURN, 0}, {LOAD, 0}, {RETURN, 0}};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 2);
		struct order_run r;

		t.cpu[0].gpr[X86_RCX] = 5;
		r = run(&t, first, 100);
		assert_int_equal(r.regs[1].gpr[X86_RAX], first == 0 ? 5 : 0);
		assert_int_equal(r.regions[0].instructions, 6);
	}
}

static void task_that_goes_to_sleep_ends_its_region(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {CALL, SLEEP}, {STORE, 0}, {RETURN, 0}};
	struct toy t = toy_at(code, 0, 2);
	struct order_run r = run(&t, 0, 100);

	(void)state;
	assert_int_equal(r.regions[0].end, REPLAY_END_BLOCKED);
	assert_int_equal(r.regs[0].rip, SLEEP);
	assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
}

static void idle_cpu_ends_its_region(void **state)
{
	static const struct insn code[] = {{LOAD, 0}, {HALT, 0}, {STORE, 0}, {RETURN, 0}};
	struct toy t = toy_at(code, 0, 2);
	struct order_run r = run(&t, 1, 100);

	(void)state;
	assert_int_equal(r.failure, REPLAY_NO_FAILURE);
	assert_int_equal(r.regions[0].end, REPLAY_END_BLOCKED);
	assert_int_equal(r.regions[1].end, REPLAY_END_RETURN);
}

static void fault_ends_the_order(void **state)
{
	/* CPU 0 faults if it reads the value that CPU 1 writes. */
	static const struct insn code[] = {{LOAD, 0}, {JUMP_UNLESS, 3}, {DIE, 0}, {RETURN, 0}, {STORE, 0}, {RETURN, 0}};
	const enum replay_failure failure[2] = {REPLAY_NO_FAILURE, REPLAY_FAULT};

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		struct toy t = toy_at(code, 0, 4);
		struct order_run r;

		t.cpu[1].gpr[X86_RAX] = 1;
		r = run(&t, first, 100);
		assert_int_equal(r.failure, failure[first]);
		assert_int_equal(r.regions[0].end, first == 0 ? REPLAY_END_RETURN : REPLAY_END_FAULT);
		assert_int_equal(r.why == NULL, first == 0);
	}
}

static void deeper_return_is_not_the_end(void **state)
{
	struct region r;
	const struct region_limits limits = {.return_address = CALLER, .cfa = STACK + 8, .instructions = 10};
	struct x86_regs regs = {.rip = CALLER};

	(void)state;
	region_begin(&r, &limits);
	regs.gpr[X86_RSP] = STACK;
	assert_false(region_step(&r, &regs));
	regs.gpr[X86_RSP] = STACK + 8;
	assert_true(region_step(&r, &regs));
	assert_int_equal(r.end, REPLAY_END_RETURN);
}

static void region_without_a_known_return_ends_by_its_limit(void **state)
{
	struct region r;
	const struct region_limits limits = {.instructions = 3};
	struct x86_regs regs = {.rip = 0};

	(void)state;
	region_begin(&r, &limits);
	assert_false(region_step(&r, &regs));
	assert_false(region_step(&r, &regs));
	assert_true(region_step(&r, &regs));
	assert_int_equal(r.end, REPLAY_END_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_come_in_the_order_that_is_asked_for),
		cmocka_unit_test(without_turns_a_side_runs_to_its_end),
		cmocka_unit_test(a_long_turn_lets_the_first_side_end_first),
		cmocka_unit_test(without_turns_a_side_that_waits_does_not_wait_for_ever),
		cmocka_unit_test(sections_run_in_three_orders),
		cmocka_unit_test(a_second_section_may_not_come),
		cmocka_unit_test(a_side_that_spins_ends_at_its_limit),
		cmocka_unit_test(lost_update_shows),
		cmocka_unit_test(side_that_spins_gets_what_it_waits_for),
		cmocka_unit_test(two_that_wait_for_each_other_come_to_the_limit),
		cmocka_unit_test(same_order_is_the_same_run),
		cmocka_unit_test(first_access_is_whole_before_the_second),
		cmocka_unit_test(task_that_goes_to_sleep_ends_its_region),
		cmocka_unit_test(idle_cpu_ends_its_region),
		cmocka_unit_test(fault_ends_the_order),
		cmocka_unit_test(deeper_return_is_not_the_end),
		cmocka_unit_test(region_without_a_known_return_ends_by_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
