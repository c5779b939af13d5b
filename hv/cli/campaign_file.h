/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the argument of the subcommands of `outrider campaign` that take a campaign file. */
#ifndef OUTRIDER_CLI_CAMPAIGN_FILE_H
#define OUTRIDER_CLI_CAMPAIGN_FILE_H

#include "hv/cli/cli.h"

/* Set *file, which is NULL at first, to an argument. It is an error if an earlier call has set *file. */
error_t campaign_take_file(const char **file, char *arg, struct argp_state *state);

/* To be called after the last argument: report an error if no file was given (`file` is NULL). */
error_t campaign_need_file(const char *file, struct argp_state *state);

#endif
