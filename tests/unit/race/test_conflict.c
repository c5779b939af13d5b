// SPDX-License-Identifier: GPL-2.0-or-later
/* What a conflict is: the one definition that the detector and the store of races share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/race/conflict.h"
#include "symbols/insn/insn.h"

#define UPDATE (INSN_READ | INSN_WRITE)

static const struct conflict_access unseen = {0};

static struct conflict_access plain(uint8_t rw)
{
	return (struct conflict_access){.known = true, .rw = rw};
}

static struct conflict_access locked(uint8_t rw)
{
	return (struct conflict_access){.known = true, .locked = true, .rw = rw};
}

/* The order of the two never matters. */
static void expect(struct conflict_access a, struct conflict_access b, bool conflict)
{
	assert_int_equal(race_is_conflict(&a, &b), conflict);
	assert_int_equal(race_is_conflict(&b, &a), conflict);
}

static void one_write_is_enough(void **state)
{
	(void)state;
	expect(plain(INSN_WRITE), plain(INSN_READ), true);
	expect(plain(INSN_WRITE), plain(INSN_WRITE), true);
	expect(plain(UPDATE), plain(INSN_READ), true);
	expect(plain(UPDATE), plain(UPDATE), true);
}

static void two_reads_are_none(void **state)
{
	(void)state;
	expect(plain(INSN_READ), plain(INSN_READ), false);
	expect(locked(INSN_READ), plain(INSN_READ), false);
}

static void two_locked_accesses_are_none(void **state)
{
	(void)state;
	expect(locked(UPDATE), locked(UPDATE), false);
	expect(locked(UPDATE), locked(INSN_READ), false);
	expect(locked(UPDATE), locked(0), false);
}

static void one_locked_access_is_no_excuse(void **state)
{
	(void)state;
	expect(locked(UPDATE), plain(INSN_READ), true);
	expect(locked(UPDATE), plain(INSN_WRITE), true);
}

/* A watchpoint reported it, and watchpoints of a sampled read trap writes only. */
static void an_access_that_could_not_be_told_counts_as_a_write(void **state)
{
	(void)state;
	expect(plain(0), plain(INSN_READ), true);
	expect(plain(0), plain(INSN_WRITE), true);
	expect(plain(0), plain(0), true);
}

static void changed_memory_conflicts_with_whatever_was_sampled(void **state)
{
	(void)state;
	expect(unseen, plain(INSN_READ), true);
	expect(unseen, plain(INSN_WRITE), true);
	expect(unseen, locked(UPDATE), true);
	expect(unseen, unseen, false);
}

static void what_is_said_of_an_unseen_access_means_nothing(void **state)
{
	(void)state;
	expect((struct conflict_access){.locked = true, .rw = INSN_READ}, locked(UPDATE), true);
	expect((struct conflict_access){.locked = true, .rw = INSN_READ}, plain(INSN_READ), true);
}

static void expect_overlap(uint64_t a, uint32_t a_len, uint64_t b, uint32_t b_len, bool overlap)
{
	assert_int_equal(race_ranges_overlap(a, a_len, b, b_len), overlap);
	assert_int_equal(race_ranges_overlap(b, b_len, a, a_len), overlap);
}

static void one_common_byte_is_overlap(void **state)
{
	(void)state;
	expect_overlap(0x1000, 8, 0x1007, 1, true);
	expect_overlap(0x1000, 8, 0x1000, 1, true);
	expect_overlap(0x1000, 8, 0x1002, 2, true);
	expect_overlap(0x1000, 8, 0x1004, 8, true);
	expect_overlap(0x1000, 8, 0x1000, 8, true);
}

static void neighbours_do_not_overlap(void **state)
{
	(void)state;
	expect_overlap(0x1000, 8, 0x1008, 1, false);
	expect_overlap(0x1000, 8, 0xfff, 1, false);
	expect_overlap(0x1000, 1, UINT64_C(0xffff888000001000), 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_write_is_enough),
		cmocka_unit_test(two_reads_are_none),
		cmocka_unit_test(two_locked_accesses_are_none),
		cmocka_unit_test(one_locked_access_is_no_excuse),
		cmocka_unit_test(an_access_that_could_not_be_told_counts_as_a_write),
		cmocka_unit_test(changed_memory_conflicts_with_whatever_was_sampled),
		cmocka_unit_test(what_is_said_of_an_unseen_access_means_nothing),
		cmocka_unit_test(one_common_byte_is_overlap),
		cmocka_unit_test(neighbours_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
