// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppressions: which races an entry fits, what is left over, and which files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/lists/suppress.h"
#include "tests/unit/pruner/prune_bench.h"

#define TODAY 20270115

/* gt_nlink_rename and gt_nlink_link change i_nlink of a struct gt_inode in a variable. */
static struct bench *nlink(void **state)
{
	return bench_of(state, "gt_nlink_rename", "gt_nlink_link");
}

static struct suppressions *read_text(struct bench *b, const char *text)
{
	struct err err = {0};
	struct suppressions *s = suppress_read(bench_file(b, text, strlen(text)), TODAY, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

/* ---- what an entry fits ---- */

static bool fits(struct bench *b, const char *stanza)
{
	char text[512];
	struct suppressions *s;
	bool found;

	snprintf(text, sizeof(text), "[suppress]\nreason = known\n%s\n", stanza);
	s = read_text(b, text);
	found = suppress_find(s, b->race, false) != NULL;
	suppress_free(s);
	return found;
}

static const struct fit_case {
	const char *shows, *stanza;
	bool fits;
} fit_cases[] = {
	{"site: a function", "site = gt_nlink_rename", true},
	{"site: a module's function", "site = outrider_gt:gt_nlink_rename", true},
	{"site: an instruction", "site = outrider_gt:gt_nlink_link+0x18", true},
	{"site: a pattern for each side", "site = gt_*_link\nsite = gt_*_rename", true},
	{"site: one of two names", "site = x gt_nlink_rename", true},
	{"site: one side twice", "site = gt_nlink_rename\nsite = gt_nlink_rename", false},
	{"site: another instruction", "site = gt_nlink_rename+0x99", false},
	{"site: the beginning of a name", "site = gt_nlink", false},
	{"race: its id", "race = 1019c792b67c", true},
	{"race: its identity, after another", "race = 54f72e21cada a9eadb4c76a3", true},
	{"race: another's id", "race = 54f72e21cada", false},
	{"race: its identity and another site", "race = a9eadb4c76a3\nsite = gt_halflock*", false},
	{"datum: a type's member", "type = struct?gt_inode\nmember = i_nlink", true},
	{"datum: a variable", "variable = gt_nlink_*", true},
	{"datum: another member", "type = struct?gt_inode\nmember = i_size", false},
	{"datum: another function's", "site = gt_halflock*\nmember = i_nlink", false},
};

static void test_fit(void **state)
{
	const struct fit_case *c = ((struct bench *)*state)->row;
	struct bench *b = nlink(state);

	assert_int_equal(fits(b, c->stanza), c->fits);
}

/* One side's code calls the datum links[2].of_it[3] of a const struct gt_inode. */
static const struct fit_case array_cases[] = {
	{"array: the last member's name", "member = of_it", true},
	{"array: the whole path, of a type that is qualified", "type = struct?gt_inode\nmember = links[[]*", true},
	{"array: the first member's name", "member = links", false},
	{"array: another function's", "site = gt_halflock*\nmember = i_nlink", false},
};

static void test_fit_of_array(void **state)
{
	const struct fit_case *c = ((struct bench *)*state)->row;
	struct bench *b = nlink(state);
	struct datum_name *d = &b->race->names->datum[0];

	snprintf(d->member, sizeof(d->member), "links[2].of_it[3]");
	snprintf(d->owner, sizeof(d->owner), "const struct gt_inode");
	assert_int_equal(fits(b, c->stanza), c->fits);
}

static void test_race_without_names_has_no_member(void **state)
{
	struct bench *b = nlink(state);

	bench_unnamed(b->race);
	assert_false(fits(b, "member = i_nlink"));
}

static void test_no_suppressions(void **state)
{
	struct bench *b = nlink(state);

	assert_null(suppress_find(NULL, b->race, false));
}

/* ---- what is left over ---- */

static const char stanzas[] = "[suppress]\nsite = gt_nlink_rename\nreason = known\nexpires = 2027-01-15\n"
			      "[suppress]\nsite = gt_nlink_*\nreason = over\nexpires = 2027-01-14\n"
			      "[suppress]\nsite = gone\nreason = of old\n"
			      "[suppress]\nsite = gt_nlink_*\nreason = known as well\n";

static void put_line(void *ctx, const char *line)
{
	char *all = ctx;

	strcat(all, line);
	strcat(all, "\n");
}

/* All lines of what is left once the race was looked for. */
static void leftover(void **state, char all[1024])
{
	struct bench *b = nlink(state);
	struct suppressions *s = read_text(b, stanzas);

	all[0] = '\0';
	assert_non_null(suppress_find(s, b->race, false));
	suppress_leftover(s, put_line, all);
	suppress_free(s);
}

static void test_first_entry_that_fits_gives_the_reason(void **state)
{
	struct bench *b = nlink(state);
	struct suppressions *s = read_text(b, stanzas);

	assert_string_equal(suppress_find(s, b->race, false), "known");
	suppress_free(s);
}

static void test_expired_entry_is_left_over(void **state)
{
	char all[1024];

	leftover(state, all);
	assert_non_null(strstr(all, ":5: expired on 2027-01-14: over\n"));
}

static void test_entry_that_fits_no_race_is_left_over(void **state)
{
	char all[1024];

	leftover(state, all);
	assert_non_null(strstr(all, ":9: fits no race here: of old\n"));
}

static void test_entries_that_fit_are_not_left_over(void **state)
{
	char all[1024];

	leftover(state, all);
	assert_null(strstr(all, "known"));
}

/* ---- files that are refused ---- */

static const struct wrong_case {
	const char *shows, *text, *why;
} wrong_cases[] = {
	{"a kind that is of rules", "[special]\nsite = x\n", ":1: [special]"},
	{"no reason", "[suppress]\nsite = x\n", ":1: a suppression needs a reason"},
	{"nothing that it fits", "[suppress]\nreason = x\n", ":1: a suppression needs a group, race, site"},
	{"a date that is none", "[suppress]\nsite = x\nreason = y\nexpires = soon\n", ":4: expires = soon"},
	{"a date in the 13th month", "[suppress]\nsite = x\nreason = y\nexpires = 2027-13-01\n", ":4: expires"},
	{"a key twice", "[suppress]\nreason = y\nreason = z\n", ":3: 'reason' is given twice"},
	{"a key that is none", "[suppress]\nsites = y\n", ":2: 'sites' is no key"},
};

static void test_wrong_file(void **state)
{
	struct bench *b = *state;
	const struct wrong_case *c = b->row;
	struct err err = {0};

	assert_null(suppress_read(bench_file(b, c->text, strlen(c->text)), TODAY, &err));
	if (!strstr(err.text, c->why))
		fail_msg("\"%s\" does not say \"%s\"", err.text, c->why);
}

/* Whatever is in a file: suppressions, or one line of why not. */
static void test_any_text(void **state)
{
	static const char *const words[] = {
		"[special]", "[suppress]",  "variable = x",    "reason = y", "=",	"[",	    "]",	  "\n", "\n",
		" ",	     "kernel = ..", "expires = 1-1-1", "points = 3", "[raise]", "name = z", "member = *["};
	struct bench *b = *state;
	struct rng rng = {3};

	for (int i = 0; i < 2000; i++) {
		struct suppressions *s;
		struct err err = {0};
		char text[1024] = "";

		for (uint64_t n = rng_below(&rng, 20); n; n--)
			strcat(text, words[rng_below(&rng, ROWS(words))]);
		s = suppress_read(bench_file(b, text, strlen(text)), TODAY, &err);
		if (!s)
			assert_int_equal(err.code, EXIT_INPUT);
		suppress_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		BENCH_TEST(test_race_without_names_has_no_member),
		BENCH_TEST(test_no_suppressions),
		BENCH_TEST(test_first_entry_that_fits_gives_the_reason),
		BENCH_TEST(test_expired_entry_is_left_over),
		BENCH_TEST(test_entry_that_fits_no_race_is_left_over),
		BENCH_TEST(test_entries_that_fit_are_not_left_over),
		BENCH_TEST(test_any_text),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(fit_cases) + ROWS(array_cases) + ROWS(wrong_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(fit_cases); i++)
		*next++ = BENCH_ROW(fit_cases[i].shows, test_fit, &fit_cases[i]);
	for (size_t i = 0; i < ROWS(array_cases); i++)
		*next++ = BENCH_ROW(array_cases[i].shows, test_fit_of_array, &array_cases[i]);
	for (size_t i = 0; i < ROWS(wrong_cases); i++)
		*next++ = BENCH_ROW(wrong_cases[i].shows, test_wrong_file, &wrong_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
