// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of a suspicion are target sites until its race is seen, and the list shows the result. The test itself is the
 * judge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/session/suspector.h"
#include "tests/unit/detect/detect_rig.h"

#define A (RIG_TEXT + 0x10)
#define B (RIG_TEXT + 0x20)
#define ID "0123456789ab"
/* 120 s: many times longer than any wait of these tests. */
#define WAIT_NS 120000000000u

struct fixture {
	struct rig *r;
	struct screen *screen;
	struct suspector_judge judge;
	struct suspector *s;
	/* The number of accesses in the record at the judge's last call. */
	uint64_t accesses;
};

/* Suspect two accesses as soon as both are in the record. */
static int judge(void *ctx, const struct protection *p, bool last, struct suspicions *out, struct err *err)
{
	struct fixture *f = ctx;

	(void)last;
	(void)err;
	f->accesses = p->access_count;
	if (p->access_count < 2)
		return 0;
	out->list = calloc(1, sizeof(*out->list));
	assert_non_null(out->list);
	out->count = 1;
	out->list[0] = (struct suspicion){.kind = SUSPICION_UNPROTECTED, .id = ID, .side = {0, 1}, .text = "x: in one not"};
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = {0};

	*state = f;
	f->r = rig_new(2, 4);
	f->screen = screen_new(&err);
	if (!f->r || !f->screen)
		return -1;
	screen_set_quiet(f->screen);
	f->judge = (struct suspector_judge){.judge = judge, .ctx = f};
	f->s = suspector_new(
		&(struct suspector_config){.detect = f->r->d, .guest = &f->r->guest, .screen = f->screen, .judge = &f->judge},
		&err);
	return f->s ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	suspector_free(f->s);
	screen_free(f->screen);
	rig_free(f->r);
	free(f);
	return 0;
}

static void access(struct fixture *f, uint64_t number, uint64_t pc)
{
	struct lock_moment m = {.number = number, .kind = LOCK_MOMENT_ACCESS, .pc = pc, .data_count = 1};

	m.context = (struct guest_context){.known = true, .pid = (int32_t)number};
	m.data[0] = (struct lock_datum){.gva = RIG_DATA, .gpa = RIG_DATA_GPA, .size = 8, .rw = INSN_WRITE};
	suspector_moment(f->s, &m);
}

static void both(struct fixture *f)
{
	access(f, 1, A);
	access(f, 2, B);
}

static const struct suspicion *finish(struct fixture *f)
{
	struct err err = {0};

	assert_int_equal(suspector_finish(f->s, &err), 0);
	assert_int_equal(suspector_found(f->s)->count, 1);
	return &suspector_found(f->s)->list[0];
}

static void until_confirming(struct fixture *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until = monotonic_ns() + WAIT_NS, reached[2];
	struct err err = {0};

	assert_int_equal(suspector_start(f->s, &err), 0);
	while (!detect_confirm_reached(f->r->d, A, B, reached)) {
		assert_true(monotonic_ns() < until);
		nanosleep(&pause, NULL);
	}
}

static void suspicion_is_confirmed_until_its_race_is_seen(void **state)
{
	struct fixture *f = *state;
	uint64_t reached[2];

	both(f);
	until_confirming(f);
	suspector_race(f->s, "ba9876543210");
	assert_true(detect_confirm_reached(f->r->d, A, B, reached));
	suspector_race(f->s, ID);
	assert_false(detect_confirm_reached(f->r->d, A, B, reached));
	assert_int_equal(finish(f)->confirm, CONFIRM_SEEN);
}

static void end_of_the_run_leaves_it_open(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;

	both(f);
	until_confirming(f);
	rig_plant(f->r, 0x20, WRITE_8);
	regs = rig_regs(f->r, 0, 0x20);
	rig_hit(f->r, 0, &regs);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
	assert_int_equal(finish(f)->reached[0], 0);
	assert_int_equal(finish(f)->reached[1], 1);
}

static void race_may_come_before_its_suspicion(void **state)
{
	struct fixture *f = *state;

	suspector_race(f->s, ID);
	both(f);
	assert_int_equal(finish(f)->confirm, CONFIRM_SEEN);
}

