// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folder of --save, in which the copies of the machine write scenarios (scenario_folder.h). A scenario's file has a
 * temporary name until it is complete.
 */
#include "hv/session/scenario_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_in(const struct scenario_folder *f, const char *name, struct err *err)
{
	char *path;

	if (asprintf(&path, "%s/%s", f->path, name) >= 0)
		return path;
	err_set(err, EXIT_INTERNAL, "out of memory for the name of a scenario");
	return NULL;
}

/* Open the temporary file number `index`. Its name has the process ID, because two runs may use the same folder. */
static int open_aside(struct scenario_folder *f, unsigned index, struct err *err)
{
	char name[64], *path;
	int rc;

	snprintf(name, sizeof(name), "outrider-%ld-%u", (long)getpid(), index);
	path = path_in(f, name, err);
	if (!path)
		return -1;
	rc = new_file_create(&f->aside[index], path, err);
	free(path);
	return rc;
}

int scenario_folder_open(struct scenario_folder *f, const char *path, struct err *err)
{
	struct stat st;

	*f = (struct scenario_folder){.path = strdup(path)};
	for (unsigned i = 0; i < SCENARIO_FILES; i++)
		f->aside[i].fd = -1;
	if (!f->path)
		return err_set(err, EXIT_INTERNAL, "out of memory for scenarios");
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_set(err, EXIT_INPUT, "cannot make the folder %.300s for scenarios: %s", path, strerror(errno));
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "cannot keep scenarios in %.300s: it is not a folder", path);
	for (unsigned i = 0; i < SCENARIO_FILES; i++)
		if (open_aside(f, i, err) < 0)
			return -1;
	return 0;
}

void scenario_folder_close(struct scenario_folder *f)
{
	for (unsigned i = 0; f->path && i < SCENARIO_FILES; i++)
		new_file_drop(&f->aside[i]);
	free(f->path);
	f->path = NULL;
}

int scenario_folder_fd(const struct scenario_folder *f, unsigned index)
{
	return f->aside[index].fd;
}

/* Returns whether a copy has written something to the file. */
static bool has_bytes(struct new_file *aside)
{
	struct stat st;

	if (fstat(aside->fd, &st) < 0 || !st.st_size)
		return false;
	aside->at = (uint64_t)st.st_size;
	return true;
}

/* Rename the file to its final name, and open a new temporary one. */
static int keep(struct scenario_folder *f, unsigned index, const char *name, struct err *err)
{
	char *path = path_in(f, name, err);
	struct new_file *aside = &f->aside[index];
	int rc;

	if (!path)
		return -1;
	free(aside->path);
	aside->path = path;
	rc = new_file_commit(aside, err);
	new_file_drop(aside);
	return open_aside(f, index, err) < 0 ? -1 : rc;
}

int scenario_folder_take_as(struct scenario_folder *f, unsigned index, const char *name, bool *kept, struct err *err)
{
	*kept = false;
	if (f->aside[index].fd < 0 || !has_bytes(&f->aside[index]))
		return 0;
	*kept = keep(f, index, name, err) == 0;
	return *kept ? 0 : -1;
}

int scenario_folder_take(struct scenario_folder *f, unsigned index, const char *race, enum replay_kept kind, bool *kept,
			 struct err *err)
{
	char name[64];

	*kept = false;
	if (f->aside[index].fd < 0 || !has_bytes(&f->aside[index]))
		return 0;
	if (kind == REPLAY_KEPT_NOTHING) {
		f->aside[index].at = 0;
		return ftruncate(f->aside[index].fd, 0) < 0
			       ? err_set(err, EXIT_INPUT, "cannot empty a file in %.300s: %s", f->path, strerror(errno))
			       : 0;
	}
	snprintf(name, sizeof(name), "%s-%s.scenario", race, replay_kept_word(kind));
	return scenario_folder_take_as(f, index, name, kept, err);
}
