// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign run`: runs a round of a campaign, or continues an interrupted one. */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/campaign/list/ends_text.h"
#include "hv/campaign/list/fill.h"
#include "hv/campaign/list/gate.h"
#include "hv/campaign/runner/runner.h"
#include "hv/campaign/store/store.h"
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_fail.h"
#include "hv/cli/campaign_file.h"
#include "hv/cli/campaign_only.h"

#define JOBS_MAX 1024
#define SHARDS_MAX 1000000

enum run_exit { EXIT_FOUND = 1 };

struct run_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *file;
	struct runner_config runner;
};

enum run_key { KEY_STORE = 0x100, KEY_JOBS, KEY_ONLY, KEY_SHARD, KEY_ROUND, KEY_RESUME, KEY_OVERCOMMIT };

static const struct argp_option options[] = {
	{"store", KEY_STORE, "STORE", 0, CAMPAIGN_STORE_HELP, 0},
	{"jobs", KEY_JOBS, "N", 0, "runs at once (default: as the campaign file says, or as many as this host's CPUs allow)",
	 0},
	{"overcommit", KEY_OVERCOMMIT, NULL, 0, CAMPAIGN_OVERCOMMIT_HELP, 0},
	{"only", KEY_ONLY, "NAME,...", 0, CAMPAIGN_ONLY_HELP, 0},
	{"shard", KEY_SHARD, "I/N", 0, "do the I-th of N parts of the runs, which are the same parts on every machine", 0},
	{"round", KEY_ROUND, "N", 0, "the number of the round, the same for all its shards (default: one more than the last)",
	 0},
	{"resume", KEY_RESUME, NULL, 0, "go on with the last round that was not finished", 0},
	{"quiet", 'q', NULL, 0, "say nothing but errors", 0},
	{0},
};

static const char doc[] =
	"Run a round of a campaign: all runs that its file makes, several at once, into the store.\v"
	"Ctrl-C asks the runs to end and keeps what they found; --resume goes on with the round. A second Ctrl-C "
	"ends them at once.";

/* ---- options ---- */

static error_t shard_option(struct run_options *o, char *arg, struct argp_state *state)
{
	char *slash = strchr(arg, '/'), index[16] = "";
	uint64_t i, n;

	if (slash && (size_t)(slash - arg) < sizeof(index))
		memcpy(index, arg, (size_t)(slash - arg));
	if (!slash || cli_number(slash + 1, 1, SHARDS_MAX, &n) < 0 || cli_number(index, 1, n, &i) < 0)
		return cli_usage(state, "--shard %s: give I/N, for example 1/4 for the first of four", arg);
	o->runner.shard = (unsigned)i;
	o->runner.shards = (unsigned)n;
	return 0;
}

static error_t number_option(struct run_options *o, int key, char *arg, struct argp_state *state)
{
	uint64_t value;

	if (key == KEY_ROUND && cli_number(arg, 1, STORE_NUMBER_MAX, &o->runner.round) < 0)
		return cli_usage(state, "--round %s: give a number from 1", arg);
	if (key == KEY_ROUND)
		return 0;
	if (cli_number(arg, 1, JOBS_MAX, &value) < 0)
		return cli_usage(state, "--jobs %s: give a number from 1 to 1024", arg);
	o->runner.jobs = (unsigned)value;
	return 0;
}

