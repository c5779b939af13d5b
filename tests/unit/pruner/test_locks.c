// SPDX-License-Identifier: GPL-2.0-or-later
/* Double-checked locking, a lock on one side only, and loops that wait for the other side's store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "double-checked-locking"

/* ---- double-checked locking ---- */

/* gt_dclock_user loads without the lock, takes the lock and loads again. gt_dclock_reset stores with the lock held. */
static struct bench *double_check(void **state)
{
	return bench_of(state, "gt_dclock_user", "gt_dclock_reset");
}

static void test_double_check(void **state)
{
	struct bench *b = double_check(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "_raw_spin_lock");
}

/* The part of the function that was not kept may reach the second load without the lock. */
static void test_double_check_in_a_part_of_a_function(void **state)
{
	struct bench *b = double_check(state);

	bench_start_not_kept(b, b->reader);
	bench_expect_not(b, RULE);
}

static void test_writers_lock_that_its_code_shows(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* The part of the function that was not kept may reach the store without the lock. */
static void test_writers_lock_that_a_part_of_its_code_shows(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_start_not_kept(b, b->writer);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* If the writer does not hold the lock, the second load races with it like the first. */
static void test_double_check_against_a_writer_without_a_lock(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_side(b, b->writer)->callee_count = 0;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_two_looks_without_a_lock(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_side(b, b->writer)->callee_count = 0;
	bench_side(b, b->reader)->callee_count = 0;
	bench_expect_not(b, RULE);
}

/* mov (%rbx),%eax; test %eax,%eax; jne 1f; call `function`; mov `offset`(%rbx),%eax; test %eax,%eax; 1: ret */
static void look_twice(const struct bench *b, unsigned side, const char *function, char offset)
{
	char code[] = "\x8b\x03\x85\xc0\x75\x0a\xe8\x00\x01\x00\x00\x8b\x43\x00\x85\xc0\xc3";

	code[13] = offset;
	bench_code(b, side, CODE(code), 0);
	bench_call(b, side, 6, function);
}

static struct bench *two_looks(void **state, const char *function, char offset)
{
	struct bench *b = double_check(state);

	look_twice(b, b->reader, function, offset);
	return b;
}

static void test_second_look_at_the_word_behind(void **state)
{
	struct bench *b = two_looks(state, "mutex_lock", 8);

	bench_expect_not(b, RULE);
}

static void test_second_look_at_the_word(void **state)
{
	struct bench *b = two_looks(state, "mutex_lock", 0);

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_second_look_without_the_lock_any_more(void **state)
{
	struct bench *b = two_looks(state, "mutex_unlock", 0);

	bench_expect_not(b, RULE);
}

/* mov (%rbx),%eax; xor %eax,%eax; call mutex_lock; mov (%rbx),%eax; test %eax,%eax; ret */
static void test_first_look_that_decides_nothing(void **state)
{
	struct bench *b = double_check(state);

	bench_code(b, b->reader, CODE("\x8b\x03\x31\xc0\xe8\x00\x01\x00\x00\x8b\x03\x85\xc0\xc3"), 0);
	bench_call(b, b->reader, 4, "mutex_lock");
	bench_expect_not(b, RULE);
}

/* mov (%rbx),%rax; cmpb $0,(%rax); test %rax,%rax; jne 1f; call mutex_lock; mov (%rbx),%rax; test %rax,%rax; 1: ret */
static void test_first_look_that_is_gone_through(void **state)
{
	struct bench *b = double_check(state);

	bench_code(b, b->reader,
		   CODE("\x48\x8b\x03\x80\x38\x00\x48\x85\xc0\x75\x0b\xe8\x00\x01\x00\x00\x48\x8b\x03\x48\x85\xc0\xc3"), 0);
	bench_call(b, b->reader, 11, "mutex_lock");
	bench_expect_not(b, RULE);
}

static void test_first_look_with_a_lock_held(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->reader)->context.preempt_off = true;
	bench_expect_not(b, RULE);
}

static void test_double_check_of_a_side_that_is_not_known_to_read(void **state)
{
	struct bench *b = double_check(state);

	b->race->rw[b->reader] = 0;
	bench_expect_not(b, RULE);
}

static void test_double_check_against_a_reader(void **state)
{
	struct bench *b = double_check(state);

	b->race->rw[b->writer] = INSN_READ;
	bench_expect_not(b, RULE);
}

/* The kept code of a side comes from one instance. In another instance the side stored. */
static void test_double_check_of_a_side_that_wrote_in_another_instance(void **state)
{
	struct bench *b = two_looks(state, "mutex_lock", 0);

	look_twice(b, 1, "mutex_lock", 0);
	bench_side(b, 1)->context.preempt_off = false;
	b->race->rw[0] = b->race->rw[1] = INSN_READ | INSN_WRITE;
	bench_expect_not(b, RULE);
}

/* ---- a lock on one side ---- */

static void test_setter_holds_a_lock_and_watchdog_none(void **state)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");

	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
}

static void test_writer_of_a_size_holds_a_lock_and_reader_none(void **state)
{
	struct bench *b = bench_of(state, "gt_latesize_get_inode", "gt_latesize_write");

	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
}

/* The evidence names what shows the lock: the call, the state of the CPU, or the recorded lock. */
static void test_which_lock_was_seen(void **state)
{
	struct bench *b = bench_of(state, "gt_nlink_rename", "gt_nlink_link");

	bench_expect(b, VERDICT_HARMFUL, "reference-count");
	bench_says(b, "gt_nlink_rename takes no lock for ");
	bench_says(b, ", gt_nlink_link called mutex_lock()");
	bench_side(b, b->writer)->context.preempt_off = true;
	bench_expect(b, VERDICT_HARMFUL, "reference-count");
	bench_says(b, ", gt_nlink_link called mutex_lock() and has preemption off");
}

static void test_which_state_was_seen(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
	struct guest_context *context = &bench_side(b, b->writer)->context;

	context->preempt_off = true;
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has preemption off;");
	context->preempt_count = 2;
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has preemption off (preempt_count 0x2);");
	context->preempt_count = 0x200; /* local_bh_disable() */
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has softirqs off (preempt_count 0x200);");
	context->preempt_count = 0x201; /* spin_lock_bh() */
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has preemption off (preempt_count 0x201);");
	context->irqs_off = true;
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has interrupts and preemption off (preempt_count 0x201);");
	context->preempt_off = false;
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, ", gt_rwrace_writer has interrupts off;");
}

/* ---- locksets that the detector recorded ---- */

/* Let the side hold the lock at this address. 0: it holds no lock. */
static void followed(const struct bench *b, unsigned which, uint64_t lock)
{
	struct race_locks *locks = &bench_side(b, which)->locks;

	*locks = (struct race_locks){.known = true, .complete = true, .set.count = lock ? 1 : 0};
	locks->set.held[0] = (struct held_lock){.gva = lock, .kind = LOCK_SPIN};
	snprintf(locks->name[0], sizeof(locks->name[0]), lock == 0x1000 ? "cb_lock" : "cmd_lock");
}

static void test_locks_that_are_known(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
	followed(b, b->reader, 0);
	followed(b, b->writer, 0x1000);
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	bench_says(b, "gt_rwrace_reader holds no lock for ");
	bench_says(b, ", gt_rwrace_writer holds cb_lock (--locks)");
}

static void test_locks_that_are_not_the_same(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	followed(b, b->reader, 0x2000);
	followed(b, b->writer, 0x1000);
	bench_expect(b, VERDICT_HARMFUL, "no-common-lock");
	bench_says(b, "and no common lock orders their accesses");
	/* A lock does not exclude two readers, and a trylock may have failed. */
	followed(b, b->reader, 0x1000);
	bench_expect_not(b, "no-common-lock");
	bench_side(b, b->reader)->locks.set.held[0].shared = bench_side(b, b->writer)->locks.set.held[0].shared = true;
	bench_expect(b, VERDICT_HARMFUL, "no-common-lock");
	bench_side(b, b->reader)->locks.set.held[0].maybe = true;
	bench_expect_not(b, "no-common-lock");
}

/* A caller whose lock calls the detector did not hook may hold a lock: a mutex, or a spinlock if preemption is off. */
static void test_locks_of_code_that_was_not_followed(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	followed(b, b->reader, 0);
	followed(b, b->writer, 0x1000);
	bench_side(b, b->reader)->locks.complete = false;
	bench_side(b, b->reader)->context.known = false;
	bench_expect_not(b, "lock-on-one-side");
	bench_side(b, b->reader)->locks.complete = true;
	bench_side(b, b->reader)->context.known = bench_side(b, b->reader)->context.preempt_off = true;
	bench_expect_not(b, "lock-on-one-side");
}

/* ---- user-built synchronisation ---- */

#define SPIN "user-built-synchronisation"

/* gt_halflock_watchdog consists of a loop that waits for the store of gt_halflock_setter. */
static struct bench *loop(void **state, const void *code, size_t len)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");

	bench_code(b, b->reader, code, len, 0);
	return b;
}

