/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that every command which looks for races has: what is sampled, how, and where the results go. */
#ifndef OUTRIDER_CLI_DETECT_OPTIONS_H
#define OUTRIDER_CLI_DETECT_OPTIONS_H

#include "hv/cli/cli.h"
#include "hv/cli/judge.h"
#include "hv/session/session.h"

struct detect_options {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	struct judge judge;
	/* What the options say. The strings are those of argv. */
	struct session_config session;
	/* The values of --symbols. There is room for as many as there are words on the command line. */
	const char **symbols;
	/* The value of --prefer, and what the file says. NULL: it was not given. */
	const char *prefer_file;
	struct prefer *prefer;
	/* The same for --aim. */
	const char *aim_at;
	struct aim *aim;
	/* --locks was given, and --rate. */
	bool locks, rate;
};

/* The option group "How". A command that has such options of its own puts them into this group. */
#define DETECT_GROUP_HOW 3

/* The highest value of --rate, and those of --overhead. */
#define DETECT_RATE_MAX 1000000
#define DETECT_OVERHEAD_MAX 50

/* A child parser for argp, in the option groups 2 to FAIL_ON_GROUP. Its input is a struct detect_options. */
extern const struct argp detect_argp;

/*
 * Set the defaults, a random seed among them, and keep `argv` for the record. Returns 0, or -1 with err set.
 * detect_options_free() must follow in both cases. `o` must not be moved.
 */
int detect_options_init(struct detect_options *o, int argc, char **argv, struct err *err);

void detect_options_free(struct detect_options *o);

/*
 * Check the options against each other, after they were parsed, and read the files of --prefer and --aim. Returns 0, or -1 with
 * err set: EXIT_USAGE, or EXIT_INPUT for a file.
 */
int detect_options_check(struct detect_options *o, struct err *err);

#endif
