// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign submit`: submits a round to Slurm, as a job array with one shard for each task. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/shell_word.h"
#include "hv/campaign/plan/plan.h"
#include "hv/campaign/store/store.h"
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_file.h"

#define SHARDS_MAX 100000
#define JOBS_MAX 1024
#define OWN_MEMORY_MIB 512 /* memory of outrider itself, besides the guest's */
#define SIGNAL_S 120	   /* Slurm signals a task to end this many seconds before the task's time limit. */
#define MIB (UINT64_C(1) << 20)

struct submit_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *file, *store;
	uint64_t shards, jobs, round;
	bool slurm, print, overcommit;
};

enum submit_key { KEY_STORE = 0x100, KEY_SLURM, KEY_SHARDS, KEY_JOBS, KEY_ROUND, KEY_PRINT, KEY_OVERCOMMIT };

static const struct argp_option options[] = {
	{"store", KEY_STORE, "STORE", 0, "the store of what was found, which all nodes reach: postgresql://...", 0},
	{"slurm", KEY_SLURM, NULL, 0, "submit to Slurm, by sbatch", 0},
	{"shards", KEY_SHARDS, "N", 0, "split the runs into N parts, which are the tasks of a job array", 0},
	{"jobs", KEY_JOBS, "N", 0, "runs at once of each task (default 1)", 0},
	{"round", KEY_ROUND, "N", 0, "the number of the round (default: one more than the last)", 0},
	{"print", KEY_PRINT, NULL, 0, "print the job's script, and submit nothing", 0},
	{"overcommit", KEY_OVERCOMMIT, NULL, 0, CAMPAIGN_OVERCOMMIT_HELP, 0},
	{0},
};

static const char doc[] = "Hand a round of a campaign to a cluster. The runs of all nodes go into one store.\v"
			  "sbatch obeys its variables, for example SBATCH_PARTITION and SBATCH_TIMELIMIT. A task that Slurm "
			  "starts again goes on with what it had not finished.";

/* ---- options ---- */

static error_t number_option(struct submit_options *o, int key, const char *arg, struct argp_state *state)
{
	if (key == KEY_SHARDS && cli_number(arg, 1, SHARDS_MAX, &o->shards) < 0)
		return cli_usage(state, "--shards %s: give a number from 1 to 100000", arg);
	if (key == KEY_JOBS && cli_number(arg, 1, JOBS_MAX, &o->jobs) < 0)
		return cli_usage(state, "--jobs %s: give a number from 1 to 1024", arg);
	if (key == KEY_ROUND && cli_number(arg, 1, STORE_NUMBER_MAX, &o->round) < 0)
		return cli_usage(state, "--round %s: give a number from 1", arg);
	return 0;
}

