// SPDX-License-Identifier: GPL-2.0-or-later
/* Critical sections that follow each other in one activation of a function, and what came in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/locks/sections.h"

#define LOCK UINT64_C(0xffff888000001000)
#define OTHER_LOCK UINT64_C(0xffff888000002000)
#define START UINT64_C(0xffffffffc0001000)
#define BEGIN (START + 0x10)
#define FIRST BEGIN
#define SECOND (START + 0x40)
#define THIRD (START + 0x70)
#define ELSEWHERE UINT64_C(0xffffffffc0002010)

static const struct lock_who one = {.who = 7, .kind = GUEST_TASK};
static const struct lock_who other = {.who = 8, .kind = GUEST_TASK, .cpu = 1};

struct fixture {
	struct sections s;
	uint64_t number;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return f ? sections_follow(&f->s, &(struct section_function){START, START + 0x100, BEGIN}) : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sections_fini(&f->s);
	free(f);
	return 0;
}

/* The context comes to the call at `pc`, which takes the lock; a function may begin there. */
static void take(struct fixture *f, const struct lock_who *who, uint64_t gva, uint64_t pc)
{
	sections_at(&f->s, who, pc);
	sections_take(&f->s, who, gva, pc, ++f->number);
}

static void give(struct fixture *f, const struct lock_who *who, uint64_t gva)
{
	sections_give(&f->s, who, gva, ++f->number);
}

static void section(struct fixture *f, const struct lock_who *who, uint64_t gva, uint64_t pc)
{
	take(f, who, gva, pc);
	give(f, who, gva);
}

static const struct section_pair *pair(struct fixture *f, uint64_t first, uint64_t second)
{
	for (unsigned i = 0; i < f->s.pair_count; i++) {
		if (f->s.pairs[i].first == first && f->s.pairs[i].second == second)
			return &f->s.pairs[i];
	}
	return NULL;
}

static void two_sections_are_a_pair(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 2);
}

/* The second section of a call is in no pair with the first section of the next call. */
static void activations_are_apart(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, FIRST);
	section(f, &other, LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 0);
}

static void sections_of_two_locks_are_no_pair(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	section(f, &one, OTHER_LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 0);
}

/* A lock that is taken while it is held, or whose release was not seen, begins no second section. */
static void a_section_must_have_ended(void **state)
{
	struct fixture *f = *state;

	take(f, &one, LOCK, FIRST);
	take(f, &one, LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 0);
}

static void unknown_functions_have_no_pairs(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, ELSEWHERE);
	section(f, &one, LOCK, ELSEWHERE + 0x20);
	/* No activation was seen to begin. */
	section(f, &other, LOCK, SECOND);
	section(f, &other, LOCK, THIRD);
	assert_int_equal(f->s.pair_count, 0);
}

static void a_loop_begins_anew(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	section(f, &one, LOCK, SECOND);
	assert_non_null(pair(f, FIRST, SECOND));
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_non_null(pair(f, SECOND, THIRD));
	assert_null(pair(f, THIRD, SECOND));
	assert_null(pair(f, SECOND, SECOND));
}

static void a_section_in_between_is_seen(void **state)
{
	struct fixture *f = *state;

	section(f, &other, LOCK, ELSEWHERE);
	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, ELSEWHERE + 8);
	section(f, &other, LOCK, ELSEWHERE);
	section(f, &other, LOCK, ELSEWHERE);
	section(f, &other, OTHER_LOCK, ELSEWHERE + 4);
	section(f, &one, LOCK, SECOND);
	/* Not the one before, not the context's own, not that of another lock; twice in one gap is once. */
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].taken_at, ELSEWHERE);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[1].count, 0);
}

/* A context that asks for the lock during the first section may have got it before; one that has not released it may come
 * after. */
static void only_whole_sections_are_in_between(void **state)
{
	struct fixture *f = *state;

	take(f, &one, LOCK, FIRST);
	take(f, &other, LOCK, ELSEWHERE);
	give(f, &one, LOCK);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
	section(f, &one, LOCK, FIRST);
	take(f, &other, LOCK, ELSEWHERE);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 2);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
}

static void a_wait_in_between_is_counted(void **state)
{
	struct fixture *f = *state;

	sections_at(&f->s, &one, BEGIN);
	sections_wait(&f->s, &one, ++f->number);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	assert_int_equal(pair(f, SECOND, THIRD)->waited, 0);
	section(f, &one, LOCK, FIRST);
	sections_wait(&f->s, &other, ++f->number);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->waited, 0);
	section(f, &one, LOCK, FIRST);
	sections_wait(&f->s, &one, ++f->number);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->waited, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 2);
}

static void a_hole_ends_what_is_in_progress(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	sections_hole(&f->s);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 0);
}

