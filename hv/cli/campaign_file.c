// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the argument of the subcommands of `outrider campaign` that take a campaign file. */
#include "hv/cli/campaign_file.h"

#include <string.h>

/* Returns the command's name for a message: "run" for "campaign run". */
static const char *command(const struct argp_state *state)
{
	const char *blank = strrchr(state->argv[0], ' ');

	return blank ? blank + 1 : state->argv[0];
}

error_t campaign_take_file(const char **file, char *arg, struct argp_state *state)
{
	if (*file)
		return cli_usage(state, "%s takes only one campaign file: '%s' or '%s'", command(state), *file, arg);
	*file = arg;
	return 0;
}

error_t campaign_need_file(const char *file, struct argp_state *state)
{
	const char *name = command(state);

	return file ? 0 : cli_usage(state, "%s needs a campaign file; see `outrider campaign %s --help`", name, name);
}
