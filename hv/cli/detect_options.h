/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the options of every command that looks for races: what to sample, how, and where the results go. */
#ifndef OUTRIDER_CLI_DETECT_OPTIONS_H
#define OUTRIDER_CLI_DETECT_OPTIONS_H

#include "hv/cli/cli.h"
#include "hv/cli/judge.h"
#include "hv/session/session.h"

struct detect_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct judge judge;
	/* The session's parameters, as the options give them. The strings are those of argv. */
	struct session_config session;
	/*
	 * The values of all options --symbols. The array has room for as many values as the command line has words, so it
	 * cannot overflow.
	 */
	const char **symbols;
	/* The value of --prefer, and the contents of that file. NULL: --prefer was not given. */
	const char *prefer_file;
	struct prefer *prefer;
	/* The value of --aim, and the races of that file that it selects. NULL: --aim was not given. */
	const char *aim_at;
	struct known_races *known_races;
	/* True if the option was given: --locks, --rate, --wait-kernel. */
	bool locks, rate, wait_kernel;
};

/* The option group "How". If a command has further options of this kind, it puts them into this group. */
#define DETECT_GROUP_HOW 3

/* The highest values of --rate (hits/s) and of --overhead (percent). */
#define DETECT_RATE_MAX 1000000
#define DETECT_OVERHEAD_MAX 50

/* A child parser for argp, in the option groups 2 to FAIL_ON_GROUP. Its input is a struct detect_options. */
extern const struct argp detect_argp;

/*
 * Set the defaults, including a random seed, and keep `argv` for the record of the run. Returns 0, or -1 with err set. In both
 * cases call detect_options_free(). `o` must not be moved.
 */
int detect_options_init(struct detect_options *o, int argc, char **argv, struct err *err);

void detect_options_free(struct detect_options *o);

/*
 * Check the options against each other, after they were parsed, and read the files of --prefer and --aim. Returns 0, or -1 with
 * err set: EXIT_INPUT if a file is not valid, else EXIT_USAGE.
 */
int detect_options_check(struct detect_options *o, struct err *err);

#endif
