// SPDX-License-Identifier: GPL-2.0-or-later
/* Files with lists of rules: which the pruner accepts, which it refuses and at which line, and what the built-in lists need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <glob.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/lists/conf.h"
#include "tests/unit/pruner/prune_bench.h"

/* ---- a user's list ---- */

static struct bench *list_of_ones_own(void **state)
{
	struct bench *b = bench_of(state, "gt_wwrace_first", "gt_wwrace_second");

	bench_list(b, "# mine\n\n[special]\n variable = gt_ww* \r\nkernel = 5.10..6.1\nwriters = two\nreason = so it is\n"
		      "[marked]\nfunction = my_atomic_*\n[raise]\nname = a thing\nmember = x\npoints = 9");
	return b;
}

static void test_list_of_ones_own(void **state)
{
	struct bench *b = list_of_ones_own(state);

	prune_rules_set_kernel(b->rules, NULL);
	bench_expect_class(b, VERDICT_BENIGN);
	assert_string_equal(b->verdict.evidence, "gt_wwrace.owner: so it is");
}

static void test_list_of_ones_own_for_another_kernel(void **state)
{
	struct bench *b = list_of_ones_own(state);

	prune_rules_set_kernel(b->rules, "Linux version 6.2.0");
	bench_expect_class(b, VERDICT_HARMFUL);
}

/* ---- lists that are refused ---- */

static void refused(struct bench *b, const char *path, const char *why)
{
	struct err err = {0};

	assert_int_equal(prune_rules_add(b->rules, path, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why) || !strstr(err.text, path))
		fail_msg("\"%s\" does not say \"%s\" and \"%s\"", err.text, path, why);
}

static const struct wrong_case {
	const char *shows, *text, *why;
} wrong_cases[] = {
	{"a key before a kind", "variable = x\n", ":1: a line with [kind] must come before this line"},
	{"a kind without its end", "[special\n", ":1: a stanza begins"},
	{"something behind a kind", "[special] x\n", ":1: a stanza begins"},
	{"a kind that is none", "\n\n[nonsense]\nvariable = x\n", ":3: [nonsense] is no kind"},
	{"a line that is nothing", "[special]\nnonsense\n", ":2: neither"},
	{"a key that is none", "[special]\ncolour = red\n", ":2: 'colour' is no key"},
	{"special: no reason", "[special]\nvariable = x\n", ":1: [special] needs a reason"},
	{"special: no datum", "[special]\nreason = x\n", ":1: [special] needs a variable"},
	{"marked: nothing that is marked", "[marked]\nreason = x\n", ":1: [marked] needs a function"},
	{"raise: no name", "[raise]\nmember = x\n", ":1: [raise] needs a name"},
	{"raise: too many points", "[raise]\nmember = x\nname = y\npoints = 40\n", ":4: points = 40"},
	{"raise: points that are no number", "[raise]\nmember = x\nname = y\npoints = 4x\n", ":4: points = 4x"},
	{"kernel: no minor version", "[special]\nvariable = x\nkernel = 6\nreason = y\n", ":3: kernel = 6"},
	{"kernel: an end that is none", "[special]\nvariable = x\nkernel = 5.10..x\nreason = y\n", ":3: kernel = 5.10..x"},
	{"kernel: a range with a dash", "[special]\nvariable = x\nkernel = 5.10-6.1\nreason = y\n", ":3: kernel"},
	{"special: three writers", "[special]\nvariable = x\nwriters = 3\nreason = y\n", ":3: writers = 3: give one or two"},
	{"atomic: no reason", "[atomic]\nmember = x\n", ":1: [atomic] needs a reason"},
	{"atomic: writers", "[atomic]\nmember = x\nwriters = two\nreason = y\n", ":3: 'writers' is no key of [atomic]"},
	{"special: a side that is none", "[special]\nmember = x\nside = left\nreason = y\n",
	 ":3: side = left: give reader or writer"},
	{"marked: an access that is none", "[marked]\nword = x\naccess = both\n", ":3: access = both: give read or write"},
	{"lock: an access", "[lock]\nfunction = x\naccess = read\n", ":3: 'access' is no key of [lock]"},
	{"lock: a word", "[lock]\nword = x\n", ":2: 'word' is no key of [lock]"},
	{"lock: no function", "[lock]\nreason = x\n", ":1: [lock] needs a function"},
	{"special: a name", "[special]\nvariable = x\nname = y\nreason = z\n", ":3: 'name' is no key of [special]"},
	{"refcount: a function", "[refcount]\nmember = x\nfunction = y\n", ":3: 'function' is no key of [refcount]"},
	{"a key twice", "[counter]\nmember = x\nmember = y\nreason = z\n", ":3: 'member' is given twice"},
	{"kernel: twice", "[counter]\nmember = x\nkernel = 5.10\nkernel = any\nreason = z\n", ":4: 'kernel' is given twice"},
	{"a key without a value", "[counter]\nmember = x\nreason =\n", ":3: 'reason' has no value"},
	{"raise: no points", "[raise]\nmember = x\nname = y\n", ":1: [raise] needs points"},
	{"raise: zero points", "[raise]\nmember = x\nname = y\npoints = 0\n", ":4: points = 0: give 1 to"},
	{"kernel: a range of nothing", "[special]\nvariable = x\nkernel = 6.12..5.10\nreason = y\n", ":3: kernel = 6.12..5.10"},
	{"marked: covers with a function", "[marked]\nfunction = x\ncovers = expression\n",
	 ":1: [marked]: the keys member and covers go with the key word"},
	{"show: no function", "[show]\nreason = x\n", ":1: [show] needs a function"},
};

