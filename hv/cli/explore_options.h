/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line of `outrider explore`, and checks the values of its options. */
#ifndef OUTRIDER_CLI_EXPLORE_OPTIONS_H
#define OUTRIDER_CLI_EXPLORE_OPTIONS_H

#include <stdbool.h>

#include "hv/cli/cli.h"
#include "hv/explore/explore.h"

struct explore_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	/* The strings are those of argv. */
	struct explore_config config;
	bool record_only, trials_given;
	/* Print the result as JSON. */
	bool json;
	bool quiet, no_sandbox;
	/* The folder for scenarios. NULL: none are saved. */
	const char *save;
	/* The file of trials to leave out. NULL: none. */
	const char *skip;
};

/* Read the command line and check every value. Returns 0, or -1 with err set. `o` must not be moved. */
int explore_options_parse(struct explore_options *o, int argc, char **argv, struct err *err);

#endif
