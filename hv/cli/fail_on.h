/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fail-on and --error-exitcode: races decide the exit status, so that a script or a CI job fails when a race is found.
 */
#ifndef OUTRIDER_CLI_FAIL_ON_H
#define OUTRIDER_CLI_FAIL_ON_H

#include "hv/cli/cli.h"
#include "hv/report/run_facts.h"
#include "pruner/verdicts.h"

/* Which races make a command fail. Suppressed ones never do. */
enum fail_on_what {
	FAIL_ON_NOTHING,
	FAIL_ON_HARMFUL, /* Harmful candidates. */
	FAIL_ON_UNCLEAR, /* Harmful candidates, and races that no rule could decide on. */
	FAIL_ON_ANY_NEW, /* All races. */
};

/* All zero: no option was given. */
struct fail_on {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	enum fail_on_what what;
	/* The exit code. 0: it was not given. */
	unsigned char code;
};

/* A child parser for argp, in the option group FAIL_ON_GROUP. Its input is a struct fail_on. */
extern const struct argp fail_on_argp;
#define FAIL_ON_GROUP 5

/* The exit code unless --error-exitcode gives another one. It means nothing else. */
#define FAIL_ON_DEFAULT_CODE 1

/*
 * Read the value of --error-exitcode, which must be a number that means nothing else. Returns 0, or an error_t for the parser
 * to return, with one line set that says what is wrong.
 */
error_t fail_on_read_code(const char *arg, struct argp_state *state, unsigned char *out);

/* Returns whether any option of the two was given. */
bool fail_on_is_asked(const struct fail_on *f);

/* Returns whether the race makes the command fail. Without an option of the two it is as with --fail-on harmful. */
bool fail_on_race(const struct fail_on *f, const struct judged *j);

/*
 * Returns the exit code that the races ask for, or EXIT_OK when none of them makes the command fail. One line on standard error
 * says how many do.
 */
int fail_on_code(const struct fail_on *f, const struct verdicts *v);

/*
 * Where the races of the run in `file` decide the exit code, say on standard error what makes "no race" no verdict on the
 * kernel: the run is not finished, or nothing was sampled in it.
 */
void fail_on_doubt(const struct fail_on *f, const struct run_facts *run, const char *file);

#endif
