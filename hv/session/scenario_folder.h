/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder for a run's scenarios (hv/replay/scenario): RACE-OUTCOME.scenario, the first instance of each outcome of each
 * race. The process of a copy may not open files. So it writes to a file that was opened before, under a temporary name until
 * the file is complete.
 *
 * One thread, except where a function says otherwise.
 */
#ifndef OUTRIDER_SESSION_SCENARIO_FOLDER_H
#define OUTRIDER_SESSION_SCENARIO_FOLDER_H

#include <stdbool.h>

#include "hv/base/err.h"
#include "hv/base/new_file.h"
#include "hv/race/replay.h"

/* Number of scenarios that can be written at a time. */
#define SCENARIO_FILES 2u

struct scenario_folder {
	char *path;
	struct new_file aside[SCENARIO_FILES];
};

/*
 * Use the folder at `path`, which is created if missing, and open the temporary files. Returns 0, or -1 with EXIT_INPUT in
 * `err`. Call scenario_folder_close() in either case.
 */
int scenario_folder_open(struct scenario_folder *f, const char *path, struct err *err);
void scenario_folder_close(struct scenario_folder *f);

/*
 * The descriptor of an empty file for a copy to write to, or -1 when there is none. Any thread, while no other thread is in
 * scenario_folder_take() for the same file.
 */
int scenario_folder_fd(const struct scenario_folder *f, unsigned index);

/*
 * The copy that wrote to file `index` has ended, and its instance of this race had this outcome. A file with bytes gets its
 * final name; an empty file is used again. *kept: there is a new scenario. Returns 0, or -1 with `err` set.
 */
int scenario_folder_take(struct scenario_folder *f, unsigned index, const char *race, enum replay_kept kind, bool *kept,
			 struct err *err);

#endif
