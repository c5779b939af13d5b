// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether data that critical sections access change later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/locks/fates.h"

#define LOCK UINT64_C(0xffff888000001000)
#define OTHER_LOCK UINT64_C(0xffff888000001040)
#define DATUM UINT64_C(0xffff888000001084)
#define PC UINT64_C(0xffffffffc0001018)
#define FIRST UINT64_C(0xffffffffc0001010)
#define SECOND UINT64_C(0xffffffffc0001040)
#define ELSEWHERE UINT64_C(0xffffffffc0002010)

static const struct lock_who one = {.who = 7, .kind = GUEST_TASK};
static const struct lock_who other = {.who = 8, .kind = GUEST_TASK, .cpu = 1};

/* The code looks for bit 0 of the datum being clear. */
static const struct lock_test test = {true, 1, 0};

struct fixture {
	struct fates f;
	uint64_t number;
	/* The aligned word at DATUM - 4, and the number of reads until reading fails. */
	uint64_t word;
	unsigned reads;
};

static bool read_word(void *ctx, uint64_t gva, uint64_t *word)
{
	struct fixture *f = ctx;

	assert_int_equal(gva, DATUM - 4);
	*word = f->word;
	return f->reads-- > 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	f->reads = 1000;
	f->f.read = read_word;
	f->f.ctx = f;
	fates_follow(&f->f, PC, FIRST, SECOND, &test, true);
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct section_call call(struct fixture *f, uint64_t taken_at)
{
	return (struct section_call){LOCK, taken_at, ++f->number, false};
}

/* The context comes to the access in its first section. Returns the section's lock moment. */
static uint64_t check(struct fixture *f, const struct lock_who *who)
{
	const struct section_call section = call(f, FIRST);

	fates_access(&f->f, who, PC, &section, DATUM, 4);
	return section.number;
}

/* The context takes the lock for its second section: of the activation whose first section began in the moment `first`. */
static void enter(struct fixture *f, const struct lock_who *who, uint64_t first)
{
	const struct section_call section = call(f, SECOND);
	const uint64_t made[] = {first + 100, first};

	fates_take(&f->f, who, &section, made, 2);
}

/* Change the datum: bit 0 is bit 32 of the word. */
static void change(struct fixture *f, uint64_t bits)
{
	f->word ^= bits << 32;
}

static void a_datum_is_followed(void **state)
{
	struct fixture *f = *state;
	const struct section_fate *fate = &f->f.list[0].fate;
	uint64_t first = check(f, &one);

	change(f, 4);
	fates_give(&f->f, &one, LOCK);
	change(f, 3);
	enter(f, &one, first);
	change(f, 8);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(fate->seen, 1);
	assert_int_equal(fate->own, 1);
	assert_int_equal(fate->own_bits, 4);
	assert_int_equal(fate->moved, 1);
	assert_int_equal(fate->moved_bits, 3);
	assert_int_equal(fate->acted, 0);
	first = check(f, &one);
	fates_give(&f->f, &one, LOCK);
	/* The word's other half is another datum. */
	f->word ^= 0xff;
	enter(f, &one, first);
	change(f, 8);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(fate->seen, 2);
	assert_int_equal(fate->own, 1);
	assert_int_equal(fate->moved, 1);
	assert_int_equal(fate->acted, 1);
}

/* Another context's sections, and sections of other locks, end nothing. */
static void contexts_are_apart(void **state)
{
	struct fixture *f = *state;
	uint64_t mine = check(f, &one), its = check(f, &other);

	fates_give(&f->f, &one, OTHER_LOCK);
	fates_give(&f->f, &one, LOCK);
	change(f, 1);
	fates_give(&f->f, &other, LOCK);
	enter(f, &one, mine);
	fates_give(&f->f, &other, LOCK);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(f->f.list[0].fate.seen, 1);
	assert_int_equal(f->f.list[0].fate.moved, 1);
	enter(f, &other, its);
	fates_give(&f->f, &other, LOCK);
	assert_int_equal(f->f.list[0].fate.seen, 2);
	assert_int_equal(f->f.list[0].fate.own, 1);
}

static void cases_without_an_end_do_not_count(void **state)
{
	struct fixture *f = *state;
	const struct section_call again = {LOCK, FIRST, 50, false}, elsewhere = {LOCK, ELSEWHERE, 51, false};
	static struct sections none;
	uint64_t first = check(f, &one);

	/* The second section is of another activation. */
	fates_give(&f->f, &one, LOCK);
	enter(f, &one, first + 1);
	fates_give(&f->f, &one, LOCK);
	/* The first section again. */
	first = check(f, &one);
	fates_give(&f->f, &one, LOCK);
	fates_take(&f->f, &one, &elsewhere, NULL, 0);
	fates_again(&f->f, &one, &again, &none);
	enter(f, &one, first);
	fates_give(&f->f, &one, LOCK);
	/* The object is freed, or lock operations may have been missed, or the datum cannot be read any more. */
	first = check(f, &one);
	fates_give(&f->f, &one, LOCK);
	fates_object_ends(&f->f, DATUM - 0x20, 0x40);
	enter(f, &one, first);
	fates_give(&f->f, &one, LOCK);
	first = check(f, &one);
	fates_hole(&f->f);
	fates_give(&f->f, &one, LOCK);
	enter(f, &one, first);
	fates_give(&f->f, &one, LOCK);
	first = check(f, &one);
	f->reads = 0;
	fates_give(&f->f, &one, LOCK);
	f->reads = 1000;
	enter(f, &one, first);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(f->f.list[0].fate.seen, 0);
	/* An object elsewhere is freed. */
	first = check(f, &one);
	fates_give(&f->f, &one, LOCK);
	fates_object_ends(&f->f, DATUM - 0x20, 0x10);
	enter(f, &one, first);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(f->f.list[0].fate.seen, 1);
}

/* In each combination: what the check found, and whether the second section followed. */
static void what_a_check_decides_is_counted(void **state)
{
	struct fixture *f = *state;
	const struct section_call again = {LOCK, FIRST, 50, false};
	const struct section_fate *fate = &f->f.list[0].fate;
	static struct sections none;

	for (unsigned i = 0; i < 10; i++) {
		uint64_t first;

		/*
		 * Bit 0 is set in 4 of 10 cases, and the second section follows in 3 of these, and in 1 of the other 6. The
		 * code does not look at bit 1.
		 */
		f->word = (uint64_t)((i < 4) + 2 * (i & 1)) << 32;
		first = check(f, &one);
		fates_give(&f->f, &one, LOCK);
		if (i < 3 || i == 9)
			enter(f, &one, first);
		fates_give(&f->f, &one, LOCK);
		fates_again(&f->f, &one, &again, &none);
	}
	assert_int_equal(fate->reached[0], 3);
	assert_int_equal(fate->missed[0], 1);
	assert_int_equal(fate->reached[1], 1);
	assert_int_equal(fate->missed[1], 5);
	assert_int_equal(fate->seen, 4);
}

/* The first section comes again in the same activation, as in a loop: that says nothing. */
static void an_activation_that_goes_on_has_missed_nothing(void **state)
{
	struct fixture *f = *state;
	struct sections *s = calloc(1, sizeof(*s));
	const struct section_call call = {LOCK, FIRST, ++f->number, false}, again = {LOCK, FIRST, 50, false};
	const struct call_chain alone = {0};

	assert_non_null(s);
	assert_int_equal(sections_follow(s, &(struct section_function){FIRST, FIRST + 0x100, FIRST, 0}), 0);
	for (unsigned i = 0; i < 2; i++) {
		sections_at(s, &one, FIRST, 0);
		sections_take(s, &one, &call, &alone);
		fates_access(&f->f, &one, PC, &call, DATUM, 4);
		fates_give(&f->f, &one, LOCK);
		sections_give(s, &one, LOCK, ++f->number);
		/* Or the function is called again. */
		if (i)
			sections_at(s, &one, FIRST, 0);
		fates_again(&f->f, &one, &again, s);
		assert_int_equal(f->f.list[0].fate.missed[1], i);
	}
	sections_fini(s);
	free(s);
}

/* A suspicion's access takes the place of one that belongs to none. */
static void suspicions_come_first(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i < 2 * SECTION_FATES_MAX; i++)
		fates_follow(&f->f, PC + 8 * i, FIRST, SECOND, &test, false);
	assert_int_equal(f->f.count, SECTION_FATES_MAX);
	assert_false(fates_has(&f->f, PC + 8 * SECTION_FATES_MAX));
	for (uint64_t i = 0; i < 2 * SECTION_FATES_MAX; i++)
		fates_follow(&f->f, PC + 4 + 8 * i, FIRST, SECOND, &test, true);
	assert_int_equal(f->f.count, SECTION_FATES_MAX);
	assert_true(fates_has(&f->f, PC));
	assert_true(fates_has(&f->f, PC + 4));
	assert_false(fates_has(&f->f, PC + 8));
}

