/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder into which a run keeps scenarios (hv/replay/scenario): RACE-OUTCOME.scenario, the first instance of each outcome
 * of each race. A copy writes to a file that is open already, and has another name until it is whole, since the process that
 * holds the copy may open nothing.
 *
 * One thread, but for what says otherwise.
 */
#ifndef OUTRIDER_SESSION_SCENARIO_FOLDER_H
#define OUTRIDER_SESSION_SCENARIO_FOLDER_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/base/new_file.h"
#include "hv/race/replay.h"

/* How many scenarios may be written at a time. */
#define SCENARIO_FILES 2u

struct scenario_folder {
	char *path;
	struct new_file aside[SCENARIO_FILES];
};

/*
 * Use the folder at `path`, which is made if it is not there, and open the files. Returns 0, or -1 with EXIT_INPUT.
 * scenario_folder_close() follows in any case.
 */
int scenario_folder_open(struct scenario_folder *f, const char *path, struct err *err);
void scenario_folder_close(struct scenario_folder *f);

/*
 * The descriptor of an empty file for a copy, or -1 when this file cannot be had. Any thread, as long as no other one is in
 * scenario_folder_take() for the same file.
 */
int scenario_folder_fd(const struct scenario_folder *f, unsigned index);

/*
 * The copy that wrote to the file has ended, and its instance of this race came out so. A file that has something in it gets
 * its name; one that is empty is used again. Sets `kept` if there is a new scenario. Returns 0, or -1 with `err` set.
 */
int scenario_folder_take(struct scenario_folder *f, unsigned index, const char *race, enum replay_kept kind, bool *kept,
			 struct err *err);

#endif
