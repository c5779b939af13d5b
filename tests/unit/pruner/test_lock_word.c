// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Words of locks and of the scheduler: what code may do to them, and plain data beside or in place of them. The races are as a
 * run on a stock kernel without debug files records them: a function's name, its machine code and the names of its calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "lock-word"
#define WORD 0xffff888012345640ull
#define READER (b->reader)
#define WRITER (b->writer)

/* An unnamed object of 192 bytes, with a lock at +0x40. */
static struct bench *of_object(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_unnamed(b->race);
	b->race->first.memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
						      .cpu = -1,
						      .cache = "kmalloc-192",
						      .merged = GUEST_MERGED_NO,
						      .object = WORD - 0x40,
						      .object_size = 192,
						      .offset = 0x40};
	return b;
}

static void access_at(const struct bench *b, unsigned side, uint64_t gva, uint32_t size, uint8_t rw)
{
	struct race_side *s = bench_side(b, side);

	s->gva = gva;
	s->size = size;
	s->rw = rw;
	s->locked = false;
	b->race->rw[side] = rw;
}

/*
 * Let the reader be a plain load of 4 bytes in a function that calls nothing: mov 0x40(%rdi),%eax; test $0xffff00ff,%eax; ...
 */
static void looks_at(const struct bench *b, uint64_t gva)
{
	access_at(b, READER, gva, 4, INSN_READ);
	bench_function(b, READER, "jbd2_journal_do_checkpoint");
	bench_code(b, READER, CODE("\x8b\x47\x40\xa9\xff\x00\xff\xff\x0f\x95\xc0\xc3"), 0);
}

/* Let the writer be native_queued_spin_lock_slowpath(), in the middle of its code: lock orb $1,0x1(%rdi). */
static void slowpath(const struct bench *b, uint64_t gva)
{
	access_at(b, WRITER, gva, 1, INSN_READ | INSN_WRITE);
	bench_side(b, WRITER)->locked = true;
	bench_function(b, WRITER, "native_queued_spin_lock_slowpath");
	bench_code(b, WRITER, CODE("\xf0\x80\x4f\x01\x01\x75\xf9\xc3"), 0);
	bench_start_not_kept(b, WRITER);
}

/* Let the writer be _raw_spin_unlock(): movb $0,(%rdi); ret. */
static void unlock(const struct bench *b)
{
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	bench_function(b, WRITER, "_raw_spin_unlock");
	bench_code(b, WRITER, CODE("\xc6\x07\x00\xc3"), 0);
}

/* ---- looks at a lock from outside ---- */

static void test_waiters_are_looked_for(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	slowpath(b, WORD + 1);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "a lock function accesses it in native_queued_spin_lock_slowpath(); ");
	bench_says(b, "jbd2_journal_do_checkpoint reads it");
}

static void test_the_store_that_releases(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	unlock(b);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "_raw_spin_unlock() changes it");
}

/* 5.10 inlines the release: movb $0,0x40(%rbx) in any function. */
static void test_an_inlined_release_against_cond_resched_lock(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	bench_function(b, READER, "__cond_resched_lock");
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	bench_code(b, WRITER, CODE("\xc6\x43\x40\x00\xc3"), 0);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "a lock function accesses it in __cond_resched_lock()");
}

/* Debug files show the inlined function that stores, but not that the other side's load is one of a lock. */
static void test_an_inlined_release_by_name(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	bench_expect_not(b, RULE);
	bench_inlined(b, WRITER, "queued_spin_unlock");
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* No side is a lock function: the writer took the lock before, and its inlined release is the access. */
static void test_an_address_that_a_lock_function_was_given(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	/* lea 0x40(%rbx),%rdi; call _raw_spin_lock; movb $0,0x40(%rbx); ret */
	bench_code(b, WRITER, CODE("\x48\x8d\x7b\x40\xe8\x00\x00\x00\x00\xc6\x43\x40\x00\xc3"), 9);
	bench_call(b, WRITER, 4, "_raw_spin_lock");
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "gt_rwrace_writer passes its address to _raw_spin_lock()");
}

static void test_the_owner_of_a_mutex(void **state)
{
	struct bench *b = of_object(state);

	access_at(b, READER, WORD, 8, INSN_READ);
	/* mov 0x40(%rbx),%rax; test %rax,%rax; lea 0x40(%rbx),%rdi; call mutex_lock; ret */
	bench_code(b, READER, CODE("\x48\x8b\x43\x40\x48\x85\xc0\x48\x8d\x7b\x40\xe8\x00\x00\x00\x00\xc3"), 0);
	bench_call(b, READER, 11, "mutex_lock");
	access_at(b, WRITER, WORD, 8, INSN_READ | INSN_WRITE);
	bench_side(b, WRITER)->locked = true;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "gt_rwrace_reader passes its address to mutex_lock()");
}

