// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics counters: what is only added to and only grew, and what looks like that but is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "statistics-counter"
#define LAST (RACE_INSTANCES_MAX - 1) /* Of the instances: all that fit were recorded. */

/* Two functions that add to one counter. */
static struct bench *counter(void **state)
{
	struct bench *b = bench_of(state, "gt_statcount_rx", "gt_statcount_tx");

	assert_int_equal(b->race->kept, RACE_INSTANCES_MAX);
	return b;
}

/* ---- what the instances show ---- */

static void test_counter_that_grew(void **state)
{
	struct bench *b = counter(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "over 8 instances it grew from");
}

static void test_counter_seen_once(void **state)
{
	struct bench *b = counter(state);

	b->race->kept = 1;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "too few");
}

static void test_counter_seen_once_that_has_the_name_of_a_statistic(void **state)
{
	struct bench *b = counter(state);

	b->race->kept = 1;
	bench_datum(b, "dev", "struct net_device_stats", "rx_packets");
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* What is put back to 0 now and then was not seen to grow, however often it was looked at. */
static void test_counter_put_back(void **state)
{
	struct bench *b = counter(state);

	for (unsigned i = 0; i < b->race->kept; i++) {
		memset(b->race->instances[i].before, 0, RACE_DATA_MAX);
		memset(b->race->instances[i].after, 0, RACE_DATA_MAX);
	}
	b->race->instances[LAST].after[0] = 1;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "too few");
}

static void test_counter_that_fell_between_two_instances(void **state)
{
	struct bench *b = counter(state);

	memset(b->race->instances[LAST].before, 0, RACE_DATA_MAX);
	bench_expect_not(b, RULE);
}

static void test_counter_that_fell_within_an_instance(void **state)
{
	struct bench *b = counter(state);
	struct race_instance *last = &b->race->instances[LAST];

	memcpy(last->before, last->after, RACE_DATA_MAX);
	memset(last->after, 0, RACE_DATA_MAX);
	bench_expect_not(b, RULE);
}

/* The second half of the instances has the values of the first half again. */
static struct bench *counter_that_begins_anew(void **state)
{
	struct bench *b = counter(state);
	struct race_instance *instances = b->race->instances;

	memmove(&instances[4], &instances[0], 4 * sizeof(instances[0]));
	return b;
}

static void test_counter_that_begins_anew_in_one_run(void **state)
{
	struct bench *b = counter_that_begins_anew(state);

	bench_expect_not(b, RULE);
}

/* Without KASLR, two runs have a counter at one address. */
static void test_counter_that_begins_anew_in_another_run(void **state)
{
	struct bench *b = counter_that_begins_anew(state);

	for (unsigned i = 4; i < b->race->kept; i++)
		b->race->instances[i].run = 1;
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "over 4 instances it grew from");
}

/* The second half of the instances is of another object, whose counter has as much. */
static struct bench *counters_of_two_objects(void **state)
{
	struct bench *b = counter_that_begins_anew(state);

	for (unsigned i = 4; i < b->race->kept; i++)
		b->race->instances[i].gva += 64;
	return b;
}

static void test_counters_of_two_objects(void **state)
{
	struct bench *b = counters_of_two_objects(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "over 4 instances it grew from");
}

static void test_counters_of_two_objects_of_which_one_fell(void **state)
{
	struct bench *b = counters_of_two_objects(state);

	memset(b->race->instances[3].after, 0, RACE_DATA_MAX);
	bench_expect_not(b, RULE);
}

/* Of two objects whose counters grew as often, the one that was seen more often is evidence. */
static void test_counters_of_two_objects_that_grew_as_often(void **state)
{
	static const uint8_t values[RACE_INSTANCES_MAX] = {1, 2, 3, 1, 2, 3, 3, 3};
	struct bench *b = counter(state);

	for (unsigned i = 0; i < RACE_INSTANCES_MAX; i++) {
		struct race_instance *instance = &b->race->instances[i];

		instance->gva = i < 3 ? 0xffff888000000000 : 0xffff888000000040;
		memset(instance->before, 0, RACE_DATA_MAX);
		memset(instance->after, 0, RACE_DATA_MAX);
		instance->before[0] = i == 0 || i == 3 ? 0 : values[i - 1];
		instance->after[0] = values[i];
	}
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "over 5 instances it grew from");
}

/* ---- what is done to it ---- */

static void test_counter_that_is_taken_down(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\xff\x0f\xc3"), 0); /* decq (%rdi); ret */
	bench_expect_not(b, RULE);
}

static void test_counter_that_is_changed_by_an_or(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\x09\x07\xc3"), 0); /* or %rax,(%rdi); ret */
	bench_expect_not(b, RULE);
}

static void test_counter_to_which_anything_is_added(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\x01\x07\x31\xc0\xc3"), 0); /* addq %rax,(%rdi); xorl %eax,%eax; ret */
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "only add to ");
}

/* What stores what was there takes back what was counted meanwhile. */
static void test_counter_to_which_nothing_is_added(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\x83\x07\x00\xc3"), 0); /* addq $0,(%rdi); ret */
	bench_expect_not(b, RULE);
}

