/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the scenarios of `outrider explore` in the folder of --save. */
#ifndef OUTRIDER_CLI_EXPLORE_SAVE_H
#define OUTRIDER_CLI_EXPLORE_SAVE_H

#include "hv/explore/explore.h"
#include "hv/session/scenario_folder.h"

/* This struct must not be moved, because saver.ctx points to it. */
struct explore_save {
	struct scenario_folder folder;
	struct explore_saver saver;
};

/*
 * Open the folder `path`. If root runs the process for a user who called sudo(8), open it as that user. Returns 0, or -1 with
 * `err` set. explore_save_close() follows in both cases, before sandbox_finish().
 */
int explore_save_open(struct explore_save *s, const char *path, struct err *err);
void explore_save_close(struct explore_save *s);

#endif
