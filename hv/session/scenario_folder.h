/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder for a run's scenarios (hv/replay/scenario). It keeps the first instance of each outcome of each race, as
 * RACE-OUTCOME.scenario.
 *
 * The process of a copy may not open files. So that process writes to a file that was opened before, which has a temporary name
 * until it is complete. All functions are called on one thread, unless a comment says otherwise.
 */
#ifndef OUTRIDER_SESSION_SCENARIO_FOLDER_H
#define OUTRIDER_SESSION_SCENARIO_FOLDER_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/base/new_file.h"
#include "hv/race/replay.h"

/* Number of scenarios that can be written at the same time: one for each copy that the replayer can have. */
#define SCENARIO_FILES 5u

struct scenario_folder {
	char *path;
	struct new_file aside[SCENARIO_FILES];
};

/*
 * Use the folder at `path`, which is created if it does not exist, and open the temporary files. Returns 0, or -1 with `err`
 * set. Call scenario_folder_close() in both cases.
 */
int scenario_folder_open(struct scenario_folder *f, const char *path, struct err *err);
void scenario_folder_close(struct scenario_folder *f);

/*
 * Returns the descriptor of the file `index`, which is empty, for a copy to write to, or -1 if that file is not open. Any
 * thread may call this function, while no other thread is in scenario_folder_take() for the same file.
 */
int scenario_folder_fd(const struct scenario_folder *f, unsigned index);

/*
 * Take the file `index` after the copy that wrote to it has ended. `kind` is the outcome of the copy's instance of the race. A
 * file with bytes is renamed to its final name, or emptied if `kind` is REPLAY_KEPT_NOTHING. An empty file is used again. Sets
 * *kept if there is a new scenario. Returns 0, or -1 with `err` set.
 */
int scenario_folder_take(struct scenario_folder *f, unsigned index, const char *race, enum replay_kept kind, bool *kept,
			 struct err *err);

/* As scenario_folder_take(), but a file with bytes is kept in any case, and gets the name `name` in the folder. */
int scenario_folder_take_as(struct scenario_folder *f, unsigned index, const char *name, bool *kept, struct err *err);

#endif
