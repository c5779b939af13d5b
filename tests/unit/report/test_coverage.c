// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of --coverage comes back as it was written, and of the file of --prefer nothing is taken that is not as it must be.
 * With "--write FILE" a file of --coverage is written for tests that are not ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/report/coverage/prefer_json.h"
#include "hv/report/coverage/read.h"
#include "hv/report/coverage/write.h"

#define FUNCTIONS 200u /* more than are made text at a time */

static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;
static char path[] = "/tmp/outrider-test-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static const uint8_t build_id[] = {0x3b, 0x43, 0xfa};

static struct coverage_facts facts_of(bool complete)
{
	return (struct coverage_facts){
		.tool_version = "9.9.9",
		.seed = UINT64_MAX,
		.build_id = build_id,
		.build_id_len = sizeof(build_id),
		.complete = complete,
		.stats = {.sites = 424315, .hits = 1000, .windows = 500, .conflicts = 9, .sampling_ns = 30500000000}};
}

/* Functions f0 to f199; site n of fN has been armed N + n + 1 times, and of each function one was hit. */
static struct coverage *make_coverage(void)
{
	struct coverage *c = coverage_new(&counts_lock);
	char name[64];

	assert_non_null(c);
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		snprintf(name, sizeof(name), f % 2 ? "f%u" : "mod:f%u\\x22", f);
		for (unsigned n = 0; n <= f % 7; n++) {
			struct coverage_counts *counts = coverage_add(c, 0x1000 * (f + 1) + n * 16, name, n * 16, 40);

			*counts = (struct coverage_counts){.armed = f + n + 1};
			if (n == 3)
				*counts = (struct coverage_counts){f, 5, 4, 1, 2};
		}
	}
	return c;
}

static int write_file(const char *to)
{
	struct coverage *c = make_coverage();
	struct coverage_facts facts = facts_of(false);
	struct err err = {0};
	struct coverage_file *file = coverage_file_create(to, &facts, &err);
	int rc = -1;

	facts = facts_of(true);
	if (file)
		rc = coverage_file_write(file, &facts, c, &err);
	coverage_file_close(file);
	coverage_free(c);
	return rc;
}

/* What was read of a file. */
struct taken {
	struct coverage_summary summary;
	unsigned functions, sites, stop_at;
	uint64_t armed, hits, conflicts, talks;
	bool names_wrong;
};

static int take_summary(void *ctx, const struct coverage_summary *summary, struct err *err)
{
	struct taken *t = ctx;

	(void)err;
	t->summary = *summary;
	return 0;
}

static int take_function(void *ctx, const struct coverage_function *fn, struct err *err)
{
	struct taken *t = ctx;
	char name[64];

	snprintf(name, sizeof(name), t->functions % 2 ? "f%u" : "mod:f%u\\x22", t->functions);
	t->names_wrong |= strcmp(fn->name, name) != 0;
	t->functions++;
	t->sites += (unsigned)fn->count;
	for (size_t i = 0; i < fn->count; i++) {
		t->names_wrong |= fn->armed[i].offset != i * 16;
		t->armed += fn->armed[i].counts.armed;
		t->hits += fn->armed[i].counts.hits;
		t->conflicts += fn->armed[i].counts.conflicts;
		t->talks += fn->armed[i].counts.talks;
	}
	return t->functions == t->stop_at ? err_set(err, EXIT_INTERNAL, "enough") : 0;
}

static int read_file(struct taken *t, struct err *err)
{
	const struct coverage_taker taker = {take_summary, take_function, t};

	return coverage_read(path, &taker, err);
}

