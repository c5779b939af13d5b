/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of a task that is stepped, and the calls of functions that serve the whole kernel among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/explore/calls.h"

#define TOP 0x1000u /* RSP in the first function */

static void at(struct calls *c, uint64_t pc, uint8_t len, uint64_t rsp, unsigned facts)
{
	const struct insn insn = {.addr = pc, .len = len};
	struct x86_regs regs = {.rip = pc};

	regs.gpr[X86_RSP] = rsp;
	calls_follow(c, &insn, &regs, facts);
}

static void calls_and_returns_are_seen(void **state)
{
	struct calls c = {0};

	(void)state;
	at(&c, 0x100, 5, TOP, 0);      /* call 0x200 */
	at(&c, 0x200, 1, TOP - 8, 0);  /* push */
	at(&c, 0x201, 5, TOP - 16, 0); /* call 0x300 */
	at(&c, 0x300, 1, TOP - 24, 0); /* ret */
	assert_int_equal(c.count, 2);
	assert_int_equal(c.call[0].to, 0x105);
	assert_int_equal(c.call[1].to, 0x206);
	at(&c, 0x206, 1, TOP - 16, 0); /* pop */
	assert_int_equal(c.count, 1);
	at(&c, 0x207, 1, TOP - 8, 0); /* ret */
	at(&c, 0x105, 2, TOP, 0);
	assert_int_equal(c.count, 0);
}

/* A push does not jump, and a jump does not push. */
static void what_is_no_call_is_not_taken_for_one(void **state)
{
	struct calls c = {0};

	(void)state;
	at(&c, 0x100, 1, TOP, 0);     /* push */
	at(&c, 0x101, 2, TOP - 8, 0); /* jmp */
	at(&c, 0x180, 1, TOP - 8, 0);
	assert_int_equal(c.count, 0);
	calls_skip(&c);
	at(&c, 0x300, 1, TOP - 16, 0); /* what was executed in between is not known */
	assert_int_equal(c.count, 0);
}

/* The CPU switches to a task, which continues in __schedule(). */
static void a_task_continues_in_the_scheduler(void **state)
{
	struct x86_regs regs = {.rip = 0x500};
	struct calls c = {0};

	(void)state;
	regs.gpr[X86_RSP] = TOP - 64;
	calls_switch(&c, &regs);
	at(&c, 0x500, 1, TOP - 64, 0); /* ret */
	assert_true(calls_in_service(&c));
	at(&c, 0x280, 5, TOP - 56, 0); /* call */
	at(&c, 0x300, 1, TOP - 64, 0); /* ret */
	at(&c, 0x285, 1, TOP - 56, 0); /* pop */
	assert_true(calls_in_service(&c));
	at(&c, 0x286, 1, TOP - 48, 0); /* ret */
	assert_false(calls_in_service(&c));
}

static void a_service_lasts_until_it_returns(void **state)
{
	struct calls c = {0};

	(void)state;
	at(&c, 0x100, 5, TOP, 0);
	assert_false(calls_in_service(&c));
	at(&c, 0x200, 5, TOP - 8, KERNEL_SERVICE);
	assert_true(calls_in_service(&c));
	at(&c, 0x300, 1, TOP - 16, KERNEL_SERVICE); /* a service that a service calls */
	at(&c, 0x205, 1, TOP - 8, 0);
	assert_true(calls_in_service(&c));
	at(&c, 0x105, 1, TOP, 0);
	assert_false(calls_in_service(&c));
	at(&c, 0x200, 5, TOP - 8, KERNEL_SERVICE);
	calls_forget(&c);
	assert_false(calls_in_service(&c));
}

static void the_oldest_of_many_calls_is_forgotten(void **state)
{
	struct calls c = {0};

	(void)state;
	for (unsigned i = 0; i <= CALLS_MAX + 1; i++)
		at(&c, 0x100 * (i + 1), 5, TOP - 8 * i, 0);
	assert_int_equal(c.count, CALLS_MAX);
	assert_int_equal(c.call[0].to, 0x205);
	assert_int_equal(c.call[CALLS_MAX - 1].to, 0x100 * (CALLS_MAX + 1) + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_returns_are_seen),
		cmocka_unit_test(what_is_no_call_is_not_taken_for_one),
		cmocka_unit_test(a_service_lasts_until_it_returns),
		cmocka_unit_test(a_task_continues_in_the_scheduler),
		cmocka_unit_test(the_oldest_of_many_calls_is_forgotten),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
