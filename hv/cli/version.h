/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the versions of this program and of its libraries. */
#ifndef OUTRIDER_CLI_VERSION_H
#define OUTRIDER_CLI_VERSION_H

#include "hv/cli/choice.h"

/*
 * Print the version on standard output. The first line is "outrider VERSION". The next lines have the git revision, if it was
 * known at build time; the libraries, with the versions in use; and the features, which include the formats of reports
 * that `formats` lists.
 */
void version_print(const struct cli_choice *formats);

#endif
