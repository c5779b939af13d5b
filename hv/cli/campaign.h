/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of `outrider campaign`, one file each. argv[0] is "campaign NAME". Each returns the exit code, after printing
 * the reason if it is not EXIT_OK.
 */
#ifndef OUTRIDER_CLI_CAMPAIGN_H
#define OUTRIDER_CLI_CAMPAIGN_H

#include "hv/cli/cli.h"

int campaign_run(int argc, char **argv);
int campaign_submit(int argc, char **argv);
int campaign_check(int argc, char **argv);
int campaign_status(int argc, char **argv);
int campaign_show(int argc, char **argv);
int campaign_diff(int argc, char **argv);
int campaign_triage(int argc, char **argv);
int campaign_merge(int argc, char **argv);
int campaign_gc(int argc, char **argv);

/* The options and arguments of the subcommands. */
extern const struct argp campaign_run_argp;
extern const struct argp campaign_submit_argp;
extern const struct argp campaign_check_argp;
extern const struct argp campaign_status_argp;
extern const struct argp campaign_show_round_argp;
extern const struct argp campaign_diff_argp;
extern const struct argp campaign_triage_argp;
extern const struct argp campaign_merge_argp;
extern const struct argp campaign_gc_argp;

/* The help texts of options that several subcommands have. */
#define CAMPAIGN_STORE_HELP \
	"the store of what was found: a file, or postgresql://... (default: outrider/campaigns.db in $XDG_DATA_HOME)"
#define CAMPAIGN_ONLY_HELP "only runs with this name as a part, for example '6.1' or '*/ext4/*'"
#define CAMPAIGN_OVERCOMMIT_HELP "let machines have more vCPUs than this host has CPUs"

#endif
