// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign check`: says what is wrong with a campaign file, or which runs it makes. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "hv/campaign/plan/plan.h"
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_file.h"
#include "hv/cli/campaign_only.h"

struct check_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *file;
	const char *only;
	uint64_t round;
	bool overcommit;
};

enum check_key { KEY_ONLY = 0x100, KEY_ROUND, KEY_OVERCOMMIT };

static const struct argp_option options[] = {
	{"only", KEY_ONLY, "NAME,...", 0, CAMPAIGN_ONLY_HELP, 0},
	{"round", KEY_ROUND, "N", 0, "list the seeds of this round (default 1)", 0},
	{"overcommit", KEY_OVERCOMMIT, NULL, 0, CAMPAIGN_OVERCOMMIT_HELP, 0},
	{0},
};

static const char doc[] = "Check a campaign file and what it names, and list the runs that it makes.\v"
			  "docs/campaigns.md describes campaign files.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct check_options *o = state->input;

	switch (key) {
	case KEY_ONLY:
		o->only = arg;
		return 0;
	case KEY_ROUND:
		if (cli_number(arg, 1, 1000000000, &o->round) < 0)
			return cli_usage(state, "--round %s: give a number from 1", arg);
		return 0;
	case KEY_OVERCOMMIT:
		o->overcommit = true;
		return 0;
	case ARGP_KEY_ARG:
		return campaign_take_file(&o->file, arg, state);
	case ARGP_KEY_END:
		return campaign_need_file(o->file, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_check_argp = {.options = options, .parser = parser, .args_doc = "FILE", .doc = doc};

/* Print one line for each run: its key, its seed, and the options of its command. */
static void print_runs(const struct plan_runs *runs, const char *only)
{
	size_t shown = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct plan_run *r = &runs->list[i];

		if (only && !plan_is_selected(r->key, only))
			continue;
		shown++;
		printf("%s  seed %llu  %s, %u CPUs\n", r->key, (unsigned long long)r->seed, plan_engine(r), r->vcpus);
	}
	printf("%zu run%s\n", shown, shown == 1 ? "" : "s");
}

int campaign_check(int argc, char **argv)
{
	struct err err = {0};
	struct check_options o = {.input = {&err}, .round = 1};
	struct plan_runs runs = {0};
	struct plan *plan = NULL;

	if (cli_parse(&campaign_check_argp, argc, argv, &o.input) < 0)
		goto out;
	plan = plan_load(o.file, &err);
	if (plan && !o.overcommit && plan_check_host(plan, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &err) < 0)
		goto out;
	if (plan && plan_expand(plan, (unsigned)o.round, &runs, &err) == 0 &&
	    campaign_check_only(&runs, o.only, o.file, &err) == 0)
		print_runs(&runs, o.only);
out:
	plan_runs_free(&runs);
	plan_free(plan);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