static void comes_back_as_written(void **state)
{
	struct taken t = {0};
	struct err err = {0};
	uint64_t armed = 0;
	unsigned hit = 0;

	(void)state;
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		for (unsigned n = 0; n <= f % 7; n++)
			armed += n == 3 ? f : f + n + 1;
		hit += f % 7 >= 3;
	}
	assert_int_equal(write_file(path), 0);
	assert_int_equal(read_file(&t, &err), 0);
	assert_int_equal(t.functions, FUNCTIONS);
	assert_false(t.names_wrong);
	assert_int_equal(t.armed, armed);
	assert_int_equal(t.hits, 5 * hit);
	assert_int_equal(t.conflicts, hit);
	assert_int_equal(t.talks, 2 * hit);
	assert_string_equal(t.summary.build_id, "3b43fa");
	assert_true(t.summary.complete);
	assert_true(t.summary.seed == UINT64_MAX);
	assert_int_equal(t.summary.pool_sites, 424315);
	assert_int_equal(t.summary.conflicts, 9);
	assert_int_equal(t.summary.sampled_ns, 30500000000);
}

static int count_function(void *ctx, const struct coverage_function *fn, struct err *err)
{
	struct taken *t = ctx;

	(void)err;
	t->functions++;
	t->sites += (unsigned)fn->count;
	return 0;
}

/* A kernel with all that may be sampled in it, armed: written and read. */
static void a_whole_kernel(void **state)
{
	enum { ALL_FUNCTIONS = 40000, EACH = 15 };
	struct coverage *c = coverage_new(&counts_lock);
	struct coverage_facts facts = facts_of(true);
	struct taken t = {0};
	const struct coverage_taker taker = {take_summary, count_function, &t};
	struct err err = {0};
	struct coverage_file *file = coverage_file_create(path, &facts, &err);
	char name[48];

	(void)state;
	assert_non_null(c);
	assert_non_null(file);
	for (unsigned f = 0; f < ALL_FUNCTIONS; f++) {
		snprintf(name, sizeof(name), "a_function_of_usual_length_%u", f);
		for (unsigned n = 0; n < EACH; n++)
			coverage_add(c, 0x1000 * (f + 1) + n * 16, name, n * 16, EACH)->armed = 1;
	}
	assert_int_equal(coverage_file_write(file, &facts, c, &err), 0);
	coverage_file_close(file);
	coverage_free(c);
	assert_int_equal(coverage_read(path, &taker, &err), 0);
	assert_int_equal(t.functions, ALL_FUNCTIONS);
	assert_int_equal(t.sites, ALL_FUNCTIONS * EACH);
}

static void valid_before_anything_was_sampled(void **state)
{
	struct coverage_facts facts = {.tool_version = "9"};
	struct taken t = {0};
	struct err err = {0};
	struct coverage_file *file;

	(void)state;
	file = coverage_file_create(path, &facts, &err);
	assert_non_null(file);
	assert_int_equal(read_file(&t, &err), 0);
	assert_int_equal(t.functions, 0);
	assert_false(t.summary.complete);
	assert_string_equal(t.summary.build_id, "");
	coverage_file_close(file);
}

static void taker_ends_the_reading(void **state)
{
	struct taken t = {.stop_at = 3};
	struct err err = {0};

	(void)state;
	assert_int_equal(write_file(path), 0);
	assert_int_equal(read_file(&t, &err), -1);
	assert_string_equal(err.text, "enough");
	assert_int_equal(t.functions, 3);
}

static void put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

#define HEAD                                                                                                          \
	"{\"schema\": \"outrider-coverage/1\", \"complete\": true, \"seed\": \"1\", \"build_id\": null, \"totals\": " \
	"{\"pool_sites\": 1, \"hits\": 1, \"windows\": 1, \"conflicts\": 1, \"sampled_s\": 1}, \"functions\": "

