/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this outrider is. */
#ifndef OUTRIDER_CLI_VERSION_H
#define OUTRIDER_CLI_VERSION_H

#include "hv/cli/choice.h"

/*
 * Print the version on standard output. The first line is "outrider VERSION". The next lines say the git revision, where the
 * build knew it; the libraries with the versions that are in use now; and the features, with the words of `formats`.
 */
void version_print(const struct cli_choice *formats);

#endif
