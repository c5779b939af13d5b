// SPDX-License-Identifier: GPL-2.0-or-later
/* When two accesses are suspected, and a lock that an interrupt waits for: callbacks that are stopped, and disabled lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/race/protection_table.h"
#include "pruner/locks/protect_interrupt.h"
#include "pruner/locks/protect_pair.h"

enum { LOCK, CALLBACK };

/* A datum that a task writes under a lock, and that a callback in a softirq writes without it. */
struct bench {
	struct protection *p;
	struct prot_lock locks[2];
	struct prot_take takes[2];
	struct prot_access task, callback;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	const struct prot_access access = {.gva = 0x1000,
					   .size = 8,
					   .rw = INSN_WRITE,
					   .context_known = true,
					   .several = true,
					   .several_cpus = true,
					   .count_shared = 3,
					   .last_ns = 9};

	*state = b;
	b->p = protection_new();
	if (!b->p)
		return -1;
	b->locks[LOCK] = (struct prot_lock){.kind = LOCK_SPIN};
	b->locks[CALLBACK] = (struct prot_lock){.kind = LOCK_CALLBACK};
	b->task = b->callback = access;
	b->task.held[b->task.held_count++].lock = LOCK;
	b->callback.context = GUEST_SOFTIRQ;
	b->callback.operation = b->callback.function = 1;
	protection_pair(b->p, 0, 1);
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	protection_free(b->p);
	free(b);
	return 0;
}

/* Returns what protect_pair() says of the record with the bench's locks. */
static int judge(struct bench *b)
{
	struct protection p = *b->p;

	p.locks = b->locks;
	p.lock_count = 2;
	return protect_pair(&p, NULL, &b->task, &b->callback);
}

static void hold(struct prot_access *a, bool shared)
{
	a->held[a->held_count++] = (struct prot_held){.lock = CALLBACK, .shared = shared};
}

static void callback_runs_beside_the_task(void **state)
{
	struct bench *b = *state;

	hold(&b->callback, false);
	assert_int_equal(judge(b), PROTECT_SUSPECTED);
}

static void callback_was_stopped(void **state)
{
	struct bench *b = *state;

	hold(&b->callback, false);
	hold(&b->task, true);
	assert_int_equal(judge(b), PROTECT_ORDERED);
}

/* While the callback is stopped, tasks run beside each other. */
static void two_tasks_ran_while_it_was_stopped(void **state)
{
	struct bench *b = *state;

	b->callback.context = GUEST_TASK;
	hold(&b->callback, true);
	hold(&b->task, true);
	assert_int_equal(judge(b), PROTECT_SUSPECTED);
}

/* The callback's own turn is no lock that the programmer chose, so nothing says that the datum needs one. */
static void no_side_holds_a_lock(void **state)
{
	struct bench *b = *state;

	b->task.held_count = 0;
	hold(&b->callback, false);
	assert_int_equal(judge(b), PROTECT_FINE);
}

/* Returns whether a lock that this kind of interrupt takes is suspected, if the task took it with irqs_off and softirqs_off. */
static bool waits(struct bench *b, enum guest_context_kind kind, bool irqs_off, bool softirqs_off)
{
	struct protection p = *b->p;
	struct suspicion s;

	b->takes[0] = (struct prot_take){.irqs_off = irqs_off, .softirqs_off = softirqs_off, .operation = PROTECTION_NONE};
	b->takes[1] = (struct prot_take){.context = (uint8_t)kind, .operation = PROTECTION_NONE};
	p.locks = b->locks;
	p.lock_count = 2;
	p.takes = b->takes;
	p.take_count = 2;
	return protect_interrupt(&p, 0, &s);
}

/* After disable_irq(), the driver's interrupt cannot come while the lock is held, but softirqs can. */
static void disabled_line_is_off(void **state)
{
	struct bench *b = *state;

	assert_true(waits(b, GUEST_HARDIRQ, false, false));
	assert_true(waits(b, GUEST_SOFTIRQ, false, false));
	assert_false(waits(b, GUEST_HARDIRQ, true, false));
	assert_true(waits(b, GUEST_SOFTIRQ, true, false));
	assert_false(waits(b, GUEST_SOFTIRQ, true, true));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(callback_runs_beside_the_task), T(callback_was_stopped), T(two_tasks_ran_while_it_was_stopped),
		T(no_side_holds_a_lock),	  T(disabled_line_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
