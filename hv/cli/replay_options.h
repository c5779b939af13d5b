/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line of `outrider replay`, and checks the values of its options. */
#ifndef OUTRIDER_CLI_REPLAY_OPTIONS_H
#define OUTRIDER_CLI_REPLAY_OPTIONS_H

#include <stdbool.h>

#include "hv/cli/cli.h"

struct replay_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *path;
	/* The order to run. 1: the access of the first side goes first. 2: that of the second side. 0: run both orders. */
	unsigned order;
	/*
	 * `free_ns`: how long each order runs on after both accesses, in ns. `free_given`: --for was given; if it was not, the
	 * time of the scenario is used.
	 */
	bool free_given;
	uint64_t free_ns;
	uint64_t times;
	const char *gdb, *vmcore; /* NULL: not given */
	bool json, quiet, verbose, no_sandbox, debuginfod;
	const char **symbols; /* symbol_count paths */
	size_t symbol_count;
};

/* Read the command line. Returns 0, or -1 with `err` set. In both cases call replay_options_free(). */
int replay_options_parse(struct replay_options *o, int argc, char **argv, struct err *err);
void replay_options_free(struct replay_options *o);

#endif