static error_t check_arguments(const struct run_options *o, struct argp_state *state)
{
	if (!o->file)
		return campaign_need_file(o->file, state);
	if (o->runner.resume && o->runner.round)
		return cli_usage(state, "--resume goes on with the last round: leave out --round");
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case KEY_STORE:
		o->runner.store = arg;
		return 0;
	case KEY_JOBS:
	case KEY_ROUND:
		return number_option(o, key, arg, state);
	case KEY_OVERCOMMIT:
		o->runner.overcommit = true;
		return 0;
	case KEY_ONLY:
		o->runner.only = arg;
		return 0;
	case KEY_SHARD:
		return shard_option(o, arg, state);
	case KEY_RESUME:
		o->runner.resume = true;
		return 0;
	case 'q':
		o->runner.quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		return campaign_take_file(&o->file, arg, state);
	case ARGP_KEY_END:
		return check_arguments(o, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_run_argp = {.options = options, .parser = parser, .args_doc = "FILE", .doc = doc};

/* ---- results ---- */

/* Read the summary of the finished round from the store. `campaign show` prints the same summary. */
static int read_round(const struct run_options *o, const struct plan *plan, const struct runner_result *r, struct summary *m,
		      struct err *err)
{
	const struct summary_query query = {
		.campaign = plan_name(plan), .round = r->round_uuid, .shard = r->shard, .no_coverage = true};
	struct err away = {0};
	struct store *store = store_open(o->runner.store, STORE_READ, STORE_WAIT_MS, &away);
	int rc = store ? summary_fill(m, store, &query, OUTRIDER_VERSION, &away) : -1;

	store_close(store);
	if (rc < 0)
		return err_set(err, away.code, "%.800s; the round is stored, and `outrider campaign show` judges it",
			       away.text);
	return 0;
}

static void print_left(const struct plan *plan, const struct runner_result *r)
{
	if (r->signal && r->skipped)
		printf("%s: %u runs are left: --resume goes on with them\n", plan_name(plan), r->skipped);
	else if (r->skipped)
		printf("%u runs were left out, as the budget was used up\n", r->skipped);
}

static void print_summary(const struct plan *plan, const struct runner_result *r, const struct summary *m)
{
	struct summary_round total = summary_total(m);
	size_t fresh = summary_of(m, STORE_CHANGE_NEW) + summary_of(m, STORE_CHANGE_BACK);
	size_t harmful = summary_of_class(m, STORE_CHANGE_NEW, SUMMARY_HARMFUL) +
			 summary_of_class(m, STORE_CHANGE_BACK, SUMMARY_HARMFUL);

	printf("%s: round %" PRIu64 ": %u of %u runs done", plan_name(plan), r->round, r->done, r->planned);
	list_ends_put(stdout, &m->ends);
	printf("; %" PRIu64 " hits, %u races, %zu new", total.hits, total.races, fresh);
	if (harmful)
		printf(", of these %zu harmful candidates", harmful);
	putchar('\n');
	print_left(plan, r);
}

/* Returns the gate of the campaign file: a bit 1 << enum gate_what for each word of its <failure>. */
static unsigned gate_of(const struct plan *plan)
{
	static const enum plan_failure bits[GATE_WHATS] = {
		[GATE_NEW_HARMFUL] = PLAN_FAIL_NEW_HARMFUL, [GATE_NEW_UNCLEAR] = PLAN_FAIL_NEW_UNCLEAR,
		[GATE_ANY_NEW] = PLAN_FAIL_ANY_NEW,	    [GATE_NEW_FINDING] = PLAN_FAIL_NEW_FINDING,
		[GATE_FINDING] = PLAN_FAIL_FINDING,	    [GATE_LIMIT] = PLAN_FAIL_LIMIT,
		[GATE_COMPLAINT] = PLAN_FAIL_COMPLAINT,
	};
	unsigned asked = 0;

	for (int i = 0; i < GATE_WHATS; i++)
		asked |= plan_failures(plan) & bits[i] ? 1u << i : 0;
	return asked;
}

/*
 * Returns the command's exit code. A round in which no run gave an answer must not end like a round without findings, even if
 * the file asks for no failure.
 */
static int code_of(const struct plan *plan, const struct runner_result *r, const struct summary *m, struct err *err)
{
	unsigned asked = gate_of(plan);

	if (r->signal)
		return 128 + r->signal;
	/*
	 * If the matrix has fewer runs than there are shards, some shards have no run. Such a shard has nothing to do, which is
	 * no failure.
	 */
	if (!r->planned)
		return EXIT_OK;
	if (gate_state(&m->ends, m->unfinished) == GATE_FAILED) {
		err_set(err, EXIT_INPUT, "%s: no run of the round gave an answer; `outrider campaign show` says why",
			plan_name(plan));
		return EXIT_INPUT;
	}
	return asked ? campaign_fail_gate(m, asked, EXIT_FOUND, "<failure>") : EXIT_OK;
}

/* Print what the round found. Returns the command's exit code; err is set after a failure. */
static int judge(const struct run_options *o, const struct plan *plan, const struct runner_result *r, struct err *err)
{
	struct summary m = {0};
	int code = EXIT_OK;

	if (!r->round) {
		if (!o->runner.quiet)
			printf("%s: there is no unfinished round to go on with\n", plan_name(plan));
		return EXIT_OK;
	}
	if (read_round(o, plan, r, &m, err) == 0) {
		if (!o->runner.quiet)
			print_summary(plan, r, &m);
		code = code_of(plan, r, &m, err);
	}
	summary_free(&m);
	return code;
}

/* Returns the path of this program, which the runs execute unless the campaign file has an <emulator>. */
static const char *own_path(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "/usr/bin/outrider" : path;
}

/*
 * Check --only before anything is stored. --only selects runs by their keys, which are the same in every round, so the plan is
 * expanded for round 1.
 */
static int check_only(const struct run_options *o, const struct plan *plan, struct err *err)
{
	struct plan_runs runs = {0};
	int rc = o->runner.only ? plan_expand(plan, 1, &runs, err) : 0;

	if (rc == 0)
		rc = campaign_check_only(&runs, o->runner.only, o->file, err);
	plan_runs_free(&runs);
	return rc;
}

int campaign_run(int argc, char **argv)
{
	struct err err = {0};
	struct run_options o = {.input = {&err}};
	char program[PATH_MAX], *place = NULL;
	struct runner_result result;
	struct plan *plan = NULL;
	int code = EXIT_OK;

	o.runner.program = own_path(program);
	if (cli_parse(&campaign_run_argp, argc, argv, &o.input) < 0)
		goto out;
	plan = plan_load(o.file, &err);
	if (plan && !o.runner.store)
		o.runner.store = place = store_default_path(&err);
	if (!plan || !o.runner.store || check_only(&o, plan, &err) < 0 || runner_run(plan, &o.runner, &result, &err) < 0)
		goto out;
	code = judge(&o, plan, &result, &err);
out:
	free(place);
	plan_free(plan);
	return err.code == EXIT_OK ? code : cli_fail(&err);
}