static void test_counter_whose_code_is_not_known(void **state)
{
	struct bench *b = counter(state);

	bench_side(b, 0)->code_len = 0;
	bench_expect_not(b, RULE);
}

static void test_counter_of_references(void **state)
{
	struct bench *b = counter(state);

	bench_datum(b, "obj", "struct obj", "refcnt");
	bench_expect(b, VERDICT_HARMFUL, "reference-count");
}

/* ---- one side loads it ---- */

static struct bench *counter_that_is_read(void **state)
{
	struct bench *b = counter(state);

	b->race->rw[0] = INSN_READ;
	return b;
}

static void test_counter_that_one_side_looks_at(void **state)
{
	struct bench *b = counter_that_is_read(state);

	bench_code(b, 0, CODE("\x48\x8b\x07\xc3"), 0); /* mov (%rdi),%rax; ret */
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_counter_that_is_read_to_be_counted_down(void **state)
{
	struct bench *b = counter_that_is_read(state);

	/* mov (%rdi),%rax; sub $1,%rax; mov %rax,(%rdi); ret */
	bench_code(b, 0, CODE("\x48\x8b\x07\x48\x83\xe8\x01\x48\x89\x07\xc3"), 0);
	bench_expect_not(b, RULE);
}

static void test_counter_that_is_read_to_be_counted_up(void **state)
{
	struct bench *b = counter_that_is_read(state);

	/* mov (%rdi),%rax; add $1,%rax; mov %rax,(%rdi); xor %eax,%eax; ret */
	bench_code(b, 0, CODE("\x48\x8b\x07\x48\x83\xc0\x01\x48\x89\x07\x31\xc0\xc3"), 0);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_counter_that_is_read_to_be_stored_as_it_was(void **state)
{
	struct bench *b = counter_that_is_read(state);

	/* mov (%rdi),%rax; mov %rax,(%rdi); xor %eax,%eax; ret */
	bench_code(b, 0, CODE("\x48\x8b\x07\x48\x89\x07\x31\xc0\xc3"), 0);
	bench_expect_not(b, RULE);
}

static void test_counter_that_both_sides_look_at(void **state)
{
	struct bench *b = counter_that_is_read(state);

	b->race->rw[1] = INSN_READ;
	for (unsigned i = 0; i < 2; i++)
		bench_code(b, i, CODE("\x48\x8b\x07\xc3"), 0); /* mov (%rdi),%rax; ret */
	bench_expect_not(b, RULE);
}

/* ---- an id, an index or a limit is counted up too, and then used ---- */

static void test_counter_of_which_nobody_takes_the_flags(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\xff\x07\x31\xc0\xc3"), 0); /* incq (%rdi); xor %eax,%eax; ret */
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_counter_that_who_counts_tests(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 0, CODE("\x48\xff\x07\x74\x00\xc3"), 0); /* incq (%rdi); je 1f; 1: ret */
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "tests it");
}

static void test_counter_that_the_other_who_counts_tests(void **state)
{
	struct bench *b = counter(state);

	bench_code(b, 1, CODE("\x48\xff\x07\x74\x00\xc3"), 0); /* incq (%rdi); je 1f; 1: ret */
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "tests it");
}