static void what_is_suspected_at_the_end_is_not_confirmed(void **state)
{
	struct fixture *f = *state;
	uint64_t reached[2];

	both(f);
	assert_int_equal(finish(f)->confirm, CONFIRM_NONE);
	assert_false(detect_confirm_reached(f->r->d, A, B, reached));
	assert_int_equal(suspector_record(f->s)->access_count, 2);
}

static void accessed(struct fixture *f, const struct lock_events *events, uint64_t site, uint64_t number, int64_t who)
{
	const struct lock_hit hit = {
		.number = number, .gva = RIG_DATA, .size = 8, .rw = INSN_WRITE, .who = {.who = who, .cpu = (uint16_t)who}};

	pthread_mutex_lock(&f->r->d->lock);
	confirm_accessed(f->r->d, events, site, &hit);
	pthread_mutex_unlock(&f->r->d->lock);
}

/*
 * Two tasks make their accesses in turn, `times` times each. With `lock`, each task releases a lock between the two accesses.
 */
static void one_after_the_other(struct fixture *f, unsigned times, bool lock)
{
	struct lock_events *events = calloc(1, sizeof(*events));
	uint64_t number = 0;

	assert_non_null(events);
	for (unsigned i = 0; i < times; i++) {
		accessed(f, events, A, ++number, 0);
		for (int64_t who = 0; who < 2 && lock; who++)
			lock_events_add(events, &(struct lock_event){.number = ++number,
								     .gva = RIG_DATA + 64,
								     .who = {.who = who, .cpu = (uint16_t)who},
								     .give = true});
		accessed(f, events, B, ++number, 1);
		/* The next accesses are to another object. */
		pthread_mutex_lock(&f->r->d->lock);
		confirm_object_ends(f->r->d, RIG_DATA, 8192);
		pthread_mutex_unlock(&f->r->d->lock);
	}
	free(events);
}

static void until_not_confirming(struct fixture *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until = monotonic_ns() + WAIT_NS, reached[2];

	while (detect_confirm_reached(f->r->d, A, B, reached)) {
		assert_true(monotonic_ns() < until);
		nanosleep(&pause, NULL);
	}
}

static void what_locks_always_put_in_order_is_withdrawn(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	both(f);
	until_confirming(f);
	one_after_the_other(f, 16, true);
	assert_int_equal(detect_confirm_order(f->r->d, A, B).by_locks, 16);
	until_not_confirming(f);
	assert_int_equal(suspector_finish(f->s, &err), 0);
	assert_int_equal(suspector_found(f->s)->count, 0);
	assert_int_equal(suspector_found(f->s)->left_out[PROTECT_HANDED], 1);
}

static void race_of_what_was_withdrawn_is_a_race(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	one_after_the_other(f, 16, true);
	until_not_confirming(f);
	suspector_race(f->s, ID);
	assert_int_equal(finish(f)->confirm, CONFIRM_SEEN);
}

static void what_was_once_in_no_order_stays(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	one_after_the_other(f, 1, false);
	one_after_the_other(f, 100, true);
	assert_int_equal(detect_confirm_order(f->r->d, A, B).none, 1);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
}

/* Two tasks make their accesses in turn, and the first one completes what the second one waits for in between. */
static void handed_over(struct fixture *f, unsigned times)
{
	struct lock_events *events = calloc(1, sizeof(*events));
	uint64_t number = 0;

	assert_non_null(events);
	for (unsigned i = 0; i < times; i++) {
		accessed(f, events, A, ++number, 0);
		for (int64_t who = 0; who < 2; who++)
			lock_events_add(events, &(struct lock_event){.number = ++number,
								     .gva = RIG_DATA + 64,
								     .who = {.who = who, .cpu = (uint16_t)who},
								     .give = !who,
								     .handover = true});
		accessed(f, events, B, ++number, 1);
		pthread_mutex_lock(&f->r->d->lock);
		confirm_object_ends(f->r->d, RIG_DATA, 8192);
		pthread_mutex_unlock(&f->r->d->lock);
	}
	free(events);
}

static void what_is_always_handed_over_is_withdrawn(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	both(f);
	until_confirming(f);
	handed_over(f, 16);
	assert_int_equal(detect_confirm_order(f->r->d, A, B).by_handover, 16);
	until_not_confirming(f);
	assert_int_equal(suspector_finish(f->s, &err), 0);
	assert_int_equal(suspector_found(f->s)->count, 0);
	assert_int_equal(suspector_found(f->s)->left_out[PROTECT_ORDERED], 1);
	assert_int_equal(suspector_found(f->s)->left_out[PROTECT_HANDED], 0);
}

