// SPDX-License-Identifier: GPL-2.0-or-later
/* Critical sections that follow each other in one activation of a function, and what came in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/locks/section_holds.h"
#include "hv/detect/locks/sections.h"

#define LOCK UINT64_C(0xffff888000001000)
#define OTHER_LOCK UINT64_C(0xffff888000002000)
#define START UINT64_C(0xffffffffc0001000)
#define BEGIN (START + 0x10)
#define FIRST BEGIN
#define SECOND (START + 0x40)
#define THIRD (START + 0x70)
#define ELSEWHERE UINT64_C(0xffffffffc0002010)

/* The stack pointer at the hooks of the function, and how far above it the frame's CFA is. */
#define RSP UINT64_C(0xffffc90000010000)
#define FRAME 0x20u

/* No function of the subject has called the function. */
static const struct call_chain alone;
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
	return f ? sections_follow(&f->s, &(struct section_function){START, START + 0x100, BEGIN, FRAME}) : -1;
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
	sections_at(&f->s, who, pc, RSP);
	sections_take(&f->s, who, &(struct section_call){gva, pc, ++f->number, false}, &alone);
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

/* A context that asks for the lock during the first section. `shared`: each of the two takes it as a reader. */
static void asks_in_the_first(struct fixture *f, const bool shared[2])
{
	sections_at(&f->s, &one, FIRST, RSP);
	sections_take(&f->s, &one, &(struct section_call){LOCK, FIRST, ++f->number, shared[0]}, &alone);
	sections_take(&f->s, &other, &(struct section_call){LOCK, ELSEWHERE, ++f->number, shared[1]}, &alone);
}

/* It gets the lock when the first section is over, because one of them keeps the other one away. */
static void a_section_that_waits_is_in_between(void **state)
{
	static const bool cases[][2] = {{false, false}, {true, false}, {false, true}};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		asks_in_the_first(f, cases[i]);
		give(f, &one, LOCK);
		give(f, &other, LOCK);
		section(f, &one, LOCK, SECOND);
		assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, i + 1);
	}
	/* Both release the lock at the end of a call. */
	asks_in_the_first(f, cases[0]);
	sections_leave(&f->s, &one, LOCK, ++f->number);
	give(f, &one, LOCK);
	sections_leave(&f->s, &other, LOCK, ++f->number);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 4);
}

/* It may have had the lock before: as a reader, or because it was in the call that releases the lock. */
static void a_section_that_may_have_come_before_does_not_count(void **state)
{
	static const bool exclusive[2] = {false, false}, readers[2] = {true, true};
	struct fixture *f = *state;

	asks_in_the_first(f, readers);
	give(f, &one, LOCK);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	asks_in_the_first(f, exclusive);
	sections_share(&f->s, &one, LOCK);
	sections_share(&f->s, &other, LOCK);
	give(f, &one, LOCK);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	/* It was before the first section, and its return from the call that released the lock was seen later. */
	asks_in_the_first(f, exclusive);
	sections_leave(&f->s, &other, LOCK, ++f->number);
	give(f, &one, LOCK);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	asks_in_the_first(f, exclusive);
	give(f, &other, LOCK);
	give(f, &one, LOCK);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 4);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
}

/* It asked before the first section: it may have had the lock, and released and taken it again in a call without a hook. */
static void a_section_that_asked_before_the_first_does_not_count(void **state)
{
	struct fixture *f = *state;

	take(f, &other, LOCK, ELSEWHERE);
	section(f, &one, LOCK, FIRST);
	give(f, &other, LOCK);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
}

/* A context that takes the lock again has released it before: when, no hook saw. */
static void a_section_without_an_end_does_not_count(void **state)
{
	struct fixture *f = *state;

	sections_at(&f->s, &one, FIRST, RSP);
	take(f, &one, LOCK, FIRST);
	take(f, &other, LOCK, ELSEWHERE);
	give(f, &one, LOCK);
	section(f, &other, LOCK, ELSEWHERE + 8);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].taken_at, ELSEWHERE + 8);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[1].count, 0);
	/* The first section's own end was not seen. */
	take(f, &one, LOCK, FIRST);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
}