static void bad_coverage_is_refused(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"", "empty: the program that wrote it was killed"},
		{"3", "'{' expected"},
		{"\x1f\x8b\x08", "compressed by gzip"},
		{"{3}", "a key and ':' expected"},
		{"{\"schema\": \"outrider-coverage/1\"}", "no list of functions"},
		{"{\"functions\": []}", "\"schema\" is not a string"},
		{"{\"schema\": \"outrider-races/1\", \"functions\": []}", "\"schema\" is not outrider-coverage/1"},
		{HEAD "[]", "',' or '}' expected"},
		{HEAD "[]} x", "end of file expected"},
		{HEAD "{}}", "a list of functions expected"},
		{HEAD "[], \"functions\": []}", "a second list of functions"},
		{HEAD "[{\"function\": \"f\", \"sites\": -1, \"armed\": []}]}", "\"sites\" is not a whole number"},
		{HEAD "[{\"function\": \"f\", \"sites\": 1, \"armed\": [{\"site\": \"g+0x1\", \"armed\": 1}]}]}",
		 "function 1: \"site\" is not a site of its function"},
		{HEAD "[{\"function\": \"f\", \"sites\": 1, \"armed\": [{\"site\": \"f+0x01\", \"armed\": 1}]}]}",
		 "\"site\" is not a site of its function"},
		{HEAD "[{\"function\": \"f\", \"sites\": 1, \"armed\": [{\"site\": \"f+0x1\", \"armed\": 5000000000}]}]}",
		 "\"armed\" is not a whole number"},
		{HEAD "[{\"function\": \"f\", \"sites\": 1, \"armed\": [{\"site\": \"f+0x1\", \"hits\": \"1\"}]}]}",
		 "\"hits\" is not a whole number"},
		{HEAD "[3]}", "\"function\" is not a string"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct taken t = {0};
		struct err err = {0};

		put(cases[i].text);
		assert_int_equal(read_file(&t, &err), -1);
		assert_int_equal(err.code, EXIT_INPUT);
		if (!strstr(err.text, cases[i].said) || !strstr(err.text, path))
			fail_msg("case %zu: %s", i, err.text);
	}
}

/* ---- weights ---- */

static struct prefer *prefer_of(const char *text, struct err *err)
{
	return prefer_read(text, strlen(text), "file", err);
}

static void weights_are_read(void **state)
{
	struct err err = {0};
	struct prefer *p = prefer_of(
		"{\"schema\": \"outrider-prefer/1\", \"build_id\": \"3b43fa\", \"weight\": 0.5, \"later\": 1,"
		"\"functions\": {\"f\": 2.5, \"m:g\": 1000}, \"sites\": {\"f+0x1c\": 10, \"f+0x0\": 0.001, \"h+0x4\": 3}}",
		&err);
	struct prefer_weights w;

	(void)state;
	assert_non_null(p);
	w = prefer_find(p, "f");
	assert_int_equal(w.count, 2);
	assert_int_equal(prefer_weight(&w, 0x1c), 10000);
	assert_int_equal(prefer_weight(&w, 0), 1);
	assert_int_equal(prefer_weight(&w, 4), 2500);
	w = prefer_find(p, "m:g");
	assert_int_equal(prefer_weight(&w, 4), 1000000);
	w = prefer_find(p, "h");
	assert_int_equal(prefer_weight(&w, 4), 3000);
	assert_int_equal(prefer_weight(&w, 5), 500);
	w = prefer_find(p, "other");
	assert_int_equal(prefer_weight(&w, 5), 500);
	assert_true(prefer_is_for(p, build_id, sizeof(build_id)));
	assert_false(prefer_is_for(p, build_id, 2));
	assert_false(prefer_is_for(p, NULL, 0));
	prefer_free(p);
	p = prefer_of("{\"schema\": \"outrider-prefer/1\"}", &err);
	assert_non_null(p);
	w = prefer_find(p, "f");
	assert_int_equal(prefer_weight(&w, 5), 1000);
	assert_true(prefer_is_for(p, build_id, sizeof(build_id)));
	prefer_free(p);
}

#define PREFER "{\"schema\": \"outrider-prefer/1\", "