static void test_two_lock_functions(void **state)
{
	struct bench *b = of_object(state);

	unlock(b);
	access_at(b, READER, WORD, 4, INSN_READ | INSN_WRITE);
	bench_side(b, READER)->locked = true;
	bench_function(b, READER, "_raw_spin_lock");
	/* xor %eax,%eax; mov $1,%edx; lock cmpxchg %edx,(%rdi); ret */
	bench_code(b, READER, CODE("\x31\xc0\xba\x01\x00\x00\x00\xf0\x0f\xb1\x17\xc3"), 7);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* The list of waiters of a rwsem, which rwsem_is_contended() looks at, is not at the address of the lock. */
static void test_waiters_of_a_rwsem(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, READER, WORD + 0x18, 8, INSN_READ);
	access_at(b, WRITER, WORD + 0x18, 8, INSN_WRITE);
	bench_function(b, WRITER, "rwsem_down_write_slowpath");
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* ---- what is no word of a lock ---- */

static void test_a_field_beside_the_lock(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD + 4);
	access_at(b, WRITER, WORD + 4, 4, INSN_WRITE);
	/* lea 0x40(%rbx),%rdi; call _raw_spin_lock; movl $1,0x44(%rbx); movb $0,0x40(%rbx); ret */
	bench_code(b, WRITER, CODE("\x48\x8d\x7b\x40\xe8\x00\x00\x00\x00\xc7\x43\x44\x01\x00\x00\x00\xc6\x43\x40\x00\xc3"), 9);
	bench_call(b, WRITER, 4, "_raw_spin_lock");
	bench_expect_not(b, RULE);
	/* The same with a byte, which looks like a release. */
	access_at(b, WRITER, WORD + 4, 1, INSN_WRITE);
	bench_code(b, WRITER, CODE("\x48\x8d\x7b\x40\xe8\x00\x00\x00\x00\xc6\x43\x44\x00\xc6\x43\x40\x00\xc3"), 9);
	bench_call(b, WRITER, 4, "_raw_spin_lock");
	bench_expect_not(b, RULE);
}

static void test_a_load_that_is_wider_than_the_lock(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	unlock(b);
	access_at(b, READER, WORD, 8, INSN_READ);
	bench_expect_not(b, RULE);
}

static void test_a_lock_that_is_initialised_while_it_is_used(void **state)
{
	struct bench *b = of_object(state);

	slowpath(b, WORD + 1);
	access_at(b, READER, WORD, 4, INSN_WRITE);
	bench_code(b, READER, CODE("\xc7\x47\x40\x00\x00\x00\x00\xc3"), 0); /* movl $0,0x40(%rdi) */
	bench_expect_not(b, RULE);
}

static void test_a_byte_that_releases_nothing(void **state)
{
	struct bench *b = of_object(state);

	slowpath(b, WORD);
	access_at(b, READER, WORD, 1, INSN_WRITE);
	bench_code(b, READER, CODE("\xc6\x43\x40\x01\xc3"), 0); /* movb $1,0x40(%rbx) */
	bench_expect_not(b, RULE);
	slowpath(b, WORD + 1);
	access_at(b, READER, WORD + 1, 1, INSN_WRITE);
	bench_code(b, READER, CODE("\xc6\x43\x41\x00\xc3"), 0); /* movb $0,0x41(%rbx) */
	bench_expect_not(b, RULE);
}

static void test_the_lock_of_another_object(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	/* lea 0x40(%rbp),%rdi; call _raw_spin_lock; movb $0,0x40(%rbx); ret */
	bench_code(b, WRITER, CODE("\x48\x8d\x7d\x40\xe8\x00\x00\x00\x00\xc6\x43\x40\x00\xc3"), 9);
	bench_call(b, WRITER, 4, "_raw_spin_lock");
	bench_expect_not(b, RULE);
}

/* The same operand in another segment: a per-CPU variable. */
static void test_another_segment(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	/* lea 0x40(%rbx),%rdi; call _raw_spin_lock; movb $0,%gs:0x40(%rbx); ret */
	bench_code(b, WRITER, CODE("\x48\x8d\x7b\x40\xe8\x00\x00\x00\x00\x65\xc6\x43\x40\x00\xc3"), 9);
	bench_call(b, WRITER, 4, "_raw_spin_lock");
	bench_expect_not(b, RULE);
}