/* Code that was loaded to the same place looks for another value. */
static void a_new_test_begins_anew(void **state)
{
	struct fixture *f = *state;
	const struct lock_test unknown = {0};

	f->f.list[0].fate.seen = f->f.list[0].fate.missed[1] = 9;
	fates_follow(&f->f, PC, FIRST, SECOND, &test, false);
	assert_int_equal(f->f.list[0].fate.seen, 9);
	fates_follow(&f->f, PC, FIRST, SECOND, &unknown, false);
	assert_int_equal(f->f.list[0].fate.seen, 0);
	enter(f, &one, check(f, &one));
	assert_int_equal(f->f.list[0].fate.reached[0] + f->f.list[0].fate.reached[1], 0);
}

static void one_section_alone(void **state)
{
	struct fixture *f = *state;
	const struct section_call section = {LOCK, ELSEWHERE, 1, false};

	fates_follow(&f->f, PC, ELSEWHERE, 0, &test, true);
	fates_follow(&f->f, PC, ELSEWHERE, 0, &test, true);
	assert_int_equal(f->f.count, 2);
	fates_access(&f->f, &one, PC, &section, DATUM, 4);
	change(f, 2);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(f->f.list[0].fate.seen, 0);
	assert_int_equal(f->f.list[1].fate.seen, 1);
	assert_int_equal(f->f.list[1].fate.own_bits, 2);
	/* Data of two words are not followed. */
	fates_access(&f->f, &one, PC, &section, DATUM, 8);
	fates_give(&f->f, &one, LOCK);
	assert_int_equal(f->f.list[1].fate.seen, 1);
}