static void bad_weights_are_refused(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"", "file:1: '[' or '{' expected near end of file"},
		{"{\"schema\":\n\n", "file:3: unexpected token near end of file"},
		{"[]", "file: no \"schema\": it is no file for --prefer"},
		{"{}", "file: no \"schema\": it is no file for --prefer"},
		{"{\"schema\": 1}", "file: no \"schema\": it is no file for --prefer"},
		{"{\"schema\": \"outrider-prefer/2\"}",
		 "file: schema \"outrider-prefer/2\", but this version reads outrider-prefer/1 only"},
		{PREFER "\"weight\": 0}", "file: \"weight\": give a weight from 0.001 to 1000"},
		{PREFER "\"weight\": \"1\"}", "file: \"weight\": give a weight from 0.001 to 1000"},
		{PREFER "\"functions\": []}", "file: \"functions\" is not an object"},
		{PREFER "\"functions\": {\"f\": -1}}", "file: \"f\": give a weight from 0.001 to 1000"},
		{PREFER "\"functions\": {\"f\": 1e300}}", "file: \"f\": give a weight from 0.001 to 1000"},
		{PREFER "\"functions\": {\"\": 1}}",
		 "file: \"\": give the name of a function, for example ext4:ext4_writepages"},
		{PREFER "\"functions\": {\"f\": 1, \"f\": 2}}", "file:1: duplicate object key near '\"f\"'"},
		{PREFER "\"sites\": {\"f\": 1}}",
		 "file: \"f\": give a site as reports name it, for example ext4:ext4_writepages+0x1c"},
		{PREFER "\"sites\": {\"+0x1\": 1}}",
		 "file: \"+0x1\": give a site as reports name it, for example ext4:ext4_writepages+0x1c"},
		{PREFER "\"sites\": {\"f+0x01\": 1}}",
		 "file: \"f+0x01\": give a site as reports name it, for example ext4:ext4_writepages+0x1c"},
		{PREFER "\"sites\": {\"f+0x123456789\": 1}}",
		 "file: \"f+0x123456789\": give a site as reports name it, for example ext4:ext4_writepages+0x1c"},
		{PREFER "\"sites\": {\"f+0x1\": 1001}}", "file: \"f+0x1\": give a weight from 0.001 to 1000"},
		{PREFER "\"sites\": {\"f+0x1\": null}}", "file: \"f+0x1\": give a weight from 0.001 to 1000"},
		{PREFER "\"build_id\": \"3b4\"}", "file: \"build_id\" is not"},
		{PREFER "\"build_id\": 7}", "file: \"build_id\" is not"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};

		assert_null(prefer_of(cases[i].text, &err));
		assert_int_equal(err.code, EXIT_INPUT);
		if (strncmp(err.text, cases[i].said, strlen(cases[i].said)) != 0)
			fail_msg("case %zu: %s", i, err.text);
	}
}

/* A name of any length ends in one line. */
static void long_names(void **state)
{
	char text[2000] = "{\"schema\": \"outrider-prefer/1\", \"sites\": {\"";
	size_t len = strlen(text);
	struct err err = {0};

	(void)state;
	memset(text + len, 'f', 1500);
	strcpy(text + len + 1500, "+0x1\": 1}}");
	assert_null(prefer_of(text, &err));
	assert_int_equal(err.code, EXIT_INPUT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_written),
		cmocka_unit_test(a_whole_kernel),
		cmocka_unit_test(valid_before_anything_was_sampled),
		cmocka_unit_test(taker_ends_the_reading),
		cmocka_unit_test(bad_coverage_is_refused),
		cmocka_unit_test(weights_are_read),
		cmocka_unit_test(bad_weights_are_refused),
		cmocka_unit_test(long_names),
	};

	if (argc == 3 && strcmp(argv[1], "--write") == 0)
		return write_file(argv[2]) ? 1 : 0;
	return cmocka_run_group_tests(tests, setup, teardown);
}
