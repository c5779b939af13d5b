/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fail-on and --error-exitcode: races decide the exit status, so that a script or a CI job fails when a race is found.
 */
#ifndef OUTRIDER_CLI_FAIL_ON_H
#define OUTRIDER_CLI_FAIL_ON_H

#include "hv/cli/cli.h"
#include "hv/report/run_facts.h"
#include "pruner/verdicts.h"

/* The races that make a command fail. Suppressed races never make a command fail. */
enum fail_on_what {
	FAIL_ON_NOTHING,
	FAIL_ON_HARMFUL, /* harmful candidates */
	FAIL_ON_UNCLEAR, /* harmful candidates, and unclear races */
	FAIL_ON_ANY_NEW, /* all races */
};

/* All zero: no option was given. */
struct fail_on {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	enum fail_on_what what;
	/* The exit code. 0: not given. */
	unsigned char code;
};

/* A child parser for argp, in the option group FAIL_ON_GROUP. Its input is a struct fail_on. */
extern const struct argp fail_on_argp;
#define FAIL_ON_GROUP 5

/* The exit code without --error-exitcode. No other result of a command has this code. */
#define FAIL_ON_DEFAULT_CODE 1

/*
 * Read the value of --error-exitcode, which must be a number without another meaning. Returns 0. On failure, sets an error and
 * returns an error_t for the parser to return.
 */
error_t fail_on_read_code(const char *arg, struct argp_state *state, unsigned char *out);

/* Returns whether one of the two options was given. */
bool fail_on_is_asked(const struct fail_on *f);

/* Returns whether the race makes the command fail. If neither option was given, the races are those of --fail-on harmful. */
bool fail_on_race(const struct fail_on *f, const struct judged *j);

/*
 * Returns the exit code that the options select for the races, or EXIT_OK if no race makes the command fail. Prints the number
 * of such races in one line on standard error.
 */
int fail_on_code(const struct fail_on *f, const struct verdicts *v);

/*
 * If races decide the exit code, warn on standard error if a run without races says nothing about the kernel: the run in `file`
 * is not finished, or sampled nothing.
 */
void fail_on_doubt(const struct fail_on *f, const struct run_facts *run, const char *file);

#endif