/* 1: testb $1,(%rdi); jne 2f; pause; jmp 1b; 2: ret */
static const char waits[] = "\xf6\x07\x01\x75\x04\xf3\x90\xeb\xf7\xc3";

static void test_loop_that_only_waits(void **state)
{
	struct bench *b = loop(state, CODE(waits));

	bench_expect(b, VERDICT_UNCLEAR, SPIN);
}

static void test_loop_that_counts_while_it_waits(void **state)
{
	/* 1: testb $1,(%rdi); jne 2f; incl (%rsi); jmp 1b; 2: ret */
	struct bench *b = loop(state, CODE("\xf6\x07\x01\x75\x04\xff\x06\xeb\xf7\xc3"));

	bench_expect_not(b, SPIN);
}

static void test_loop_that_masks_what_it_loads(void **state)
{
	/* 1: movl (%rdi),%eax; andl $1,%eax; je 1b; ret */
	struct bench *b = loop(state, CODE("\x8b\x07\x83\xe0\x01\x74\xf9\xc3"));

	bench_expect(b, VERDICT_UNCLEAR, SPIN);
}

static void test_loop_that_stores_while_it_waits(void **state)
{
	/* 1: movl (%rdi),%eax; movl %ecx,(%rsi); testl %eax,%eax; je 1b; ret */
	struct bench *b = loop(state, CODE("\x8b\x07\x89\x0e\x85\xc0\x74\xf8\xc3"));

	bench_expect_not(b, SPIN);
}