/* The pairs belong to the record of the run, as its accesses do. */
static void pairs_stay_when_the_text_goes(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	sections_text_gone(&f->s, START, 0x100);
	assert_int_equal(f->s.function_count, 0);
	assert_int_equal(f->s.pair_count, 1);
	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
}

/* More contexts, and more sections per activation, than there is room for: some pairs are missed, and nothing is overwritten.
 */
static void tables_are_bounded(void **state)
{
	struct fixture *f = *state;

	for (int64_t who = 1; who < 2000; who++)
		take(f, &(struct lock_who){.who = who, .kind = GUEST_TASK}, LOCK + 8 * (uint64_t)who, FIRST);
	sections_at(&f->s, &one, BEGIN);
	for (uint64_t pc = FIRST; pc < FIRST + 2 * SECTION_STEPS_MAX; pc++)
		section(f, &one, LOCK, pc);
	assert_int_equal(f->s.pair_count,
			 SECTION_STEPS_MAX * (SECTION_STEPS_MAX - 1) / 2 + SECTION_STEPS_MAX * SECTION_STEPS_MAX);
}

/* ---- holding a CPU between two sections ---- */

/* A pair that was seen once, of a lock that another context takes, too. The context is before its second section. */
static void before_the_second(struct fixture *f)
{
	section(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	section(f, &other, LOCK, ELSEWHERE);
	section(f, &one, LOCK, FIRST);
}

static void a_gap_is_worth_a_hold(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	before_the_second(f);
	assert_false(sections_gap(&f->s, &one, OTHER_LOCK, SECOND, &gap));
	assert_false(sections_gap(&f->s, &other, LOCK, SECOND, &gap));
	assert_false(sections_gap(&f->s, &one, LOCK, FIRST, &gap));
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
	assert_false(sections_gap_met(&f->s, &gap));
	sections_hold(&f->s, &gap, f->number);
	/* The CPU comes to the call again when it is released. */
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
	take(f, &other, LOCK, ELSEWHERE);
	assert_false(sections_gap_met(&f->s, &gap));
	give(f, &other, LOCK);
	assert_true(sections_gap_met(&f->s, &gap));
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->holds, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].by_hold, 1);
}

/* A section that was seen in the gap is not waited for again. */
static void what_was_seen_needs_no_hold(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	before_the_second(f);
	section(f, &other, LOCK, ELSEWHERE);
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].by_hold, 0);
	section(f, &one, LOCK, FIRST);
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
	section(f, &other, LOCK, ELSEWHERE + 0x40);
	section(f, &one, LOCK, SECOND);
	section(f, &other, LOCK, ELSEWHERE + 0x80);
	section(f, &one, LOCK, FIRST);
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
}

/* A section that came before the hold, in the same gap, is not owed to the hold. */
static void only_what_comes_in_the_hold_is_by_it(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	before_the_second(f);
	take(f, &other, LOCK, ELSEWHERE);
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
	sections_hold(&f->s, &gap, f->number);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].by_hold, 0);
}

/* In a loop, the earlier sections are forgotten, so that no section of theirs is waited for. */
static void a_loop_is_not_held(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	before_the_second(f);
	section(f, &one, LOCK, SECOND);
	section(f, &other, LOCK, ELSEWHERE + 0x40);
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &gap));
}

/* Holds in vain become rare: of 10000 chances, about 100 are taken. */
static void holds_in_vain_become_rare(void **state)
{
	struct fixture *f = *state;
	unsigned held = 0;

	before_the_second(f);
	section(f, &one, LOCK, SECOND);
	for (unsigned i = 0; i < 10000; i++) {
		struct section_gap gap;

		section(f, &other, LOCK, ELSEWHERE);
		section(f, &one, LOCK, FIRST);
		if (sections_gap(&f->s, &one, LOCK, SECOND, &gap)) {
			sections_hold(&f->s, &gap, f->number);
			held++;
		}
		section(f, &one, LOCK, SECOND);
	}
	assert_in_range(held, 95, 105);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(two_sections_are_a_pair),
		T(activations_are_apart),
		T(sections_of_two_locks_are_no_pair),
		T(a_section_must_have_ended),
		T(unknown_functions_have_no_pairs),
		T(a_loop_begins_anew),
		T(a_section_in_between_is_seen),
		T(only_whole_sections_are_in_between),
		T(a_wait_in_between_is_counted),
		T(a_hole_ends_what_is_in_progress),
		T(pairs_stay_when_the_text_goes),
		T(tables_are_bounded),
		T(a_gap_is_worth_a_hold),
		T(what_was_seen_needs_no_hold),
		T(only_what_comes_in_the_hold_is_by_it),
		T(a_loop_is_not_held),
		T(holds_in_vain_become_rare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
