// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of rules and suppressions as files: what is taken, what is refused and on which line, what is left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/conf.h"
#include "pruner/suppress.h"
#include "tests/unit/prune_races.h"

#define TODAY 20270115

struct fixture {
	char file[64];
	struct report_load load;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	*state = f;
	strcpy(f->file, "/tmp/test_prune_lists.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0)
		return -1;
	close(fd);
	return report_load(&f->load, PRUNE_RACES, NULL);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	report_load_free(&f->load);
	free(f);
	return 0;
}

static void write_file(const struct fixture *f, const char *text, size_t len)
{
	FILE *file = fopen(f->file, "w");

	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* ---- rules ---- */

static void test_rules_of_ones_own(void **state)
{
	static const char text[] =
		"# mine\n\n[special]\n variable = gt_ww* \r\nkernel = 5.10..6.1\nwriters = two\nreason = so it is\n"
		"[marked]\nfunction = my_atomic_*\n[raise]\nname = a thing\nmember = x\npoints = 9";
	struct fixture *f = *state;
	struct prune_rules *rules = prune_rules_new(NULL);
	struct race *race = recorded(&f->load, "gt_wwrace_first", "gt_wwrace_second");
	struct verdict v;

	write_file(f, text, sizeof(text) - 1);
	assert_int_equal(prune_rules_add(rules, f->file, NULL), 0);
	prune_race(rules, race, &v);
	assert_int_equal(v.class, VERDICT_BENIGN);
	assert_string_equal(v.evidence, "gt_wwrace.owner: so it is");
	prune_rules_set_kernel(rules, "Linux version 6.2.0");
	prune_race(rules, race, &v);
	assert_int_equal(v.class, VERDICT_HARMFUL);
	prune_rules_free(rules);
}

static void test_wrong_rules(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"variable = x\n", ":1: a [kind] comes first"},
		{"[special\n", ":1: a stanza begins"},
		{"[special] x\n", ":1: a stanza begins"},
		{"\n\n[nonsense]\nvariable = x\n", ":3: [nonsense] is no kind"},
		{"[special]\nnonsense\n", ":2: neither"},
		{"[special]\ncolour = red\n", ":2: 'colour' is no key"},
		{"[special]\nvariable = x\n", ":1: [special] needs a reason"},
		{"[special]\nreason = x\n", ":1: [special] needs a variable"},
		{"[marked]\nreason = x\n", ":1: [marked] needs a function"},
		{"[raise]\nmember = x\n", ":1: [raise] needs a name"},
		{"[raise]\nmember = x\nname = y\npoints = 40\n", ":4: points = 40"},
		{"[raise]\nmember = x\nname = y\npoints = 4x\n", ":4: points = 4x"},
		{"[special]\nvariable = x\nkernel = 6\nreason = y\n", ":3: kernel = 6"},
		{"[special]\nvariable = x\nkernel = 5.10..x\nreason = y\n", ":3: kernel = 5.10..x"},
		{"[special]\nvariable = x\nkernel = 5.10-6.1\nreason = y\n", ":3: kernel"},
		{"[special]\nvariable = x\nwriters = 3\nreason = y\n", ":3: writers = 3: give one or two"},
		{"[atomic]\nmember = x\n", ":1: [atomic] needs a reason"},
		{"[atomic]\nmember = x\nwriters = two\nreason = y\n", ":3: 'writers' is no key of [atomic]"},
		{"[special]\nmember = x\nside = left\nreason = y\n", ":3: side = left: give reader or writer"},
		{"[marked]\nword = x\naccess = both\n", ":3: access = both: give read or write"},
		{"[lock]\nfunction = x\naccess = read\n", ":3: 'access' is no key of [lock]"},
		{"[lock]\nword = x\n", ":2: 'word' is no key of [lock]"},
		{"[lock]\nreason = x\n", ":1: [lock] needs a function"},
		{"[special]\nvariable = x\nname = y\nreason = z\n", ":3: 'name' is no key of [special]"},
		{"[refcount]\nmember = x\nfunction = y\n", ":3: 'function' is no key of [refcount]"},
		{"[counter]\nmember = x\nmember = y\nreason = z\n", ":3: 'member' is there already"},
		{"[counter]\nmember = x\nkernel = 5.10\nkernel = any\nreason = z\n", ":4: 'kernel' is there already"},
		{"[counter]\nmember = x\nreason =\n", ":3: 'reason' has no value"},
		{"[raise]\nmember = x\nname = y\n", ":1: [raise] needs points"},
		{"[raise]\nmember = x\nname = y\npoints = 0\n", ":4: points = 0: give 1 to"},
		{"[special]\nvariable = x\nkernel = 6.12..5.10\nreason = y\n", ":3: kernel = 6.12..5.10"},
		{"[marked]\nfunction = x\ncovers = expression\n", ":1: [marked]: member and covers say more of a word"},
		{"[show]\nreason = x\n", ":1: [show] needs a function"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct prune_rules *rules = prune_rules_new(NULL);
		struct err err = {0};

		write_file(f, cases[i].text, strlen(cases[i].text));
		assert_int_equal(prune_rules_add(rules, f->file, &err), -1);
		assert_int_equal(err.code, EXIT_INPUT);
		if (!strstr(err.text, cases[i].why) || !strstr(err.text, f->file))
			fail_msg("%s: \"%s\"", cases[i].text, err.text);
		prune_rules_free(rules);
	}
}

static void test_sources_that_are_no_folder(void **state)
{
	struct fixture *f = *state;
	struct prune_rules *rules = prune_rules_new(NULL);
	struct err err = {0};

	write_file(f, "x", 1);
	assert_int_equal(prune_rules_set_sources(rules, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "give the folder"));
	err = (struct err){0};
	assert_int_equal(prune_rules_set_sources(rules, "/nowhere/at/all", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/nowhere/at/all: No such file"));
	prune_rules_free(rules);
}

static void test_files_that_are_no_lists(void **state)
{
	struct fixture *f = *state;
	struct prune_rules *rules = prune_rules_new(NULL);
	struct err err = {0};

	write_file(f, "[special]\0x", 11);
	assert_int_equal(prune_rules_add(rules, f->file, &err), -1);
	assert_non_null(strstr(err.text, "not a text file"));
	err = (struct err){0};
	assert_int_equal(prune_rules_add(rules, "/nonexistent/rules", &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	err = (struct err){0};
	assert_int_equal(prune_rules_add(rules, "/tmp", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	prune_rules_free(rules);
}

static void test_globs(void **state)
{
	(void)state;
	assert_true(conf_match("a b*", "bc"));
	assert_true(conf_match("  a\tb ", "b"));
	assert_false(conf_match("a b", "ab"));
	assert_false(conf_match("", ""));
	assert_false(conf_match("*x", ""));
}

/* ---- suppressions ---- */

static void put_line(void *ctx, const char *line)
{
	char *all = ctx;

	strcat(all, line);
	strcat(all, "\n");
}

static struct suppressions *read_text(const struct fixture *f, const char *text)
{
	struct err err = {0};
	struct suppressions *s;

	write_file(f, text, strlen(text));
	s = suppress_read(f->file, TODAY, &err);
	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static bool fits(const struct fixture *f, const char *stanza, const struct race *race)
{
	char text[512];
	struct suppressions *s;
	bool found;

	snprintf(text, sizeof(text), "[suppress]\nreason = known\n%s\n", stanza);
	s = read_text(f, text);
	found = suppress_find(s, race) != NULL;
	suppress_free(s);
	return found;
}

static void test_suppressed_sites(void **state)
{
	struct fixture *f = *state;
	const struct race *race = recorded(&f->load, "gt_nlink_rename", "gt_nlink_link");

	assert_true(fits(f, "site = gt_nlink_rename", race));
	assert_true(fits(f, "site = outrider_gt:gt_nlink_rename", race));
	assert_true(fits(f, "site = outrider_gt:gt_nlink_link+0x18", race));
	assert_true(fits(f, "site = gt_*_link\nsite = gt_*_rename", race));
	assert_true(fits(f, "site = x gt_nlink_rename", race));
	assert_false(fits(f, "site = gt_nlink_rename\nsite = gt_nlink_rename", race));
	assert_false(fits(f, "site = gt_nlink_rename+0x99", race));
	assert_false(fits(f, "site = gt_nlink", race));
}

static void test_suppressed_data(void **state)
{
	struct fixture *f = *state;
	struct race *race = recorded(&f->load, "gt_nlink_rename", "gt_nlink_link");

	assert_true(fits(f, "type = struct?gt_inode\nmember = i_nlink", race));
	assert_true(fits(f, "variable = gt_nlink_*", race));
	assert_false(fits(f, "type = struct?gt_inode\nmember = i_size", race));
	snprintf(race->names->datum[0].member, sizeof(race->names->datum[0].member), "links[2].of_it[3]");
	snprintf(race->names->datum[0].owner, sizeof(race->names->datum[0].owner), "const struct gt_inode");
	assert_true(fits(f, "member = of_it", race));
	assert_true(fits(f, "type = struct?gt_inode\nmember = links[[]*", race));
	assert_false(fits(f, "member = links", race));
	assert_false(fits(f, "site = gt_halflock*\nmember = i_nlink", race));
	race_names_free(race->names);
	race->names = NULL;
	assert_false(fits(f, "member = i_nlink", race));
}

static void test_leftovers(void **state)
{
	static const char text[] = "[suppress]\nsite = gt_nlink_rename\nreason = known\nexpires = 2027-01-15\n"
				   "[suppress]\nsite = gt_nlink_*\nreason = over\nexpires = 2027-01-14\n"
				   "[suppress]\nsite = gone\nreason = of old\n"
				   "[suppress]\nsite = gt_nlink_*\nreason = known as well\n";
	struct fixture *f = *state;
	struct suppressions *s = read_text(f, text);
	const struct race *race = recorded(&f->load, "gt_nlink_rename", "gt_nlink_link");
	char all[1024] = "";

	assert_string_equal(suppress_find(s, race), "known");
	suppress_leftover(s, put_line, all);
	assert_non_null(strstr(all, ":5: expired on 2027-01-14: over\n"));
	assert_non_null(strstr(all, ":9: fits no race here: of old\n"));
	assert_null(strstr(all, "known"));
	suppress_free(s);
	assert_null(suppress_find(NULL, race));
}

static void test_wrong_suppressions(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"[special]\nsite = x\n", ":1: [special]"},
		{"[suppress]\nsite = x\n", ":1: a suppression needs a reason"},
		{"[suppress]\nreason = x\n", ":1: a suppression needs a site"},
		{"[suppress]\nsite = x\nreason = y\nexpires = soon\n", ":4: expires = soon"},
		{"[suppress]\nsite = x\nreason = y\nexpires = 2027-13-01\n", ":4: expires"},
		{"[suppress]\nreason = y\nreason = z\n", ":3: 'reason' is there already"},
		{"[suppress]\nsites = y\n", ":2: 'sites' is no key"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};

		write_file(f, cases[i].text, strlen(cases[i].text));
		assert_null(suppress_read(f->file, TODAY, &err));
		if (!strstr(err.text, cases[i].why))
			fail_msg("%s: \"%s\"", cases[i].text, err.text);
	}
}

/* Whatever is in a file: a list, or one line of why not. */
static void test_any_text(void **state)
{
	static const char *const words[] = {
		"[special]", "[suppress]",  "variable = x",    "reason = y", "=",	"[",	    "]",	  "\n", "\n",
		" ",	     "kernel = ..", "expires = 1-1-1", "points = 3", "[raise]", "name = z", "member = *["};
	struct fixture *f = *state;
	struct rng rng = {3};

	for (int i = 0; i < 2000; i++) {
		struct prune_rules *rules = prune_rules_new(NULL);
		struct err err = {0};
		char text[1024] = "";

		for (uint64_t n = rng_below(&rng, 20); n; n--)
			strcat(text, words[rng_below(&rng, sizeof(words) / sizeof(words[0]))]);
		write_file(f, text, strlen(text));
		if (prune_rules_add(rules, f->file, &err) < 0)
			assert_int_equal(err.code, EXIT_INPUT);
		suppress_free(suppress_read(f->file, TODAY, NULL));
		prune_rules_free(rules);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_rules_of_ones_own),
		T(test_wrong_rules),
		T(test_sources_that_are_no_folder),
		T(test_files_that_are_no_lists),
		T(test_globs),
		T(test_suppressed_sites),
		T(test_suppressed_data),
		T(test_leftovers),
		T(test_wrong_suppressions),
		T(test_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