/* A section that has not ended when the context asks for the second lock may come after it. */
static void only_whole_sections_are_in_between(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	take(f, &other, LOCK, ELSEWHERE);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
}

static void a_wait_in_between_is_counted(void **state)
{
	struct fixture *f = *state;

	sections_at(&f->s, &one, BEGIN, RSP);
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
	sections_at(&f->s, &one, BEGIN, RSP);
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
	assert_false(sections_gap(&f->s, &one, OTHER_LOCK, SECOND, &alone, &gap));
	assert_false(sections_gap(&f->s, &other, LOCK, SECOND, &alone, &gap));
	assert_false(sections_gap(&f->s, &one, LOCK, FIRST, &alone, &gap));
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
	assert_false(sections_gap_met(&f->s, &gap));
	sections_hold(&f->s, &gap, f->number);
	/* The CPU comes to the call again when it is released. */
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
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
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].by_hold, 0);
	section(f, &one, LOCK, FIRST);
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
	section(f, &other, LOCK, ELSEWHERE + 0x40);
	section(f, &one, LOCK, SECOND);
	section(f, &other, LOCK, ELSEWHERE + 0x80);
	section(f, &one, LOCK, FIRST);
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
}

/* A section that came before the hold, in the same gap, is not owed to the hold. */
static void only_what_comes_in_the_hold_is_by_it(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	before_the_second(f);
	take(f, &other, LOCK, ELSEWHERE);
	assert_true(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
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
	assert_false(sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap));
}

/* A loop makes the second section several times before the third one follows. */
static void sections_in_a_row_are_counted(void **state)
{
	struct fixture *f = *state;

	sections_at(&f->s, &one, BEGIN, RSP);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	/* A loop with both sections is no row. */
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	/* Neither are sections of two locks. */
	section(f, &one, OTHER_LOCK, SECOND);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	assert_int_equal(pair(f, SECOND, THIRD)->count, 3);
	assert_int_equal(pair(f, SECOND, THIRD)->in_row, 0);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, SECOND);
	section(f, &one, LOCK, THIRD);
	section(f, &one, LOCK, THIRD);
	assert_int_equal(pair(f, SECOND, THIRD)->count, 4);
	assert_int_equal(pair(f, SECOND, THIRD)->in_row, 1);
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
		if (sections_gap(&f->s, &one, LOCK, SECOND, &alone, &gap)) {
			sections_hold(&f->s, &gap, f->number);
			held++;
		}
		section(f, &one, LOCK, SECOND);
	}
	assert_in_range(held, 95, 105);
}

/* ---- sections of two locks ---- */

/* Another context takes both locks, one inside the other. */
static void take_both(struct fixture *f, uint64_t outer, uint64_t inner)
{
	take(f, &other, outer, ELSEWHERE);
	take(f, &other, inner, ELSEWHERE + 0x10);
	sections_nested(&f->s, &other, inner, outer);
}

static void both(struct fixture *f, uint64_t outer, uint64_t inner)
{
	take_both(f, outer, inner);
	give(f, &other, inner);
	give(f, &other, outer);
}

/* A reader needs only one of two locks if each writer holds both, whichever it takes first. */
static void two_locks_that_others_hold_at_once_are_a_pair(void **state)
{
	struct fixture *f = *state;

	for (unsigned inside = 0; inside < 2; inside++) {
		uint64_t outer = inside ? OTHER_LOCK : LOCK, inner = inside ? LOCK : OTHER_LOCK;
		uint64_t call = inner == OTHER_LOCK ? ELSEWHERE + 0x10 : ELSEWHERE;

		sections_hole(&f->s);
		f->s.pair_count = 0;
		both(f, outer, inner);
		section(f, &one, LOCK, FIRST);
		both(f, outer, inner);
		section(f, &one, OTHER_LOCK, SECOND);
		assert_int_equal(f->s.pair_count, 1);
		assert_true(pair(f, FIRST, SECOND)->two_locks);
		assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
		/* The section in between is named by its call for the lock of the second section. */
		assert_int_equal(pair(f, FIRST, SECOND)->between[0].taken_at, call);
		assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 1);
		assert_int_equal(pair(f, FIRST, SECOND)->between[1].count, 0);
	}
}

