// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Special variables: a list of data that race by design. An entry applies only to the kernels, the functions, the side and the
 * number of writers that it names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "special-variable"

/* A function that reads a word and one that writes it. */
static struct bench *reader_and_writer(void **state)
{
	return bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
}

static void test_special_variable(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "jiffies_64", "u64", "");
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "jiffies.h");
}

static void test_variable_that_is_not_listed(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "jiffies_of_mine", "u64", "");
	bench_expect_not(b, RULE);
}

/* ---- the kernels that an entry applies to ---- */

/* The list has this variable for kernels up to 5.12. */
static struct bench *variable_of_old_kernels(void **state, const char *banner)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "watchdog_touch_ts", "unsigned long", "");
	prune_rules_set_kernel(b->rules, banner);
	return b;
}

static void test_kernel_that_the_races_were_recorded_with(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "watchdog_touch_ts", "unsigned long", "");
	bench_expect_not(b, RULE);
}

static void test_kernel_in_the_range(void **state)
{
	struct bench *b = variable_of_old_kernels(state, "Linux version 5.10.0-30-amd64 (x)");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_kernel_behind_the_range(void **state)
{
	struct bench *b = variable_of_old_kernels(state, "Linux version 5.17.0");

	bench_expect_not(b, RULE);
}

static void test_kernel_that_is_not_known(void **state)
{
	struct bench *b = variable_of_old_kernels(state, NULL);

	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* If races come from several kernels, an entry applies only if it applies to all of the kernels. */
static void test_kernels_of_which_all_are_in_the_range(void **state)
{
	struct bench *b = variable_of_old_kernels(state, "Linux version 5.10.0");

	prune_rules_add_kernel(b->rules, "Linux version 5.11.0");
	bench_expect_not(b, RULE);
}

static void test_kernel_that_is_given_twice(void **state)
{
	struct bench *b = variable_of_old_kernels(state, "Linux version 5.10.0");

	prune_rules_add_kernel(b->rules, "Linux version 5.10.0");
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_several_kernels_and_an_entry_for_all(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "jiffies_64", "u64", "");
	prune_rules_add_kernel(b->rules, "Linux version 5.10.0");
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* The batches of lru_add_drain_cpu(), which have other names in 6.12. */
static struct bench *batch(void **state, const char *banner, const char *variable, const char *owner, const char *member)
{
	struct bench *b = reader_and_writer(state);

	bench_function(b, b->reader, "lru_add_drain_cpu");
	bench_datum(b, variable, owner, member);
	prune_rules_set_kernel(b->rules, banner);
	return b;
}

static void test_old_name_in_an_old_kernel(void **state)
{
	struct bench *b = batch(state, "Linux version 6.1.0-56-cloud-amd64", "lru_rotate", "struct lru_rotate", "fbatch.nr");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_old_name_in_a_new_kernel(void **state)
{
	struct bench *b =
		batch(state, "Linux version 6.12.95+deb12-cloud-amd64", "lru_rotate", "struct lru_rotate", "fbatch.nr");

	bench_expect_not(b, RULE);
}

static void test_new_name_in_a_new_kernel(void **state)
{
	struct bench *b =
		batch(state, "Linux version 6.12.95+deb12-cloud-amd64", "fbatches", "struct cpu_fbatches", "lru_move_tail.nr");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* The kernel's comment permits the race on one batch only. */
static void test_other_batch_in_a_new_kernel(void **state)
{
	struct bench *b =
		batch(state, "Linux version 6.12.95+deb12-cloud-amd64", "fbatches", "struct cpu_fbatches", "lru_add.nr");

	bench_expect_not(b, RULE);
}

/* The race was a bug before the fix in 6.1, so the entry must not hide it in kernels without the fix. */
static struct bench *fixed_in_6_1(void **state, const char *banner)
{
	struct bench *b = reader_and_writer(state);

	bench_function(b, b->reader, "dup_user_cpus_ptr");
	bench_datum(b, "src", "struct task_struct", "user_cpus_ptr");
	prune_rules_set_kernel(b->rules, banner);
	return b;
}

static void test_kernel_since_the_fix(void **state)
{
	struct bench *b = fixed_in_6_1(state, "Linux version 6.1.0-56-cloud-amd64");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_kernel_before_the_fix(void **state)
{
	struct bench *b = fixed_in_6_1(state, "Linux version 6.0.0");

	bench_expect_not(b, RULE);
}

/* ---- the functions and the side that an entry applies to ---- */

/* The entry permits a load without the lock in the functions that it names, and in no other function. */
static void test_look_in_a_function_that_is_not_listed(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "pipe", "struct pipe_inode_info", "writers");
	bench_expect_not(b, RULE);
}

static void test_look_in_a_listed_function(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "pipe", "struct pipe_inode_info", "writers");
	bench_function(b, b->reader, "pipe_poll");
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "fs/pipe.c");
}

static void test_look_in_a_listed_function_at_another_member(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "pipe", "struct pipe_inode_info", "ring_size");
	bench_function(b, b->reader, "pipe_poll");
	bench_expect_not(b, RULE);
}

/* The entry permits a load without the lock, and no store. */
static void test_store_in_a_function_listed_for_its_look(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "pipe", "struct pipe_inode_info", "writers");
	bench_function(b, b->writer, "pipe_poll");
	bench_function(b, b->reader, "my_peek");
	bench_expect_not(b, RULE);
}

/* The race of a function whose entry permits its store. */
static struct bench *listed_for_its_store(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "p", "struct task_struct", "flags");
	bench_function(b, b->writer, "handle_softirqs");
	bench_function(b, b->reader, "my_peek");
	return b;
}

