// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole reports read back: the data beside the races. A file that is no report gets a one-line error that says where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "hv/base/clean.h"
#include "hv/report/json/load.h"
#include "tests/unit/report/sample.h"

#define MUTATIONS 3000

/* A document in its own file. */
struct fixture {
	char file[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	strcpy(f->file, "/tmp/test_report_load.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0)
		return -1;
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	free(f);
	return 0;
}

static void print_nothing(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)text;
	(void)len;
}

/* Write the document of a run. `finish`: the run ends properly. Otherwise the document is that of a killed run. */
static void write_document(const struct fixture *f, bool finish)
{
	const struct detect_stats stats = {.sampling_ns = 2500000000, .hits = 70, .windows = 60};
	const struct report_config config = {.json = f->file, .print = print_nothing, .run = sample_run()};
	const struct report_kernel kernel = sample_kernel();
	const struct report_module module = sample_module();
	struct observation *o = malloc(sizeof(*o));
	struct report *r = report_new(&config, NULL);

	assert_int_equal(report_set_kernel(r, &kernel, NULL), 0);
	assert_int_equal(report_set_modules(r, &module, 1, NULL), 0);
	sample_observation(o, 0);
	assert_int_equal(report_observe(r, o, NULL), 0);
	if (finish)
		assert_int_equal(report_finish(r, &stats, "guest powered off", NULL), 0);
	report_free(r);
	free(o);
}

static void write_text(const struct fixture *f, const char *text, size_t len)
{
	FILE *file = fopen(f->file, "w");

	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void test_document(void **state)
{
	struct fixture *f = *state;
	struct report_load l;
	struct err err = {0};

	write_document(f, true);
	assert_int_equal(report_load(&l, f->file, &err), 0);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.modules.count, 1);
	assert_string_equal(l.modules.list[0].sections[1].name, ".data");
	assert_int_equal(l.modules.list[0].sections[1].addr, 0xffffffffc0108000);
	assert_int_equal(l.races[0]->module_count, 1);
	assert_int_equal(l.races[0]->modules[0], 7);
	assert_int_equal(l.run.kernel.slide, 0x1000000);
	assert_memory_equal(l.run.kernel.build_id, sample_build_id, 20);
	assert_string_equal(l.run.kernel.banner, "Linux version 6.1.0 \"quoted\"");
	report_load_free(&l);
}

static void is_clean(const char *read, const char *wanted)
{
	char *clean = clean_copy(wanted, SIZE_MAX);

	assert_string_equal(read, clean);
	free(clean);
}

/* The reader gets all facts of the run back. Strings come back printable. */
static void test_run_facts(void **state)
{
	const struct run_facts wanted = sample_run();
	struct fixture *f = *state;
	struct report_load l;

	write_document(f, true);
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	is_clean(l.run.tool_version, wanted.tool_version);
	assert_string_equal(l.run.started, wanted.started);
	is_clean(l.run.host.name, wanted.host.name);
	is_clean(l.run.host.release, wanted.host.release);
	is_clean(l.run.host.cpu, wanted.host.cpu);
	assert_int_equal(l.run.host.cpus, wanted.host.cpus);
	assert_int_equal(l.run.option_count, wanted.option_count);
	for (size_t i = 0; i < wanted.option_count; i++)
		is_clean(l.run.options[i], wanted.options[i]);
	is_clean(l.run.kernel_file, wanted.kernel_file);
	is_clean(l.run.cmdline, wanted.cmdline);
	assert_null(l.run.sample);
	assert_null(l.run.module);
	assert_int_equal(l.run.seed, wanted.seed);
	assert_int_equal(l.run.delay_ns, wanted.delay_ns);
	assert_int_equal(l.run.duration_ns, wanted.duration_ns);
	assert_int_equal(l.run.memory, wanted.memory);
	assert_int_equal(l.run.rate, wanted.rate);
	assert_int_equal(l.run.cpus, wanted.cpus);
	assert_int_equal(l.run.sandbox, RUN_SANDBOX_OFF);
	assert_true(l.run.finished);
	assert_true(run_time_valid(l.run.ended));
	assert_string_equal(l.run.end, "guest powered off");
	assert_int_equal(l.run.sampled_ns, 2500000000);
	assert_int_equal(l.run.hits, 70);
	assert_int_equal(l.run.windows, 60);
	assert_int_equal(run_doubt(&l.run), RUN_SOUND);
	report_load_free(&l);
}

static void test_run_that_was_killed(void **state)
{
	struct fixture *f = *state;
	struct report_load l;

	write_document(f, false);
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_string_equal(l.run.started, sample_run().started);
	assert_false(l.run.finished);
	assert_string_equal(l.run.ended, "");
	assert_null(l.run.end);
	assert_int_equal(run_doubt(&l.run), RUN_UNFINISHED);
	report_load_free(&l);
}

/* Older versions wrote neither the time nor the host of a run. */
static void test_run_of_an_older_version(void **state)
{
	const char text[] = "{\"schema\": \"outrider-races/1\", \"tool_version\": \"0.1.0\", \"run\": {\"seed\": \"12\"}, "
			    "\"races\": [], \"complete\": true, \"summary\": {\"end\": \"x\"}}";
	struct fixture *f = *state;
	struct report_load l;

	write_text(f, text, strlen(text));
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_int_equal(l.run.seed, 12);
	assert_true(l.run.finished);
	assert_string_equal(l.run.started, "");
	assert_null(l.run.host.name);
	assert_int_equal(l.run.option_count, 0);
	report_load_free(&l);
}

static void expect_no_document(const struct fixture *f, const char *text, const char *why)
{
	struct report_load l;
	struct err err = {0};

	write_text(f, text, strlen(text));
	assert_int_equal(report_load(&l, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why) || !strstr(err.text, f->file))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	report_load_free(&l);
}

static void test_empty_file(void **state)
{
	expect_no_document(*state, "", "empty: the program that wrote it was killed");
}

static void test_document_that_is_a_list(void **state)
{
	expect_no_document(*state, "[]", "no report");
}

static void test_document_of_another_schema(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/9\"}", "outrider-races/9");
}