static void sites_take_turns(void **state)
{
	struct fixture *f = *state;

	fates_follow(&f->f, PC + 8, FIRST, SECOND, &test, true);
	assert_true(fates_has(&f->f, PC + 8) && !fates_has(&f->f, PC + 1));
	assert_int_not_equal(fates_site(&f->f), fates_site(&f->f));
	f->f.list[0].fate.seen = 100000;
	assert_int_equal(fates_site(&f->f), PC + 8);
	assert_int_equal(fates_site(&f->f), PC + 8);
	/* A module's text goes, and comes back to the same place. */
	fates_text_gone(&f->f, PC, 0x100);
	assert_int_equal(fates_site(&f->f), 0);
	fates_follow(&f->f, PC + 8, FIRST, SECOND, &test, true);
	assert_int_equal(fates_site(&f->f), PC + 8);
}

static void tables_are_bounded(void **state)
{
	struct fixture *f = *state;

	uint64_t first[200];

	/* One case ends, so its place is free, and then the oldest ones are dropped. */
	for (int64_t who = 0; who < 200; who++) {
		const struct lock_who task = {.who = who, .kind = GUEST_TASK};

		first[who] = check(f, &task);
		if (who == 1)
			fates_object_ends(&f->f, DATUM, 8);
	}
	for (int64_t who = 0; who < 200; who++) {
		const struct lock_who task = {.who = who, .kind = GUEST_TASK};
		uint64_t seen = f->f.list[0].fate.seen;

		fates_give(&f->f, &task, LOCK);
		enter(f, &task, first[who]);
		fates_give(&f->f, &task, LOCK);
		assert_int_equal(f->f.list[0].fate.seen, seen + (who >= 200 - FATE_CASES_MAX));
	}
	for (uint64_t i = 0; i < 2 * SECTION_FATES_MAX; i++)
		fates_follow(&f->f, PC + 8 * i, FIRST, SECOND, &test, true);
	assert_int_equal(f->f.count, SECTION_FATES_MAX);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_datum_is_followed),
		T(contexts_are_apart),
		T(cases_without_an_end_do_not_count),
		T(what_a_check_decides_is_counted),
		T(an_activation_that_goes_on_has_missed_nothing),
		T(suspicions_come_first),
		T(a_new_test_begins_anew),
		T(one_section_alone),
		T(sites_take_turns),
		T(tables_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
