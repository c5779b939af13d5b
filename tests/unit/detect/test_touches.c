/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sketch of touches: which pairs of accesses talk, that old touches do not, and that it stays within its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/detect/core/touches.h"

#define WORD 0x500000ull
#define READER 0xffffffff81000010ull
#define WRITER 0xffffffff81000020ull
#define OTHER 0xffffffff81000030ull
#define NOW UINT64_C(1000000000000)

static struct touches touches;
/* All touches are of one task, which moves between the CPUs. */
static bool moved;

static int setup(void **state)
{
	(void)state;
	touches = (struct touches){0};
	moved = false;
	return 0;
}

static uint64_t touch(uint64_t gpa, uint32_t len, uint64_t site, unsigned cpu, bool write, uint64_t ns)
{
	const struct touch by = {.site = site, .ns = ns, .stack = moved ? 1 : 1 + cpu, .cpu = cpu};

	return touches_note(&touches, gpa, len, &by, write);
}

static void test_writer_and_reader_talk(void **state)
{
	(void)state;
	assert_int_equal(touch(WORD, 8, WRITER, 0, true, NOW), 0);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + 1), WRITER);
	setup(NULL);
	assert_int_equal(touch(WORD, 8, READER, 0, false, NOW), 0);
	assert_int_equal(touch(WORD, 8, WRITER, 1, true, NOW + 1), READER);
}

static void test_two_writers_talk_even_at_one_site(void **state)
{
	(void)state;
	touch(WORD, 4, WRITER, 0, true, NOW);
	assert_int_equal(touch(WORD, 4, WRITER, 1, true, NOW + 1), WRITER);
}

static void test_two_readers_do_not_talk(void **state)
{
	(void)state;
	touch(WORD, 8, READER, 0, false, NOW);
	assert_int_equal(touch(WORD, 8, OTHER, 1, false, NOW + 1), 0);
}

/* Stacks and per-CPU data: one CPU alone uses them. */
static void test_one_cpu_does_not_talk(void **state)
{
	(void)state;
	touch(WORD, 8, WRITER, 1, true, NOW);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + 1), 0);
	assert_int_equal(touch(WORD, 8, OTHER, 1, true, NOW + 2), 0);
}

static void test_moved_task_does_not_talk(void **state)
{
	(void)state;
	moved = true;
	touch(WORD, 8, WRITER, 0, true, NOW);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + 1), 0);
	assert_int_equal(touch(WORD, 8, WRITER, 0, true, NOW + 2), 0);
}

/* The writer's own read does not hide its write from the other CPU. */
static void test_read_does_not_replace_write(void **state)
{
	(void)state;
	touch(WORD, 8, WRITER, 0, true, NOW);
	touch(WORD, 8, OTHER, 0, false, NOW + 1);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + 2), WRITER);
}

static void test_neighbour_word_does_not_talk(void **state)
{
	(void)state;
	touch(WORD, 8, WRITER, 0, true, NOW);
	assert_int_equal(touch(WORD + 8, 8, READER, 1, false, NOW + 1), 0);
	assert_int_equal(touch(WORD - 1, 1, READER, 1, false, NOW + 1), 0);
}

/* An access that is not aligned, or long, touches each of its words. */
static void test_all_words_of_an_access(void **state)
{
	(void)state;
	touch(WORD + 16, 1, WRITER, 0, true, NOW);
	assert_int_equal(touch(WORD + 1, 16, READER, 1, false, NOW + 1), WRITER);
	touch(WORD + 0x100, 64, WRITER, 0, true, NOW);
	for (unsigned i = 0; i < 64; i += 8)
		assert_int_equal(touch(WORD + 0x100 + i, 1, READER, 1, false, NOW + 1), WRITER);
	assert_int_equal(touch(WORD, 0, READER, 1, false, NOW + 1), 0);
}

static void test_old_touches_do_not_talk(void **state)
{
	(void)state;
	touch(WORD, 8, WRITER, 0, true, NOW);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + TOUCH_AGE_NS - 1), WRITER);
	assert_int_equal(touch(WORD, 8, READER, 1, false, NOW + TOUCH_AGE_NS), 0);
}

/* However many words are touched, only TOUCH_WORDS are remembered: the last ones, and of those nearly all. */
static void test_bounded(void **state)
{
	const unsigned touched = 64 * TOUCH_WORDS;
	unsigned remembered = 0, last = 0;

	(void)state;
	for (unsigned i = 0; i < touched; i++)
		touch(WORD + 8ull * i, 8, WRITER, 0, true, NOW);
	for (unsigned i = touched; i-- > 0;) {
		for (unsigned e = 0; e < TOUCH_WORDS && touched - i <= 64; e++)
			last += touches.words[e].word == (WORD + 8ull * i) / 8 + 1;
	}
	for (unsigned e = 0; e < TOUCH_WORDS; e++)
		remembered += touches.words[e].word != 0;
	assert_int_equal(remembered, TOUCH_WORDS);
	assert_in_range(last, 60, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_writer_and_reader_talk, setup),
		cmocka_unit_test_setup(test_two_writers_talk_even_at_one_site, setup),
		cmocka_unit_test_setup(test_two_readers_do_not_talk, setup),
		cmocka_unit_test_setup(test_one_cpu_does_not_talk, setup),
		cmocka_unit_test_setup(test_moved_task_does_not_talk, setup),
		cmocka_unit_test_setup(test_read_does_not_replace_write, setup),
		cmocka_unit_test_setup(test_neighbour_word_does_not_talk, setup),
		cmocka_unit_test_setup(test_all_words_of_an_access, setup),
		cmocka_unit_test_setup(test_old_touches_do_not_talk, setup),
		cmocka_unit_test_setup(test_bounded, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
