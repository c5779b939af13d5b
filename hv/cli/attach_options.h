/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line of `outrider attach`, and checks the values of its options. */
#ifndef OUTRIDER_CLI_ATTACH_OPTIONS_H
#define OUTRIDER_CLI_ATTACH_OPTIONS_H

#include "hv/cli/detect_options.h"
#include "hv/session/attach_engine.h"

struct attach_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	/* The machine to attach to. Its strings are those of argv. */
	struct attach_engine_config engine;
	struct detect_options detect;
};

/*
 * Read the command line and check every value. Returns 0, or -1 with err set. In both cases call detect_options_free() for
 * o->detect. `o` must not be moved.
 */
int attach_options_parse(struct attach_options *o, int argc, char **argv, struct err *err);

#endif