static void test_no_lock_function_in_sight(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 1, INSN_WRITE);
	bench_code(b, WRITER, CODE("\xc6\x43\x40\x00\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* Lock functions put the task to sleep, and store to its task_struct and to its stack. */
static void test_other_memory_of_a_lock_function(void **state)
{
	struct bench *b = of_object(state);

	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 4, INSN_WRITE);
	bench_function(b, WRITER, "__mutex_lock.constprop.0");
	snprintf(b->race->first.memory.type, sizeof(b->race->first.memory.type), "task_struct");
	bench_expect_not(b, RULE);
	b->race->first.memory.type[0] = '\0';
	b->race->first.memory.kind = GUEST_MEMORY_STACK;
	bench_expect_not(b, RULE);
}

/* ---- by name ---- */

static struct bench *named(void **state, const char *type, const char *member)
{
	struct bench *b = of_object(state);

	snprintf(b->race->first.memory.type, sizeof(b->race->first.memory.type), "%s", type);
	snprintf(b->race->first.memory.member, sizeof(b->race->first.memory.member), "%s", member);
	looks_at(b, WORD);
	access_at(b, WRITER, WORD, 4, INSN_READ | INSN_WRITE);
	bench_side(b, WRITER)->locked = true;
	return b;
}

static void test_a_lock_by_name(void **state)
{
	static const char *const names[][2] = {{"inode", "i_lock.rlock.raw_lock.val.counter"},
					       {"qspinlock", "locked"},
					       {"mutex", "owner.counter"},
					       {"rw_semaphore", "count.counter"}};

	for (unsigned i = 0; i < ROWS(names); i++) {
		struct bench *b;

		if (i) {
			bench_teardown(state);
			assert_int_equal(bench_setup(state), 0);
		}
		b = named(state, names[i][0], names[i][1]);
		bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
		/* A plain store of another value to it. */
		access_at(b, WRITER, WORD, 4, INSN_WRITE);
		bench_expect_not(b, RULE);
	}
}

static void test_a_field_like_a_lock(void **state)
{
	struct bench *b = named(state, "inode", "i_lockdep");

	access_at(b, WRITER, WORD, 4, INSN_WRITE);
	bench_expect_not(b, RULE);
}

/* The interrupt's count and the task's on one CPU: incl %gs:... in both. */
static void test_preemption_counts(void **state)
{
	static const char *const names[][2] = {
		{"__preempt_count", ""}, {"pcpu_hot", "preempt_count"}, {"pcpu_hot", "call_depth"}};

	for (unsigned i = 0; i < ROWS(names); i++) {
		struct bench *b;

		if (i) {
			bench_teardown(state);
			assert_int_equal(bench_setup(state), 0);
		}
		b = named(state, i ? "pcpu_hot" : "", names[i][1]);
		b->race->first.memory.kind = GUEST_MEMORY_PER_CPU;
		snprintf(b->race->first.memory.symbol.name, sizeof(b->race->first.memory.symbol.name), "%s", names[i][0]);
		b->race->first.memory.offset = 0;
		for (unsigned k = 0; k < 2; k++) {
			access_at(b, k, WORD, 4, INSN_READ | INSN_WRITE);
			bench_code(b, k, CODE("\x65\xff\x04\x25\x40\x00\x00\x00\xc3"), 0); /* incl %gs:0x40 */
		}
		if (i == 2)
			bench_expect_not(b, RULE);
		else
			bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	}
}

/* TIF_NEED_RESCHED: of a task by the guest's tables, and of the first CPU's idle task, which is a variable. */
static void test_need_resched(void **state)
{
	struct bench *b = named(state, "task_struct", "thread_info.flags");

	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	b->race->first.memory = (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .cpu = -1, .symbol.name = "init_task"};
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	b->race->first.memory.offset = 24;
	bench_expect(b, VERDICT_UNCLEAR, "locked-update");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_waiters_are_looked_for),
		BENCH_TEST(test_the_store_that_releases),
		BENCH_TEST(test_an_inlined_release_against_cond_resched_lock),
		BENCH_TEST(test_an_inlined_release_by_name),
		BENCH_TEST(test_an_address_that_a_lock_function_was_given),
		BENCH_TEST(test_the_owner_of_a_mutex),
		BENCH_TEST(test_two_lock_functions),
		BENCH_TEST(test_waiters_of_a_rwsem),
		BENCH_TEST(test_a_field_beside_the_lock),
		BENCH_TEST(test_a_load_that_is_wider_than_the_lock),
		BENCH_TEST(test_a_lock_that_is_initialised_while_it_is_used),
		BENCH_TEST(test_a_byte_that_releases_nothing),
		BENCH_TEST(test_the_lock_of_another_object),
		BENCH_TEST(test_another_segment),
		BENCH_TEST(test_no_lock_function_in_sight),
		BENCH_TEST(test_other_memory_of_a_lock_function),
		BENCH_TEST(test_a_lock_by_name),
		BENCH_TEST(test_a_field_like_a_lock),
		BENCH_TEST(test_preemption_counts),
		BENCH_TEST(test_need_resched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
