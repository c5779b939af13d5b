// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdicts at the end of a run: in the document, in the summary, and in the exit code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "hv/cli/judge.h"
#include "hv/report/report.h"
#include "tests/unit/report/sample.h"

/* A run whose races the pruner judges, its document, and the text that the run printed. */
struct fixture {
	char file[64];
	char printed[1 << 16];
	struct judge judge;
	struct report_config config;
	struct report *report;
	struct err err;
};

static void print(void *ctx, const char *text, size_t len)
{
	struct fixture *f = ctx;

	snprintf(f->printed, sizeof(f->printed), "%.*s", (int)len, text);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	strcpy(f->file, "/tmp/test_cli_judge.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0 || judge_init(&f->judge, &f->err) < 0)
		return -1;
	close(fd);
	f->config = (struct report_config){
		.json = f->file, .print = print, .print_ctx = f, .judge = &f->judge.report, .run = sample_run()};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	report_free(f->report);
	judge_free(&f->judge);
	unlink(f->file);
	free(f);
	return 0;
}

/* Let the run observe `n` races. The verdict of the sample is harmful candidate. */
static void see(struct fixture *f, unsigned n)
{
	const struct report_kernel kernel = sample_kernel();

	f->report = report_new(&f->config, &f->err);
	assert_non_null(f->report);
	assert_int_equal(report_set_kernel(f->report, &kernel, &f->err), 0);
	for (unsigned i = 0; i < n; i++) {
		struct observation o;

		sample_observation(&o, 0);
		o.sides[0].pc += i;
		assert_int_equal(report_observe(f->report, &o, &f->err), 0);
	}
}

static json_t *load(const struct fixture *f)
{
	json_error_t error;
	json_t *document = json_load_file(f->file, 0, &error);

	if (!document)
		fail_msg("%s: %s", f->file, error.text);
	return document;
}

static const json_t *verdict_of(const json_t *document, size_t index)
{
	const json_t *verdict = json_object_get(json_array_get(json_object_get(document, "races"), index), "verdict");

	assert_non_null(verdict);
	return verdict;
}

static void not_judged_before_the_end(void **state)
{
	struct fixture *f = *state;
	json_t *document;

	see(f, 2);
	document = load(f);
	assert_true(json_is_false(json_object_get(document, "judged")));
	assert_true(json_is_null(verdict_of(document, 0)));
	assert_true(json_is_null(verdict_of(document, 1)));
	json_decref(document);
}

static void judged_at_the_end(void **state)
{
	struct fixture *f = *state;
	json_t *document;

	see(f, 2);
	assert_int_equal(report_finish(f->report, NULL, "guest powered off", &f->err), 0);
	document = load(f);
	assert_true(json_is_true(json_object_get(document, "judged")));
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(json_string_value(json_object_get(verdict_of(document, i), "class")), "harmful candidate");
	json_decref(document);
	if (!strstr(f->printed, "  verdicts      2 races: 2 harmful candidates, 0 unclear, 0 synchronisation, 0 benign\n"))
		fail_msg("no verdicts in:\n%s", f->printed);
}

static int refuse(void *ctx, const struct race_store *store, const struct run_facts *run, struct err *err)
{
	(void)ctx;
	(void)store;
	assert_string_equal(run->kernel.banner, "Linux version 6.1.0 \"quoted\"");
	return err_set(err, EXIT_INTERNAL, "out of memory for 1 verdicts");
}

/* The document keeps the races, without verdicts, and says that they are not judged. */
static void judging_that_fails(void **state)
{
	struct fixture *f = *state;
	json_t *document;

	f->judge.report.judge = refuse;
	see(f, 1);
	assert_int_equal(report_finish(f->report, NULL, "guest powered off", &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INTERNAL);
	document = load(f);
	assert_true(json_is_true(json_object_get(document, "complete")));
	assert_true(json_is_false(json_object_get(document, "judged")));
	assert_true(json_is_null(verdict_of(document, 0)));
	assert_null(strstr(f->printed, "verdicts"));
	json_decref(document);
}

/* The counters of a run that has sampled. */
static const struct detect_stats sampled = {.sampling_ns = 10000000000, .hits = 100, .windows = 80};

static int code_after(struct fixture *f, const struct detect_stats *stats, unsigned what, unsigned char code, unsigned races,
		      int ended)
{
	f->judge.fail_on = (struct fail_on){.words = {.on = what}, .code = code};
	see(f, races);
	assert_int_equal(report_finish(f->report, stats, "guest powered off", &f->err), 0);
	return judge_code(&f->judge, ended, &f->err);
}

static int code_of(struct fixture *f, unsigned what, unsigned char code, unsigned races, int ended)
{
	return code_after(f, &sampled, what, code, races, ended);
}

static void no_option_leaves_the_exit_code(void **state)
{
	assert_int_equal(code_of(*state, 0, 0, 1, EXIT_OK), EXIT_OK);
}

static void harmful_race_fails_the_run(void **state)
{
	assert_int_equal(code_of(*state, FAIL_ON_HARMFUL, 0, 1, EXIT_OK), 1);
}

static void code_is_the_users(void **state)
{
	assert_int_equal(code_of(*state, 0, 42, 1, EXIT_OK), 42);
}

static void run_without_races_passes(void **state)
{
	assert_int_equal(code_of(*state, FAIL_ON_ANY_NEW, 42, 0, EXIT_OK), EXIT_OK);
}

/* If the run failed, its own exit code is returned, whatever the verdicts are. */
static void failed_run_keeps_its_exit_code(void **state)
{
	assert_int_equal(code_of(*state, FAIL_ON_ANY_NEW, 42, 1, EXIT_GUEST), EXIT_GUEST);
}

/* A run that could not have found a race fails a gate. */
static void run_without_hits_fails(void **state)
{
	const struct detect_stats no_hit = {.sampling_ns = 10000000000};
	struct fixture *f = *state;

	assert_int_equal(code_after(f, &no_hit, FAIL_ON_HARMFUL, 0, 0, EXIT_OK), 1);
	if (!strstr(f->printed, "UNSAMPLED  nothing was sampled: no armed instruction was executed in 10.0 s"))
		fail_msg("the summary does not say that nothing was sampled:\n%s", f->printed);
}

static void run_that_armed_nothing_fails(void **state)
{
	const struct detect_stats nothing = {0};

	assert_int_equal(code_after(*state, &nothing, FAIL_ON_UNSAMPLED, 9, 0, EXIT_OK), 9);
}

static void run_without_windows_fails(void **state)
{
	const struct detect_stats no_window = {.sampling_ns = 10000000000, .hits = 7};

	assert_int_equal(code_after(*state, &no_window, FAIL_ON_SUSPICION, 0, 0, EXIT_OK), 1);
}

static void run_that_sampled_nothing_passes_without_a_gate(void **state)
{
	const struct detect_stats nothing = {0};

	assert_int_equal(code_after(*state, &nothing, 0, 0, 0, EXIT_OK), EXIT_OK);
}

/* A run whose report was never finished has shown nothing. */
static void run_without_report_fails(void **state)
{
	struct fixture *f = *state;

	f->judge.fail_on = (struct fail_on){.words = {.on = FAIL_ON_UNFINISHED}};
	assert_int_equal(judge_code(&f->judge, EXIT_OK, &f->err), 1);
}

static void suspicion_fails_the_run(void **state)
{
	struct fixture *f = *state;

	f->judge.suspicions = 2;
	assert_int_equal(code_of(f, FAIL_ON_SUSPICION, 0, 0, EXIT_OK), 1);
}

static void suspicion_passes_a_gate_for_races(void **state)
{
	struct fixture *f = *state;

	f->judge.suspicions = 2;
	assert_int_equal(code_of(f, FAIL_ON_ANY_NEW, 0, 0, EXIT_OK), EXIT_OK);
}

/* Run judge_code() with a suppression that fits no race. Returns the text on standard error. */
static char *said_of_leftovers(struct fixture *f, bool quiet)
{
	char list[] = "/tmp/test_cli_judge.XXXXXX";
	int fd = mkstemp(list), was;
	FILE *file = fdopen(fd, "w"), *said = tmpfile();
	char *text = calloc(1, 4096);

	assert_true(file && said && text);
	fputs("[suppress]\nsite = nobody_*\nsite = nobody_*\nreason = known since long\n", file);
	fclose(file);
	f->judge.quiet = quiet;
	f->judge.suppressions = suppress_read(list, 20260101, &f->err);
	assert_non_null(f->judge.suppressions);
	see(f, 1);
	assert_int_equal(report_finish(f->report, NULL, "guest powered off", &f->err), 0);
	was = dup(STDERR_FILENO);
	dup2(fileno(said), STDERR_FILENO);
	assert_int_equal(judge_code(&f->judge, EXIT_OK, &f->err), EXIT_OK);
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(said);
	(void)!fread(text, 1, 4095, said);
	fclose(said);
	unlink(list);
	return text;
}

static void leftover_suppression_is_told(void **state)
{
	char *text = said_of_leftovers(*state, false);

	if (!strstr(text, ":1: fits no race here: known since long\n"))
		fail_msg("said: %s", text);
	free(text);
}

static void quiet_run_tells_no_leftovers(void **state)
{
	char *text = said_of_leftovers(*state, true);

	assert_string_equal(text, "");
	free(text);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(not_judged_before_the_end),
		T(judged_at_the_end),
		T(judging_that_fails),
		T(no_option_leaves_the_exit_code),
		T(harmful_race_fails_the_run),
		T(code_is_the_users),
		T(run_without_races_passes),
		T(failed_run_keeps_its_exit_code),
		T(run_without_hits_fails),
		T(run_that_armed_nothing_fails),
		T(run_without_windows_fails),
		T(run_that_sampled_nothing_passes_without_a_gate),
		T(run_without_report_fails),
		T(suspicion_fails_the_run),
		T(suspicion_passes_a_gate_for_races),
		T(leftover_suppression_is_told),
		T(quiet_run_tells_no_leftovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
