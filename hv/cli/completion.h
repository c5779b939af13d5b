/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generates the files by which shells complete outrider's command lines, from the same option tables as --help. */
#ifndef OUTRIDER_CLI_COMPLETION_H
#define OUTRIDER_CLI_COMPLETION_H

#include "hv/cli/commands.h"

/*
 * `outrider completion SHELL`: print the completion file for SHELL, bash or zsh, on standard output. The file covers the
 * subcommands `commands` and the values `choices`; both tables have an end mark. `shell` may be NULL. Returns the exit code.
 */
int completion(const struct cli_command *commands, const struct cli_choice *const *choices, const char *shell);

#endif
