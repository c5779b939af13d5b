/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `outrider run` was asked to do. */
#ifndef OUTRIDER_CLI_RUN_OPTIONS_H
#define OUTRIDER_CLI_RUN_OPTIONS_H

#include "hv/cli/cli.h"
#include "hv/cli/detect_options.h"
#include "hv/vmm/vmm.h"

struct run_options {
	struct cli_input input; /* first: see cli_parse() */
	struct vmm_config vm;	/* without its descriptors; its strings, like all others, are argv's */
	struct detect_options detect;
	const char *console;
	bool no_detect;
};

/* Read the command line and check every value. 0, or -1 with err set (EXIT_USAGE). */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err);

#endif
