// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/commands.h"

#include "hv/cli/device_options.h"

const struct cli_command cli_commands[] = {
	{"run", cli_run, &cli_run_argp, "launch a virtual machine with the detector attached", NULL},
	{"list", cli_list, &cli_list_argp, "show which virtual machines of libvirt can be attached to", NULL},
	{"attach", cli_attach, &cli_attach_argp,
	 "look for races in a virtual machine that runs already, and leave it as it was", NULL},
	{"agent", cli_agent, &cli_agent_argp, "tell the agent in a guest what to do: start a workload, stop it, power off",
	 NULL},
	{"report", cli_report, &cli_report_argp, "show the races of a run again, with names from debug files", NULL},
	{"replay", cli_replay, &cli_replay_argp, "run a race of a saved scenario again, in both orders", NULL},
	{"explore", cli_explore, &cli_explore_argp, "force interleavings of two programs in a guest", NULL},
	{"prune", cli_prune, &cli_prune_argp, "tell the likely bugs from the races that do no harm", NULL},
	{"diff", cli_diff, &cli_diff_argp, "say which races are new, gone, or judged otherwise than before", NULL},
	{"locks", cli_locks, &cli_locks_argp, "show which lock protects what, and where it is missing", NULL},
	{"campaign", cli_campaign, &cli_campaign_argp, "look for races every night, over many kernels, and list what is new",
	 campaign_commands},
	{"doctor", cli_doctor, &cli_doctor_argp,
	 "say whether this host can run guests for outrider, what is missing, and what to do", NULL},
	{0},
};

const struct cli_choice *const cli_choices[] = {&report_formats, &report_orders,  &diff_forms, &fail_on_choice,	  &device_nets,
						&campaign_fails, &campaign_forms, &lock_forms, &complaint_choice, NULL};
