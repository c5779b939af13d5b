/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the subcommands of outrider, and the choices for completion. */
#ifndef OUTRIDER_CLI_COMMANDS_H
#define OUTRIDER_CLI_COMMANDS_H

#include "hv/cli/choice.h"
#include "hv/cli/cli.h"

/* The subcommands of outrider. An entry without a name ends the table. */
extern const struct cli_command cli_commands[];

/* All option values that are one word of a table, for completion. NULL ends the list. */
extern const struct cli_choice *const cli_choices[];

#endif