static error_t check_arguments(const struct submit_options *o, struct argp_state *state)
{
	if (!o->file)
		return campaign_need_file(o->file, state);
	if (!o->slurm || !o->shards)
		return cli_usage(state, "submit needs --slurm and --shards N");
	if (!o->store || !strstr(o->store, "://"))
		return cli_usage(state, "submit needs --store postgresql://..., as nodes cannot share a store that is a file");
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct submit_options *o = state->input;

	switch (key) {
	case KEY_STORE:
		o->store = arg;
		return 0;
	case KEY_SLURM:
		o->slurm = true;
		return 0;
	case KEY_SHARDS:
	case KEY_JOBS:
	case KEY_ROUND:
		return number_option(o, key, arg, state);
	case KEY_PRINT:
		o->print = true;
		return 0;
	case KEY_OVERCOMMIT:
		o->overcommit = true;
		return 0;
	case ARGP_KEY_ARG:
		return campaign_take_file(&o->file, arg, state);
	case ARGP_KEY_END:
		return check_arguments(o, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_submit_argp = {.options = options, .parser = parser, .args_doc = "FILE", .doc = doc};

/* ---- the round ---- */

/* Reserve a number for the round, the same for all tasks and used by no other round. Returns 0, or -1 with err set. */
static int find_round(struct submit_options *o, const struct plan *plan, struct err *err)
{
	struct store *store;
	int rc;

	if (o->round)
		return 0;
	store = store_open(o->store, STORE_MAKE, STORE_WAIT_MS, err);
	rc = store ? store_round_number(store, plan_name(plan), &o->round, err) : -1;
	store_close(store);
	return rc;
}

/* ---- the script ---- */

static void quote(FILE *out, const char *word)
{
	fputc(' ', out);
	shell_word(out, word, SIZE_MAX);
}

/* Write the memory and CPUs that a task asks of Slurm: enough for `jobs` runs of the largest size at the same time. */
static void write_sizes(FILE *out, const struct plan_runs *runs, uint64_t jobs)
{
	uint64_t memory = 0;
	unsigned vcpus = 1;
	bool known = true;

	for (size_t i = 0; i < runs->count; i++) {
		const struct plan_run *r = &runs->list[i];

		vcpus = r->vcpus > vcpus ? r->vcpus : vcpus;
		memory = r->memory > memory ? r->memory : memory;
		known &= r->memory != 0;
	}
	fprintf(out, "#SBATCH --cpus-per-task=%" PRIu64 "\n", jobs * vcpus);
	if (known)
		fprintf(out, "#SBATCH --mem=%" PRIu64 "M\n", jobs * (memory / MIB + OWN_MEMORY_MIB));
}

static void write_script(FILE *out, const struct submit_options *o, const struct plan *plan, const struct plan_runs *runs,
			 const char *folder, const char *program)
{
	fprintf(out,
		"#!/bin/sh\n"
		"#SBATCH --job-name=outrider-%s\n"
		"#SBATCH --array=1-%" PRIu64 "\n"
		"#SBATCH --output=outrider-%s-%" PRIu64 "-%%a.log\n"
		"#SBATCH --open-mode=append\n"
		"#SBATCH --requeue\n"
		"#SBATCH --signal=B:TERM@%u\n",
		plan_name(plan), o->shards, plan_name(plan), o->round, SIGNAL_S);
	write_sizes(out, runs, o->jobs);
	fputs("cd", out);
	quote(out, folder);
	fputs(" && exec", out);
	quote(out, program);
	fprintf(out,
		" campaign run%s --jobs %" PRIu64 " --round %" PRIu64 " --shard \"$SLURM_ARRAY_TASK_ID/%" PRIu64 "\" --store",
		o->overcommit ? " --overcommit" : "", o->jobs, o->round, o->shards);
	quote(out, o->store);
	quote(out, o->file);
	fputc('\n', out);
}

static char *make_script(const struct submit_options *o, const struct plan *plan, struct err *err)
{
	char program[PATH_MAX] = "", *script = NULL, *folder = getcwd(NULL, 0);
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	FILE *out = NULL;
	struct plan_runs runs = {0};
	size_t size = 0;

	if (!folder || n < 0) {
		err_set(err, EXIT_INPUT, "cannot find the path of this folder or of this program: %s", strerror(errno));
		goto out;
	}
	program[n] = '\0';
	if (plan_expand(plan, (unsigned)o->round, &runs, err) < 0)
		goto out;
	out = open_memstream(&script, &size);
	if (out)
		write_script(out, o, plan, &runs, folder, program);
	if (!out || fclose(out) != 0)
		err_set(err, EXIT_INTERNAL, "out of memory");
out:
	plan_runs_free(&runs);
	free(folder);
	if (err->code == EXIT_OK)
		return script;
	free(script);
	return NULL;
}

/* ---- sbatch ---- */

static int wait_for(pid_t pid, struct err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return err_set(err, EXIT_INTERNAL, "cannot wait for sbatch: %s", strerror(errno));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, EXIT_INPUT, "sbatch has not taken the job (status %d)",
		       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Run sbatch with the script on its standard input. Its output goes to our standard output. Returns 0, or -1 with err set. */
static int submit(const char *script, struct err *err)
{
	char *const argv[] = {"sbatch", NULL};
	posix_spawn_file_actions_t actions;
	size_t len = strlen(script);
	int fd = memfd_create("script", MFD_CLOEXEC), failed;
	pid_t pid;

	if (fd < 0 || write(fd, script, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) < 0) {
		err_set(err, EXIT_INTERNAL, "cannot hand the script to sbatch: %s", strerror(errno));
		goto out;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	fflush(NULL);
	failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failed == ENOENT)
		err_set(err, EXIT_INPUT,
			"there is no sbatch here: install Debian's package slurm-client, or --print the script");
	else if (failed)
		err_set(err, EXIT_INPUT, "cannot start sbatch: %s", strerror(failed));
	else
		wait_for(pid, err);
out:
	if (fd >= 0)
		close(fd);
	return err->code == EXIT_OK ? 0 : -1;
}

int campaign_submit(int argc, char **argv)
{
	struct err err = {0};
	struct submit_options o = {.input = {&err}, .jobs = 1};
	struct plan *plan = NULL;
	char *script = NULL;

	if (cli_parse(&campaign_submit_argp, argc, argv, &o.input) < 0)
		goto out;
	plan = plan_load(o.file, &err);
	if (!plan || find_round(&o, plan, &err) < 0)
		goto out;
	script = make_script(&o, plan, &err);
	if (script && o.print)
		fputs(script, stdout);
	else if (script && submit(script, &err) == 0)
		printf("%s: round %" PRIu64 " is submitted in %" PRIu64 " shards\n", plan_name(plan), o.round, o.shards);
out:
	free(script);
	plan_free(plan);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
