/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --fail-on and --error-exitcode of the commands that list a round: what is new decides the exit status. */
#ifndef OUTRIDER_CLI_CAMPAIGN_FAIL_H
#define OUTRIDER_CLI_CAMPAIGN_FAIL_H

#include "hv/campaign/list/morning.h"
#include "hv/cli/cli.h"

/* All zero: no option was given. */
struct campaign_fail {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	unsigned what;		/* Bits by the words of campaign_fails. */
	unsigned char code;	/* 0: it was not given. */
};

/* A child parser for argp, in the option group CAMPAIGN_FAIL_GROUP. Its input is a struct campaign_fail. */
extern const struct argp campaign_fail_argp;
#define CAMPAIGN_FAIL_GROUP 5

/*
 * Returns the exit code that the list asks for, or EXIT_OK when nothing in it makes the command fail. One line on standard
 * error says what does.
 */
int campaign_fail_code(const struct campaign_fail *f, const struct morning *m);

#endif
