/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_CAMPAIGN_LIST_AGAIN_H
#define OUTRIDER_CAMPAIGN_LIST_AGAIN_H

/*
 * Make the shell command that aims at a race (docs/aiming.md) from the command that repeats the run that saw it: without the
 * options that would overwrite the run's files or that --aim replaces, and with --aim at the race `report` of the run's report
 * in `folder`. Returns it from malloc(), or NULL if memory runs out.
 */
char *again_command(const char *command, const char *folder, const char *report);

#endif
