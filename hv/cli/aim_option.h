/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_CLI_AIM_OPTION_H
#define OUTRIDER_CLI_AIM_OPTION_H

#include "hv/base/err.h"
#include "hv/race/known_races.h"

/*
 * Load the races that --aim FILE[#ID[,ID...]] selects: all races of a report, or those with these ids or first characters of
 * ids. The caller frees the table by known_races_free(). Returns NULL with err set: EXIT_USAGE if an id is empty, ambiguous or
 * not in the file, EXIT_INPUT if the file is no report or has no race with a target site, or EXIT_INTERNAL.
 */
struct known_races *aim_option_load(const char *value, struct err *err);

#endif