static void test_store_in_a_function_listed_for_its_store(void **state)
{
	struct bench *b = listed_for_its_store(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* The entry does not cover a load whose value the reader stores again. */
static void test_load_that_is_stored_again(void **state)
{
	struct bench *b = listed_for_its_store(state);

	/* movl (%rdi),%eax; orl $64,%eax; movl %eax,(%rdi); ret */
	bench_code(b, b->reader, CODE("\x8b\x07\x83\xc8\x40\x89\x07\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* An interrupt looks whether the task that it interrupts is idle. */
static void test_look_of_an_interrupt_at_the_flags_of_its_task(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "current_task", "struct task_struct", "flags");
	bench_function(b, b->reader, "irqentry_enter");
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "PF_IDLE");
}

/* Data of which an estimate is made are not folded. */
static void test_look_at_when_to_balance_for_idle_cpus(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "nohz", "", "next_balance");
	bench_function(b, b->reader, "sched_balance_trigger");
	bench_expect(b, VERDICT_UNCLEAR, "approximate-computation");
}

/* ---- two writers: an entry for one writer and its readers does not excuse a lost store ---- */

static struct bench *two_writers(void **state)
{
	return bench_of(state, "gt_wwrace_first", "gt_wwrace_second");
}

static void test_two_writers_where_one_may_write(void **state)
{
	struct bench *b = two_writers(state);

	bench_datum(b, "jiffies_64", "u64", "");
	bench_expect_not(b, RULE);
}

static void test_two_writers_where_two_may_write(void **state)
{
	struct bench *b = two_writers(state);

	bench_datum(b, "oops_in_progress", "int", "");
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* An unseen writer counts as a writer, although its kind of access is unknown. */
static struct bench *unseen_writer(void **state)
{
	struct bench *b = two_writers(state);

	bench_datum(b, "jiffies_64", "u64", "");
	bench_side(b, 1)->kind = RACE_SIDE_UNSEEN;
	b->race->rw[1] = 0;
	return b;
}

static void test_writer_against_an_unseen_writer(void **state)
{
	struct bench *b = unseen_writer(state);

	bench_expect_not(b, RULE);
}

static void test_reader_against_an_unseen_writer(void **state)
{
	struct bench *b = unseen_writer(state);

	b->race->rw[0] = INSN_READ;
	bench_expect(b, VERDICT_BENIGN, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_special_variable),
		BENCH_TEST(test_variable_that_is_not_listed),
		BENCH_TEST(test_kernel_that_the_races_were_recorded_with),
		BENCH_TEST(test_kernel_in_the_range),
		BENCH_TEST(test_kernel_behind_the_range),
		BENCH_TEST(test_kernel_that_is_not_known),
		BENCH_TEST(test_kernels_of_which_all_are_in_the_range),
		BENCH_TEST(test_kernel_that_is_given_twice),
		BENCH_TEST(test_several_kernels_and_an_entry_for_all),
		BENCH_TEST(test_old_name_in_an_old_kernel),
		BENCH_TEST(test_old_name_in_a_new_kernel),
		BENCH_TEST(test_new_name_in_a_new_kernel),
		BENCH_TEST(test_other_batch_in_a_new_kernel),
		BENCH_TEST(test_kernel_since_the_fix),
		BENCH_TEST(test_kernel_before_the_fix),
		BENCH_TEST(test_look_in_a_function_that_is_not_listed),
		BENCH_TEST(test_look_in_a_listed_function),
		BENCH_TEST(test_look_in_a_listed_function_at_another_member),
		BENCH_TEST(test_store_in_a_function_listed_for_its_look),
		BENCH_TEST(test_store_in_a_function_listed_for_its_store),
		BENCH_TEST(test_load_that_is_stored_again),
		BENCH_TEST(test_look_of_an_interrupt_at_the_flags_of_its_task),
		BENCH_TEST(test_look_at_when_to_balance_for_idle_cpus),
		BENCH_TEST(test_two_writers_where_one_may_write),
		BENCH_TEST(test_two_writers_where_two_may_write),
		BENCH_TEST(test_writer_against_an_unseen_writer),
		BENCH_TEST(test_reader_against_an_unseen_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