/* Only the context's own sections hold both locks: nothing says that the locks belong together. */
static void two_locks_that_only_the_context_holds_are_no_pair(void **state)
{
	struct fixture *f = *state;

	take(f, &one, LOCK, ELSEWHERE);
	take(f, &one, OTHER_LOCK, ELSEWHERE + 0x10);
	sections_nested(&f->s, &one, OTHER_LOCK, LOCK);
	give(f, &one, OTHER_LOCK);
	give(f, &one, LOCK);
	section(f, &one, LOCK, FIRST);
	section(f, &one, OTHER_LOCK, SECOND);
	assert_int_equal(f->s.pair_count, 0);
}

/* A section of the second lock alone does not exclude the first section: it may have come during it. */
static void both_locks_must_be_held_in_between(void **state)
{
	struct fixture *f = *state;

	both(f, LOCK, OTHER_LOCK);
	section(f, &one, LOCK, FIRST);
	section(f, &other, OTHER_LOCK, ELSEWHERE + 0x20);
	section(f, &one, OTHER_LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
	/* It held both locks before the first section, and keeps only the second lock during this section. */
	take(f, &other, OTHER_LOCK, ELSEWHERE + 0x20);
	take(f, &other, LOCK, ELSEWHERE + 0x30);
	sections_nested(&f->s, &other, LOCK, OTHER_LOCK);
	give(f, &other, LOCK);
	section(f, &one, LOCK, FIRST);
	give(f, &other, OTHER_LOCK);
	section(f, &one, OTHER_LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 2);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].count, 0);
}

static void a_cpu_is_held_between_sections_of_two_locks(void **state)
{
	struct fixture *f = *state;
	struct section_gap gap;

	both(f, LOCK, OTHER_LOCK);
	section(f, &one, LOCK, FIRST);
	section(f, &one, OTHER_LOCK, SECOND);
	section(f, &one, LOCK, FIRST);
	assert_true(sections_gap(&f->s, &one, OTHER_LOCK, SECOND, &alone, &gap));
	sections_hold(&f->s, &gap, f->number);
	section(f, &other, OTHER_LOCK, ELSEWHERE + 0x20);
	assert_false(sections_gap_met(&f->s, &gap));
	take_both(f, LOCK, OTHER_LOCK);
	assert_false(sections_gap_met(&f->s, &gap));
	give(f, &other, OTHER_LOCK);
	assert_true(sections_gap_met(&f->s, &gap));
	section(f, &one, OTHER_LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->between[0].by_hold, 1);
	assert_true(sections_is_second(&f->s, SECOND));
}

static bool accept(void *ctx, uint64_t first, uint64_t second, uint64_t between)
{
	(void)ctx;
	return first == FIRST && second == SECOND && between == ELSEWHERE;
}

/* The other context is brought to its call for the first lock, if it held a second lock there before. */
static void two_locks_are_worth_a_copy(void **state)
{
	struct fixture *f = *state;

	both(f, LOCK, OTHER_LOCK);
	section(f, &one, LOCK, FIRST);
	section(f, &one, OTHER_LOCK, SECOND);
	assert_true(sections_is_first(&f->s, FIRST));
	assert_true(sections_worth(&f->s, &one, LOCK, FIRST, &alone, accept, NULL));
	assert_ptr_equal(sections_find(&f->s, FIRST, ELSEWHERE, &alone, accept, NULL), pair(f, FIRST, SECOND));
	sections_hole(&f->s);
	section(f, &other, LOCK, ELSEWHERE);
	assert_false(sections_worth(&f->s, &one, LOCK, FIRST, &alone, accept, NULL));
}

