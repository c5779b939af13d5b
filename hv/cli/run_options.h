/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line of `outrider run`, and checks the values of its options. */
#ifndef OUTRIDER_CLI_RUN_OPTIONS_H
#define OUTRIDER_CLI_RUN_OPTIONS_H

#include "hv/cli/cli.h"
#include "hv/cli/detect_options.h"
#include "hv/cli/device_options.h"
#include "hv/session/vm_engine.h"

struct run_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	/*
	 * The virtual machine. Its strings are those of argv and of `devices`. No option sets its member `breakpoints`:
	 * `outrider run` sets it to what probe_host() finds on this host.
	 */
	struct vm_engine_config engine;
	struct device_options devices;
	struct detect_options detect;
	bool replay_for;      /* --replay-for was given */
	unsigned device_rate; /* --device-rate; 0: not given */
	bool no_device_windows;
};

/*
 * Read the command line and check every value. Returns 0, or -1 with err set. In both cases call run_options_free(). `o` must
 * not be moved.
 */
int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err);
void run_options_free(struct run_options *o);

#endif
