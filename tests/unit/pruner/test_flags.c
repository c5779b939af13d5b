// SPDX-License-Identifier: GPL-2.0-or-later
/* Safe flag updates: one side tests some bits of a word, and the other side rewrites the word to change other bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "safe-flag-update"

/* gt_flagbits_tester tests bit 0 of a 4-byte word. gt_flagbits_marker rewrites the word to change bit 1. */
static struct bench *flags(void **state)
{
	return bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");
}

static void show_no_change(const struct bench *b)
{
	for (unsigned i = 0; i < b->race->kept; i++)
		memcpy(b->race->instances[i].after, b->race->instances[i].before, RACE_DATA_MAX);
}

static void test_flags(void **state)
{
	struct bench *b = flags(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "uses only the bits 0x1");
	bench_says(b, "changes only the bits 0x2");
}

/* An instruction that changes no bit is no update. */
static void test_update_of_no_flag(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->writer, CODE("\x83\x2f\x00\xc3"), 0); /* subl $0,(%rdi); ret */
	bench_expect_not(b, RULE);
}

static void test_update_of_a_flag_that_is_tested(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->reader, CODE("\xf6\x07\x03\xc3"), 0); /* testb $3,(%rdi); ret */
	bench_expect_not(b, RULE);
}

/* By the code the update spares the tested bit, but an instance shows that the bit changed. */
static void test_tested_flag_that_was_seen_to_change(void **state)
{
	struct bench *b = flags(state);

	b->race->instances[3].after[0] ^= 1;
	bench_expect_not(b, RULE);
}

/* The code may change the tested bit. That no instance shows such a change does not make the update safe. */
static void test_update_of_a_flag_that_is_tested_and_did_not_change(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->reader, CODE("\xf6\x07\x03\xc3"), 0); /* testb $3,(%rdi); ret */
	show_no_change(b);
	bench_expect_not(b, RULE);
}

static void test_load_that_nobody_looks_at(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->reader, CODE("\x8a\x07\x31\xc0\xc3"), 0); /* movb (%rdi),%al; xorl %eax,%eax; ret */
	bench_expect_not(b, RULE);
}

static void test_flags_that_are_loaded_to_be_stored_again(void **state)
{
	struct bench *b = flags(state);

	/* movl (%rdi),%eax; andl $~2,%eax; movl %eax,(%rdi); xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x07\x83\xe0\xfd\x89\x07\x31\xc0\xc3"), 0);
	show_no_change(b);
	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

/* ---- sides whose code or kind of access is not known ---- */

static void test_flags_whose_readers_code_is_not_known(void **state)
{
	struct bench *b = flags(state);

	bench_side(b, b->reader)->code_len = 0;
	bench_expect_not(b, RULE);
}

static void test_flags_whose_writers_code_is_not_known(void **state)
{
	struct bench *b = flags(state);

	bench_side(b, b->writer)->code_len = 0;
	bench_expect_not(b, RULE);
}

static void test_flags_of_a_side_that_is_not_known_to_read(void **state)
{
	struct bench *b = flags(state);

	b->race->rw[b->reader] = 0;
	bench_expect_not(b, RULE);
}

static void test_flags_of_two_readers(void **state)
{
	struct bench *b = flags(state);

	b->race->rw[b->writer] = INSN_READ;
	bench_expect_not(b, RULE);
}

/* ---- two writers ---- */

/* The kept code of a side comes from one instance. In another instance the side stored. */
static void test_flags_of_a_tester_that_wrote_in_another_instance(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, 0, CODE("\x80\x0f\x02\xc3"), 0);		   /* orb $2,(%rdi); ret */
	bench_code(b, 1, CODE("\xf7\x07\x01\x00\x00\x00\xc3"), 0); /* testl $1,(%rdi); ret */
	b->race->rw[0] = b->race->rw[1] = INSN_READ | INSN_WRITE;
	bench_expect_not(b, RULE);
}

static void test_flags_of_two_writers(void **state)
{
	struct bench *b = flags(state);

	b->race->rw[b->reader] = INSN_READ | INSN_WRITE;
	bench_code(b, b->reader, CODE("\x80\x0f\x01\xc3"), 0); /* orb $1,(%rdi); ret */
	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

static void test_bit_fields_of_two_writers(void **state)
{
	struct bench *b = bench_of(state, "gt_bitfield_status", "gt_bitfield_received");

	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

static void test_flags_that_are_stored_anew(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->writer, CODE("\x89\x07\xc3"), 0); /* mov %eax,(%rdi); ret */
	bench_expect_not(b, RULE);
}

/* ---- the reader loads the whole word, and its source line names a bit-field ---- */

static struct bench *loaded_word(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->reader, CODE("\x0f\xb6\x07\xc3"), 0); /* movzbl (%rdi),%eax; ret */
	return b;
}