static void test_counter_beside_a_pointer_that_is_used(void **state)
{
	struct bench *b = counter(state);

	/* mov 8(%rdi),%rdx; mov (%rdx),%rcx; incq (%rdi); xor %eax,%eax; xor %edx,%edx; xor %ecx,%ecx; ret */
	bench_code(b, 0, CODE("\x48\x8b\x57\x08\x48\x8b\x0a\x48\xff\x07\x31\xc0\x31\xd2\x31\xc9\xc3"), 7);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_counter_that_who_counts_returns(void **state)
{
	struct bench *b = counter_that_is_read(state);

	/* mov (%rdi),%rax; add $1,%rax; mov %rax,(%rdi); ret */
	bench_code(b, 0, CODE("\x48\x8b\x07\x48\x83\xc0\x01\x48\x89\x07\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* mov (%rdi),%rax; lea 1(%rax),%rdx; mov %rdx,(%rdi); mov %rcx,(%rsi,%rax,8); xor %eax,%eax; xor %edx,%edx; ret */
static const char index_code[] = "\x48\x8b\x07\x48\x8d\x50\x01\x48\x89\x17\x48\x89\x0c\xc6\x31\xc0\x31\xd2\xc3";

static void test_index_that_is_seen_at_its_load(void **state)
{
	struct bench *b = counter_that_is_read(state);

	bench_code(b, 0, CODE(index_code), 0);
	bench_expect_not(b, RULE);
}

static void test_index_that_is_seen_at_its_store(void **state)
{
	struct bench *b = counter(state);

	b->race->rw[0] = INSN_WRITE;
	bench_code(b, 0, CODE(index_code), 7);
	bench_expect_not(b, RULE);
}

/* ---- a count of users: the reader destroys the object if the count is 0 ---- */

/* Let side 0 read the count by `code`, which calls `callee` at offset 5; side 1 adds 1: addl $1,(%rdi); ret. */
static struct bench *users(void **state, const char *code, size_t len, const char *callee)
{
	struct bench *b = counter(state);

	bench_code(b, 0, code, len, 0);
	bench_call(b, 0, 5, callee);
	bench_code(b, 1, CODE("\x83\x07\x01\xc3"), 0);
	b->race->rw[0] = INSN_READ;
	b->race->rw[1] = INSN_READ | INSN_WRITE;
	bench_side(b, 0)->size = bench_side(b, 1)->size = 4;
	return b;
}

#define IF_ZERO "\x83\x3f\x00\x75\x05\xe8\x00\x00\x00\x00\xc3"	   /* cmpl $0,(%rdi); jne over the call; call; ret */
#define IF_NOT_ZERO "\x83\x3f\x00\x74\x05\xe8\x00\x00\x00\x00\xc3" /* je */
#define LOADED_ZERO \
	"\x8b\x07\x85\xc0\x75\x06\x90\xe8\x00\x00\x00\x00\xc3" /* mov (%rdi),%eax; test %eax,%eax; jne; nop; call; ret */

static void test_reader_that_destroys_at_zero(void **state)
{
	struct bench *b = users(state, CODE(IF_ZERO), "shm_destroy");

	bench_expect(b, VERDICT_HARMFUL, "reference-count");
	bench_says(b, "calls shm_destroy() only if the count is 0, and ");
}

static void test_reader_that_frees_at_a_loaded_zero(void **state)
{
	struct bench *b = users(state, CODE(IF_ZERO), "kfree");

	bench_code(b, 0, CODE(LOADED_ZERO), 0);
	bench_call(b, 0, 7, "kfree");
	bench_expect(b, VERDICT_HARMFUL, "reference-count");
}

static void test_reader_that_does_something_else_at_zero(void **state)
{
	bench_expect(users(state, CODE(IF_ZERO), "complain"), VERDICT_BENIGN, RULE);
}

static void test_reader_that_frees_unless_zero(void **state)
{
	bench_expect(users(state, CODE(IF_NOT_ZERO), "kfree"), VERDICT_BENIGN, RULE);
}

/* cmpl $1,(%rdi) */
static void test_reader_that_frees_at_one(void **state)
{
	struct bench *b = users(state, CODE("\x83\x3f\x01\x75\x05\xe8\x00\x00\x00\x00\xc3"), "kfree");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* movl $0,(%rdi): a state, and no count */
static void test_writer_that_does_not_count(void **state)
{
	struct bench *b = users(state, CODE(IF_ZERO), "shm_destroy");

	bench_code(b, 1, CODE("\xc7\x07\x00\x00\x00\x00\xc3"), 0);
	b->race->rw[1] = INSN_WRITE;
	bench_expect_not(b, "reference-count");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_reader_that_destroys_at_zero),
		BENCH_TEST(test_reader_that_frees_at_a_loaded_zero),
		BENCH_TEST(test_reader_that_does_something_else_at_zero),
		BENCH_TEST(test_reader_that_frees_unless_zero),
		BENCH_TEST(test_reader_that_frees_at_one),
		BENCH_TEST(test_writer_that_does_not_count),
		BENCH_TEST(test_counter_that_grew),
		BENCH_TEST(test_counter_seen_once),
		BENCH_TEST(test_counter_seen_once_that_has_the_name_of_a_statistic),
		BENCH_TEST(test_counter_put_back),
		BENCH_TEST(test_counter_that_fell_between_two_instances),
		BENCH_TEST(test_counter_that_fell_within_an_instance),
		BENCH_TEST(test_counter_that_begins_anew_in_one_run),
		BENCH_TEST(test_counter_that_begins_anew_in_another_run),
		BENCH_TEST(test_counters_of_two_objects),
		BENCH_TEST(test_counters_of_two_objects_of_which_one_fell),
		BENCH_TEST(test_counters_of_two_objects_that_grew_as_often),
		BENCH_TEST(test_counter_that_is_taken_down),
		BENCH_TEST(test_counter_that_is_changed_by_an_or),
		BENCH_TEST(test_counter_to_which_anything_is_added),
		BENCH_TEST(test_counter_to_which_nothing_is_added),
		BENCH_TEST(test_counter_whose_code_is_not_known),
		BENCH_TEST(test_counter_of_references),
		BENCH_TEST(test_counter_that_one_side_looks_at),
		BENCH_TEST(test_counter_that_is_read_to_be_counted_down),
		BENCH_TEST(test_counter_that_is_read_to_be_counted_up),
		BENCH_TEST(test_counter_that_is_read_to_be_stored_as_it_was),
		BENCH_TEST(test_counter_that_both_sides_look_at),
		BENCH_TEST(test_counter_of_which_nobody_takes_the_flags),
		BENCH_TEST(test_counter_that_who_counts_tests),
		BENCH_TEST(test_counter_that_the_other_who_counts_tests),
		BENCH_TEST(test_counter_beside_a_pointer_that_is_used),
		BENCH_TEST(test_counter_that_who_counts_returns),
		BENCH_TEST(test_index_that_is_seen_at_its_load),
		BENCH_TEST(test_index_that_is_seen_at_its_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
