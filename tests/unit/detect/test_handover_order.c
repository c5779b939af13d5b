// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether completions, work items and timers between two accesses put them in order. Events are numbered as they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/steer/handover_order.h"
#include "hv/race/handover.h"

#define DONE 0xffff888000001000u
#define WORK 0xffff888000004000u
#define DATUM 0xffff888000009000u

static const struct lock_who one = {.who = 7, .cpu = 0}, other = {.who = 8, .cpu = 1}, worker = {.who = 9, .cpu = 1};
static const struct lock_who softirq = {.who = -2, .cpu = 1, .kind = GUEST_SOFTIRQ};

struct fixture {
	struct lock_events events;
	uint64_t number;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void event(struct fixture *f, const struct lock_who *who, struct lock_event e)
{
	e.number = ++f->number;
	e.who = *who;
	e.handover = true;
	lock_events_add(&f->events, &e);
}

static void complete(struct fixture *f, const struct lock_who *who, uint64_t gva)
{
	event(f, who, (struct lock_event){.gva = gva, .kind = HANDOVER_COMPLETION, .side = HANDOVER_END, .give = true});
}

static void waited(struct fixture *f, const struct lock_who *who, uint64_t gva)
{
	event(f, who, (struct lock_event){.gva = gva, .kind = HANDOVER_COMPLETION, .side = HANDOVER_END});
}

static void queue(struct fixture *f, const struct lock_who *who, uint8_t kind)
{
	event(f, who, (struct lock_event){.gva = WORK, .kind = kind, .side = HANDOVER_START, .give = true});
}

static void begins(struct fixture *f, const struct lock_who *who, uint8_t kind)
{
	event(f, who, (struct lock_event){.gva = WORK, .kind = kind, .side = HANDOVER_START, .begins = true});
}

static void ends(struct fixture *f, const struct lock_who *who, uint8_t kind)
{
	event(f, who, (struct lock_event){.gva = WORK, .kind = kind, .side = HANDOVER_END, .give = true});
}

static void flushed(struct fixture *f, const struct lock_who *who, uint8_t kind)
{
	event(f, who, (struct lock_event){.gva = WORK, .kind = kind, .side = HANDOVER_END});
}

static struct lock_hit hit(struct fixture *f, const struct lock_who *who)
{
	return (struct lock_hit){.number = ++f->number, .gva = DATUM, .size = 8, .who = *who};
}

static void expect(struct fixture *f, const struct lock_hit *first, const struct lock_who *who, enum handover_order order)
{
	struct lock_hit second = hit(f, who);

	assert_int_equal(handover_order(&f->events, first, &second), order);
}

static void completion_is_an_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_FIRST);
	/* No other context is ordered. */
	expect(f, &first, &worker, HANDOVER_ORDER_NONE);
}

/* The flush returned unseen: only what was due when it was called surely ended before. */
static void unseen_return_is_after_what_was_due(void **state)
{
	struct fixture *f = *state;

	for (unsigned late = 0; late < 2; late++) {
		struct lock_hit first = hit(f, &worker);
		struct lock_event end = {.gva = WORK, .kind = HANDOVER_WORK, .side = HANDOVER_END, .give = true};
		struct lock_event flush = {.gva = WORK, .kind = HANDOVER_WORK, .side = HANDOVER_END};

		flush.since = f->number;
		end.due = flush.since - 1 + late;
		event(f, &worker, end);
		event(f, &one, flush);
		expect(f, &first, &one, late ? HANDOVER_ORDER_UNKNOWN : HANDOVER_ORDER_FIRST);
	}
}

static void access_after_the_release_is_not_ordered(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first;

	complete(f, &one, DONE);
	first = hit(f, &one);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_NONE);
}

static void access_before_the_acquire_is_not_ordered(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	complete(f, &one, DONE);
	second = hit(f, &other);
	waited(f, &other, DONE);
	assert_int_equal(handover_order(&f->events, &first, &second), HANDOVER_ORDER_NONE);
}

