/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The campaign file that is the argument of several subcommands of `outrider campaign`. */
#ifndef OUTRIDER_CLI_CAMPAIGN_FILE_H
#define OUTRIDER_CLI_CAMPAIGN_FILE_H

#include "hv/cli/cli.h"

/* Take an argument as *file, which is NULL before. A second argument is an error. */
error_t campaign_take_file(const char **file, char *arg, struct argp_state *state);

/* To be called after the last argument: reports an error if there was no file. */
error_t campaign_need_file(const char *file, struct argp_state *state);

#endif
