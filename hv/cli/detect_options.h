/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of every command that looks for races: what is sampled, how, and where results go. */
#ifndef OUTRIDER_CLI_DETECT_OPTIONS_H
#define OUTRIDER_CLI_DETECT_OPTIONS_H

#include "hv/cli/cli.h"
#include "hv/detect/detect.h"

struct detect_options {
	struct cli_input input;	     /* first: see cli_parse() */
	struct detect_config config; /* its strings, like all others, are argv's */
	const char *symbols;	     /* NULL: the tables in the guest's own memory */
	const char *json;
	uint64_t duration_ns; /* 0: no limit */
};

#define DETECT_GROUP_HOW 3 /* for a command's own options that are of this kind */

/* A child parser, in the option groups 2 to 4; its input is a struct detect_options. */
extern const struct argp detect_argp;

/* The defaults. 0, or -1 with err set. */
int detect_options_init(struct detect_options *o, struct err *err);

/* Once parsed. 0, or -1 with err set (EXIT_USAGE). */
int detect_options_check(const struct detect_options *o, struct err *err);

#endif