static void other_object_is_no_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	waited(f, &other, DONE + 32);
	expect(f, &first, &other, HANDOVER_ORDER_NONE);
}

/* Something else than a completion at the same address. */
static void other_kind_or_side_is_no_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, WORK);
	queue(f, &one, HANDOVER_TIMER);
	begins(f, &worker, HANDOVER_WORK);
	expect(f, &first, &worker, HANDOVER_ORDER_NONE);
	queue(f, &one, HANDOVER_WORK);
	/* The work was cancelled before it ran: the one who queued it is not waited for. */
	flushed(f, &other, HANDOVER_WORK);
	expect(f, &first, &other, HANDOVER_ORDER_NONE);
}

/* A free before the release changes nothing; one between release and acquire makes it unknown. */
static void reuse_after_free_is_no_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first;

	handover_object_ends(&f->events, DONE - 64);
	first = hit(f, &one);
	complete(f, &one, DONE);
	handover_object_ends(&f->events, DONE - 64);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_UNKNOWN);
}

static void free_of_another_object_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	handover_object_ends(&f->events, DONE + 64);
	waited(f, &other, DONE);
	/* Both events are of the object that ends now. */
	handover_object_ends(&f->events, DONE - 64);
	expect(f, &first, &other, HANDOVER_ORDER_FIRST);
}

static void work_is_ordered_from_queue_to_flush(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	queue(f, &one, HANDOVER_WORK);
	begins(f, &worker, HANDOVER_WORK);
	expect(f, &first, &worker, HANDOVER_ORDER_FIRST);
	first = hit(f, &worker);
	/* The one who queued the work does not wait yet. */
	expect(f, &first, &one, HANDOVER_ORDER_NONE);
	ends(f, &worker, HANDOVER_WORK);
	expect(f, &first, &one, HANDOVER_ORDER_NONE);
	flushed(f, &one, HANDOVER_WORK);
	expect(f, &first, &one, HANDOVER_ORDER_FIRST);
}

/* What a worker did in another work is not ordered by this one. */
static void works_of_one_worker_are_apart(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &worker);

	queue(f, &one, HANDOVER_WORK);
	begins(f, &worker, HANDOVER_WORK);
	ends(f, &worker, HANDOVER_WORK);
	flushed(f, &one, HANDOVER_WORK);
	expect(f, &first, &one, HANDOVER_ORDER_NONE);
}

static void timer_is_ordered_until_its_cpu_is_seen_in_a_task(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	queue(f, &one, HANDOVER_TIMER);
	begins(f, &softirq, HANDOVER_TIMER);
	expect(f, &first, &softirq, HANDOVER_ORDER_FIRST);
	/* Another softirq on that CPU. */
	complete(f, &other, DONE);
	expect(f, &first, &softirq, HANDOVER_ORDER_NONE);
}

static void chain_is_an_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	queue(f, &one, HANDOVER_WORK);
	begins(f, &worker, HANDOVER_WORK);
	complete(f, &worker, DONE);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_FIRST);
}

/* In a loop, an access is before those of all later rounds, and that says nothing about one round. */
static void later_round_says_nothing(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	for (unsigned i = 0; i < 2; i++) {
		queue(f, &one, HANDOVER_WORK);
		begins(f, &worker, HANDOVER_WORK);
		ends(f, &worker, HANDOVER_WORK);
		flushed(f, &one, HANDOVER_WORK);
	}
	queue(f, &one, HANDOVER_WORK);
	begins(f, &worker, HANDOVER_WORK);
	expect(f, &first, &worker, HANDOVER_ORDER_UNKNOWN);
}

/* A timer that is set again before it fires is handed over once. */
static void several_releases_are_one_hand_over(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	queue(f, &one, HANDOVER_TIMER);
	queue(f, &one, HANDOVER_TIMER);
	begins(f, &softirq, HANDOVER_TIMER);
	expect(f, &first, &softirq, HANDOVER_ORDER_FIRST);
}

