/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the text of --help of outrider and of its subcommands. */
#ifndef OUTRIDER_CLI_HELP_H
#define OUTRIDER_CLI_HELP_H

#include <argp.h>

#include "hv/cli/commands.h"

/*
 * Print the help of the subcommand `command` on standard output: usage, options, and its exit codes. A nested subcommand has a
 * name of two words, such as "campaign run".
 */
void help_command(const struct argp *argp, const char *command);

/* Print the help of the subcommand `command`, which has the subcommands `inner`, and which `argp` describes. */
void help_group(const struct argp *argp, const char *command, const struct cli_command *inner);

/* Print the help of outrider itself, which lists the subcommands `commands`. */
void help_outrider(const struct cli_command *commands);

#endif
