// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marked accesses, told by the guest kernel's source: READ_ONCE() and its like leave no trace in machine code. In every test
 * the other side is marked, so that the verdict says whether this side is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define MARKED VERDICT_SYNCHRONISATION
#define PLAIN VERDICT_HARMFUL
#define UNREAD VERDICT_UNCLEAR /* No statement of the access was read: the other side is LOCKed, so the read may be marked. */

/* A look at gt_wwrace.owner in that line of a.c, against a LOCKed store. */
static struct bench *look_in_line(void **state, unsigned line)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_datum(b, "gt_wwrace", "struct gt_wwrace", "owner");
	bench_lines(b, "a.c", line);
	bench_side(b, b->writer)->locked = true;
	return b;
}

static void expect(struct bench *b, const char *source, enum verdict_class class)
{
	bench_source(b, source);
	bench_expect_class(b, class);
}

/* ---- what is in the parentheses of the mark, and where the mark is ---- */

struct source_case {
	const char *shows, *text; /* The text begins in line 2. */
	enum verdict_class class;
	unsigned line; /* Of the access; 0: line 2. */
};

static void test_source(void **state)
{
	const struct source_case *c = ((struct bench *)*state)->row;
	struct bench *b = look_in_line(state, c->line ? c->line : 2);

	expect(b, c->text, c->class);
}

/* READ_ONCE() is around what is accessed, not around what leads there or is handed to something else. */
static const struct source_case operand_cases[] = {
	{"operand: a member of the datum", "READ_ONCE(a->owner.name)", MARKED, 0},
	{"operand: the datum in parentheses", "READ_ONCE((a->owner))", MARKED, 0},
	{"operand: the datum behind a cast", "READ_ONCE(((struct a *)p)->owner)", MARKED, 0},
	{"operand: the datum behind an index of that name", "READ_ONCE(b[a->owner].owner)", MARKED, 0},
	{"operand: the datum behind a call", "READ_ONCE(get(b)->owner)", MARKED, 0},
	{"operand: the datum's address", "smp_load_acquire(&a->owner)", MARKED, 0},
	{"operand: this CPU's datum by its address", "smp_load_acquire(this_cpu_ptr(&a.owner))", MARKED, 0},
	{"operand: this CPU's copy of what the datum points to", "smp_load_acquire(this_cpu_ptr(a.owner))", PLAIN, 0},
	{"operand: what a function makes of the datum's address", "smp_load_acquire(get(&a.owner))", PLAIN, 0},
	{"operand: an element behind the datum", "READ_ONCE(a->owner[i])", PLAIN, 0},
	{"operand: a member behind the datum", "READ_ONCE(a->owner->name)", PLAIN, 0},
	{"operand: a member behind an element, with blanks", "READ_ONCE(a->owner [i] ->name)", PLAIN, 0},
	{"operand: a member behind the datum in parentheses", "READ_ONCE((a->owner)->name)", PLAIN, 0},
	{"operand: what the datum points to", "READ_ONCE(*a->owner)", PLAIN, 0},
	{"operand: a member of what the datum points to", "READ_ONCE((*a->owner).name)", PLAIN, 0},
	{"operand: the datum as an index", "READ_ONCE(b[a->owner])", PLAIN, 0},
	{"operand: the datum as an argument", "READ_ONCE(get(a->owner)->name)", PLAIN, 0},
	{"operand: a CPU's copy of what the datum points to", "READ_ONCE(*per_cpu_ptr(a->owner, cpu))", PLAIN, 0},
	{"operand: the datum in a condition", "rcu_dereference_check(b->p, a->owner)", PLAIN, 0},
	{"operand: the datum under a lock", "rcu_dereference_protected(a->owner, true)", PLAIN, 0},
	{"operand: the datum in what is waited for", "smp_cond_load_acquire(&b->p, VAL == a->owner)", PLAIN, 0},
	{"operand: more parentheses than are followed",
	 "READ_ONCE(((((((((((((((((((((((((((((((((((a->owner)))))))))))))))))))))))))))))))))))", PLAIN, 0},
	{"operand: data_race() is around all in it", "\tx = data_race(a->owner->name);", MARKED, 0},
	{"operand: data_race() is around an index too", "\tx = data_race(a[owner]);", MARKED, 0},
	{"operand: another datum", "\tx->owner = READ_ONCE(y->other);", PLAIN, 0},
	{"operand: a datum whose name begins like it", "\tREAD_ONCE(gt_wwrace.owner_id);", PLAIN, 0},
	{"word: no call", "\tREAD_ONCE + owner;", PLAIN, 0},
	{"word: one that ends like a mark", "\tMY_READ_ONCE(owner);", PLAIN, 0},
	{"word: of a store, around a load", "\trcu_assign_pointer(x->owner, new);", PLAIN, 0},
};

