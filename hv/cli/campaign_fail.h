/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses --fail-on and --error-exitcode of the commands that list a round, and decides their exit status by what the round
 * found.
 */
#ifndef OUTRIDER_CLI_CAMPAIGN_FAIL_H
#define OUTRIDER_CLI_CAMPAIGN_FAIL_H

#include "hv/campaign/list/gate.h"
#include "hv/cli/cli.h"

/* All zero: no option was given. */
struct campaign_fail {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	unsigned what;		/* a bit for each enum gate_what */
	unsigned char code;	/* 0: not given */
};

/* A child parser for argp, in the option group CAMPAIGN_FAIL_GROUP. Its input is a struct campaign_fail. */
extern const struct argp campaign_fail_argp;
#define CAMPAIGN_FAIL_GROUP 5

/*
 * Returns the exit code that the options select for the round: EXIT_OK if no option was given, or the round passes the gate
 * (gate.h). Prints each reason in one line on standard error.
 */
int campaign_fail_code(const struct campaign_fail *f, const struct summary *m);

/*
 * Does what campaign_fail_code() does, for a gate that does not come from these options. `asked` has a bit for each enum
 * gate_what. `code` is the exit code if the round does not pass. `source` names where the gate comes from, such as "<failure>",
 * for the message.
 */
int campaign_fail_gate(const struct summary *m, unsigned asked, int code, const char *source);

#endif
