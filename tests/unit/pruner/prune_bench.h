/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pruner and one recorded race. A test makes one change to the race and then checks the verdict. Every test makes its own
 * bench from the recorded file. A bench uses only the public header of the pruner.
 *
 * The races were recorded in the AMD lab (`make demo`, stock 6.1 kernel, named by the module's debug information; stacks left
 * out).
 */
#ifndef OUTRIDER_TESTS_PRUNE_BENCH_H
#define OUTRIDER_TESTS_PRUNE_BENCH_H

#include "hv/report/json/load.h"
#include "pruner/prune.h"
#include "symbols/insn/insn.h" /* The kinds of accesses in a race. */

#define BENCH_RACES "tests/data/ground-truth-races.json"
/* Races of the module's groups ordered and disordered: sequence counts, rings and flags. */
#define BENCH_ORDERED "tests/data/ordered-races.json"

struct bench {
	struct report_load load;
	struct prune_rules *rules; /* The built-in lists, for the kernel of the recorded races. */
	struct sources *sources;   /* The tree that bench_source() wrote, or NULL. */
	struct race *race;	   /* The race that the test is about, chosen by bench_of(). */
	unsigned reader, writer;   /* Indices of the race's sides, for the two functions given to bench_of(). */
	struct verdict verdict;	   /* The verdict that the test checked last. */
	const void *row;	   /* The table's row, in a test made by BENCH_ROW(). */
	char folder[64];	   /* Where bench_file() and bench_source() write; "" before they do. */
	char path[96];		   /* The path of the file that was written last. */
};

int bench_setup(void **state);
int bench_setup_ordered(void **state); /* With the races of BENCH_ORDERED. */
int bench_teardown(void **state);

/* For main(): a test, and a test of one row of a table, which has that row's name and finds the row in bench->row. */
#define BENCH_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)
#define BENCH_ROW(row_name, function, row_of_table)           \
	((struct CMUnitTest){.name = (row_name),              \
			     .test_func = (function),         \
			     .setup_func = bench_setup,       \
			     .teardown_func = bench_teardown, \
			     .initial_state = (void *)(row_of_table)})

#define ORDERED_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup_ordered, bench_teardown)
#define ORDERED_ROW(row_name, function, row_of_table)           \
	((struct CMUnitTest){.name = (row_name),                \
			     .test_func = (function),           \
			     .setup_func = bench_setup_ordered, \
			     .teardown_func = bench_teardown,   \
			     .initial_state = (void *)(row_of_table)})

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define CODE(bytes) (bytes), sizeof(bytes) - 1

/*
 * The bench of a test, with the recorded race of these two functions as its race. "" stands for an unseen writer. The test
 * fails if the file has no such race.
 */
struct bench *bench_of(void **state, const char *reader, const char *writer);

/* The same, with the functions' offsets: "gt_seqlock_reader+0x14". */
struct bench *bench_of_sites(void **state, const char *reader, const char *writer);

/* ---- changes to the race ---- */

struct race_side *bench_side(const struct bench *b, unsigned side);

/* Let the side's function consist of `code`. The instruction at offset `at` is the access. The function has no named calls. */
void bench_code(const struct bench *b, unsigned side, const void *code, size_t len, uint32_t at);

/* Let the call at offset `at` of the side's code be one of `function`. Calls are given in the order of the code. */
void bench_call(const struct bench *b, unsigned side, uint16_t at, const char *function);

/* Let the side's function begin 16 bytes before its kept code. */
void bench_start_not_kept(const struct bench *b, unsigned side);

/* Give the side's function another name. */
void bench_function(const struct bench *b, unsigned side, const char *name);

/* Let debug files name the datum of both sides `variable`.`member`, without a type. */
void bench_datum(const struct bench *b, const char *variable, const char *owner, const char *member);

/* Let the datum of both sides have this type. */
void bench_type(const struct bench *b, const char *type);

/* Remove the names that debug files gave. */
void bench_unnamed(struct race *race);

/* Let the side's access be in `function`, which the compiler inlined into the recorded function. */
void bench_inlined(const struct bench *b, unsigned side, const char *function);

/* Let the accesses of both sides come from this line of this file. */
void bench_lines(const struct bench *b, const char *file, unsigned line);

/* ---- changes to the rules ---- */

/* Write `text` to the bench's file, in place of its content. Returns the path, which belongs to the bench. */
const char *bench_file(struct bench *b, const void *text, size_t len);

/* Add a list of rules in the format of docs/pruning.md. */
void bench_list(struct bench *b, const char *text);

/*
 * Let the guest kernel's source be one file, a.c. Its line 1 is a comment that says READ_ONCE(owner); `text` starts in line 2.
 * The file is in b->folder, where a test may make a folder "b" beside it.
 */
void bench_source(struct bench *b, const char *text);

/* ---- checks of the verdict ---- */

void bench_expect(struct bench *b, enum verdict_class class, const char *rule);

/* The race is a harmful candidate, not by `rule`: neither this pattern nor another that would prune the race fits. */
void bench_expect_not(struct bench *b, const char *rule);

/* The same, when the pruner judges the race together with all other races of the file. */
void bench_expect_among(struct bench *b, enum verdict_class class, const char *rule);

/* Check only the class. */
void bench_expect_class(struct bench *b, enum verdict_class class);

/* The evidence of the verdict that the test checked last contains `text`. */
void bench_says(const struct bench *b, const char *text);

#endif