/* At the end of a run 8 times are enough, and 7 are not. */
static void few_hand_overs_are_enough_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	both(f);
	until_confirming(f);
	handed_over(f, 8);
	assert_int_equal(suspector_finish(f->s, &err), 0);
	assert_int_equal(suspector_found(f->s)->left_out[PROTECT_ORDERED], 1);
}

static void too_few_hand_overs_leave_the_suspicion(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	handed_over(f, 7);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
}

static void what_was_once_not_handed_over_stays(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	one_after_the_other(f, 1, false);
	handed_over(f, 100);
	assert_int_equal(detect_confirm_order(f->r->d, A, B).none, 1);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
}

/*
 * A task's access at A, and that of an interrupt at B: `waits` times the task waits for the interrupt before its access, and
 * `later` times the interrupt begins after the task's access.
 */
static void interrupt(struct fixture *f, unsigned waits, unsigned later)
{
	const struct lock_who task = {.who = 5}, irq = {.who = -2, .cpu = 1, .kind = GUEST_HARDIRQ};
	struct lock_hit hit = {.gva = RIG_DATA, .size = 8, .rw = INSN_WRITE};
	struct lock_event event = {.gva = 11, .handover = true, .kind = HANDOVER_IRQ};
	struct lock_events *events = calloc(1, sizeof(*events));

	assert_non_null(events);
	pthread_mutex_lock(&f->r->d->lock);
	for (unsigned i = 0; i < waits + later; i++) {
		const bool wait = i < waits;

		hit.number = event.number + 1;
		hit.who = wait ? irq : task;
		confirm_accessed(f->r->d, events, wait ? B : A, &hit);
		event.side = wait ? HANDOVER_END : HANDOVER_START;
		for (unsigned e = wait ? 0 : 1; e < 2; e++) {
			event.number = hit.number + 1 + e;
			event.who = wait && e ? task : irq;
			event.give = !e;
			event.begins = !wait;
			lock_events_add(events, &event);
		}
		hit.number = ++event.number;
		hit.who = wait ? task : irq;
		confirm_accessed(f->r->d, events, wait ? A : B, &hit);
		confirm_object_ends(f->r->d, RIG_DATA, 8192);
	}
	pthread_mutex_unlock(&f->r->d->lock);
	free(events);
}

/* The task has told the device to stop, and waits for its interrupt, before it tells the device to go on. */
static void interrupt_that_is_waited_for_may_come_later(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	both(f);
	until_confirming(f);
	interrupt(f, 8, 5);
	assert_int_equal(detect_confirm_order(f->r->d, A, B).later, 5);
	assert_int_equal(suspector_finish(f->s, &err), 0);
	assert_int_equal(suspector_found(f->s)->left_out[PROTECT_ORDERED], 1);
}

static void interrupt_that_is_seldom_waited_for_is_in_no_order(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	interrupt(f, 7, 1);
	one_after_the_other(f, 100, true);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
}

/* Locks that happen to order the accesses in one direction are no reason to take the other one for ordered. */
static void interrupt_that_is_never_waited_for_is_in_no_order(void **state)
{
	struct fixture *f = *state;

	both(f);
	until_confirming(f);
	interrupt(f, 0, 1);
	one_after_the_other(f, 100, true);
	assert_int_equal(finish(f)->confirm, CONFIRM_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(suspicion_is_confirmed_until_its_race_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(end_of_the_run_leaves_it_open, setup, teardown),
		cmocka_unit_test_setup_teardown(race_may_come_before_its_suspicion, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_suspected_at_the_end_is_not_confirmed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_locks_always_put_in_order_is_withdrawn, setup, teardown),
		cmocka_unit_test_setup_teardown(race_of_what_was_withdrawn_is_a_race, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_once_in_no_order_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_always_handed_over_is_withdrawn, setup, teardown),
		cmocka_unit_test_setup_teardown(few_hand_overs_are_enough_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(too_few_hand_overs_leave_the_suspicion, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_once_not_handed_over_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_that_is_waited_for_may_come_later, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_that_is_seldom_waited_for_is_in_no_order, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_that_is_never_waited_for_is_in_no_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