/* Of two contexts that complete, the one that waits has waited for one. */
static void several_completions_are_unknown(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	complete(f, &worker, DONE);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_UNKNOWN);
}

/* A round of a context that is not on the way counts, too. */
static void round_of_others_counts(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	queue(f, &one, HANDOVER_WORK);
	begins(f, &worker, HANDOVER_WORK);
	queue(f, &one, HANDOVER_WORK);
	begins(f, &other, HANDOVER_WORK);
	expect(f, &first, &other, HANDOVER_ORDER_UNKNOWN);
}

static void locks_are_no_hand_over_and_hand_overs_no_lock(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	complete(f, &one, DONE);
	waited(f, &other, DONE);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
	first = hit(f, &one);
	lock_events_add(&f->events, &(struct lock_event){.number = ++f->number, .gva = DONE, .who = one, .give = true});
	lock_events_add(&f->events, &(struct lock_event){.number = ++f->number, .gva = DONE, .who = other});
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
	assert_int_equal(handover_order(&f->events, &first, &second), HANDOVER_ORDER_NONE);
}

/* Nothing orders an access before an interrupt that comes later, but the device may. */
static void interrupt_may_come_later(void **state)
{
	static const struct lock_who irq = {.who = -2, .cpu = 1, .kind = GUEST_HARDIRQ};
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), within;

	begins(f, &irq, HANDOVER_IRQ);
	within = hit(f, &one);
	expect(f, &first, &irq, HANDOVER_ORDER_LATER);
	expect(f, &within, &irq, HANDOVER_ORDER_NONE);
}

/* Another stream of the device waits for the same interrupt. The second wait by one context begins another round. */
static void waits_of_other_streams_are_no_rounds(void **state)
{
	static const struct lock_who irq = {.who = -2, .cpu = 1, .kind = GUEST_HARDIRQ};
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &irq);

	ends(f, &irq, HANDOVER_IRQ);
	flushed(f, &other, HANDOVER_IRQ);
	ends(f, &irq, HANDOVER_IRQ);
	flushed(f, &one, HANDOVER_IRQ);
	expect(f, &first, &one, HANDOVER_ORDER_FIRST);
	ends(f, &irq, HANDOVER_IRQ);
	flushed(f, &one, HANDOVER_IRQ);
	expect(f, &first, &one, HANDOVER_ORDER_UNKNOWN);
}

static void what_is_too_long_ago_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	for (unsigned i = 0; i < LOCK_EVENTS_KEPT; i++)
		complete(f, &worker, DONE + 4096);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_UNKNOWN);
}

static void before_a_hole_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one);

	complete(f, &one, DONE);
	lock_events_hole(&f->events, f->number + 1);
	waited(f, &other, DONE);
	expect(f, &first, &other, HANDOVER_ORDER_UNKNOWN);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(completion_is_an_order),
		T(unseen_return_is_after_what_was_due),
		T(access_after_the_release_is_not_ordered),
		T(access_before_the_acquire_is_not_ordered),
		T(other_object_is_no_order),
		T(other_kind_or_side_is_no_order),
		T(reuse_after_free_is_no_order),
		T(free_of_another_object_changes_nothing),
		T(work_is_ordered_from_queue_to_flush),
		T(works_of_one_worker_are_apart),
		T(timer_is_ordered_until_its_cpu_is_seen_in_a_task),
		T(chain_is_an_order),
		T(later_round_says_nothing),
		T(several_releases_are_one_hand_over),
		T(several_completions_are_unknown),
		T(round_of_others_counts),
		T(locks_are_no_hand_over_and_hand_overs_no_lock),
		T(interrupt_may_come_later),
		T(waits_of_other_streams_are_no_rounds),
		T(what_is_too_long_ago_is_unknown),
		T(before_a_hole_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
