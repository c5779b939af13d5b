/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pruner and one recorded race, which a test changes in one way before it asks for the verdict. Every test has a bench of
 * its own, made from the recorded file. A bench knows the pruner by its public header only.
 *
 * The races were recorded in the AMD lab (`make demo`, stock 6.1 kernel, named by the module's debug information; stacks left
 * out).
 */
#ifndef OUTRIDER_TESTS_PRUNE_BENCH_H
#define OUTRIDER_TESTS_PRUNE_BENCH_H

#include "hv/report/json/load.h"
#include "pruner/prune.h"
#include "symbols/insn/insn.h" /* A race has accesses in its terms. */

#define BENCH_RACES "tests/data/ground-truth-races.json"
/* Of the groups ordered and disordered: sequence counts, rings and flags. */
#define BENCH_ORDERED "tests/data/ordered-races.json"

struct bench {
	struct report_load load;
	struct prune_rules *rules; /* The built-in lists, for the kernel of the recorded races. */
	struct sources *sources;   /* What bench_source() wrote, or NULL. */
	struct race *race;	   /* The race that the test is about, chosen by bench_of(). */
	unsigned reader, writer;   /* Indices of the race's sides, for the two functions given to bench_of(). */
	struct verdict verdict;	   /* The verdict that was looked at last. */
	const void *row;	   /* The table's row, in a test made by BENCH_ROW(). */
	char folder[64];	   /* What bench_file() and bench_source() write is in it; "" until then. */
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
 * The bench of a test, with the recorded race of two functions chosen as its race. "" is the function of a side that nobody
 * saw. The test fails if no such race was recorded.
 */
struct bench *bench_of(void **state, const char *reader, const char *writer);

/* The same, with the functions' offsets: "gt_seqlock_reader+0x14". */
struct bench *bench_of_sites(void **state, const char *reader, const char *writer);

/* ---- changes to the race ---- */

struct race_side *bench_side(const struct bench *b, unsigned side);

/* Let the side's function be nothing but `code`, whose instruction at `at` is the access, and which calls nothing by name. */
void bench_code(const struct bench *b, unsigned side, const void *code, size_t len, uint32_t at);

/* Let the call at offset `at` of the side's code be one of `function`. Calls are given in the order of the code. */
void bench_call(const struct bench *b, unsigned side, uint16_t at, const char *function);

/* Let the side's function begin 16 bytes before the code that was kept of it. */
void bench_start_not_kept(const struct bench *b, unsigned side);

/* Give the side's function another name. */
void bench_function(const struct bench *b, unsigned side, const char *name);

/* Let debug files name both sides' datum, with `variable`.`member` as its path and no type. */
void bench_datum(const struct bench *b, const char *variable, const char *owner, const char *member);

/* Let the datum, as both sides have it, be of that type. */
void bench_type(const struct bench *b, const char *type);

/* Let there be no debug files. */
void bench_unnamed(struct race *race);

/* Let the side's access be in `function`, inlined into the one that it was recorded in. */
void bench_inlined(const struct bench *b, unsigned side, const char *function);

/* Let both sides' accesses be in that line of that file. */
void bench_lines(const struct bench *b, const char *file, unsigned line);

/* ---- changes to the rules ---- */

/* Write a file that is `text` and nothing else, in place of the one before. Its path is the bench's. */
const char *bench_file(struct bench *b, const void *text, size_t len);

/* Add a list of rules in the format of docs/pruning.md. */
void bench_list(struct bench *b, const char *text);

/*
 * Let the guest kernel's source be one file, a.c, with a comment that says READ_ONCE(owner) as line 1 and `text` from line 2
 * on. The file is in b->folder, where a test may make a folder "b" beside it.
 */
void bench_source(struct bench *b, const char *text);

/* ---- what the verdict must be ---- */

void bench_expect(struct bench *b, enum verdict_class class, const char *rule);

/* The race is a harmful candidate, and `rule` is not why: neither that pattern fits nor another that would prune the race. */
void bench_expect_not(struct bench *b, const char *rule);

/* The same, where the race is judged with all others of the file. */
void bench_expect_among(struct bench *b, enum verdict_class class, const char *rule);

/* The class alone. */
void bench_expect_class(struct bench *b, enum verdict_class class);

/* The evidence of the verdict that was looked at last has `text` in it. */
void bench_says(const struct bench *b, const char *text);

#endif
