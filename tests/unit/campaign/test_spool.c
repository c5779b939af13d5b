// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One living process owns a round's folder; a lock that a killed process left does not count. The files that a hostile run
 * leaves in its folder neither make the runner open a file outside the folder nor make it wait.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/campaign/learn/weights.h"
#include "hv/campaign/runner/job.h"
#include "hv/campaign/runner/spool.h"

static char root[] = "/tmp/test-campaign-spool-XXXXXX";

static int open_round(void)
{
	struct spool s;
	struct err err = {0};
	int code = spool_open(&s, root, "0123", "", &err) < 0 ? err.code : EXIT_OK;

	spool_close(&s);
	return code;
}

/*
 * Fork a process that opens the round and forks a child. The child writes a byte to `ready` and lives until the test closes
 * `life`. Returns the process.
 */
static pid_t start_runner(int ready[2], int life[2])
{
	struct spool s;
	struct err err = {0};
	pid_t runner = fork();
	char byte = 0;

	if (runner)
		return runner;
	close(life[1]);
	if (spool_open(&s, root, "0123", "", &err) < 0)
		_exit(1);
	if (fork())
		pause();
	if (write(ready[1], &byte, 1) != 1 || read(life[0], &byte, 1) != 0)
		_exit(1);
	_exit(0);
}

static void test_killed_runner_leaves_no_lock(void **state)
{
	int ready[2], life[2];
	pid_t runner;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(life), 0);
	runner = start_runner(ready, life);
	assert_true(runner > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(open_round(), EXIT_INPUT);
	kill(runner, SIGKILL);
	assert_int_equal(waitpid(runner, NULL, 0), runner);
	assert_int_equal(open_round(), EXIT_OK);
	close(life[0]);
	close(life[1]);
	close(ready[0]);
}

/* ---- what a hostile run leaves ---- */

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Make the folder of a run, and a file in another folder that the run must not reach. */
static void make_run(const char *name, char folder[64], char secret[80])
{
	snprintf(folder, 64, "%s/%s", root, name);
	snprintf(secret, 80, "%s/%s-secret", root, name);
	assert_int_equal(mkdir(folder, 0700), 0);
	write_text(secret, "outrider: secret\n");
}

static void link_to(const char *folder, const char *name, const char *to)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(to, path), 0);
}

static void test_nothing_is_written_through_a_link(void **state)
{
	char folder[64], secret[80], *text;
	struct ending ending = {.outcome = STORE_OK, .detail = "fine"};
	struct err err = {0};

	(void)state;
	make_run("links", folder, secret);
	link_to(folder, "status.tmp", secret);
	assert_int_equal(ending_write(&ending, folder, &err), 0);
	assert_true(ending_read(&ending, folder));
	link_to(folder, "secret", secret);
	assert_null(spool_read(folder, "secret"));
	text = spool_read(root, "links-secret");
	assert_string_equal(text, "outrider: secret\n");
	free(text);
}

/* The runner writes the weights of a repeated run to the folder of the run. */
static void test_weights_are_not_written_through_a_link(void **state)
{
	struct weights *w = weights_new();
	char folder[64], secret[80], path[96], *text;
	struct err err = {0};

	(void)state;
	assert_non_null(w);
	make_run("weights", folder, secret);
	link_to(folder, "prefer.json.next", secret);
	snprintf(path, sizeof(path), "%s/prefer.json", folder);
	assert_int_equal(weights_write(w, "", path, &err), 0);
	text = spool_read(root, "weights-secret");
	assert_string_equal(text, "outrider: secret\n");
	free(text);
	weights_free(w);
}

/* Let the runner judge a run that ended by itself. */
static void judge(const char *folder, struct job *j)
{
	*j = (struct job){.folder = (char *)folder, .child = {.ended = true, .status = 3 << 8}};
	job_judge(j);
}

static void test_errors_are_not_read_from_elsewhere(void **state)
{
	char folder[64], secret[80];
	struct job j;

	(void)state;
	make_run("errors", folder, secret);
	link_to(folder, "stderr.log", secret);
	judge(folder, &j);
	assert_int_equal(j.ending.outcome, STORE_FAILED);
	assert_null(strstr(j.ending.detail, "secret"));
}

static void test_a_fifo_holds_nobody_up(void **state)
{
	static const char *const names[] = {"stderr.log", "console.log", "status", "command"};
	char folder[64], secret[80], path[128];
	struct err err = {0};
	struct job j;

	(void)state;
	make_run("fifos", folder, secret);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(mkfifo(path, 0600), 0);
	}
	judge(folder, &j);
	assert_int_equal(j.ending.outcome, STORE_FAILED);
	assert_null(spool_read(folder, "command"));
	assert_int_equal(child_end_others(folder, &err), 0);
}

/* The files are sparse: 1 TiB each, but no blocks on the disk. */
static void test_a_file_without_end_is_read_to_a_limit(void **state)
{
	char folder[64], secret[80], path[128];
	struct job j;

	(void)state;
	make_run("sparse", folder, secret);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, i ? "console.log" : "stderr.log");
		write_text(path, "");
		assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	}
	judge(folder, &j);
	assert_int_equal(j.ending.outcome, STORE_FAILED);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_runner_leaves_no_lock),
		cmocka_unit_test(test_nothing_is_written_through_a_link),
		cmocka_unit_test(test_weights_are_not_written_through_a_link),
		cmocka_unit_test(test_errors_are_not_read_from_elsewhere),
		cmocka_unit_test(test_a_fifo_holds_nobody_up),
		cmocka_unit_test(test_a_file_without_end_is_read_to_a_limit),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