/* ---- sections in called functions ---- */

#define CHECK UINT64_C(0xffffffffc0003000)
#define CHECK_CALL (CHECK + 0x10)
#define CHECK_CALL_2 (CHECK + 0x30)
#define ACT UINT64_C(0xffffffffc0004000)
#define ACT_CALL (ACT + 0x10)

/* A section in the function at `callee`, which the followed function has called. */
static void called(struct fixture *f, uint64_t callee, uint64_t pc, uint64_t cfa, bool decides)
{
	const struct call_chain chain = {.function = callee, .frames = {{START, cfa, decides}}, .count = 1};

	sections_take(&f->s, &one, &(struct section_call){LOCK, pc, ++f->number, false}, &chain);
	give(f, &one, LOCK);
}

static void begin(struct fixture *f)
{
	sections_at(&f->s, &one, BEGIN, RSP);
}

static void sections_of_called_functions_are_a_pair(void **state)
{
	struct fixture *f = *state;

	for (unsigned round = 1; round < 3; round++) {
		begin(f);
		called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
		section(f, &other, LOCK, ELSEWHERE);
		called(f, ACT, ACT_CALL, RSP + FRAME, false);
		assert_int_equal(f->s.pair_count, 1);
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->count, round);
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->between[0].count, round);
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->caller, START);
		assert_true(pair(f, CHECK_CALL, ACT_CALL)->caller_decides);
	}
}

/* The functions were called, but not by one activation. */
static void calls_of_other_activations_are_no_pair(void **state)
{
	struct fixture *f = *state;

	/* The frame is another one, as of a call by another function. */
	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, ACT, ACT_CALL, RSP + FRAME - 0x40, true);
	/* The function was called again. */
	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	begin(f);
	called(f, ACT, ACT_CALL, RSP + FRAME, true);
	assert_int_equal(f->s.pair_count, 0);
}

/* Two sections of one called function are a pair of its own activation, if at all. */
static void sections_of_one_called_function_are_no_pair(void **state)
{
	struct fixture *f = *state;

	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, CHECK, CHECK_CALL_2, RSP + FRAME, true);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	assert_int_equal(f->s.pair_count, 0);
}

static void a_section_of_its_own_and_a_called_one_are_a_pair(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, ACT_CALL)->caller, START);
	/* Code after the first section may decide by what this section read. */
	assert_true(pair(f, FIRST, ACT_CALL)->caller_decides);
	assert_false(pair(f, ACT_CALL, SECOND)->caller_decides);
	assert_int_equal(pair(f, FIRST, SECOND)->caller, 0);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
}

/* A called function that is called again, in a loop, does not take the function's own sections along. */
static void a_loop_of_calls_forgets_only_calls(void **state)
{
	struct fixture *f = *state;

	section(f, &one, LOCK, FIRST);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	section(f, &one, LOCK, SECOND);
	assert_int_equal(pair(f, FIRST, SECOND)->count, 1);
	assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->count, 1);
}

/* Two functions call the same functions. The pair is of the one that decides by the result. */
static void the_caller_that_decides_is_kept(void **state)
{
	const uint64_t later = START + 0x1000;
	struct fixture *f = *state;

	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, false);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	assert_false(pair(f, CHECK_CALL, ACT_CALL)->caller_decides);
	assert_int_equal(sections_follow(&f->s, &(struct section_function){later, later + 0x100, later + 4, FRAME}), 0);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t calls[] = {CHECK_CALL, ACT_CALL}, functions[] = {CHECK, ACT};

		sections_at(&f->s, &one, later + 4, RSP - 0x100);
		for (unsigned k = 0; k < 2; k++) {
			const struct call_chain chain = {
				.function = functions[k], .frames = {{later, RSP - 0x100 + FRAME, true}}, .count = 1};

			sections_take(&f->s, &one, &(struct section_call){LOCK, calls[k], ++f->number, false}, &chain);
			give(f, &one, LOCK);
		}
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->caller, later);
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->count, i + 1);
		/* The first function's activations do not count any more. */
		begin(f);
		called(f, CHECK, CHECK_CALL, RSP + FRAME, false);
		called(f, ACT, ACT_CALL, RSP + FRAME, false);
		assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->count, i + 1);
	}
}