static void test_loop_that_waits_for_nothing(void **state)
{
	struct bench *b = loop(state, CODE("\x8b\x07\xf3\x90\xeb\xfa")); /* 1: movl (%rdi),%eax; pause; jmp 1b */

	bench_expect_not(b, SPIN);
}

static void test_loop_against_a_reader(void **state)
{
	struct bench *b = loop(state, CODE(waits));

	b->race->rw[b->writer] = INSN_READ;
	bench_expect_not(b, SPIN);
}

/* The kept code of a side comes from one instance. In another instance the side stored. */
static void test_loop_of_a_side_that_wrote_in_another_instance(void **state)
{
	struct bench *b = loop(state, CODE(waits));

	bench_code(b, 1, CODE(waits), 0);
	b->race->rw[0] = b->race->rw[1] = INSN_READ | INSN_WRITE;
	bench_expect_not(b, SPIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_double_check),
		BENCH_TEST(test_double_check_in_a_part_of_a_function),
		BENCH_TEST(test_writers_lock_that_its_code_shows),
		BENCH_TEST(test_writers_lock_that_a_part_of_its_code_shows),
		BENCH_TEST(test_double_check_against_a_writer_without_a_lock),
		BENCH_TEST(test_two_looks_without_a_lock),
		BENCH_TEST(test_second_look_at_the_word_behind),
		BENCH_TEST(test_second_look_at_the_word),
		BENCH_TEST(test_second_look_without_the_lock_any_more),
		BENCH_TEST(test_first_look_that_decides_nothing),
		BENCH_TEST(test_first_look_that_is_gone_through),
		BENCH_TEST(test_first_look_with_a_lock_held),
		BENCH_TEST(test_double_check_of_a_side_that_is_not_known_to_read),
		BENCH_TEST(test_double_check_against_a_reader),
		BENCH_TEST(test_double_check_of_a_side_that_wrote_in_another_instance),
		BENCH_TEST(test_setter_holds_a_lock_and_watchdog_none),
		BENCH_TEST(test_writer_of_a_size_holds_a_lock_and_reader_none),
		BENCH_TEST(test_which_lock_was_seen),
		BENCH_TEST(test_which_state_was_seen),
		BENCH_TEST(test_locks_that_are_known),
		BENCH_TEST(test_locks_that_are_not_the_same),
		BENCH_TEST(test_locks_of_code_that_was_not_followed),
		BENCH_TEST(test_loop_that_only_waits),
		BENCH_TEST(test_loop_that_counts_while_it_waits),
		BENCH_TEST(test_loop_that_masks_what_it_loads),
		BENCH_TEST(test_loop_that_stores_while_it_waits),
		BENCH_TEST(test_loop_that_waits_for_nothing),
		BENCH_TEST(test_loop_against_a_reader),
		BENCH_TEST(test_loop_of_a_side_that_wrote_in_another_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
