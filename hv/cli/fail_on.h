/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses --fail-on and --error-exitcode. With these options, a script or a CI job can make a command fail if a run found
 * something, or if a run had no chance to find anything.
 */
#ifndef OUTRIDER_CLI_FAIL_ON_H
#define OUTRIDER_CLI_FAIL_ON_H

#include "hv/cli/cli.h"
#include "hv/cli/fail_words.h"
#include "hv/report/run_facts.h"
#include "pruner/verdicts.h"

/* What makes a command fail. Suppressed races never make a command fail. */
enum fail_on_what {
	FAIL_ON_HARMFUL = 1 << 0,    /* harmful candidates */
	FAIL_ON_UNCLEAR = 1 << 1,    /* harmful candidates, and unclear races */
	FAIL_ON_ANY_NEW = 1 << 2,    /* all races */
	FAIL_ON_SUSPICION = 1 << 3,  /* suspicions, confirmed or not */
	FAIL_ON_UNSAMPLED = 1 << 4,  /* a run that sampled nothing */
	FAIL_ON_UNFINISHED = 1 << 5, /* a run that is not finished */
	FAIL_ON_COMPLAINT = 1 << 6,  /* a complaint of the guest's kernel */
	FAIL_ON_ATOMICITY = 1 << 7,  /* suspicions of one kind: two critical sections do what must be one step */
};

#define FAIL_ON_RACES ((unsigned)FAIL_ON_HARMFUL | FAIL_ON_UNCLEAR | FAIL_ON_ANY_NEW)
/*
 * If a run is unsampled or unfinished, its lack of races says nothing about the kernel. So each word of --fail-on that looks
 * for races, suspicions or complaints implies these two.
 */
#define FAIL_ON_DOUBTS ((unsigned)FAIL_ON_UNSAMPLED | FAIL_ON_UNFINISHED)

/* All zero: no option was given. */
struct fail_on {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct fail_words words;
	/* The exit code. 0: not given. */
	unsigned char code;
	/* The command shows no races: if --fail-on is not given, --error-exitcode alone looks for suspicions. */
	bool no_races;
};

/*
 * Child parsers for argp, in the option group FAIL_ON_GROUP. Their input is a struct fail_on. fail_on_diff_argp is for a
 * command that compares races and has no suspicions. fail_on_locks_argp is for a command that shows no races, and sets
 * no_races. These two refuse the words of --fail-on for results that the command does not have.
 */
extern const struct argp fail_on_argp;
extern const struct argp fail_on_diff_argp;
extern const struct argp fail_on_locks_argp;
#define FAIL_ON_GROUP 5

/* The exit code without --error-exitcode. No other result of a command has this code. */
#define FAIL_ON_DEFAULT_CODE 1

/*
 * Read the value of --error-exitcode, which must be a number without another meaning. Returns 0. On failure, sets an error and
 * returns an error_t for the parser to return.
 */
error_t fail_on_read_code(const char *arg, struct argp_state *state, unsigned char *out);

/* Returns whether --fail-on or --error-exitcode was given. */
bool fail_on_is_asked(const struct fail_on *f);

/* Returns whether the value of --fail-on contains "suspicion" or "atomicity". */
bool fail_on_names_suspicions(const struct fail_on *f);

/* Returns which of the words "suspicion" and "atomicity" the value of --fail-on contains; "suspicion" if it contains both. */
const char *fail_on_suspicion_word(const struct fail_on *f);

/*
 * Returns what makes the command fail: enum fail_on_what bits. If neither --fail-on nor --error-exitcode was given, returns the
 * bits of `--fail-on harmful`, because some formats mark failures even if the command does not fail.
 */
unsigned fail_on_what(const struct fail_on *f);

/* Returns whether the race makes the command fail. */
bool fail_on_race(const struct fail_on *f, const struct judged *j);

/* Returns whether a run in doubt makes the command fail. RUN_SOUND never does. */
bool fail_on_doubt(const struct fail_on *f, enum run_doubt doubt);

/* What was found. All zero: nothing. */
struct fail_on_found {
	/* The races, or NULL. */
	const struct verdicts *verdicts;
	/* The runs, and the file of each. `files` is NULL for the run that has just ended. */
	const struct run_facts *runs;
	const char *const *files;
	size_t run_count;
	/* `suspicions`: number of all suspicions. `atomicities`: number of those of kind SUSPICION_ATOMICITY. */
	size_t suspicions, atomicities;
};

/*
 * Returns the exit code that the options select for what was found, or EXIT_OK if nothing makes the command fail or the options
 * were not given. Prints one line on standard error for each reason to fail. Also prints a line for each run that is unsampled
 * or not finished, even if this is no reason to fail.
 */
int fail_on_code(const struct fail_on *f, const struct fail_on_found *found);

#endif