static void bit_field(const struct bench *b, unsigned offset, unsigned size)
{
	b->race->names->datum[b->reader].bit_offset = offset;
	b->race->names->datum[b->reader].bit_size = size;
}

static void test_word_that_is_loaded_whole(void **state)
{
	struct bench *b = loaded_word(state);

	bench_expect_not(b, RULE);
}

static void test_bit_field_beside_what_changes(void **state)
{
	struct bench *b = loaded_word(state);

	bit_field(b, 2, 3);
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "0x1c");
}

static void test_bit_field_that_what_changes_is_in(void **state)
{
	struct bench *b = loaded_word(state);

	bit_field(b, 0, 3);
	bench_expect_not(b, RULE);
}

static void test_bit_field_by_a_guess(void **state)
{
	struct bench *b = loaded_word(state);

	bit_field(b, 2, 3);
	b->race->names->datum[b->reader].guess = true;
	bench_expect_not(b, RULE);
}

/* ---- the reader tests the third byte of the word that the writer rewrites ---- */

static struct bench *third_byte(void **state)
{
	struct bench *b = flags(state);

	bench_code(b, b->reader, CODE("\xf6\x07\x10\xc3"), 0); /* testb $0x10,(%rdi); ret */
	bench_side(b, b->reader)->gva += 2;
	for (unsigned i = 0; i < b->race->kept; i++) {
		struct race_instance *instance = &b->race->instances[i];

		if (instance->data_len == 1) {
			instance->gva += 2;
			instance->before[0] = instance->after[0] = 0;
		}
	}
	return b;
}

/* Make an instance whose held side is `side`, and in which the first byte of its data did not change. */
static struct race_instance *held(const struct bench *b, unsigned side)
{
	struct race_instance *instance = &b->race->instances[1];

	instance->data_len = bench_side(b, side)->size;
	instance->gva = bench_side(b, side)->gva;
	instance->before[0] = instance->after[0] = 0;
	return instance;
}

static void test_flags_in_another_byte(void **state)
{
	struct bench *b = third_byte(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "0x100000");
}

static void test_changed_flag_in_another_byte_while_its_reader_was_held(void **state)
{
	struct bench *b = third_byte(state);

	held(b, b->reader)->after[0] = 0x10;
	bench_expect_not(b, RULE);
}

static void test_flags_in_another_byte_while_their_writer_was_held(void **state)
{
	struct bench *b = third_byte(state);

	held(b, b->writer);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_changed_flag_in_another_byte_while_its_writer_was_held(void **state)
{
	struct bench *b = third_byte(state);

	held(b, b->writer)->after[2] = 0x10;
	bench_expect_not(b, RULE);
}

/* If the size of the instance's data fits neither side's access, the pruner cannot tell which bits the data are. */
static void test_flags_in_another_byte_while_neither_side_was_held(void **state)
{
	struct bench *b = third_byte(state);

	held(b, b->writer)->data_len = 2;
	bench_expect_not(b, RULE);
}

/* Neither can it if the data have the size of the reader's access but belong to another byte. */
static void test_flags_in_another_byte_while_a_third_byte_was_held(void **state)
{
	struct bench *b = third_byte(state);

	held(b, b->reader)->gva -= 1;
	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_flags),
		BENCH_TEST(test_update_of_no_flag),
		BENCH_TEST(test_update_of_a_flag_that_is_tested),
		BENCH_TEST(test_tested_flag_that_was_seen_to_change),
		BENCH_TEST(test_update_of_a_flag_that_is_tested_and_did_not_change),
		BENCH_TEST(test_load_that_nobody_looks_at),
		BENCH_TEST(test_flags_that_are_loaded_to_be_stored_again),
		BENCH_TEST(test_flags_whose_readers_code_is_not_known),
		BENCH_TEST(test_flags_whose_writers_code_is_not_known),
		BENCH_TEST(test_flags_of_a_side_that_is_not_known_to_read),
		BENCH_TEST(test_flags_of_two_readers),
		BENCH_TEST(test_flags_of_a_tester_that_wrote_in_another_instance),
		BENCH_TEST(test_flags_of_two_writers),
		BENCH_TEST(test_bit_fields_of_two_writers),
		BENCH_TEST(test_flags_that_are_stored_anew),
		BENCH_TEST(test_word_that_is_loaded_whole),
		BENCH_TEST(test_bit_field_beside_what_changes),
		BENCH_TEST(test_bit_field_that_what_changes_is_in),
		BENCH_TEST(test_bit_field_by_a_guess),
		BENCH_TEST(test_flags_in_another_byte),
		BENCH_TEST(test_changed_flag_in_another_byte_while_its_reader_was_held),
		BENCH_TEST(test_flags_in_another_byte_while_their_writer_was_held),
		BENCH_TEST(test_changed_flag_in_another_byte_while_its_writer_was_held),
		BENCH_TEST(test_flags_in_another_byte_while_neither_side_was_held),
		BENCH_TEST(test_flags_in_another_byte_while_a_third_byte_was_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
