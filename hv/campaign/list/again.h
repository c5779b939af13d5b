/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a shell command that repeats a run and aims it at one race (docs/aiming.md). */
#ifndef OUTRIDER_CAMPAIGN_LIST_AGAIN_H
#define OUTRIDER_CAMPAIGN_LIST_AGAIN_H

#include <stdbool.h>

/* Returns whether `command` explores a pair of programs (docs/exploring.md). Such a run cannot aim at a race. */
bool again_explores(const char *command);

/*
 * Make a shell command that repeats a run and aims it at one race (docs/aiming.md). `command` is the command that repeats the
 * run; the race has the id `report` in the run's report, `folder`/races.json. The options that would overwrite the files of the
 * first run, and --prefer, are left out; --aim FOLDER/races.json#REPORT and --json again.json are added. Returns the command
 * from malloc(), or NULL if memory runs out.
 */
char *again_command(const char *command, const char *folder, const char *report);

#endif