static void a_cpu_is_held_between_called_functions(void **state)
{
	const struct call_chain chain = {.function = ACT, .frames = {{START, RSP + FRAME, false}}, .count = 1};
	const struct call_chain elsewhere = {.function = ACT, .frames = {{START, RSP + FRAME + 8, false}}, .count = 1};
	struct fixture *f = *state;
	struct section_gap gap;

	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	section(f, &other, LOCK, ELSEWHERE);
	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	assert_false(sections_gap(&f->s, &one, LOCK, ACT_CALL, &alone, &gap));
	assert_false(sections_gap(&f->s, &one, LOCK, ACT_CALL, &elsewhere, &gap));
	assert_true(sections_gap(&f->s, &one, LOCK, ACT_CALL, &chain, &gap));
	sections_hold(&f->s, &gap, f->number);
	assert_false(sections_gap(&f->s, &one, LOCK, ACT_CALL, &chain, &gap));
	section(f, &other, LOCK, ELSEWHERE);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->holds, 1);
	assert_int_equal(pair(f, CHECK_CALL, ACT_CALL)->between[0].by_hold, 1);
}

static bool accept_all(void *ctx, uint64_t first, uint64_t second, uint64_t between)
{
	(void)ctx;
	(void)first;
	(void)second;
	(void)between;
	return true;
}

/* A copy needs the caller, which must run on to the second section. */
static void a_copy_is_made_in_the_caller_only(void **state)
{
	const struct call_chain chain = {.function = CHECK, .frames = {{START, RSP + FRAME, true}}, .count = 1};
	struct fixture *f = *state;

	begin(f);
	called(f, CHECK, CHECK_CALL, RSP + FRAME, true);
	called(f, ACT, ACT_CALL, RSP + FRAME, false);
	section(f, &other, LOCK, ELSEWHERE);
	assert_false(sections_worth(&f->s, &one, LOCK, CHECK_CALL, &alone, accept_all, NULL));
	assert_true(sections_worth(&f->s, &one, LOCK, CHECK_CALL, &chain, accept_all, NULL));
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
		T(a_section_that_waits_is_in_between),
		T(a_section_that_may_have_come_before_does_not_count),
		T(a_section_that_asked_before_the_first_does_not_count),
		T(a_section_without_an_end_does_not_count),
		T(only_whole_sections_are_in_between),
		T(a_wait_in_between_is_counted),
		T(a_hole_ends_what_is_in_progress),
		T(pairs_stay_when_the_text_goes),
		T(tables_are_bounded),
		T(a_gap_is_worth_a_hold),
		T(what_was_seen_needs_no_hold),
		T(only_what_comes_in_the_hold_is_by_it),
		T(a_loop_is_not_held),
		T(sections_in_a_row_are_counted),
		T(holds_in_vain_become_rare),
		T(two_locks_that_others_hold_at_once_are_a_pair),
		T(two_locks_that_only_the_context_holds_are_no_pair),
		T(both_locks_must_be_held_in_between),
		T(a_cpu_is_held_between_sections_of_two_locks),
		T(two_locks_are_worth_a_copy),
		T(sections_of_called_functions_are_a_pair),
		T(calls_of_other_activations_are_no_pair),
		T(sections_of_one_called_function_are_no_pair),
		T(a_section_of_its_own_and_a_called_one_are_a_pair),
		T(a_loop_of_calls_forgets_only_calls),
		T(the_caller_that_decides_is_kept),
		T(a_cpu_is_held_between_called_functions),
		T(a_copy_is_made_in_the_caller_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