/* A statement has several lines, and the next is another; comments and strings are no code, nor are their parentheses. */
static const struct source_case statement_cases[] = {
	{"statement: the access in its first line", "\tx = max(READ_ONCE(a->owner),\n\t\ty);", MARKED, 0},
	{"statement: the mark in its second line", "\tx = max(y,\n\t\tREAD_ONCE(a->owner));", MARKED, 0},
	{"statement: the mark behind an assignment's line", "\tx =\n\t\tREAD_ONCE(a->owner);", MARKED, 0},
	{"statement: the access in its second line", "\tx = max(READ_ONCE(a->owner),\n\t\ty);", MARKED, 3},
	{"statement: the mark in what a condition leads to", "\tif (x)\n\t\tREAD_ONCE(a->owner);", PLAIN, 0},
	{"statement: the mark in the next", "\tx = y;\n\tREAD_ONCE(a->owner);", PLAIN, 0},
	{"statement: the mark in the condition before", "\tif (READ_ONCE(a->owner) == 0)\n\t\ta->owner = 1;", PLAIN, 3},
	{"statement: the mark in the one before", "\tx = READ_ONCE(a->owner);\n\ta->owner = 1;", PLAIN, 3},
	{"statement: a parenthesis in a string before", "\tputs(\" (\", READ_ONCE(a->owner));\n\ta->owner = 1;", PLAIN, 3},
	{"statement: not in either line", "\tx = 1;", UNREAD, 3},
	{"comment: the mark in a comment", "\tif (a->owner && /* READ_ONCE(a->owner) is for others */", PLAIN, 0},
	{"comment: the mark in a string and behind //", "\tshow(\"READ_ONCE(owner)\", a->owner); // READ_ONCE(owner)", PLAIN,
	 0},
	{"comment: a quote as a character", "\tx = '\"' + READ_ONCE(a->owner);", MARKED, 0},
	{"comment: the mark in a preprocessor line", "#define x READ_ONCE(a->owner)", PLAIN, 0},
};

/* ---- where the datum has another path ---- */

/* Of an array it is an element that is accessed, and of a pointer what it points to. */
static struct bench *look_with_path(void **state, const char *path)
{
	struct bench *b = look_in_line(state, 2);
	struct datum_name *d = &b->race->names->datum[b->reader];

	snprintf(d->path, sizeof(d->path), "%s", path);
	return b;
}

static void test_element(void **state)
{
	struct bench *b = look_with_path(state, "a->owner[2]");

	expect(b, "\tx = READ_ONCE(a->owner[i]);", MARKED);
}

static void test_what_is_behind_an_element(void **state)
{
	struct bench *b = look_with_path(state, "a->owner[2]");

	expect(b, "\tx = READ_ONCE(a->owner[i]->name);", PLAIN);
}

static void test_what_a_pointer_points_to(void **state)
{
	struct bench *b = look_with_path(state, "*owner");

	expect(b, "\tx = READ_ONCE(*owner);", MARKED);
}

/* ---- files ---- */

static void test_file_with_a_dot_in_its_path(void **state)
{
	struct bench *b = look_in_line(state, 2);

	bench_lines(b, "./a.c", 2);
	expect(b, "\tif (READ_ONCE(gt_wwrace.owner) > 1)", MARKED);
	bench_says(b, "READ_ONCE() at ./a.c:2");
}

/* A report must not have files read that are not of the source. */
static void test_file_that_is_reached_by_dots(void **state)
{
	struct bench *b = look_in_line(state, 2);
	char inner[96];

	bench_lines(b, "b/../a.c", 2);
	bench_source(b, "\tREAD_ONCE(owner)");
	snprintf(inner, sizeof(inner), "%s/b", b->folder);
	assert_int_equal(mkdir(inner, 0700), 0);
	bench_expect_class(b, UNREAD);
}

/* ---- a store against a marked load ---- */

static struct bench *store_in_line(void **state, unsigned line)
{
	struct bench *b = look_in_line(state, line);

	bench_side(b, b->writer)->locked = false;
	bench_inlined(b, b->reader, "arch_atomic_read");
	return b;
}