static void test_document_without_races(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/1\"}", "\"races\"");
}

static void test_document_with_a_race_that_is_a_number(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/1\", \"races\": [1]}", "race 1");
}

static void expect_no_run(void **state, const char *run, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"schema\": \"outrider-races/1\", \"run\": %s, \"races\": []}", run);
	expect_no_document(*state, text, why);
}

static void test_run_with_a_wrong_start(void **state)
{
	expect_no_run(state, "{\"started\": \"2026-11-22 07:36:55\"}", "\"started\" is not a time");
}

static void test_run_with_a_wrong_seed(void **state)
{
	expect_no_run(state, "{\"seed\": \"18446744073709551616\"}", "\"seed\"");
	expect_no_run(state, "{\"seed\": \"-1\"}", "\"seed\"");
}

static void test_run_with_a_wrong_option(void **state)
{
	expect_no_run(state, "{\"options\": [\"run\", 1]}", "\"options\"");
}

static void test_run_with_a_wrong_host(void **state)
{
	expect_no_run(state, "{\"host\": \"lab3\"}", "\"host\"");
}

static char *read_text_of(const struct fixture *f, size_t *len)
{
	FILE *file = fopen(f->file, "r");
	char *text = malloc(1 << 20);

	*len = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

/*
 * For any damage of the file, the reader returns a report or a one-line error. The sanitizers check that it neither crashes nor
 * reads out of bounds.
 */
static void test_mutated_documents(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {1};
	size_t len, refused = 0;
	char *text, *copy;

	write_document(f, true);
	text = read_text_of(f, &len);
	copy = malloc(len);
	for (int i = 0; i < MUTATIONS; i++) {
		struct report_load l;
		struct err err = {0};

		memcpy(copy, text, len);
		for (uint64_t n = 1 + rng_below(&rng, 3); n; n--)
			copy[rng_below(&rng, len)] = (char)(' ' + rng_below(&rng, 95));
		write_text(f, copy, rng_below(&rng, 10) ? len : rng_below(&rng, len));
		if (report_load(&l, f->file, &err) < 0) {
			assert_int_equal(err.code, EXIT_INPUT);
			refused++;
		}
		report_load_free(&l);
	}
	assert_true(refused > MUTATIONS / 10 && refused < MUTATIONS);
	free(copy);
	free(text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_document),
		T(test_run_facts),
		T(test_run_that_was_killed),
		T(test_run_of_an_older_version),
		T(test_run_with_a_wrong_start),
		T(test_run_with_a_wrong_seed),
		T(test_run_with_a_wrong_option),
		T(test_run_with_a_wrong_host),
		T(test_empty_file),
		T(test_document_that_is_a_list),
		T(test_document_of_another_schema),
		T(test_document_without_races),
		T(test_document_with_a_race_that_is_a_number),
		T(test_mutated_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