static void test_wrong_list(void **state)
{
	struct bench *b = *state;
	const struct wrong_case *c = b->row;

	refused(b, bench_file(b, c->text, strlen(c->text)), c->why);
}

static void test_list_with_a_null_character(void **state)
{
	struct bench *b = *state;

	refused(b, bench_file(b, "[special]\0x", 11), "not a text file");
}

static void test_list_that_is_not_there(void **state)
{
	refused(*state, "/nonexistent/rules", "No such file");
}

static void test_list_that_is_a_folder(void **state)
{
	refused(*state, "/tmp", "");
}

/* ---- patterns ---- */

static const struct glob_case {
	const char *shows, *globs, *text;
	int matches;
} glob_cases[] = {
	{"glob: the second of two", "a b*", "bc", true}, {"glob: blanks and tabs between", "  a\tb ", "b", true},
	{"glob: two together", "a b", "ab", false},	 {"glob: none", "", "", false},
	{"glob: nothing to match", "*x", "", false},
};

static void test_glob(void **state)
{
	const struct glob_case *c = *state;

	assert_int_equal(!!conf_match(c->globs, c->text), c->matches);
}

/* ---- the built-in lists ---- */

static const char *value_of(const struct conf_stanza *s, const char *key)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (strcmp(s->fields[i].key, key) == 0)
			return s->fields[i].value;
	}
	return "";
}

static int look_at_special(void *ctx, const struct conf_stanza *s, struct err *err)
{
	unsigned *found = ctx;

	(void)err;
	if (strcmp(s->kind, "special") != 0)
		return 0;
	if (!strchr(value_of(s, "source"), '/'))
		fail_msg("%s:%u: \"%s\" has no source", s->file, s->line, value_of(s, "reason"));
	(*found)++;
	return 0;
}

/* Each entry names the source that calls the race intended, so that a user can check the verdict. */
static void test_special_variables_have_sources(void **state)
{
	unsigned found = 0;
	glob_t lists;

	(void)state;
	assert_int_equal(glob("pruner/lists/*.conf", 0, NULL, &lists), 0);
	for (size_t i = 0; i < lists.gl_pathc; i++)
		assert_int_equal(conf_read(lists.gl_pathv[i], look_at_special, &found, NULL), 0);
	globfree(&lists);
	assert_true(found > 30);
}

/* ---- any list ---- */

/* For any bytes in a file, the reader returns a list or a one-line error. */
static void test_any_text(void **state)
{
	static const char *const words[] = {
		"[special]", "[suppress]",  "variable = x",    "reason = y", "=",	"[",	    "]",	  "\n", "\n",
		" ",	     "kernel = ..", "expires = 1-1-1", "points = 3", "[raise]", "name = z", "member = *["};
	struct bench *b = *state;
	struct rng rng = {3};

	for (int i = 0; i < 2000; i++) {
		struct prune_rules *rules = prune_rules_new(NULL);
		struct err err = {0};
		char text[1024] = "";

		for (uint64_t n = rng_below(&rng, 20); n; n--)
			strcat(text, words[rng_below(&rng, ROWS(words))]);
		if (prune_rules_add(rules, bench_file(b, text, strlen(text)), &err) < 0)
			assert_int_equal(err.code, EXIT_INPUT);
		prune_rules_free(rules);
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		BENCH_TEST(test_list_of_ones_own),
		BENCH_TEST(test_list_of_ones_own_for_another_kernel),
		BENCH_TEST(test_list_with_a_null_character),
		BENCH_TEST(test_list_that_is_not_there),
		BENCH_TEST(test_list_that_is_a_folder),
		cmocka_unit_test(test_special_variables_have_sources),
		BENCH_TEST(test_any_text),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(wrong_cases) + ROWS(glob_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(wrong_cases); i++)
		*next++ = BENCH_ROW(wrong_cases[i].shows, test_wrong_list, &wrong_cases[i]);
	for (size_t i = 0; i < ROWS(glob_cases); i++)
		*next++ = (struct CMUnitTest){
			.name = glob_cases[i].shows, .test_func = test_glob, .initial_state = (void *)&glob_cases[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