static void test_store_beside_a_mark_of_a_load(void **state)
{
	struct bench *b = store_in_line(state, 3);

	expect(b, "\n\tx->owner = READ_ONCE(y->owner);", PLAIN);
}

static void test_store_with_a_mark_of_a_store(void **state)
{
	struct bench *b = store_in_line(state, 3);

	expect(b, "\n\trcu_assign_pointer(x->owner, new);", MARKED);
}

/* ---- a word that is listed for some kernels ---- */

static struct bench *word_of_old_kernels(void **state)
{
	struct bench *b = look_in_line(state, 2);

	bench_list(b, "[marked]\nword = old_once\nkernel = ..5.10\n");
	bench_datum(b, "thing", "struct thing", "word");
	return b;
}

static void test_word_of_old_kernels_in_a_new_kernel(void **state)
{
	struct bench *b = word_of_old_kernels(state);

	expect(b, "\tx = old_once(t->word);", PLAIN);
}

static void test_word_of_old_kernels_in_an_old_kernel(void **state)
{
	struct bench *b = word_of_old_kernels(state);

	prune_rules_set_kernel(b->rules, "Linux version 5.10.0");
	expect(b, "\tx = old_once(t->word);", MARKED);
}

/* ---- set_current_state(x) is smp_store_mb(current->__state, x): the line does not say what it stores to ---- */

static struct bench *look_at_state(void **state, const char *member)
{
	struct bench *b = look_in_line(state, 2);

	bench_datum(b, "current_task", "struct task_struct", member);
	return b;
}

static struct bench *store_to_state(void **state, const char *member)
{
	struct bench *b = store_in_line(state, 2);

	bench_datum(b, "current_task", "struct task_struct", member);
	return b;
}

static void test_macro_that_stores_to_a_member_of_its_own(void **state)
{
	struct bench *b = store_to_state(state, "__state");

	expect(b, "\t__set_current_state(TASK_RUNNING);", MARKED);
	bench_says(b, "__set_current_state() at a.c:2");
}

static void test_macro_that_looks_at_a_member_of_its_own(void **state)
{
	struct bench *b = look_at_state(state, "__state");

	expect(b, "\tif (task_is_running(p))", MARKED);
}

static void test_macro_that_is_not_listed(void **state)
{
	struct bench *b = look_at_state(state, "__state");

	expect(b, "\tif (task_is_stopped(p))", PLAIN);
}

static void test_macro_that_is_not_called(void **state)
{
	struct bench *b = look_at_state(state, "__state");

	expect(b, "\tp->__state = set_current_state;", PLAIN);
}

static void test_look_beside_a_macro_that_stores_to_another_member(void **state)
{
	struct bench *b = look_at_state(state, "exit_state");

	expect(b, "\t__set_current_state(TASK_RUNNING);", PLAIN);
}

static void test_store_beside_a_macro_that_stores_to_another_member(void **state)
{
	struct bench *b = store_to_state(state, "exit_state");

	expect(b, "\t__set_current_state(TASK_RUNNING);", PLAIN);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		BENCH_TEST(test_element),
		BENCH_TEST(test_what_is_behind_an_element),
		BENCH_TEST(test_what_a_pointer_points_to),
		BENCH_TEST(test_file_with_a_dot_in_its_path),
		BENCH_TEST(test_file_that_is_reached_by_dots),
		BENCH_TEST(test_store_beside_a_mark_of_a_load),
		BENCH_TEST(test_store_with_a_mark_of_a_store),
		BENCH_TEST(test_word_of_old_kernels_in_a_new_kernel),
		BENCH_TEST(test_word_of_old_kernels_in_an_old_kernel),
		BENCH_TEST(test_macro_that_stores_to_a_member_of_its_own),
		BENCH_TEST(test_macro_that_looks_at_a_member_of_its_own),
		BENCH_TEST(test_macro_that_is_not_listed),
		BENCH_TEST(test_macro_that_is_not_called),
		BENCH_TEST(test_look_beside_a_macro_that_stores_to_another_member),
		BENCH_TEST(test_store_beside_a_macro_that_stores_to_another_member),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(operand_cases) + ROWS(statement_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(operand_cases); i++)
		*next++ = BENCH_ROW(operand_cases[i].shows, test_source, &operand_cases[i]);
	for (size_t i = 0; i < ROWS(statement_cases); i++)
		*next++ = BENCH_ROW(statement_cases[i].shows, test_source, &statement_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
