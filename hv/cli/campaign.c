// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign`: the table of its subcommands, and the search for a subcommand by its name. */
#include "hv/cli/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/help.h"
#include "hv/cli/suggest.h"

const struct cli_command campaign_commands[] = {
	{"run", campaign_run, &campaign_run_argp, "run a round of a campaign, or go on with one", NULL},
	{"submit", campaign_submit, &campaign_submit_argp, "hand a round of a campaign to a cluster", NULL},
	{"check", campaign_check, &campaign_check_argp, "check a campaign file, and list the runs that it makes", NULL},
	{"status", campaign_status, &campaign_status_argp, "say what runs now, and what is left of a round", NULL},
	{"show", campaign_show, &campaign_show_round_argp, "show what a round found, or all that is known of a race", NULL},
	{"diff", campaign_diff, &campaign_diff_argp, "compare two rounds", NULL},
	{"triage", campaign_triage, &campaign_triage_argp, "mark a race as known, fixed or wontfix", NULL},
	{"merge", campaign_merge, &campaign_merge_argp, "merge other stores into one", NULL},
	{"gc", campaign_gc, &campaign_gc_argp, "make the store smaller: keep only sums of old rounds", NULL},
	{0},
};

static const char doc[] = "Look for races over many kernels, workloads and seeds, and keep what was found.\v"
			  "`outrider campaign COMMAND --help` explains a command and its exit status.";

/* No parser: each subcommand parses the options after its name. */
const struct argp cli_campaign_argp = {.args_doc = "COMMAND [ARGUMENT...]", .doc = doc};

static int unknown(const char *word)
{
	struct err err = {0};
	struct suggest suggest = suggest_begin(word, strlen(word));

	for (const struct cli_command *c = campaign_commands; c->name; c++)
		suggest_offer(&suggest, c->name);
	if (word[0] != '-' && suggest_end(&suggest))
		err_set(&err, EXIT_USAGE,
			"'%.80s' is not a command of `outrider campaign`; did you mean `outrider campaign %s`?", word,
			suggest_end(&suggest));
	else
		err_set(&err, EXIT_USAGE, "'%.80s' is not a command of `outrider campaign`; see `outrider campaign --help`",
			word);
	return cli_fail(&err);
}

int cli_campaign(int argc, char **argv)
{
	char name[64];

	if (argc < 2) {
		fputs("outrider: campaign needs a command; see `outrider campaign --help`\n", stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_group(&cli_campaign_argp, argv[0], campaign_commands);
		return EXIT_OK;
	}
	for (const struct cli_command *c = campaign_commands; c->name; c++) {
		if (strcmp(argv[1], c->name) != 0)
			continue;
		snprintf(name, sizeof(name), "%s %s", argv[0], c->name);
		argv[1] = name;
		return c->main(argc - 1, argv + 1);
	}
	return unknown(argv[1]);
}
