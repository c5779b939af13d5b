/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `outrider attach` was asked to do. */
#ifndef OUTRIDER_CLI_ATTACH_OPTIONS_H
#define OUTRIDER_CLI_ATTACH_OPTIONS_H

#include "hv/cli/detect_options.h"

struct attach_options {
	struct cli_input input; /* first: see cli_parse() */
	const char *connect;	/* libvirt's URI; NULL: its default */
	const char *domain;	/* this, */
	const char *gdb;	/* or a gdbstub's address */
	unsigned overhead;	/* percent of the time that the guest may stand still */
	struct detect_options detect;
};

/* Read the command line and check every value. 0, or -1 with err set (EXIT_USAGE). */
int attach_options_parse(struct attach_options *o, int argc, char **argv, struct err *err);

#endif
