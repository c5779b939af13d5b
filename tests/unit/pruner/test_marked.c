// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marked accesses, which the pruner recognises by inlined functions, by the instruction and by the datum. Another test covers
 * marks in source lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "marked-accesses"

/* ---- by inlined functions ---- */

static struct bench *inlined(void **state, const char *first, const char *second)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_inlined(b, 0, first);
	if (second)
		bench_inlined(b, 1, second);
	return b;
}

static void test_one_side_marked(void **state)
{
	struct bench *b = inlined(state, "arch_atomic_read", NULL);

	bench_expect(b, VERDICT_HARMFUL, "one-side-marked");
	bench_says(b, "arch_atomic_read() in gt_rwrace_");
}

static void test_both_sides_marked(void **state)
{
	struct bench *b = inlined(state, "arch_atomic_read", "arch_atomic_set");

	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

static void test_function_with_a_mark_at_its_end(void **state)
{
	struct bench *b = inlined(state, "arch_atomic_read", "my_atomic_set");

	bench_expect(b, VERDICT_HARMFUL, "one-side-marked");
}

static void test_function_with_a_mark_at_its_beginning(void **state)
{
	struct bench *b = inlined(state, "arch_atomic_read", "atomic_notifier_chain_register");

	bench_expect(b, VERDICT_HARMFUL, "one-side-marked");
}

/* ---- by the instruction ---- */

static void test_locked_instruction(void **state)
{
	struct bench *b = bench_of(state, "gt_wwrace_first", "gt_wwrace_second");

	bench_side(b, 0)->locked = true;
	bench_expect(b, VERDICT_HARMFUL, "one-side-marked");
	bench_says(b, "a LOCKed instruction");
}

/* ---- two writers: a mark makes each access atomic, but two list_del_rcu() without a lock are still a bug ---- */

static struct bench *two_marked_writers(void **state)
{
	struct bench *b = bench_of(state, "gt_wwrace_first", "gt_wwrace_second");

	bench_inlined(b, 0, "list_del_rcu");
	bench_inlined(b, 1, "arch_atomic_set");
	return b;
}

static void test_two_marked_writers(void **state)
{
	struct bench *b = two_marked_writers(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "a store of one may undo the other's");
}

static void test_two_marked_writers_of_which_one_is_locked(void **state)
{
	struct bench *b = two_marked_writers(state);

	bench_side(b, 0)->locked = true;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_two_locked_writers(void **state)
{
	struct bench *b = two_marked_writers(state);

	bench_side(b, 0)->locked = true;
	bench_side(b, 1)->locked = true;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* ---- a marked load whose value a store writes back ---- */

static struct bench *marked_load(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_inlined(b, b->reader, "arch_atomic_read");
	bench_inlined(b, b->writer, "arch_atomic_set");
	return b;
}

/* READ_ONCE(), a subtraction, WRITE_ONCE(): each access is atomic, but the update is not. */
static void test_marked_update_in_parts(void **state)
{
	struct bench *b = marked_load(state);

	/* movl (%rdi),%eax; subl $1,%eax; movl %eax,(%rdi); xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x07\x83\xe8\x01\x89\x07\x31\xc0\xc3"), 0);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* The cmpxchg fails if another CPU has stored meanwhile. */
static void test_marked_update_by_cmpxchg(void **state)
{
	struct bench *b = marked_load(state);

	/* movl (%rdi),%eax; lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x07\x8d\x50\x01\xf0\x0f\xb1\x17\x31\xc0\xc3"), 0);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* ---- by the datum: machine code does not mark the load of a datum that only LOCKed instructions change ---- */

static struct bench *look_at(void **state, const char *variable, const char *owner, const char *member, bool locked)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_datum(b, variable, owner, member);
	bench_side(b, b->writer)->locked = locked;
	return b;
}

static void test_look_at_an_atomic_datum_that_a_plain_store_changes(void **state)
{
	struct bench *b = look_at(state, "p", "struct task_struct", "thread_info.flags", false);

	bench_expect_not(b, RULE);
}

static void test_look_at_an_atomic_datum(void **state)
{
	struct bench *b = look_at(state, "p", "struct task_struct", "thread_info.flags", true);

	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "a read of p.thread_info.flags (listed as atomic)");
}

/* task_struct also has flags that plain instructions change. */
static void test_look_at_a_plain_datum_of_the_same_struct(void **state)
{
	struct bench *b = look_at(state, "p", "struct task_struct", "flags", true);

	bench_expect(b, VERDICT_UNCLEAR, "locked-update");
}

/* The first CPU's idle task is a variable, whose other members are as plain as those of any task. */
static void test_look_at_the_idle_task(void **state)
{
	bench_expect(look_at(state, "init_task", "struct task_struct", "thread_info.flags", true), VERDICT_SYNCHRONISATION,
		     RULE);
}

static void test_look_at_a_plain_member_of_the_idle_task(void **state)
{
	bench_expect(look_at(state, "init_task", "struct task_struct", "flags", true), VERDICT_UNCLEAR, "locked-update");
}

static void test_look_at_a_counter_of_atomic_t(void **state)
{
	struct bench *b = look_at(state, "p", "struct thing", "refs.counter", true);

	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

static void test_look_at_a_counter_of_atomic_t_that_a_plain_store_changes(void **state)
{
	struct bench *b = look_at(state, "p", "struct thing", "refs.counter", false);

	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_one_side_marked),
		BENCH_TEST(test_both_sides_marked),
		BENCH_TEST(test_function_with_a_mark_at_its_end),
		BENCH_TEST(test_function_with_a_mark_at_its_beginning),
		BENCH_TEST(test_locked_instruction),
		BENCH_TEST(test_two_marked_writers),
		BENCH_TEST(test_two_marked_writers_of_which_one_is_locked),
		BENCH_TEST(test_two_locked_writers),
		BENCH_TEST(test_marked_update_in_parts),
		BENCH_TEST(test_marked_update_by_cmpxchg),
		BENCH_TEST(test_look_at_an_atomic_datum_that_a_plain_store_changes),
		BENCH_TEST(test_look_at_an_atomic_datum),
		BENCH_TEST(test_look_at_a_plain_datum_of_the_same_struct),
		BENCH_TEST(test_look_at_the_idle_task),
		BENCH_TEST(test_look_at_a_plain_member_of_the_idle_task),
		BENCH_TEST(test_look_at_a_counter_of_atomic_t),
		BENCH_TEST(test_look_at_a_counter_of_atomic_t_that_a_plain_store_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
